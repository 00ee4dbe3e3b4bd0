"""Reproduce: a sample of a row played again, equal or not, plainly."""

from dataclasses import replace

from panels.results.questions.reproduce import SCRIPTED, reproduced, rows_of, shown
from sauda.evaluation.verification.sample import play_again
from sauda.records.store import load

MARKET = "evaluation/market-holdout.json"


def test_a_script_comes_out_as_recorded_and_says_so():
    rows = rows_of([load(MARKET)])
    label = next(label for label in rows if label.startswith("bazaar/open · linear"))
    begins, ends = map(str, reproduced(rows, label))
    assert f"Playing {SCRIPTED} games" in begins
    assert "The same: all" in ends
    assert ends.count("<tr") == SCRIPTED + 1
    assert "≠" not in ends


def test_a_game_that_differs_is_shown_as_such():
    artifact, cell = next(iter(rows_of([load(MARKET)]).values()))
    sample = play_again(artifact, cell, 2)
    changed = {**sample.again, "grade": [0.25, *sample.again["grade"][1:]]}
    text = str(shown(replace(sample, again=changed)))
    assert "Not the same in grade." in text
    assert text.count("≠") == 1


def test_a_row_that_is_not_in_the_list_is_answered_in_words():
    (only,) = reproduced({}, "<b>x</b>")
    assert "Pick one of the rows" in only


def test_a_row_in_two_artifacts_is_listed_once():
    comparison = load("evaluation/model-comparison.json")
    both = rows_of([load(MARKET), comparison])
    linear = [label for label in both if label.startswith("bazaar/open · linear")]
    assert len(linear) == 1
    assert both[linear[0]][0].file == MARKET
