"""Bargain of the day: one item and seed for everybody, once a day.

`layout.py` places the components, `callbacks.py` says what happens, and this module says when.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradio as gr

from panels.challenges.daily import callbacks
from panels.challenges.daily.layout import FORMER, NAME, lay_out
from panels.challenges.daily.screen import DailyScreen, DailyVisit
from panels.challenges.language import lead
from panels.challenges.reload import keep, read_former
from panels.haggle import callbacks as haggle
from panels.haggle.screen import Updates
from panels.site.visitor import visitor_of
from panels.ui.look import QUEUED, QUIET
from panels.ui.wiring import event_value, named, sent_number
from sauda.llm.backends import THIS_PAGE

__all__ = ["NAME", "build"]

ORIGIN = re.compile(r"https?://[\w.\-]+(:\d{1,5})?", re.ASCII)


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on the other sub-tab."""
    page = lay_out()
    screen = DailyScreen(page, {})
    values = [page.visit, page.message, language, page.kept]

    def on_visit(callback: Callable) -> Callable:
        def called(request: gr.Request, *given: Any) -> Updates:
            own = len(given) - len(values)
            return callback(screen, *given[:own], _visit(request, *given[own:]))

        return named(called, callback)

    def open_day(request: gr.Request, *given: Any) -> Updates:
        visit = replace(_visit(request, *given[:-1]), former=given[-1])
        opened = callbacks.open_day(screen, request.query_params, visit)
        return opened | {page.session: visitor_of(request).session}

    def press(event: gr.EventData, request: gr.Request, *given: Any) -> Updates:
        visit = _visit(request, *given)
        if event_value(event, "press") == "watch":
            return callbacks.watch(screen, visit)
        return haggle.press_quick_move(
            screen, sent_number(event, "number"), sent_number(event, "turns"), visit
        )

    starts = [tab.select, language.change]  # a language that the browser kept arrives late
    opening = gr.on(
        starts, named(open_day, callbacks.open_day), [*values, page.session],
        [*page.of_game, page.session], js=read_former(FORMER), trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    gr.on(
        starts, on_visit(DailyScreen.words), values, page.with_words, trigger_mode="always_last",
        **QUIET,
    )  # fmt: skip
    keep(FORMER, page.session, page.message, opening)
    lead(page.language, language)
    gr.on(
        [page.message.submit, page.send.click],
        on_visit(haggle.send), values, [*page.of_game, page.message], **QUIET,
    )  # fmt: skip
    gr.on(
        [page.moves.click, page.head.click],
        named(press, haggle.press_quick_move), values, page.of_game, **QUIET,
    )  # fmt: skip
    counting = page.counted.input(
        on_visit(callbacks.count_me), [page.counted, *values], page.kept, **QUIET
    )
    plays = {
        "fn": on_visit(callbacks.let_sauda_play), "inputs": values, "outputs": page.players,
        **QUEUED, "concurrency_id": "daily", "concurrency_limit": 1,
    }  # fmt: skip
    # The table of players appears when a game ends: no other move costs a queued event.
    gr.on([page.players.change, page.players.click], **plays)
    counting.then(**plays)


def _visit(request: gr.Request, kept: Any, text: str, language: str, games: Any) -> DailyVisit:
    origin = request.headers.get("origin", "")
    return replace(
        kept or DailyVisit(None, None, "", THIS_PAGE, language),
        text=text, language=language, kept=callbacks.own_games(games),
        address=visitor_of(request).address, former="",
        origin=origin if ORIGIN.fullmatch(origin) else "",
    )  # fmt: skip
