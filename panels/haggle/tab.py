"""Haggle: a visitor sells to Sauda or to a scripted buyer, or buys from a seller.

`layout.py` places the components, `callbacks.py` and `model_callbacks.py` say what happens, and
this module says when.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import fields
from typing import Any

import gradio as gr

from panels.challenges.daily import tab as daily
from panels.challenges.people import tab as people
from panels.challenges.spot import tab as spot
from panels.haggle import callbacks, model_callbacks
from panels.haggle.layout import (
    COPY_LINK,
    SHOW_CHAT,
    TITLE,
    Layout,
    SessionGeneration,
    lay_out,
)
from panels.haggle.models import models
from panels.haggle.opening import kept
from panels.haggle.opening.open_callbacks import open_page
from panels.haggle.review import board_callbacks, review_callbacks
from panels.haggle.screen import Screen, Updates, Visit
from panels.haggle.words import ENGLISH, translator
from panels.site.visitor import visitor_of
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED
from panels.ui.wiring import bound, event_value, named, with_closed

__all__ = ["TITLE", "build"]

FIELDS = len(fields(Visit))
STAGE_GAMES_AT_ONCE = 2  # each holds a thread while a stage plays
REPLIES_AT_ONCE = 64  # events that wait for a model; none of them holds a thread
REVIEWS_AT_ONCE = 16  # events that wait for a model or a search, likewise


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    translate, tabs = translator(ENGLISH), {}
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab(translate("tab_any"), id="any") as tabs["tab_any"]:
            language = _any_bargain()
        with gr.Tab(translate("tab_daily"), id=daily.NAME) as tabs["tab_daily"]:
            daily.build(tabs["tab_daily"], language)
        with gr.Tab(translate("tab_spot"), id=spot.NAME) as tabs["tab_spot"]:
            spot.build(tabs["tab_spot"], language)
        with gr.Tab(translate("tab_people"), id=people.NAME) as tabs["tab_people"]:
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
        [*dict.fromkeys([*page.of_game, *page.with_words]), page.clock, page.session],
        js=kept.READ, **QUIET,
    )  # fmt: skip
    _reply_after(screen, opening)
    opening.then(None, page.message, page.message, js=kept.READ_DRAFT)
    gr.on(
        [part.change for part in (page.session, *page.picks, page.chat)],
        None, [page.session, *page.picks, page.chat], None, js=kept.WRITE, preprocess=False,
    )  # fmt: skip
    gr.on(
        [page.message.input, page.message.change],
        None, [page.session, page.message], None, js=kept.WRITE_DRAFT,
    )  # fmt: skip


def _wire_setup(screen: Screen) -> None:
    """A new game whenever the visitor chooses another one."""
    page = screen.page
    pickers = [page.generation, *page.picks]
    begin = bound(callbacks.begin, screen)
    take_seat = bound(callbacks.take_seat, screen)
    change_language = bound(callbacks.change_language, screen)
    change_opponent = _on_visit(callbacks.change_opponent, screen)
    replay_item = _on_visit(callbacks.replay_item, screen)
    show_again = _on_visit(model_callbacks.show_again, screen)
    visit, shown = _visit(page), page.of_game

    chosen = gr.on(
        [page.new_game.click, page.rematch.click, page.backend.input],
        begin, pickers, shown, **QUIET_UNCHECKED,
    )  # fmt: skip
    opposed = [
        picker.input(
            choose,
            [page.generation, picker, page.seat, page.market, *visit],
            [*shown, page.opponent],
            **QUIET_UNCHECKED,
        )
        for picker, choose in ((page.opponent, change_opponent), (page.same_item, replay_item))
    ]  # fmt: skip
    seated = with_closed(
        [page.market, page.opponent],
        [page.seat.input, page.market.input],
        take_seat,
        pickers,
        [*shown, page.market, page.opponent],
        **QUIET_UNCHECKED,
    )
    translated = page.language.input(
        change_language,
        [page.seat, page.market, page.opponent, page.language],
        page.with_words,
        **QUIET_UNCHECKED,
    ).then(show_again, visit, shown, **QUIET)
    _reply_after(screen, chosen, *opposed, seated, translated)
    gr.on(  # the model of that seat may have to load first
        [part.input for part in (page.seat, page.opponent, page.same_item, page.backend)],
        lambda: gr.Timer(active=True), None, page.clock, **QUIET,
    )  # fmt: skip
    gr.on([page.rematch.click, page.same_item.input], None, js=SHOW_CHAT)
    page.copy_link.click(None, None, page.copied, js=COPY_LINK)


def _wire_moves(screen: Screen) -> None:
    """The visitor's moves, forward and back."""
    page, shown = screen.page, screen.page.of_game
    visit = _visit(page)
    send = _on_visit(callbacks.send, screen)
    take_back = _on_visit(callbacks.take_back, screen)
    go_back = _on_visit(callbacks.go_back, screen)

    sent = gr.on([page.message.submit, page.send.click], send, visit, shown, **QUIET)
    taken_back = page.take_back.click(take_back, [page.generation, *visit], shown, **QUIET)
    gone_back = page.go_back.click(
        go_back, [page.generation, page.past_move, *visit], shown, **QUIET_UNCHECKED
    )

    def try_move(event: gr.EventData, generation: SessionGeneration, *values: Any) -> Updates:
        number = event_value(event, "move")
        return _on_visit(review_callbacks.what_if, screen)(generation, number, *values)

    tried = page.review.click(
        named(try_move, review_callbacks.what_if), [page.generation, *visit], shown, **QUIET
    )
    _reply_after(screen, sent, taken_back, gone_back, tried)
    for number, button in enumerate(page.quick_moves):
        press = _on_visit(callbacks.press_quick_move, screen, number)
        pressed = button.click(press, [page.shown_turns, *visit], shown, **QUIET)
        _reply_after(screen, pressed)


def _wire_model(screen: Screen) -> None:
    """The language model's replies and its load status."""
    page, shown = screen.page, screen.page.of_game
    visit, status = _visit(page), [page.health, page.clock]
    stop = _on_visit(model_callbacks.stop, screen)
    show_again = _on_visit(model_callbacks.show_again, screen)
    play_stand_in = _on_visit(model_callbacks.play_stand_in, screen)
    tick = _on_visit(model_callbacks.tick, screen)
    check_health = _on_visit(model_callbacks.check_health, screen)

    show_effect = _on_visit(model_callbacks.show_effect, screen)

    page.stop.click(stop, [page.generation, *visit], shown, **QUIET)

    async def ask_stages(request: gr.Request, *values: Any) -> AsyncIterator[Updates]:
        asked = _on_visit(board_callbacks.ask_stages, screen, visitor_of(request))(*values)
        async with aclosing(asked):
            async for updates in asked:
                yield updates

    page.show_effect.click(show_effect, visit, [page.effect], **QUIET)
    page.ask_stages.click(
        named(ask_stages, board_callbacks.ask_stages), [page.generation, *visit],
        [page.card_text, page.result, page.ask_stages], **QUEUED,
        concurrency_id="haggle-stages", concurrency_limit=STAGE_GAMES_AT_ONCE,
    )  # fmt: skip
    page.stand_in.click(play_stand_in, [page.generation, *visit], shown, **QUIET)
    page.check_health.click(check_health, visit, [page.badge, *status], **QUIET)
    asked_again = page.ask_again.click(show_again, visit, shown, **QUIET)
    ticked = page.clock.tick(tick, [page.generation, *visit], [*shown, *status], **QUIET)
    _reply_after(screen, asked_again, ticked)
    _review_when_due(screen)


def _reply_after(screen: Screen, *events: Any) -> None:
    """Let the language model move after each of `events` that leaves a `reply_request`, and review
    a game that is over.

    A visitor's event answers at once, outside Gradio's queue; the reply streams in an event of its
    own. `gr.State.change` cannot start it: Gradio's browser side drops the state changes of events
    outside the queue. So `.then` starts it each time, and it ends at once where no reply is
    requested. A review is an event of its own, in a queue of its own: it holds no move.
    """
    page, callback = screen.page, review_callbacks.reply_then_review

    # Gradio streams generator functions alone, and gives the request to a parameter of its type.
    async def streamed(request: gr.Request, *values: Any) -> AsyncIterator[Updates]:
        reply = _on_visit(callback, screen, visitor_of(request))(*values)
        async with aclosing(reply):  # a visitor who leaves ends the reply
            async for updates in reply:
                yield updates

    for event in events:
        event.then(
            named(streamed, callback),
            [page.generation, page.reply_request, page.review_request, *_visit(page)],
            [*page.of_game, page.review_due],
            trigger_mode="multiple",
            concurrency_id="haggle-reply",
            concurrency_limit=REPLIES_AT_ONCE,
            **QUEUED,
        )


def _review_when_due(screen: Screen) -> None:
    """Review a game that is over, in an event that starts when its review is due."""
    page, callback = screen.page, review_callbacks.stream_review

    async def streamed(*values: Any) -> AsyncIterator[Updates]:
        reviews = _on_visit(callback, screen)(*values)
        async with aclosing(reviews):
            async for updates in reviews:
                yield updates

    page.review_due.change(
        named(streamed, callback),
        [page.generation, page.review_request, *_visit(page)],
        [page.review, page.game],
        trigger_mode="multiple",
        concurrency_id="haggle-review",
        concurrency_limit=REVIEWS_AT_ONCE,
        **QUEUED,
    )


def _visit(page: Layout) -> list[Any]:
    """The components whose values make a `Visit`, in the order of its fields."""
    return [page.game, page.first_game, page.message, page.backend, page.language, page.talk,
            page.reply_request]  # fmt: skip


def _on_visit(callback: Callable, *bound: Any) -> Callable:
    """`callback` as Gradio calls it: with values, of which the last ones make its `Visit`."""

    def called(*values: Any) -> Any:
        return callback(*bound, *values[:-FIELDS], Visit(*values[-FIELDS:]))

    return named(called, callback)
