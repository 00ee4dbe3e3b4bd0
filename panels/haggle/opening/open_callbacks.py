"""What the Haggle tab shows when the page opens: a friend's game, the game as it was left, or new.

Callbacks as in `callbacks.py`.
"""

from collections.abc import Mapping
from dataclasses import replace

import gradio as gr

from panels.haggle.callbacks import change_language
from panels.haggle.choices import (
    SELL,
    chosen_opponent,
    game_at,
    new_game,
    seat_and_market,
    seat_choices,
)
from panels.haggle.layout import SessionGeneration, choices_fold
from panels.haggle.opening.kept import FIRST, Kept, Picks, possible, read_kept
from panels.haggle.opening.link import MarketGone, Setup, check_market, from_query
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.words import translator
from panels.site.sessions import Gone, states_of
from panels.ui.look import note
from sauda.sessions.bazaar import Game


def open_page(
    screen: Screen,
    generation: SessionGeneration,
    kept: str,
    query: Mapping[str, str],
    session: str,
) -> Updates:
    """The game that an address names, else the one that this tab was left with, else a new one.

    `kept` is what the tab kept, as JSON, `session` the name of the session that begins now.
    """
    generation.advance()
    page, backends = screen.page, screen.models["buyer"]
    found = read_kept(kept, backends)
    picks = found.picks if found else FIRST
    known = {page.session: session, page.clock: gr.Timer(active=True)}
    try:
        visit, remark = _visit(screen, found, picks, query)
    except ValueError as error:  # an artifact that the opponent needs is missing
        return screen.problem(error, picks.language) | known
    picks = possible(_picks_of(visit.game, picks), backends)
    generation.place = picks.seat, picks.market
    shown = screen.show(visit, note(visit.translate(remark)) if remark else "")
    return shown | _pickers(screen, picks) | known


def _visit(
    screen: Screen, found: Kept | None, picks: Picks, query: Mapping[str, str]
) -> tuple[Visit, str]:
    """The visit that begins, and the key of what is said about it."""

    def visit(game: Game) -> Visit:
        return Visit(game, None, "", picks.backend, picks.language)

    remark = ""
    try:
        if setup := from_query(query):
            return visit(_shared(screen, setup, picks)), "shared_game"
        if found:
            return _former(screen, found), ""
    except Gone:
        remark = "gone" if found.moved else ""
    except MarketGone:
        remark = "gone_market"
    except ValueError:
        remark = "bad_link"
    ready = screen.is_ready(picks.opponent, picks.backend)
    return visit(new_game(picks.seat, picks.market, picks.opponent, ready)), remark


def _shared(screen: Screen, setup: Setup, picks: Picks) -> Game:
    ready = screen.is_ready(setup.opponent, picks.backend)
    return check_market(game_at(setup.task_name, setup.seed, setup.opponent, ready), setup)


def _former(screen: Screen, found: Kept) -> Visit:
    """The visit of this tab before it was loaded again; raises Gone."""
    page, picks = screen.page, found.picks
    game, first, talk = states_of(found.session, (page.game, page.first_game, page.talk))
    if game is None:
        raise Gone(found.session)
    return Visit(game, first, "", picks.backend, picks.language, talk)


def _picks_of(game: Game, picks: Picks) -> Picks:
    """The choices that led to `game`, where `picks` are others."""
    seat, market = seat_and_market(game.task_name)
    if seat == SELL == picks.seat:
        market = picks.market  # an item, or any
    return replace(picks, seat=seat, market=market, opponent=chosen_opponent(game))


def _pickers(screen: Screen, picks: Picks) -> Updates:
    """The pickers with these choices; nothing where they are those of the page that opens."""
    if picks == FIRST:
        return {}
    page, translate = screen.page, translator(picks.language)
    shown = change_language(screen, picks.seat, picks.market, picks.opponent, picks.language)
    return shown | {
        page.choose: choices_fold(translate),
        page.seat: gr.Radio(seat_choices(translate), value=picks.seat, label=translate("seat")),
        page.language: gr.Radio(value=picks.language, label=translate("language")),
        page.backend: gr.Radio(value=picks.backend, label=translate("backend")),
    }
