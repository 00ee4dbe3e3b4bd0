"""What the load test counts and computes."""

import subprocess
import sys

import httpx
import pytest

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
