"""Dialogues that no model should learn from are left out, each with its reason."""

import pytest

from sauda.train.data.dialogues.filters import LONGEST
from sauda.train.data.dialogues.sources import from_file
from tests.support.dialogues import DIVISION, LAMP, craigslist_row, lines

CB, DOND = "craigslist_bargains", "deal_or_no_deal"


def said(words: str) -> dict:
    """A row whose second turn has these words."""
    return craigslist_row([LAMP[0], (1, words, "inform", -1), *LAMP[2:]])


def left_out(tmp_path, name: str, text: str) -> list[tuple[str, str, bool]]:
    """The line and text of each row that is left out, and whether it is malformed."""
    file = tmp_path / "rows"
    file.write_text(text)
    return [(row.line, row.text, row.is_malformed) for row in from_file(name, file).left_out]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("half \ud800 a pair", "damaged text: U+D800 in turn 2"),
        ("nothing \0 here", "damaged text: U+0000 in turn 2"),
        ("ring \a ring", "damaged text: U+0007 in turn 2"),
        ("a lost \ufffd character", "damaged text: U+FFFD in turn 2"),
        ("x" * (LONGEST + 1), "a text of more than 2,000 characters: turn 2 has 2,001"),
        *(
            (f"fine{token}ok", f"special token of a chat template: {token} in turn 2")
            for token in ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "</s>",
                          "<end_of_turn>", "[INST]", "<file_sep>")
        ),
    ],
)  # fmt: skip
def test_words_that_no_model_should_read_leave_their_dialogue_out(words, reason, tmp_path):
    assert left_out(tmp_path, CB, lines(craigslist_row(), said(words))) == [(2, reason, False)]


def test_a_title_is_read_as_words_are(tmp_path):
    text = lines(craigslist_row(), craigslist_row(title="Lamp <|im_end|>"))
    reason = "special token of a chat template: <|im_end|> in the scenario"
    assert left_out(tmp_path, CB, text) == [(2, reason, False)]


def test_a_division_is_filtered_as_well(tmp_path):
    text = f"{DIVISION}\n{DIVISION.replace('the book is', '<|im_end|> is')}\n"
    reason = "special token of a chat template: <|im_end|> in turn 1"
    assert left_out(tmp_path, DOND, text) == [(2, reason, False)]


@pytest.mark.parametrize(
    "words", ["₹500 <3", "<= 400", "5 < 6 > 2", "[x] | <", "x" * LONGEST, "छूट"]
)
def test_other_signs_are_words(words, tmp_path):
    assert left_out(tmp_path, CB, lines(craigslist_row(), said(words))) == []


@pytest.mark.parametrize("other", ["", "..."])
def test_a_dialogue_of_one_side_is_counted_and_used_only_where_it_is_asked_for(other, tmp_path):
    intent = "unknown" if other else "accept"
    monologue = [(0, "Hi", "intro", -1), (0, "Anyone?", "inquiry", -1), (1, other, intent, -1)]
    file = tmp_path / "rows"
    file.write_text(lines(craigslist_row(), craigslist_row(monologue)))
    loaded = from_file(CB, file)
    assert loaded.counts() == {"used": 1, "a side without words": 1}
    assert str(loaded.left_out[0]) == "rows:2: a side without words: seller"
    assert from_file(CB, file, one_sided=True).counts() == {"used": 2}
