"""The parser on a golden file of short utterances, labelled before it was run on them.

Each row of `utterances.csv` has a context, the words, the act that is meant, and in `read_as` what
the parser reads where it is wrong: a known failure, pinned so that a repaired one is noticed. Acts
are those of He et al. (2018); a price that is only refused is not proposed, and of several prices
the best for the speaker counts.
"""

import csv
from pathlib import Path

import pytest

from sauda.language.acts import DOLLARS, Context, parse

LISTED = {"list_price": 500.0, "currency": DOLLARS, "has_buttons": True}
CONTEXTS = {
    "first": Context("buyer", first=True, **LISTED),
    "open": Context("buyer", **LISTED),  # no price on the table
    "asked": Context("seller", asked=True, **LISTED),
    "buyer": Context("buyer", own=300.0, theirs=450.0, **LISTED),
    "seller": Context("seller", own=450.0, theirs=300.0, **LISTED),
    "dear": Context("buyer", 2500.0, own=1500.0, theirs=2400.0, currency=DOLLARS, has_buttons=True),
    "game": Context("buyer", 500.0, own=300.0, theirs=450.0),  # in rupees, closed by words
    "game_seller": Context("seller", 500.0, own=450.0, theirs=300.0),
    "game_dear": Context("seller", 30_000.0, own=24_000.0, theirs=18_000.0),
}
with (Path(__file__).parent / "utterances.csv").open(encoding="utf-8", newline="") as file:
    ROWS = [tuple(row.values()) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("context", "text", "meant", "read_as"), ROWS)
def test_an_utterance_is_read_as_it_is_meant_or_wrongly_as_the_file_says(
    context, text, meant, read_as
):
    read = str(parse(text, CONTEXTS[context]))
    assert read == (read_as or meant)
    assert read_as != meant, "the parser reads it rightly, so `read_as` is to be empty"


def test_the_file_has_many_utterances_each_once_and_says_how_many_are_read_wrongly():
    assert len({row[:2] for row in ROWS}) == len(ROWS) == 291
    assert sum(bool(read_as) for *_, read_as in ROWS) == 60
