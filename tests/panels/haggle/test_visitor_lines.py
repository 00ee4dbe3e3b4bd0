"""Labelled lines of visitors, each in a game at a given table (tests/cases).

`visitor_lines.csv` is by one who saw no code. Parts: 2 prices that are no offers, 3 acceptances,
4 small talk, 5 numbers.
"""

from dataclasses import replace

import pytest

from env import Accept, Item, Move, Offer, WalkAway, speech
from env.bazaar.types import State
from panels.haggle.conversation import SILENT, WORDS_WAIT, NoMove, chat_of, converse, play_text
from panels.haggle.opponents import SELLING_TASK
from sauda.language.lines import hindi_names
from sauda.language.money import prices
from sauda.language.small_talk import kind_of_talk
from sauda.language.stances import relative
from sauda.sessions.bazaar import Game, start
from tests.support.cases import cases, rows

ASKS = {"several", "unclear", "vague", "each", "no_own", "no_theirs", "nothing_yet"}


LINES = [*rows("visitor_lines.csv"), *rows("price_lines.csv")]
PRICES = [row for row in LINES if row["part"] in "25"]
ACCEPTANCES, TALK = ([row for row in rows("visitor_talk.csv") if row["part"] == part]
                     for part in "34")  # fmt: skip
LAMP = {"seat": "buyer", "item": "lamp", "list_price": "2400", "limit": "1500", "standing": "1800",
        "own": "900"}  # fmt: skip
by_id = {"argnames": "row", "ids": lambda row: row["id"]}


def game_of(row: dict[str, str]) -> Game:
    """A game in which it is the visitor's turn at the table of `row`."""
    seat, buys = row["seat"], row["seat"] == "buyer"
    game = start("bazaar/open", "", 5) if buys else start(SELLING_TASK, "boulware", 5)
    own, theirs = (tuple(map(float, filter(None, [row[key]]))) for key in ("own", "standing"))
    item = Item(row["item"], "home", "good", int(row["list_price"]))
    moves = [Move(seat, Offer(price)) for price in own]
    other = "seller" if buys else "buyer"
    moves += [Move(other, Offer(price, row.get("asked", ""))) for price in theirs]
    asks, bids = (theirs, own) if buys else (own, theirs)
    table = game.play.state.table._replace(
        item=item, asks=asks, bids=bids, moves=tuple(moves), rounds=9, round=1
    )
    purse = {"purse": 10 * item.list_price} if buys else {}
    private = dict(game.play.state.private)
    private[seat] = {**private[seat], "reservation": float(row["limit"]), **purse}
    return replace(game, play=replace(game.play, state=State(table, seat, private)))


def outcome(row: dict[str, str]) -> tuple[str, float | None, str]:
    """What the page does with the line of `row`, the price if it names one, and the kind of talk.

    "offer" is a price as said, which may be asked back because it is far off or a loss; "propose" a
    price that was worked out and waits for a yes; "rule" an offer or a yes that breaks a rule.
    """
    game = game_of(row)
    try:
        after = play_text(game, row["text"])
    except NoMove as no_move:
        kind = no_move.kind
        return "ask_back" if kind in ASKS else "rule" if "rule" in kind else "talk", None, kind
    waits = after.unconfirmed
    action = waits or after.play.turns[len(game.play.turns)].action
    if not isinstance(action, Offer):
        return {Accept: "accept", WalkAway: "walk"}[type(action)], None, "asked" * bool(waits)
    proposed = waits and relative(action.message)
    return "propose" if proposed else "offer", action.price, "asked" * bool(waits)


@pytest.mark.parametrize(argvalues=PRICES, **by_id)
def test_a_line_does_what_its_writer_meant(row):
    assert outcome(row)[:2] == (row["expect"], float(row["price"]) if row["price"] else None)


@pytest.mark.parametrize(argvalues=ACCEPTANCES, **by_id)
def test_an_acceptance_in_any_words_takes_what_stands_and_no_other_price(row):
    does, _, kind = outcome(row)
    expected = "ask_back" if row["topic"] == "loss" else row["expect"]
    asked = kind in ("asked", "nothing_yet")
    assert ("ask_back" if asked else "talk" if kind else does) == expected, row["text"]
    if row["expect"] == "accept" and not prices(row["text"]):
        other = f"{row['text'].rstrip('.!।')}, {int(row['standing']) - 37}"
        does, _, kind = outcome(row | {"text": other})
        assert does != "accept" or kind, other


@pytest.mark.parametrize(argvalues=TALK, **by_id)
def test_small_talk_is_answered_fittingly(row):
    kind = outcome(row)[2]
    waits = kind == WORDS_WAIT and speech.act_in(row["text"])[0]  # for a price to go with
    assert waits or kind in row["kinds"].split("|"), row["text"]


@pytest.mark.parametrize(("text", "_"), cases("relative_prices.csv", "refuse"))
def test_no_game_closes_at_a_price_that_the_visitor_refuses(text, _):
    for task, seed in (("classic/single_deal", 5), ("bazaar/open", 1), ("bazaar/rushed", 2)):
        game = start(task, "", seed)
        after, talk = converse(game, SILENT, text.format(f"{game.observation.ask:g}"))
        assert after == game
        assert talk.exchanges[-1].kind in ("refused", "press")


RELATIVE = [(does, *row) for does in ("propose", "offer")
            for row in cases("relative_prices.csv", does)]  # fmt: skip


@pytest.mark.parametrize(("does", "text", "price"), RELATIVE)
def test_a_relative_price_is_worked_out_and_a_yes_offers_it(does, text, price):
    row = LAMP | {"limit": "2300", "text": text}
    assert outcome(row)[:2] == (does, int(price))
    if does == "propose":
        game = game_of(row)
        asked = play_text(game, text)
        assert asked.play == game.play
        assert f"₹{int(price):,}" in chat_of(asked).messages[-1]["content"]
        assert play_text(asked, "yes").play.turns[len(game.play.turns)].action.price == int(price)


@pytest.mark.parametrize(
    ("text", "kind"), [("1e400 more", "high"), ("1e400 less", "zero"), ("1e400 % of that", "high")]
)
def test_a_change_beyond_all_prices_is_answered_in_words(text, kind):
    assert outcome(LAMP | {"limit": "2300", "text": text}) == ("talk", None, kind)


@pytest.mark.parametrize("yes", ["yes", "haan", "that works for me"])
def test_a_condition_is_named_before_the_deal_is_closed(yes):
    row = next(row for row in ACCEPTANCES if row["topic"] == "conditional")
    game, talk = converse(game_of(row), SILENT, row["text"])
    assert "condition" in chat_of(game, talk).messages[-1]["content"]
    closed, _ = converse(game, talk, yes)
    assert closed.play.state.table.past[-1].price == float(row["standing"])


def test_neither_a_plain_word_nor_an_item_of_the_catalogue_is_an_insult():
    texts = ["Is this still for sale?", "What is the sale price of the bed sheet?", "हाथ छोड़िए"]
    texts += ["a full sheet of glass", "chhor do na", *hindi_names(), *hindi_names().values()]
    assert not [text for text in texts if kind_of_talk(text) == "insult"]
