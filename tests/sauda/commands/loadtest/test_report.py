"""What the load test counts, computes and prints; what its attacks send."""

import subprocess
import sys

import httpx
import numpy as np
import pytest

from sauda.commands.loadtest.checkout import checkout
from sauda.commands.loadtest.command import lines
from sauda.commands.loadtest.hostile import arguments, malformed
from sauda.commands.loadtest.tally import Failure, MemoryTrack, Missed, Refused, Tally
from sauda.experiments.speeds import latency, memory_growth, recompute_load


def test_successes_refusals_and_failures_are_counted_apart():
    tally = Tally()
    errors = (Refused("full"), Failure("wrong"), Failure("wrong"), httpx.ReadTimeout("late"))
    for error in (*errors, TimeoutError()):
        with pytest.raises(Missed), tally.timed("reply"):
            raise error
    with tally.timed("reply"):
        pass
    (row,) = tally.rows()
    assert (row["what"], row["n"], row["refused"], row["failures"]) == ("reply", 1, 1, 4)
    assert row["reasons"] == {"wrong": 2, "no answer in time": 2}


def test_an_error_of_the_load_test_itself_is_no_failure_of_the_page():
    tally = Tally()
    with pytest.raises(KeyError), tally.timed("reply"):
        raise KeyError("x")
    assert tally.rows()[0]["failures"] == 0


def test_a_row_without_a_success_has_no_percentiles():
    row = latency("page load", [], 0, {"no answer in time": 3})
    assert (row["n"], row["p50_ms"], row["p95_ms"], row["failures"]) == (0, None, None, 3)


def test_memory_is_a_slope_over_the_second_half_of_the_work():
    growth = memory_growth("game", [0, 10, 20, 30], [100, 400, 401, 402], None)
    assert growth["page_kib_a_unit"] == 102.4  # 1 MiB in ten games
    assert growth["model_kib_a_unit"] is None


def test_the_memory_of_a_page_that_is_not_ours_has_no_row():
    track = MemoryTrack(None, "game")
    track.note(0)
    track.note(1)
    assert track.row() == []


def test_the_memory_of_a_page_is_sampled_and_a_model_process_that_is_not_there_is_none():
    page = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        track = MemoryTrack(page.pid, "game")
        track.note(0)
        track.note(1)
    finally:
        page.communicate()
    (row,) = track.row()
    assert row["done"] == [0, 1]
    assert min(row["page_mib"]) > 0
    assert row["model_mib"] is None


def mix() -> dict:
    row = latency("scripted reply", [0.1, 0.3], 1, {"no answer in time": 2})
    memory = memory_growth("game", [0, 1, 2], [100, 101, 103], [50, 50, 50])
    about = {"name": "20 players", "about": "they play", "state": "now", "commit": "c"}
    return {**about, "seconds": 9.5, "rows": [row], "memory": [memory]}


def test_percentiles_counts_and_slopes_follow_from_the_samples():
    data = {"machine": {}, "mixes": [mix()]}
    assert recompute_load(data) == data
    data["mixes"][0]["rows"][0] |= {"p95_ms": 1.0, "failures": 0}
    data["mixes"][0]["memory"][0] |= {"page_kib_a_unit": 0}
    assert recompute_load(data) == {"machine": {}, "mixes": [mix()]}


def test_a_mix_is_printed_with_its_failures_and_memory():
    head, row, reason, memory = lines(mix())
    assert head == "20 players, now, 9.5 s: they play"
    assert row.split()[-6:] == ["n", "2,", "refused", "1,", "failures", "2"]
    assert "median     200 ms" in row
    assert reason.strip() == "2 x no answer in time"
    assert "page 100 to 103 MiB, 2,048 KiB a game; model process 50 to 50 MiB" in memory


def test_attacks_come_out_alike_and_are_of_many_kinds():
    first, again = (list(malformed(200, np.random.default_rng(0))) for _ in range(2))
    assert first == again
    assert len({path for path, _, _ in first}) > 5
    assert len({kind for _, _, kind in first}) == 4
    lengths = {len(arguments(3, np.random.default_rng(seed))) for seed in range(50)}
    assert lengths == {2, 3, 4}


def test_a_commit_that_git_does_not_know_is_refused():
    with pytest.raises(ValueError, match="git rev-parse failed"), checkout("no-such-commit"):
        pass
