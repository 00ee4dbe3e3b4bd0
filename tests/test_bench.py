"""Speeds: a figure is its samples, and the visitors who measure replies take none on trust."""

import shutil

import pytest

import sauda.bench
from sauda.artifact import load, save
from sauda.bench import (
    REPETITIONS,
    batch_episodes_a_second,
    figure,
    full_table,
    medians,
    no_browser,
    published_speed,
)
from sauda.policies import BUYERS
from sauda.visitors import Script, check, move, script

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


def test_medians_follow_from_the_samples_and_change_nothing_else():
    data = {
        "machine": {"cores": 2},
        "figures": [figure("reply", "s", [0.1, 0.2], p95=True), figure("import", "s", [1, 2, 9])],
        "left_out": ["No browser."],
    }
    assert medians(data) == data
    data["figures"][1]["samples"][1] = 8.0
    assert medians(data)["figures"][1]["median"] == 8.0


def test_a_measured_speed_can_be_saved_and_read(tmp_path):
    speed = figure("episodes a second", "episodes/s", [5000, 5100], published=published_speed())
    data = {"machine": sauda.bench.machine(), "figures": [speed], "left_out": []}
    save("bench.json", {}, data, tmp_path)
    assert load("bench.json", tmp_path).data == medians(data)


def test_a_batch_is_timed_with_the_drawing_of_its_games_and_without():
    whole, alone = batch_episodes_a_second("rule_based", "bazaar/open", episodes=50)
    title = "batch episodes a second, rule_based on bazaar/open"
    assert (whole["name"], alone["name"]) == (title, f"{title}, games drawn before")
    assert all(slow < fast for slow, fast in zip(whole["samples"], alone["samples"], strict=True))
    assert (whole["n"], whole["task"], whole["episodes"]) == (REPETITIONS, "bazaar/open", 50)


def test_the_whole_table_is_timed_on_every_open_market_task_and_scripted_buyer():
    found = full_table(episodes=1, repetitions=1)
    assert (found["unit"], found["n"], found["cores"]) == ("s", 1, 2)
    assert (found["tasks"], found["policies"], found["episodes"]) == (5, len(BUYERS), 1)
    assert found["samples"][0] > 0.01  # 55 cells


def test_the_published_speed_is_the_sealed_figures():
    published = published_speed()
    assert (published["median"], published["figure"]) == (531, "reference-throughput")
    assert published["source"]


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
