"""The reading of acts, measured on dialogues whose figures can be counted by hand."""

from dataclasses import replace
from itertools import count

import pytest

from sauda.__main__ import main
from sauda.experiments.reading import ACTS_FILE, acts, part_of
from sauda.experiments.verify import verify
from sauda.language.acts import DOLLARS, Act, Dialogue, Turn
from sauda.records.store import save

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


def measure() -> dict:
    unlabelled = replace(dialogue("tuning"), turns=(Turn("buyer", "Hi"), Turn("seller", "Hello")))
    chosen = [dialogue("tuning"), dialogue("held_out", TURNS[:3]), unlabelled]
    return acts(dialogues=chosen, counts={"used": 3, "not JSON": 2})


def test_turns_with_words_are_counted_by_act_and_prices_by_the_declared_currency():
    data = measure()
    tuning, held_out = data["parts"]
    assert (tuning["n"], tuning["right"], tuning["accuracy"]["mean"]) == (4, 3, 0.75)
    assert (held_out["n"], held_out["right"], held_out["usual_of"]) == (3, 3, [1])
    rows = {(row["part"], row["intent"]): row for row in data["rows"]}
    agree, disagree = rows["tuning", "agree"], rows["tuning", "disagree"]
    assert (agree["annotated"], agree["read"], agree["precision"]) == (1, 0, None)
    assert (disagree["annotated"], disagree["read"], disagree["recall"]) == (0, 1, None)
    assert {"part": "tuning", "annotated": "agree", "read": "disagree", "n": 1} in data["confusion"]
    found = {(row["part"], row["currency"]): (row["found"], row["n"]) for row in data["prices"]}
    assert (found["tuning", "USD"], found["tuning", "INR"]) == ((2, 2), (0, 2))
    assert data["counts"] == {"used": 3, "not JSON": 2, "not annotated": 1}


def test_verify_names_a_figure_that_does_not_follow_from_its_counts(tmp_path):
    data = measure()
    data["parts"][1]["right"] = 2
    save(ACTS_FILE, {}, data, tmp_path)
    assert verify(ACTS_FILE, root=tmp_path) == ["data.parts[1].right: recorded 2, played again 3"]
    assert verify(ACTS_FILE) == []


def test_what_cannot_be_measured_is_refused(capsys):
    with pytest.raises(ValueError, match="too few are annotated"):
        acts(dialogues=[dialogue("tuning")], counts={})
    assert main(["run", "acts"]) == 2
    assert "python -m sauda acts --data FILE" in capsys.readouterr().err
