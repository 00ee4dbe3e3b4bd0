"""What the bargain of the day does on each event; its moves are made by Haggle's callbacks.

A callback takes the screen and the values of its inputs, and returns new values by component.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import gradio as gr

from panels.challenges.daily import sauda_plays, view
from panels.challenges.daily.screen import Bargain, DailyScreen, DailyVisit
from panels.haggle.screen import Updates
from panels.haggle.talk.state import SILENT
from panels.haggle.talk.trouble import translated
from panels.ui.look import trouble
from panels.ui.provenance import missing
from sauda.llm.types import ReplyError
from sauda.records.kinds import ArtifactError
from sauda.sessions.bazaar import Game
from sauda.sessions.daily import LONGEST_CODE, BadLink, bargain_of, day_of, replayed, today

IN_ADDRESS = ("day", "moves")


def open_day(screen: DailyScreen, address: Mapping[str, str], visit: DailyVisit) -> Updates:
    """The bargain that the address names, today's where it names none.

    A game under way stays, drawn anew in the visitor's language; one that this browser has finished
    shows its end. Where the address names no such game, a sentence says so and the day's own opens.
    """
    asked = tuple(named and named[: LONGEST_CODE + 1] for named in map(address.get, IN_ADDRESS))
    begun = visit.bargain
    if visit.game and begun and asked in ((None, None), begun.asked):
        return screen.words(visit) | screen.show(visit)
    page, faults = screen.page, []
    day, friend = today(), None
    try:
        day = day_of(asked[0])
        friend = replayed(day, asked[1]) if asked[1] is not None else None
    except BadLink as error:
        faults.append(str(translated(error, visit.language)))
    game = _own(day, visit.kept.get(day.isoformat()))
    if game is None:
        game = bargain_of(day)
        faults.append(visit.translate("daily_kept_broken"))
    fresh = replace(visit, game=game, talk=SILENT, bargain=Bargain(day, asked, friend))
    notice = trouble(ValueError(" ".join(faults))) if faults else ""
    words = screen.words(fresh)
    words[page.message] |= {"value": ""}
    return words | screen.show(fresh) | {page.notice: notice}


def _own(day: date, code: str | None) -> Game | None:
    """The visitor's game of the day, the finished one if the browser kept it.

    None where what it kept cannot be replayed.
    """
    if code is None:
        return bargain_of(day)
    try:
        return replayed(day, code)
    except BadLink:
        return None


def watch(screen: DailyScreen, visit: DailyVisit) -> Updates:
    """The friend's game before the own one, for a visitor who asks for it."""
    if visit.game is None or visit.bargain is None or visit.bargain.friend is None:
        return screen.unchanged
    return screen.show(replace(visit, bargain=replace(visit.bargain, watched=True)))


def let_sauda_play(screen: DailyScreen, visit: DailyVisit) -> Updates:
    """Sauda's row in the table of a finished game, once it has played; why there is none."""
    page = screen.page
    if visit.game is None or visit.bargain is None or not visit.game.over:
        return {page.players: gr.skip()}  # Gradio takes no empty dictionary
    translate = visit.translate
    rows, said = [], sauda_plays.absent(sauda_plays.stage(), translate)
    if not said:
        try:
            rows = [
                replace(sauda_plays.standing_of(visit.bargain.day), name=translate("daily_sauda"))
            ]
            versus = view.versus(visit.you, *rows, translate)
            said = translate("daily_played", model=sauda_plays.MODEL, versus=versus)
        except ReplyError as error:
            said = translate("daily_failed", reason=translated(error, visit.language))
    try:
        shown = view.players(screen.rows(visit, *rows), said, translate)
    except ArtifactError as error:  # the pilot's weights
        shown = missing(error)
    return {page.players: shown, page.ask_sauda: gr.update(visible=not rows)}


def own_games(kept: object) -> dict[str, str]:
    """The finished games that a browser sent, day -> code: whatever else it sent is left out."""
    if not isinstance(kept, dict):
        return {}
    return {
        day: code
        for day, code in kept.items()
        if isinstance(code, str) and len(code) <= LONGEST_CODE
    }
