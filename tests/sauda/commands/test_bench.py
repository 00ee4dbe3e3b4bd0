"""Speeds: a figure is its samples, and the visitors who measure replies take none on trust."""

import shutil

import pytest

from panels.artifacts import speeds
from sauda.commands.bench.command import report
from sauda.commands.bench.games import (
    ALONE,
    DRAWN,
    SEEDED,
    arena_speeds,
    full_table,
    interleaved,
    ways_to_play,
)
from sauda.commands.bench.load_test import Script, check, move, script
from sauda.commands.bench.page import no_browser
from sauda.evaluation.speed import figure, published_speeds, ratio, recomputed
from sauda.policies import BUYERS
from sauda.records.schemas.bench import Bench
from sauda.records.store import Artifact, load, save

PLAN = Script(4, 8, 44, ("sell", "a"), 1, ("a",), 0, (None, ""), chat=0, buttons=(1, 2, 3))


def shown(*said: str, labels: tuple[str, ...] = ("Accept ₹60", "Halfway ₹40", "Walk away")) -> list:
    """What the page answers: the chat, then the buttons; without labels the game is over."""
    chat = [{"role": "user", "content": [{"text": text, "type": "text"}]} for text in said]
    buttons = [{"value": label, "interactive": True} for label in labels]
    return [chat, *(buttons or [{"value": "…", "interactive": False}] * 3)]


def test_a_figure_has_the_median_and_the_95th_percentile_of_its_rounded_samples():
    found = figure("reply", "s", [0.123456, 3.0, 1.0], p95=True, visitors=2)
    assert found["samples"] == [0.1235, 3.0, 1.0]
    assert (found["n"], found["median"], found["visitors"]) == (3, 1.0, 2)
    assert found["p95"] == 2.8  # nine tenths of the way from 1 to 3
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
    found = ratio(fast, slow)
    assert (found["of"], found["to"], found["n"]) == ("batch", "alone", 3)
    assert (found["samples"], found["median"]) == ([7.0, 2.0, 1.0], 2.0)
    for other in (figure("alone", "s", [1.0, 2.0, 4.0]), figure("alone", "x/s", [1.0])):
        with pytest.raises(ValueError, match="were not timed in one run"):
            ratio(fast, other)


def test_a_measured_speed_can_be_saved_and_read(tmp_path):
    data = run(figure("episodes a second", "episodes/s", [5000, 5100], task="x"))
    save("bench.json", {}, data, tmp_path)
    assert load("bench.json", tmp_path).data.as_json() == recomputed(data)


def test_ways_that_are_compared_are_timed_in_turn_after_a_first_round_that_warms_up():
    calls = []
    ways = {way: (10, lambda number, way=way: calls.append((way, number))) for way in "ab"}
    samples = interleaved(ways, repetitions=2)
    assert [way for way, _ in calls] == ["a", "b"] * 3
    assert [number for _, number in calls[2:]] == [0, 0, 1, 1]
    assert {way: len(rates) for way, rates in samples.items()} == {"a": 2, "b": 2}


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
    published = {(row["id"], row["name"]): row["median"] for row in published_speeds()}
    assert published["reference-throughput", "episodes a second, gym wrapper"] == 531
    assert published["arena-reference-speed", "steps a second, coalition_market"] == 2159
    assert all(row["source"] and row["caveat"] for row in published_speeds())
    for measured in arena_speeds():
        assert "published" not in measured


def test_the_text_gives_ratios_of_one_run_and_published_speeds_apart():
    slow, fast = figure("alone", "x/s", [1.0, 2.0]), figure("batch", "x/s", [6.0, 4.0])
    lines = list(report(run(slow, fast, ratios=(ratio(fast, slow),))))
    assert lines[2] == "batch: 4 times alone, n 2"
    assert lines[3].startswith("As published, on other machines; not timed in this run")
    assert not any("531" in line for line in lines[:3])
    assert "531" in lines[4]


def test_the_whole_table_is_timed_on_every_open_market_task_and_scripted_buyer():
    found = full_table(episodes=1, repetitions=1)
    assert (found["unit"], found["n"], found["cores"]) == ("s", 1, 2)
    assert (found["tasks"], found["policies"], found["episodes"]) == (5, len(BUYERS), 1)
    assert found["samples"][0] > 0.01  # 55 cells


def test_without_a_browser_the_reason_is_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert no_browser() in (
        "there is no chromium on this machine",
        "playwright is not installed here (it comes with the dev extra)",
    )


def test_a_visitor_bids_what_a_button_would_and_otherwise_takes_the_ask():
    assert move(shown(), PLAN) == "₹40 mein de do"
    assert move(shown(labels=("Accept ₹60", "Halfway", "Walk away")), PLAN) == "ok"


def test_an_answer_counts_only_if_the_chat_grew_by_what_was_said_and_a_reply():
    before = shown("₹60, fixed.")
    check(before, shown("₹60, fixed.", "₹40", "₹54, my last word."), "₹40", PLAN)
    check(before, shown("₹60, fixed.", "ok", labels=()), "ok", PLAN)  # taking the ask ends it
    for after in (before, shown("₹60, fixed.", "₹40"), shown("₹60, fixed.", "₹41", "₹54")):
        with pytest.raises(ValueError, match="the page gave no answer to '₹40'"):
            check(before, after, "₹40", PLAN)


def test_a_page_without_the_haggle_tab_is_refused_in_words():
    with pytest.raises(ValueError, match="the Haggle tab has no price box"):
        script({"components": [], "dependencies": []})


def test_the_page_shows_published_speeds_apart_with_their_badge_and_caveat():
    slow, fast = figure("alone", "x/s", [1.0, 2.0]), figure("batch", "x/s", [6.0, 4.0])
    data = run(slow, fast, ratios=(ratio(fast, slow),))
    bench = Artifact("bench.json", "bench/2", "measured", {}, {}, Bench.model_validate(data))
    assert ">4<" in str(speeds.ratio_table(bench))
    assert "published" not in str(speeds.measured_table(bench))
    shown = str(speeds.published_table(published_speeds()))
    assert shown.count("sauda-published") == len(published_speeds())
    assert "One core of a shared machine" in shown
