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
from panels.ui.wiring import named
from sauda.llm.backends import THIS_PAGE

__all__ = ["NAME", "build"]

ORIGIN = re.compile(r"https?://[\w.\-]+(:\d{1,5})?", re.ASCII)


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on the other sub-tab."""
    page = lay_out()
    screen = DailyScreen(page, {})
    values = [page.game, page.message, language, page.talk, page.bargain, page.kept]

    def on_visit(callback: Callable, *bound: Any) -> Callable:
        def called(request: gr.Request, *given: Any) -> Updates:
            own = len(given) - len(values)
            visit = _visit(request, *given[own:])
            return callback(screen, *bound, *given[:own], visit)

        return named(called, callback)

    def open_day(request: gr.Request, *given: Any) -> Updates:
        visit = replace(_visit(request, *given[:-1]), former=given[-1])
        opened = callbacks.open_day(screen, request.query_params, visit)
        return opened | {page.session: visitor_of(request).session}

    opening = gr.on(  # a language that the browser kept arrives after the page
        [tab.select, language.change],
        named(open_day, callbacks.open_day), [*values, page.session], page.with_words,
        js=read_former(FORMER), trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    keep(FORMER, page.session, page.message, opening)
    lead(page.language, language)
    gr.on(
        [page.message.submit, page.send.click],
        on_visit(haggle.send), values, page.of_game, **QUIET,
    )  # fmt: skip
    for number, button in enumerate(page.quick_moves):
        press = on_visit(haggle.press_quick_move, number)
        button.click(press, [page.shown_turns, *values], page.of_game, **QUIET)
    page.watch.click(on_visit(callbacks.watch), values, page.of_game, **QUIET)
    counting = page.counted.input(
        on_visit(callbacks.count_me), [page.counted, *values], page.kept, **QUIET
    )
    plays = {
        "fn": on_visit(callbacks.let_sauda_play), "inputs": values, "outputs": page.of_players,
        **QUEUED, "concurrency_id": "daily", "concurrency_limit": 1,
    }  # fmt: skip
    # The table of players appears when a game ends: no other move costs a queued event.
    gr.on([page.players.change, page.ask_sauda.click], **plays)
    counting.then(**plays)


def _visit(
    request: gr.Request, game: Any, text: str, language: str, talk: Any, bargain: Any, kept: Any
) -> DailyVisit:
    origin = request.headers.get("origin", "")
    return DailyVisit(
        game, None, text, THIS_PAGE, language, talk, bargain=bargain,
        kept=callbacks.own_games(kept), address=visitor_of(request).address,
        origin=origin if ORIGIN.fullmatch(origin) else "",
    )  # fmt: skip
