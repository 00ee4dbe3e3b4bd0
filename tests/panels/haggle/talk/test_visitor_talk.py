"""Acceptances in people's words, and small talk, each line in a game at a given table."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from env import Accept, Item, Move, Offer, WalkAway
from env.bazaar.types import State
from panels.haggle.choices import SELLING_TASK
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.visitor_text import NoMove, converse, play_text
from sauda.language.lines import ANSWERS, hindi_names
from sauda.language.money import prices
from sauda.language.small_talk import kind_of_talk
from sauda.sessions.bazaar import Game, start

TESTS = Path(__file__).parents[3]
CASES = TESTS / "cases" / "visitor_talk.csv"
ASKS_FOR_A_PRICE = "nothing_yet"  # the kind of answer to a yes where nothing stands


def _rows(part: str) -> list[dict[str, str]]:
    with CASES.open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["part"] == part]


def _game(row: dict[str, str]) -> Game:
    """A game in which it is the visitor's turn at the table of `row`."""
    seat, buys = row["seat"], row["seat"] == "buyer"
    game = start("bazaar/open", "", 5) if buys else start(SELLING_TASK, "boulware", 5)
    own, theirs = (tuple(map(float, filter(None, [row[key]]))) for key in ("own", "standing"))
    item = Item(row["item"], "home", "good", int(row["list_price"]))
    other = "seller" if buys else "buyer"
    moves = [Move(seat, Offer(price)) for price in own]
    moves += [Move(other, Offer(price, row["asked"])) for price in theirs]
    asks, bids = (theirs, own) if buys else (own, theirs)
    table = game.play.state.table._replace(
        item=item, asks=asks, bids=bids, moves=tuple(moves), rounds=9, round=1
    )
    purse = {"purse": 10 * item.list_price} if buys else {}
    private = dict(game.play.state.private)
    private[seat] = {**private[seat], "reservation": float(row["limit"]), **purse}
    return replace(game, play=replace(game.play, state=State(table, seat, private)))


def _outcome(row: dict[str, str]) -> tuple[str, str]:
    """What the page does with the line of `row`, and the kind of its answer where it is talk."""
    game = _game(row)
    try:
        after = play_text(game, row["text"])
    except NoMove as no_move:
        is_asked = no_move.kind == ASKS_FOR_A_PRICE
        return "ask_back" if is_asked else "talk", no_move.kind
    if after.unconfirmed is not None:
        return "ask_back", ""
    action = after.play.turns[len(game.play.turns)].action
    return {Accept: "accept", WalkAway: "walk", Offer: "offer"}[type(action)], ""


@pytest.mark.parametrize("row", _rows("3"), ids=lambda row: row["id"])
def test_an_acceptance_in_any_words_takes_what_stands(row):
    expected = "ask_back" if row["topic"] == "loss" else row["expect"]
    assert _outcome(row)[0] == expected, row["text"]


@pytest.mark.parametrize("row", _rows("4"), ids=lambda row: row["id"])
def test_small_talk_is_answered_fittingly(row):
    outcome, kind = _outcome(row)
    assert outcome == "talk", row["text"]
    assert kind in row["kinds"].split("|"), (row["text"], kind)


ACCEPTANCES = [r for r in _rows("3") if r["expect"] == "accept" and not prices(r["text"])]


@pytest.mark.parametrize("row", ACCEPTANCES, ids=lambda row: row["id"])
def test_an_acceptance_that_names_another_price_accepts_nothing(row):
    other = f"{row['text'].rstrip('.!।')}, {int(row['standing']) - 37}"
    assert _outcome(row | {"text": other})[0] != "accept", other


@pytest.mark.parametrize("yes", ["yes", "haan", "that works for me"])
def test_a_condition_is_named_before_the_deal_is_closed(yes):
    row = next(row for row in _rows("3") if row["topic"] == "conditional")
    game, talk = converse(_game(row), SILENT, row["text"])
    assert "condition" in chat_of(game, talk).messages[-1]["content"]
    closed, _ = converse(game, talk, yes)
    assert closed.play.state.table.past[-1].price == float(row["standing"])


@pytest.mark.parametrize(
    "text",
    [
        "Is this still for sale?",
        "Is it the full set?",
        "What is the sale price of the bed sheet?",
        "a full sheet of glass",
        "chhor do na",
        "हाथ छोड़िए",
    ],
)
def test_a_plain_word_is_no_insult(text):
    assert kind_of_talk(text) != "insult"


def test_no_item_of_the_catalogue_is_an_insult():
    names = [*hindi_names(), *hindi_names().values()]
    assert not [name for name in names if kind_of_talk(name) == "insult"]


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.parametrize("seat", ["buyer", "seller"])
def test_an_answer_about_the_item_says_nothing_that_the_listing_does_not_hold(language, seat):
    for kind in _kinds():
        lines = ANSWERS[language][seat].get(kind) or ANSWERS[language]["both"][kind]
        assert len(set(lines)) > 1, kind
        assert not any(prices(line.format(item="lamp", condition="", list="", own="", most=""))
                       for line in lines)  # fmt: skip


def _kinds() -> set[str]:
    listed = {kind for row in _rows("4") for kind in row["kinds"].split("|")}
    return listed - {"price"}
