"""The address that opens a game for a friend: its task, its seed, and the choice of opponent.

A link is made of a finished game alone, since a seed stands for every hidden value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from panels.haggle.choices import chosen_opponent
from sauda.records.seeds import whole_seed
from sauda.sessions.bazaar import Game

KEYS = TASK, SEED, AGAINST, ASK = "task", "seed", "against", "ask"  # of the address
GONE_TASKS = ("bazaar/bluff", "bazaar/career", "bazaar/crowd")


class MarketGone(ValueError):
    """A link to a game of a market that the page no longer has."""


@dataclass(frozen=True)
class Setup:
    """The game that a link opens; nothing in it is checked but the seed's form."""

    task_name: str
    seed: int
    opponent: str  # as chosen: a hidden one is hidden from the friend, too
    ask: str = ""  # the first ask in the open market, by which its game is known again


def to_query(game: Game) -> str:
    """The query string that opens the page at the setup of a finished game, with its "?"."""
    if not game.over:
        raise ValueError("a link would tell the seed of a game that still runs")
    setup = {TASK: game.task_name, SEED: game.play.seed, AGAINST: chosen_opponent(game)}
    if game.play.state.table.standing:
        setup[ASK] = first_ask(game)
    return "?" + urlencode({"tab": "haggle", **setup}, safe="/")


def from_query(query: Mapping[str, str]) -> Setup | None:
    """The setup that an address names; None where it names none, ValueError for a bad seed.

    An address of another tab names none, though it may have a task and a seed.
    """
    if query.get("tab", "haggle") != "haggle" or not {TASK, SEED} <= query.keys():
        return None
    if query[TASK] in GONE_TASKS:
        raise MarketGone(query[TASK])
    return Setup(query[TASK], whole_seed(query[SEED]), query.get(AGAINST, ""), query.get(ASK, ""))


def check_market(game: Game, setup: Setup) -> Game:
    """The game that a setup opens; raises MarketGone where the link is of the former open market.

    There the seed drew another deal, whose first ask was another one; its links name none.
    """
    if game.play.state.table.standing and setup.ask != str(first_ask(game)):
        raise MarketGone(setup.task_name)
    return game


def first_ask(game: Game) -> int:
    """The seller's opening ask, in rupees."""
    return int(game.play.state.table.asks[0])
