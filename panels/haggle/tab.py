"""Haggle: a visitor sells to Sauda or to a scripted buyer, or buys from a seller.

`layout.py` places the components, `callbacks.py` and `model_callbacks.py` say what happens, and
this module says when.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import gradio as gr

from panels.challenges import daily, people, spot
from panels.haggle import callbacks, model_callbacks, resume
from panels.haggle.callbacks import open_page, open_pickers
from panels.haggle.choices import one_of, values
from panels.haggle.layout import TITLE, Layout, SessionGeneration, lay_out
from panels.haggle.opponents import models
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.words import ENGLISH, LANGUAGES, translator
from panels.site.visitor import visitor_of
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED
from panels.ui.wiring import bound, event_value, named, sent_number, with_closed

__all__ = ["TITLE", "build"]

FIELDS = 4  # values that make a visit
STAGE_GAMES_AT_ONCE = 2  # each holds a thread while a stage plays
REPLIES_AT_ONCE = 64  # events that wait for a model; none of them holds a thread
REVIEWS_AT_ONCE = 16  # events that wait for a model or a search, likewise


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    translate, tabs = translator(ENGLISH), {}
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab(translate("tab_any"), id="any") as tabs["tab_any"]:
            language = _any_bargain()
        with gr.Tab(translate("tab_daily"), id="daily") as tabs["tab_daily"]:
            daily.build(tabs["tab_daily"], language)
        with gr.Tab(translate("tab_spot"), id="spot") as tabs["tab_spot"]:
            spot.build(tabs["tab_spot"], language)
        with gr.Tab(translate("tab_people"), id="people") as tabs["tab_people"]:
            people.build(tabs["tab_people"], language)

    def name_tabs(chosen: str) -> list[gr.Tab]:
        return [gr.Tab(label=translator(chosen)(key)) for key in tabs]

    language.change(name_tabs, language, list(tabs.values()), **QUIET)


def _any_bargain() -> gr.Radio:
    """A game as the visitor chooses it; returns the picker of the language."""
    page = lay_out(translator(ENGLISH), models()["buyer"])
    screen = Screen(page, models())
    _wire_opening(screen)
    _wire_setup(screen)
    _wire_moves(screen)
    _wire_model(screen)
    return page.language


def _wire_opening(screen: Screen) -> None:
    """The game that the page opens with; the browser keeps what it takes to find it again."""
    page = screen.page

    def opened(request: gr.Request, generation: SessionGeneration, text: str) -> Updates:
        session = visitor_of(request).session
        return open_page(screen, generation, text, request.query_params, session)

    opening = gr.on(
        None, named(opened, open_page), [page.generation, page.kept],
        [*page.of_game, page.session], js=resume.READ, **QUIET,
    )  # fmt: skip
    pickers = opening.then(
        bound(open_pickers, screen),
        [page.visit, page.kept],
        page.with_words,
        js=resume.READ,
        **QUIET,
    )
    pickers.then(None, page.message, page.message, js=resume.READ_DRAFT)
    _reply_after(screen, opening)
    gr.on(
        [part.change for part in (page.session, *page.picks, page.chat)],
        None, [page.session, *page.picks, page.chat], None, js=resume.WRITE, preprocess=False,
    )  # fmt: skip
    gr.on(
        [page.message.input, page.message.change],
        None, [page.session, page.message], None, js=resume.WRITE_DRAFT,
    )  # fmt: skip


def _wire_setup(screen: Screen) -> None:
    """A new game whenever the visitor chooses another one."""
    page = screen.page
    pickers = [page.generation, *page.picks]
    take_seat = bound(callbacks.take_seat, screen)
    change_language = bound(callbacks.change_language, screen)
    change_opponent = _on_visit(callbacks.change_opponent, screen)
    show_again = _on_visit(model_callbacks.show_again, screen)

    chosen = gr.on(
        [page.new_game.click, page.backend.input],
        bound(callbacks.begin, screen), pickers, page.of_game, **QUIET_UNCHECKED,
    )  # fmt: skip
    opposed = page.opponent.input(
        change_opponent,
        [page.generation, page.opponent, page.seat, page.market, *_visit(page)],
        [*page.of_game, page.opponent],
        **QUIET_UNCHECKED,
    )
    seated = with_closed(
        [page.market, page.opponent],
        [page.seat.input, page.market.input],
        take_seat,
        pickers,
        [*page.of_game, page.market, page.opponent],
        **QUIET_UNCHECKED,
    )
    translated = page.language.input(
        change_language,
        [page.seat, page.market, page.opponent, page.language],
        page.with_words,
        **QUIET_UNCHECKED,
    ).then(show_again, _visit(page), page.of_game, **QUIET)
    _reply_after(screen, chosen, opposed, seated, translated)
    starting = [part.input for part in (page.seat, page.opponent, page.backend)]
    gr.on(  # the model of that seat may have to load first
        [*starting, page.after.click, page.model.click],
        lambda: gr.Timer(active=True), None, page.clock, **QUIET,
    )  # fmt: skip


def _wire_moves(screen: Screen) -> None:
    """What the visitor says, and what the buttons within the regions do."""
    page, visit = screen.page, _visit(screen.page)
    send = _on_visit(callbacks.send, screen)
    sent = gr.on(
        [page.message.submit, page.send.click], send, visit, [*page.of_game, page.message], **QUIET
    )

    def press(event: gr.EventData, *values: Any) -> Updates:
        generation, seat, market, opponent = values[:-FIELDS]
        pressed = _visit_of(*values[-FIELDS:])
        name, picked = event_value(event, "press"), event_value(event, "picked")
        number = sent_number(event, "number")
        now = [screen, generation]
        does: dict[Any, Callable[[], Updates]] = {
            "quick": lambda: callbacks.press_quick_move(
                screen, number, sent_number(event, "turns"), pressed
            ),
            "what_if": lambda: model_callbacks.what_if(*now, number, pressed),
            "go_back": lambda: callbacks.go_back(*now, sent_number(event, "picked"), pressed),
            "take_back": lambda: callbacks.take_back(*now, pressed),
            "stop": lambda: model_callbacks.stop(*now, pressed),
            "ask_again": lambda: model_callbacks.show_again(screen, pressed),
            "stand_in": lambda: model_callbacks.play_stand_in(*now, pressed),
            "check_health": lambda: model_callbacks.check_health(screen, pressed),
            "begin": lambda: callbacks.begin(
                *now, seat, market, opponent, pressed.backend, pressed.language, pressed
            ),
            "replay_item": lambda: callbacks.replay_item(*now, picked, seat, market, pressed),
        }
        return does[name]() if isinstance(name, str) and name in does else screen.unchanged

    pressed = gr.on(
        [part.click for part in page.regions],
        press,
        [page.generation, page.seat, page.market, page.opponent, *visit],
        [*page.of_game, page.opponent],
        **QUIET_UNCHECKED,
    )
    _reply_after(screen, sent, pressed)


def _wire_model(screen: Screen) -> None:
    """The load status of the language models, and their games on the visitor's seed."""
    page = screen.page

    async def ask_stages(request: gr.Request, *given: Any) -> AsyncIterator[Updates]:
        asked = _on_visit(model_callbacks.ask_stages, screen, visitor_of(request))(*given)
        async with aclosing(asked):
            async for updates in asked:
                yield updates

    page.side.click(
        named(ask_stages, model_callbacks.ask_stages), [page.generation, *_visit(page)],
        [page.after, page.side], **QUEUED,
        concurrency_id="haggle-stages", concurrency_limit=STAGE_GAMES_AT_ONCE,
    )  # fmt: skip
    tick = _on_visit(model_callbacks.tick, screen)
    ticked = page.clock.tick(
        tick, [page.generation, *_visit(page)], [*page.of_game, page.clock], **QUIET
    )
    _reply_after(screen, ticked)
    _review_when_due(screen)


def _reply_after(screen: Screen, *events: Any) -> None:
    """Let the language model move after each of `events` that leaves a `reply_request`, and review
    a game that is over.

    A visitor's event answers at once, outside Gradio's queue; the reply streams in an event of its
    own. `gr.State.change` cannot start it: Gradio's browser side drops the state changes of events
    outside the queue. So `.then` starts it each time, and it ends at once where no reply is
    requested. A review is an event of its own, in a queue of its own: it holds no move.
    """
    page, callback = screen.page, model_callbacks.reply_then_review

    # Gradio streams generator functions alone, and gives the request to a parameter of its type.
    async def streamed(request: gr.Request, *values: Any) -> AsyncIterator[Updates]:
        reply = _on_visit(callback, screen, visitor_of(request))(*values)
        async with aclosing(reply):  # a visitor who leaves ends the reply
            async for updates in reply:
                yield updates

    for event in events:
        event.then(
            named(streamed, callback),
            [page.generation, *_visit(page)],
            [*page.of_game, page.review_due],
            trigger_mode="multiple",
            concurrency_id="haggle-reply",
            concurrency_limit=REPLIES_AT_ONCE,
            **QUEUED,
        )


def _review_when_due(screen: Screen) -> None:
    """Review a game that is over, in an event that starts when its review is due."""
    page, callback = screen.page, model_callbacks.stream_review

    async def streamed(*values: Any) -> AsyncIterator[Updates]:
        reviews = _on_visit(callback, screen)(*values)
        async with aclosing(reviews):
            async for updates in reviews:
                yield updates

    page.review_due.change(
        named(streamed, callback),
        [page.generation, *_visit(page)],
        [page.review, page.visit],
        trigger_mode="multiple",
        concurrency_id="haggle-review",
        concurrency_limit=REVIEWS_AT_ONCE,
        **QUEUED,
    )


def _visit(page: Layout) -> list[Any]:
    """The components whose values make a `Visit`."""
    return [page.visit, page.message, page.backend, page.language]


def _visit_of(kept: Visit | None, text: str, backend: str, language: str) -> Visit:
    """The visit that the session keeps, with what the page's fields hold now."""
    language = one_of(values(LANGUAGES), language)
    kept = kept or Visit(None, None, "", backend, language)
    return replace(kept, text=text, backend=backend, language=language)


def _on_visit(callback: Callable, *bound: Any) -> Callable:
    """`callback` as Gradio calls it: with values, of which the last ones make its `Visit`."""

    def called(*values: Any) -> Any:
        return callback(*bound, *values[:-FIELDS], _visit_of(*values[-FIELDS:]))

    return named(called, callback)
