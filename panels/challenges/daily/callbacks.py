"""What the bargain of the day does on each event; its moves are made by Haggle's callbacks.

A callback takes the screen and the values of its inputs, and returns new values by component.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace

import gradio as gr
from markupsafe import Markup

from panels.challenges.daily import sauda_plays, view
from panels.challenges.daily.layout import VISITOR
from panels.challenges.daily.screen import Bargain, DailyScreen, DailyVisit
from panels.challenges.reload import former_state
from panels.haggle.conversation import SILENT
from panels.haggle.opponents import opponent_name
from panels.haggle.resume import FIRST
from panels.haggle.screen import Updates
from panels.haggle.words import translated
from panels.ui.look import note, trouble
from panels.ui.wiring import region
from sauda.llm.types import ReplyError
from sauda.serve.leaderboard import Unavailable, own_board, token_digest
from sauda.serve.limits import Limiter
from sauda.sessions.daily import (
    LONGEST_CODE,
    BadLink,
    bargain_of,
    day_of,
    encode,
    replay,
    resume,
    today,
)

IN_ADDRESS = ("day", "moves")
COUNTED = Limiter(30, 600, seconds=3600.0)  # games of an address and in all, that are counted


def open_day(screen: DailyScreen, address: Mapping[str, str], visit: DailyVisit) -> Updates:
    """The bargain that the address names, today's where it names none.

    A game under way stays, drawn anew in the visitor's language; one that this browser has begun
    goes on, and one that it has finished shows its end. Where the address names no such game, a
    sentence says so and the day's own opens.
    """
    asked = tuple(named and named[: LONGEST_CODE + 1] for named in map(address.get, IN_ADDRESS))
    begun = visit.bargain
    if visit.game and begun and asked in ((None, None), begun.asked):
        return screen.show(visit)
    faults = []
    day, friend = today(), None
    try:
        day = day_of(asked[0])
        friend = replay(day, asked[1]) if asked[1] is not None else None
    except BadLink as error:
        faults.append(str(translated(error, visit.language)))
    opened = replace(visit, game=None, talk=SILENT, bargain=Bargain(day, asked, friend))
    try:
        fresh = _former(screen, opened) or _kept(opened)
    except BadLink:
        fresh = replace(opened, game=bargain_of(day))
        faults.append(visit.translate("daily_kept_broken"))
    notice = trouble(ValueError(" ".join(faults))) if faults else ""
    return screen.show(replace(fresh, notice=notice))


def _former(screen: DailyScreen, visit: DailyVisit) -> DailyVisit | None:
    """The visit with the game and the words of this tab's former session.

    None where that session is gone, or had another game than the one that the browser kept.
    """
    day = visit.bargain.day
    former = former_state(visit.former, screen.page.visit)
    if former is None or former.bargain is None or former.bargain.day != day:
        return None
    if visit.kept.get(day.isoformat()) not in (None, encode(former.game)):
        return None
    now = replace(visit.bargain, watched=former.bargain.watched)
    return replace(visit, game=former.game, talk=former.talk, bargain=now)


def _kept(visit: DailyVisit) -> DailyVisit:
    """The visit with the game that the browser kept of the day, else with a new one.

    Raises BadLink where what it kept cannot be replayed.
    """
    day = visit.bargain.day
    code = visit.kept.get(day.isoformat())
    return replace(visit, game=bargain_of(day) if code is None else resume(day, code))


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
                replace(
                    sauda_plays.standing_of(visit.game.play.seed), name=translate("daily_sauda")
                )
            ]
            versus = view.versus(visit.you, *rows, translate)
            model = opponent_name(FIRST.opponent, translate)
            said = translate("daily_played", model=model, versus=versus)
        except ReplyError as error:
            said = translate("daily_failed", reason=translated(error, visit.language))
    shown = screen.players(visit, said, *rows, ask=not rows)
    return {page.players: shown + region("daily-people", among_people(visit))}


def count_me(screen: DailyScreen, counted: bool, visit: DailyVisit) -> Updates:
    """Let the games of this browser count among people's from now on, or no longer."""
    kept = {day: code for day, code in visit.kept.items() if day != VISITOR}
    return {screen.page.kept: kept | ({VISITOR: secrets.token_hex(16)} if counted else {})}


def among_people(visit: DailyVisit) -> Markup:
    """The visitor's place among all whose games of the day count; "" where the own one does not."""
    visitor = visit.kept.get(VISITOR)
    if visitor is None:
        return Markup("")
    if not COUNTED.take(visit.address):
        return note(visit.translate("people_often"))
    day, mine = visit.bargain.day.isoformat(), visit.you.grade
    try:
        own_board().add_day(day, token_digest(visitor), mine)
        grades = own_board().grades_of_day(day)
    except Unavailable as error:
        return trouble(error)
    place = 1 + sum(grade > mine for grade in grades)
    return note(visit.translate("daily_among", place=place, all=len(grades)))


def own_games(kept: object) -> dict[str, str]:
    """What a browser sent, day -> code and VISITOR -> token: whatever else it sent is left out."""
    if not isinstance(kept, dict):
        return {}
    return {
        day: code
        for day, code in kept.items()
        if isinstance(code, str) and len(code) <= LONGEST_CODE
    }
