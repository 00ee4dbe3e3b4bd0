"""What a visitor finds on opening the page: a shared game, the one that this tab had, or a new one.

A tab keeps the name of the session, which holds the game on the server, what the visitor chose,
and the words in the message box. None of it is hidden from the visitor. `sessionStorage` belongs to
one tab, so that two tabs keep two games; a browser may refuse it, and then a reload begins a new
game. An address is made of a finished game alone, since a seed stands for every hidden value.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import gradio as gr

from panels.haggle.callbacks import change_language
from panels.haggle.layout import FIRST, PICKS, Visit
from panels.haggle.opponents import (
    BUY,
    SELL,
    SELLING_TASK,
    choose_offered,
    chosen_opponent,
    game_at,
    market_choices,
    new_game,
    one_of,
    seat_and_market,
    seat_choices,
    values,
)
from panels.haggle.result import AGAINST, ASK, SEED, TASK, first_ask
from panels.haggle.screen import Screen, Updates
from panels.haggle.words import LANGUAGES
from panels.site.visitor import Gone, states_of
from panels.ui.look import note
from sauda.records.seeds import whole_seed
from sauda.sessions.bazaar import Game

GONE_TASKS = ("bazaar/bluff", "bazaar/career", "bazaar/crowd")
FORMER_NAMES = {"bazaar/seller_brief": SELLING_TASK}
VISIT, DRAFT = "sauda-haggle", "sauda-haggle-draft"  # keys of the storage


def open_page(screen: Screen, kept: str, query: Mapping[str, str], session: str) -> Updates:
    """The game that an address names, else the one that this tab was left with, else a new one.

    `kept` is what the tab kept, as JSON, `session` the name of the session that begins now.
    """
    found, remark = read_kept(kept, screen.models["buyer"]), ""
    visit = Visit(**found.picks) if found else Visit()
    known = {screen.page.session: session, screen.page.visit: visit}
    game = None
    try:
        if game := shared_game(query, screen.is_ready(query.get(AGAINST, ""), visit.backend)):
            remark = "shared_game"
        elif found:
            visit = _former(screen, found, visit)
            game = visit.game
    except Gone:
        remark = "gone" if found.moved else ""
    except MarketGone:
        remark = "gone_market"
    except ValueError:
        remark = "bad_link"
    try:
        ready = screen.is_ready(visit.opponent, visit.backend)
        game = game or new_game(visit.seat, visit.market, visit.opponent, ready)
    except ValueError as error:  # an artifact that the opponent needs is missing
        return known | screen.problem(error, visit)
    seat, market = seat_and_market(game.task_name)
    if seat == SELL == visit.seat:
        market = visit.market  # an item, or any
    visit = replace(visit, game=game, seat=seat, market=market, opponent=chosen_opponent(game))
    visit.generation.place = seat, market
    shown = screen.show(visit, note(visit.translate(remark)) if remark else "")
    # Its review comes by an event of its own, `callbacks.review_former`.
    return (
        known | shown | {screen.page.visit: replace(shown[screen.page.visit], review_request=None)}
    )


def _former(screen: Screen, found: "Kept", visit: Visit) -> Visit:
    """The visit of this tab before it was loaded again, as its pickers were; raises Gone."""
    (former,) = states_of(found.session, [screen.page.visit])
    if former is None or former.game is None:
        raise Gone(found.session)
    return replace(former, **found.picks, generation=visit.generation)


def open_pickers(screen: Screen, visit: Visit) -> Updates:
    """The pickers as the game that was opened came about.

    Where they are so already, only the items to sell: hundreds, which no page has to wait for.
    """
    page, translate = screen.page, visit.translate
    if all(getattr(visit, name) == getattr(FIRST, name) for name in PICKS):
        return {page.market: gr.Dropdown(market_choices(visit.seat))}
    return change_language(screen, visit, is_open=False) | {
        page.seat: gr.Radio(seat_choices(translate), value=visit.seat, label=translate("seat")),
        page.language: gr.Radio(value=visit.language, label=translate("language")),
        page.backend: gr.Radio(value=visit.backend, label=translate("backend")),
    }


# What a tab kept ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What a tab kept."""

    session: str  # its name before the reload
    picks: Mapping[str, str]  # by the names of PICKS
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
    seat = one_of((FIRST.seat, BUY), found.get("seat"))
    market, opponent = choose_offered(
        seat, found.get("market", FIRST.market), found.get("opponent", FIRST.opponent)
    )
    backend = one_of([FIRST.backend, *backends], found.get("backend"))
    language = one_of([FIRST.language, *values(LANGUAGES)], found.get("language"))
    picks = dict(zip(PICKS, (seat, market, opponent, backend, language), strict=True))
    return Kept(found["session"], picks, found.get("moved") is True)


# What an address names ----------------------------------------------------------------------------


class MarketGone(ValueError):
    """A link to a game of a market that the page no longer has."""


def shared_game(query: Mapping[str, str], ready: bool = True) -> Game | None:
    """The game that an address names, a hidden opponent hidden from the friend, too.

    None where it names none: an address of another tab may have a task and a seed. Raises
    ValueError for what the page does not offer, MarketGone for a game of the former open market:
    there the seed drew another deal, whose first ask was another one, and links named none.
    """
    if query.get("tab", "haggle") != "haggle" or not {TASK, SEED} <= query.keys():
        return None
    if query[TASK] in GONE_TASKS:
        raise MarketGone(query[TASK])
    task_name = FORMER_NAMES.get(query[TASK], query[TASK])
    game = game_at(task_name, whole_seed(query[SEED]), query.get(AGAINST, ""), ready)
    if game.play.state.table.standing and query.get(ASK) != str(first_ask(game)):
        raise MarketGone(task_name)
    return game


# Scripts of the browser --------------------------------------------------------------------------

# What the tab kept, in place of the empty field.
READ = f"""() => {{
  try {{ return [sessionStorage.getItem("{VISIT}") ?? ""]; }} catch {{ return [""]; }}
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
    {[TASK, SEED, AGAINST, ASK]}.forEach((key) => query.delete(key));
    if (address.href !== location.href) history.replaceState(null, "", address);
  }}
  try {{ return text || (sessionStorage.getItem("{DRAFT}") ?? ""); }} catch {{ return text; }}
}}"""
