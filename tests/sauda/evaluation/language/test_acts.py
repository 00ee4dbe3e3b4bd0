"""The reading of acts, measured on dialogues whose figures can be counted by hand."""

from dataclasses import replace
from itertools import count

import pytest

from sauda.evaluation.language.acts import figures, part_of, quality
from sauda.experiments.verify import verify
from sauda.language.acts import DOLLARS, Act, Dialogue, Turn
from sauda.records.store import load, save

TURNS = (
    Turn("buyer", "Hi", Act("intro")),
    Turn("seller", "It is $500", Act("init-price", 500.0)),
    Turn("buyer", "Would you take $300?", Act("counter-price", 300.0)),
    Turn("seller", "no", Act("agree")),  # annotated wrongly, so read wrongly
    Turn("seller", "", Act("quit")),
)


def dialogue(part: str, turns=TURNS) -> Dialogue:
    """A dialogue of one part: the first posting whose digest puts it there."""
    made = (Dialogue(f"x/{i}", f"lamp {i}", "", {}, turns, DOLLARS, 500.0) for i in count())
    return next(one for one in made if part_of(one) == part)


@pytest.fixture(scope="module")
def data() -> dict:
    unlabelled = replace(dialogue("tuning"), turns=(Turn("buyer", "Hi"), Turn("seller", "Hello")))
    chosen = [dialogue("tuning"), dialogue("held_out", TURNS[:3]), unlabelled]
    return quality(chosen, {"used": 3, "not JSON": 2})


def test_accuracy_counts_turns_with_words(data):
    tuning, held_out = data["parts"]
    assert (tuning["n"], tuning["right"], tuning["accuracy"]["mean"]) == (4, 3, 0.75)
    assert (held_out["n"], held_out["right"], held_out["accuracy"]["mean"]) == (3, 3, 1.0)
    assert data["counts"] == {"used": 3, "not JSON": 2, "not annotated": 1}


def test_precision_and_recall_are_those_of_the_confusion(data):
    rows = {(row["part"], row["intent"]): row for row in data["rows"]}
    agree, disagree = rows["tuning", "agree"], rows["tuning", "disagree"]
    assert (agree["annotated"], agree["read"], agree["right"]) == (1, 0, 0)
    assert agree["precision"] is None
    assert agree["recall"]["mean"] == 0
    assert disagree["precision"]["mean"] == 0
    assert disagree["recall"] is None
    assert {"part": "tuning", "annotated": "agree", "read": "disagree", "n": 1} in data["confusion"]


def test_prices_are_found_once_the_currency_is_declared(data):
    found = {(row["part"], row["currency"]): (row["found"], row["n"]) for row in data["prices"]}
    assert found["tuning", "USD"] == (2, 2)
    assert found["tuning", "INR"] == (0, 2)


def test_every_figure_follows_from_the_counts(data):
    assert figures(data) == data


def test_verify_names_a_figure_that_does_not_follow_from_its_counts(data, tmp_path):
    save("acts.json", {}, data, tmp_path)
    assert verify("acts.json", root=tmp_path) == []
    wrong = {**data["parts"][1], "right": 2}
    save("acts.json", {}, {**data, "parts": [data["parts"][0], wrong]}, tmp_path)
    assert verify("acts.json", root=tmp_path) == ["data.parts[1].right: recorded 2, played again 3"]


def test_dialogues_without_annotations_are_refused():
    with pytest.raises(ValueError, match="too few are annotated"):
        quality([dialogue("tuning")], {})


def test_the_recorded_figures_are_far_above_always_reading_the_usual_act():
    artifact = load("acts.json")
    _, held_out = artifact.data.parts
    assert held_out.n > 1000
    assert held_out.accuracy.low > 0.9 > 0.5 > held_out.usual_accuracy.high
    assert len(artifact.config["sha256"]) == 64
