"""Haggle: a visitor sells to Sauda or to a scripted buyer, or buys from a seller.

`layout.py` places the components, `callbacks.py` and `resume.py` say what happens, and this module
says when.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import gradio as gr

from panels.challenges import daily, people, spot
from panels.haggle import callbacks, resume
from panels.haggle.layout import PICKS, Layout, Visit
from panels.haggle.opponents import models, one_of, values
from panels.haggle.screen import Screen, Updates
from panels.haggle.words import ENGLISH, LANGUAGES, translator
from panels.site.visitor import visitor_of
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED
from panels.ui.wiring import bound, event_value, named, sent_number, with_closed

TITLE = "Haggle"
STAGE_GAMES_AT_ONCE = 2  # each holds a thread while a stage plays
REPLIES_AT_ONCE = 64  # events that wait for a model; none of them holds a thread
REVIEWS_AT_ONCE = 16  # events that wait for a model or a search, likewise


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    translate, tabs = translator(ENGLISH), {}
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab(translate("tab_any"), id="any") as tabs["tab_any"]:
            page = Layout(translate, models()["buyer"])
            _wire(Screen(page, models()))
        for name, part in (("daily", daily), ("spot", spot), ("people", people)):
            with gr.Tab(translate(f"tab_{name}"), id=name) as tabs[f"tab_{name}"]:
                part.build(tabs[f"tab_{name}"], page.language)

    def name_tabs(chosen: str) -> list[gr.Tab]:
        return [gr.Tab(label=translator(chosen)(key)) for key in tabs]

    page.language.change(name_tabs, page.language, list(tabs.values()), **QUIET)


def _wire(screen: Screen) -> None:
    """A game as the visitor chooses it.

    A visitor's event answers at once, outside Gradio's queue. Where it asks for the language
    model's reply, that streams in an event of its own; so does the review of a finished game, as
    its card appears. The two events that may come before the tab was ever open are followed by
    them each time: until then the browser has no component that could tell of a change.
    """
    page = screen.page
    opening, tick = _opens(screen), _ticks(screen)
    _choices(screen)
    _moves(screen)
    for start in (page.asked.change, tick.then, opening.then):
        replied = start(
            _streamed(callbacks.stream_reply, screen),
            page.visit,
            page.of_game,
            trigger_mode="multiple",
            concurrency_id="haggle-reply",
            concurrency_limit=REPLIES_AT_ONCE,
            **QUEUED,
        )
    for start, callback in (
        (page.after.change, callbacks.stream_review),
        (replied.then, callbacks.review_former),  # of the opening
    ):
        start(
            _streamed(callback, screen),
            page.visit,
            page.review,
            trigger_mode="multiple",
            concurrency_id="haggle-review",
            concurrency_limit=REVIEWS_AT_ONCE,
            **QUEUED,
        )
    page.side.click(
        _streamed(callbacks.ask_stages, screen),
        page.visit,
        [page.after, page.side],
        concurrency_id="haggle-stages",
        concurrency_limit=STAGE_GAMES_AT_ONCE,
        **QUEUED,
    )


def _opens(screen: Screen) -> Any:
    """The game that the page opens with; the browser keeps what it takes to find it again."""
    page = screen.page

    def opened(request: gr.Request, kept: str) -> Updates:
        session = visitor_of(request).session
        return resume.open_page(screen, kept, request.query_params, session)

    opening = gr.on(  # as the page is loaded; no event changes its input, so never again
        None, named(opened, resume.open_page), page.kept,
        [*page.of_game, page.session], js=resume.READ, **QUIET,
    )  # fmt: skip
    pickers = opening.then(bound(resume.open_pickers, screen), page.visit, page.with_words, **QUIET)
    pickers.then(None, page.message, page.message, js=resume.READ_DRAFT)
    keeps = [page.session, *page.picks, page.chat]
    gr.on([part.change for part in keeps], None, keeps, None, js=resume.WRITE, preprocess=False)
    gr.on(
        [page.message.input, page.message.change],
        None, [page.session, page.message], None, js=resume.WRITE_DRAFT,
    )  # fmt: skip
    return opening


def _choices(screen: Screen) -> None:
    """A new game whenever the visitor chooses another one."""
    page, fields = screen.page, [screen.page.visit, *screen.page.picks]
    gr.on(
        [page.new_game.click, page.backend.input],
        _on_visit(callbacks.begin, screen), fields, page.of_game, **QUIET_UNCHECKED,
    )  # fmt: skip
    page.opponent.input(
        _on_visit(callbacks.change_opponent, screen), fields, [*page.of_game, page.opponent],
        **QUIET_UNCHECKED,
    )  # fmt: skip
    with_closed(
        [page.market, page.opponent],
        [page.seat.input, page.market.input],
        _on_visit(callbacks.take_seat, screen), fields,
        [*page.of_game, page.market, page.opponent],
        **QUIET_UNCHECKED,
    )  # fmt: skip
    page.language.input(
        _on_visit(callbacks.change_language, screen), fields, page.with_words, **QUIET_UNCHECKED
    ).then(_on_visit(callbacks.show_again, screen), fields, page.of_game, **QUIET_UNCHECKED)
    starting = [part.input for part in (page.seat, page.opponent, page.backend)]
    gr.on(  # the model of that seat may have to load first
        [*starting, page.after.click, page.model.click],
        lambda: gr.Timer(active=True), None, page.clock, **QUIET,
    )  # fmt: skip


def _moves(screen: Screen) -> None:
    """What the visitor says, and what the buttons within the regions do."""
    page = screen.page

    def say(visit: Visit, text: str) -> Updates:
        return callbacks.send(screen, replace(visit, text=text))

    gr.on(
        [page.message.submit, page.send.click],
        named(say, callbacks.send), [page.visit, page.message], [*page.of_game, page.message],
        **QUIET,
    )  # fmt: skip

    def press(event: gr.EventData, *given: Any) -> Updates:
        visit, name = _visit_of(screen, *given), event_value(event, "press")
        number, picked = sent_number(event, "number"), event_value(event, "picked")
        does: dict[str, Callable[[], Updates]] = {
            "quick": lambda: callbacks.press_quick_move(
                screen, number, sent_number(event, "turns"), visit
            ),
            "what_if": lambda: callbacks.what_if(screen, number, visit),
            "go_back": lambda: callbacks.go_back(screen, sent_number(event, "picked"), visit),
            "take_back": lambda: callbacks.take_back(screen, visit),
            "begin": lambda: callbacks.begin(screen, visit),
            "replay_item": lambda: callbacks.replay_item(screen, replace(visit, opponent=picked)),
            "stop": lambda: callbacks.stop(screen, visit),
            "ask_again": lambda: callbacks.show_again(screen, visit),
            "stand_in": lambda: callbacks.play_stand_in(screen, visit),
            "check_health": lambda: callbacks.check_health(screen, visit),
        }
        return does[name]() if isinstance(name, str) and name in does else screen.unchanged

    gr.on(
        [part.click for part in (page.moves, page.after, page.review, page.model)],
        press,
        [page.visit, *page.picks],
        [*page.of_game, page.opponent],
        **QUIET_UNCHECKED,
    )


def _ticks(screen: Screen) -> Any:
    """The load status of the language models."""
    page, tick = screen.page, bound(callbacks.tick, screen)
    return page.clock.tick(tick, page.visit, [*page.of_game, page.clock], **QUIET)


def _visit_of(screen: Screen, kept: Visit, *picks: str) -> Visit:
    """The visit that the session keeps, with what the visitor picks now; values are unchecked."""
    picked = dict(zip(PICKS, picks, strict=True))
    picked["backend"] = one_of([*screen.models["buyer"]], picked["backend"])
    picked["language"] = one_of(values(LANGUAGES), picked["language"])
    return replace(kept, **picked)


def _on_visit(callback: Callable, screen: Screen) -> Callable:
    """`callback` as Gradio calls it, with the kept visit and the values of `Layout.picks`."""

    def called(*given: Any) -> Updates:
        return callback(screen, _visit_of(screen, *given))

    return named(called, callback)


def _streamed(callback: Callable, screen: Screen) -> Callable:
    """`callback`, an asynchronous generator, as Gradio calls it; it learns who the visitor is.

    Gradio streams generator functions alone, and gives the request to a parameter of its type.
    """

    async def streamed(request: gr.Request, visit: Visit) -> AsyncIterator[Updates]:
        asked = callback(screen, replace(visit, visitor=visitor_of(request)))
        async with aclosing(asked):  # until the visitor leaves
            async for updates in asked:
                yield updates

    return named(streamed, callback)
