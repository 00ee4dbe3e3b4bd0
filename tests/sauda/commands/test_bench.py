"""Speeds: a figure is its samples; published speeds stand apart."""

import shutil
import sys
import tempfile
from dataclasses import replace

import pytest

from panels.artifacts import speeds
from sauda.commands.bench import tables, throughput
from sauda.commands.bench.command import report
from sauda.commands.bench.games import (
    ALONE,
    DRAWN,
    SEEDED,
    arena_speeds,
    interleaved,
    ways_to_play,
)
from sauda.commands.bench.page import no_browser
from sauda.commands.bench.tables import merge_of_shards
from sauda.commands.bench.throughput import (
    NO_OPENVINO,
    ROUNDS,
    TOKENS,
    compared,
    playing,
    ways_to_train,
    ways_to_write,
)
from sauda.evaluation.evaluate import Config
from sauda.evaluation.speed import figure, published_speeds, ratio, recomputed
from sauda.records.schemas.bench import Bench
from sauda.records.store import Artifact, load, save


def test_a_figure_has_the_median_and_the_95th_percentile_of_its_rounded_samples():
    timing = figure("reply", "s", [0.123456, 3.0, 1.0], p95=True, visitors=2)
    assert timing["samples"] == [0.1235, 3.0, 1.0]
    assert (timing["n"], timing["median"], timing["visitors"]) == (3, 1.0, 2)
    assert timing["p95"] == 2.8  # nine tenths of the way from 1 to 3
    assert "p95" not in figure("import", "s", [1.0])


def run(*figures: dict, ratios: tuple[dict, ...] = ()) -> dict:
    """The data of a bench."""
    return {"machine": {}, "figures": list(figures), "ratios": list(ratios), "left_out": []}


def test_medians_and_ratios_follow_from_the_samples_and_nothing_else_changes():
    slow, fast = figure("alone", "x/s", [1.0, 2.0], p95=True), figure("batch", "x/s", [6.0, 4.0])
    data = run(slow, fast, ratios=(ratio(fast, slow),))
    assert recomputed(data) == data
    fast["samples"][1] = 8.0
    assert recomputed(data)["figures"][1]["median"] == 7.0
    assert recomputed(data)["ratios"][0]["samples"] == [6.0, 4.0]


def test_a_ratio_is_taken_sample_by_sample_of_one_unit_and_run():
    slow, fast = figure("alone", "x/s", [1.0, 2.0, 4.0]), figure("batch", "x/s", [7.0, 4.0, 4.0])
    quotient = ratio(fast, slow)
    assert (quotient["of"], quotient["to"], quotient["n"]) == ("batch", "alone", 3)
    assert (quotient["samples"], quotient["median"]) == ([7.0, 2.0, 1.0], 2.0)
    for other in (figure("alone", "s", [1.0, 2.0, 4.0]), figure("alone", "x/s", [1.0])):
        with pytest.raises(ValueError, match="were not timed in one run"):
            ratio(fast, other)


def test_a_measured_speed_can_be_saved_and_read(tmp_path):
    data = run(figure("episodes a second", "episodes/s", [5000, 5100], task="x"))
    save("bench.json", {}, data, tmp_path)
    assert load("bench.json", tmp_path).data.as_json() == recomputed(data)


def test_ways_that_are_compared_are_timed_in_turn_after_a_first_round_that_warms_up():
    calls = []

    def way(name: str, number: int) -> int:
        calls.append((name, number))
        return 10

    ways = {name: lambda number, name=name: way(name, number) for name in "ab"}
    ticks = iter(range(0, 100, 5))
    samples = interleaved(ways, repetitions=2, clock=lambda: next(ticks))
    assert [way for way, _ in calls] == ["a", "b"] * 3
    assert [number for _, number in calls[2:]] == [0, 0, 1, 1]
    assert samples == {"a": [2.0, 2.0], "b": [2.0, 2.0]}


def test_ways_are_compared_by_the_cpu_time_they_take_and_the_first_one_with_each_other():
    def work(amount: int) -> int:
        sum(range(100_000 * amount))
        return 1

    ways = {"light": lambda number: work(1), "heavy": lambda number: work(8)}
    speeds = compared("sums", "sums/CPU min", ways, per=60.0, model="none")
    assert [f["name"] for f in speeds.figures] == ["sums, light", "sums, heavy"]
    assert [f["n"] for f in speeds.figures] == [ROUNDS, ROUNDS]
    (quotient,) = speeds.ratios
    assert (quotient["of"], quotient["to"]) == ("sums, light", "sums, heavy")
    assert quotient["median"] > 1


@pytest.mark.model
def test_the_model_is_timed_at_training_and_at_writing_and_says_what_is_missing(
    monkeypatch, tmp_path
):
    """It writes a few tokens, and a toy in its place is trained."""
    from sauda.train import model

    find_base = model.find_base
    monkeypatch.setattr(model, "find_base", lambda name, *more: find_base("toy", tmp_path, 1))
    monkeypatch.setitem(sys.modules, "openvino_genai", None)
    monkeypatch.setattr(throughput, "ROWS", 4)
    monkeypatch.setattr(throughput, "DEALS", 1)
    monkeypatch.setattr(throughput, "TOKENS", replace(TOKENS, max_new_tokens=8))
    ways, left_out = ways_to_write()
    assert left_out == [NO_OPENVINO]
    (ours,) = ways.values()
    assert 4 < ours(0) <= 4 * 8
    counts = {way: work(0) for way, work in ways_to_train().items()}
    assert len(counts) == 2
    assert len(set(counts.values())) == 1  # the same deals


@pytest.mark.model
def test_games_are_timed_with_prompts_read_alone_and_together(monkeypatch):
    monkeypatch.setattr(throughput, "ROWS", 2)
    monkeypatch.setattr(throughput, "ROUNDS", 1)
    monkeypatch.setattr(throughput, "TASK", "bazaar/rushed")  # the shortest games
    silent, worded, together, same = playing().figures
    assert all(each["median"] > 0 for each in (silent, worded, together))
    assert together["name"] == f"{silent['name']}, prompts together"
    assert (same["unit"], same["n"]) == ("share", 1)
    assert same["median"] in (0, 0.5, 1)


def test_a_batch_is_timed_from_seeds_and_drawn_at_once_beside_one_by_one():
    figures, ratios = ways_to_play("rule_based", "bazaar/open", episodes=5, drawn=50)
    of = "episodes a second, rule_based on bazaar/open, "
    assert [f["name"] for f in figures] == [of + way for way in (ALONE, SEEDED, DRAWN)]
    assert [f["episodes"] for f in figures] == [5, 5, 50]
    assert [(r["of"], r["to"]) for r in ratios] == [(of + w, of + ALONE) for w in (SEEDED, DRAWN)]
    alone, _, drawn = (f["samples"] for f in figures)
    assert ratios[1]["samples"] == [
        pytest.approx(a / b, rel=1e-3) for a, b in zip(drawn, alone, strict=True)
    ]


def test_published_speeds_are_those_of_the_source_and_enter_no_measured_figure(monkeypatch):
    monkeypatch.setattr("sauda.commands.bench.games.ARENA_EPISODES", 1)
    rows = published_speeds(load("published.json"))
    published = {(row["id"], row["name"]): row["median"] for row in rows}
    assert published["reference-throughput", "episodes a second, gym wrapper"] == 531
    assert published["arena-reference-speed", "steps a second, coalition_market"] == 2159
    assert all(row["source"] and row["caveat"] for row in rows)
    for measured in arena_speeds():
        assert "published" not in measured


def test_the_text_gives_ratios_of_one_run_and_published_speeds_apart():
    slow, fast = figure("alone", "x/s", [1.0, 2.0]), figure("batch", "x/s", [6.0, 4.0])
    lines = list(report(run(slow, fast, ratios=(ratio(fast, slow),))))
    assert lines[2] == "batch: 4 times alone, n 2"
    assert lines[3].startswith("As published, on other machines; not timed in this run")
    assert not any("531" in line for line in lines[:3])
    assert "531" in lines[4]


def test_the_merge_of_shards_is_timed_and_leaves_nothing_behind(monkeypatch, tmp_path):
    config = Config(("bazaar/open",), ("linear",), episodes=8, baseline="linear")
    monkeypatch.setattr(tables, "table_config", lambda episodes: config)
    assert tables.SHARDS == 100
    monkeypatch.setattr(tables, "SHARDS", 4)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    timing = merge_of_shards(repetitions=2)
    assert (timing["name"], timing["unit"]) == ("merge of 4 shards of that table", "s")
    assert (timing["n"], timing["cores"], timing["episodes"]) == (2, 1, 8)
    assert min(timing["samples"]) > 0
    assert list(tmp_path.iterdir()) == []


def test_without_a_browser_the_reason_is_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert no_browser() in (
        "there is no chromium on this machine",
        "playwright is not installed here (it comes with the dev extra)",
    )


def test_the_page_shows_published_speeds_apart_with_their_badge_and_caveat():
    slow, fast = figure("alone", "x/s", [1.0, 2.0]), figure("batch", "x/s", [6.0, 4.0])
    data = run(slow, fast, ratios=(ratio(fast, slow),))
    bench = Artifact("bench.json", "bench/2", "measured", {}, {}, Bench.model_validate(data))
    assert ">4<" in str(speeds.ratio_table(bench))
    rest, of_model = (str(speeds.measured_table(bench, of_model=of)) for of in (False, True))
    assert "published" not in rest + of_model
    assert rest.count("<tr") + of_model.count("<tr") == len(bench.data.figures) + 2
    rows = published_speeds(load("published.json"))
    shown = str(speeds.published_table(rows))
    assert shown.count("sauda-published") == len(rows)
    assert "One core of a shared machine" in shown
