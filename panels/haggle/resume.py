"""What a browser keeps of a game: its tab's memory over a reload, and the address for a friend.

The tab keeps the name of the session, which holds the game on the server, what the visitor chose,
and the words in the message box. None of it is hidden from the visitor. `sessionStorage` belongs to
one tab, so that two tabs keep two games; a browser may refuse it, and then a reload begins a new
game. An address is made of a finished game alone, since a seed stands for every hidden value.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from panels.haggle.choices import (
    ANY_ITEM,
    BUY,
    SELL,
    SELLING_TASK,
    chosen_opponent,
    offered,
    one_of,
    values,
)
from panels.haggle.opponents import SERVED
from panels.haggle.words import ENGLISH, LANGUAGES
from sauda.llm.backends import THIS_PAGE
from sauda.records.seeds import whole_seed
from sauda.sessions.bazaar import Game

KEYS = TASK, SEED, AGAINST, ASK = "task", "seed", "against", "ask"  # of the address
GONE_TASKS = ("bazaar/bluff", "bazaar/career", "bazaar/crowd")
FORMER_NAMES = {"bazaar/seller_brief": SELLING_TASK}
VISIT, DRAFT = "sauda-haggle", "sauda-haggle-draft"  # keys of the storage


@dataclass(frozen=True)
class Picks:
    """What the visitor chose in the pickers."""

    seat: str = SELL
    market: str = ANY_ITEM
    opponent: str = SERVED[0]
    backend: str = THIS_PAGE
    language: str = ENGLISH


FIRST = Picks()  # as the page opens


@dataclass(frozen=True)
class Kept:
    """What a tab kept."""

    session: str  # its name before the reload
    picks: Picks
    moved: bool  # whether the visitor had said anything


def read_kept(text: str, backends: Collection[str]) -> Kept | None:
    """What a tab kept, from the JSON that it sent; None for anything else.

    Choices that the page does not have are replaced by those it opens with.
    """
    try:
        found = json.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("session"), str):
        return None
    chosen = {field.name: found.get(field.name) for field in fields(Picks)}
    texts = {name: value for name, value in chosen.items() if isinstance(value, str)}
    picks = possible(replace(FIRST, **texts), backends)
    return Kept(found["session"], picks, found.get("moved") is True)


def possible(picks: Picks, backends: Collection[str]) -> Picks:
    """The choices, those that the page does not have replaced by the ones it opens with."""
    seat = picks.seat if picks.seat in (BUY, SELL) else FIRST.seat
    market, opponent = offered(seat, picks.market, picks.opponent)
    return Picks(
        seat,
        market,
        opponent,
        one_of([FIRST.backend, *backends], picks.backend),
        one_of([FIRST.language, *values(LANGUAGES)], picks.language),
    )


# Scripts of the browser --------------------------------------------------------------------------

# Arguments: the session generation, and what is to be sent in its place.
READ = f"""(generation) => {{
  let kept = "";
  try {{ kept = sessionStorage.getItem("{VISIT}") ?? ""; }} catch {{ /* the browser refuses */ }}
  return [generation, kept];
}}"""
# Before the page has answered, it has no session, and nothing to keep.
WRITE = f"""(session, seat, market, opponent, backend, language, chat) => {{
  if (!session) return;
  const moved = (chat ?? []).some((message) => message.role === "user");
  const kept = {{ session, seat, market, opponent, backend, language, moved }};
  try {{ sessionStorage.setItem("{VISIT}", JSON.stringify(kept)); }} catch {{ /* refused */ }}
}}"""
WRITE_DRAFT = f"""(session, text) => {{
  if (!session) return;
  try {{ sessionStorage.setItem("{DRAFT}", text ?? ""); }} catch {{ /* refused */ }}
}}"""
# What was typed before the page had answered stays. The address of a shared game is taken away,
# so that a reload finds the game as it was left; other tabs and sub-tabs have addresses of their
# own.
READ_DRAFT = f"""(text) => {{
  const address = new URL(location), query = address.searchParams;
  if ((query.get("tab") ?? "haggle") === "haggle" && !query.has("part")) {{
    {[*KEYS]}.forEach((key) => query.delete(key));
    if (address.href !== location.href) history.replaceState(null, "", address);
  }}
  try {{ return text || (sessionStorage.getItem("{DRAFT}") ?? ""); }} catch {{ return text; }}
}}"""


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
    task_name = FORMER_NAMES.get(query[TASK], query[TASK])
    return Setup(task_name, whole_seed(query[SEED]), query.get(AGAINST, ""), query.get(ASK, ""))


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
