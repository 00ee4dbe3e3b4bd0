"""A visitor's line in a game at a given table, and what the page does with it."""

import csv
from dataclasses import replace
from pathlib import Path

from env import Accept, Item, Offer
from env.bazaar.types import State
from panels.haggle.choices import SELLING_TASK
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.visitor_text import NoMove, play_text
from sauda.language.stances import relative
from sauda.sessions.bazaar import Game, start

CASES = Path(__file__).parents[1] / "cases"
FILES = ("visitor_lines.csv", "price_lines.csv")
ASKS = {
    "several",
    "unclear",
    "vague",
    "each",
    "no_own",
    "no_theirs",
    "nothing_yet",
}  # kinds of talk


def rows(*parts: str) -> list[dict[str, str]]:
    """The labelled lines of the given parts: 2 prices, 3 acceptance, 4 small talk, 5 numbers."""
    found = []
    for name in FILES:
        with (CASES / name).open(encoding="utf-8", newline="") as lines:
            found += [row for row in csv.DictReader(lines) if row["part"] in parts]
    return found


def game_of(row: dict[str, str]) -> Game:
    """A game in which it is the visitor's turn at the table of `row`."""
    seat, limit = row["seat"], float(row["limit"])
    game = start("bazaar/open", "", 5) if seat == "buyer" else start(SELLING_TASK, "boulware", 5)
    own, theirs = (tuple(map(float, filter(None, [row[key]]))) for key in ("own", "standing"))
    asks, bids = (theirs, own) if seat == "buyer" else (own, theirs)
    item = Item(row["item"], "home", "good", int(row["list_price"]))
    table = game.play.state.table._replace(item=item, asks=asks, bids=bids, rounds=9, round=1)
    private = dict(game.play.state.private)
    private[seat] = {**private[seat], "reservation": limit}
    if seat == "buyer":
        private[seat] |= {"purse": 10 * item.list_price}
    return replace(game, play=replace(game.play, state=State(table, seat, private)))


def outcome(row: dict[str, str]) -> tuple[str, float | None]:
    """What the page does with the line of `row`, and the price if it names one.

    "offer" is a price as said, which may be asked back because it is far off or a loss; "propose" a
    price that was worked out and waits for a yes; "rule" an offer or a yes that breaks a rule.
    """
    game = game_of(row)
    try:
        after = play_text(game, row["text"], SILENT)
    except NoMove as no_move:
        kind = no_move.kind
        return ("ask_back" if kind in ASKS else "rule" if "rule" in kind else "talk"), None
    if (waiting := after.unconfirmed) is not None:
        if isinstance(waiting, Accept):
            return "accept", None
        return ("propose" if relative(waiting.message) else "offer"), waiting.price
    action = after.play.turns[len(game.play.turns)].action
    if isinstance(action, Offer):
        return "offer", action.price
    return ("accept" if isinstance(action, Accept) else "walk"), None
