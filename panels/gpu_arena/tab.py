"""AI labs share scarce GPUs: the visitor plays `lab_0`, or lets a script or a model play it."""

from collections.abc import Mapping
from functools import partial

import gradio as gr

from panels.gpu_arena import address, callbacks
from panels.gpu_arena.callbacks import Updates
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import RECALL, REMEMBER, TITLE, Layout, lay_out
from panels.gpu_arena.players import FIRST_PLAYER
from panels.gpu_arena.reasons import EXPERT, PUBLISHED
from panels.site.visitor import CALLER, visitor_of
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED
from panels.ui.wiring import bound, event_value, named, on_return, queued
from sauda.sessions.arena import ArenaGame

__all__ = ["TITLE", "build"]


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    first = callbacks.new_game(TASK, str(SEED))
    page = lay_out(first)
    _wire_game(page, first)
    _wire_presses(page)
    _wire_form(page)


# A step that ends the game also draws its settlement, which plays every policy and solves for an
# upper bound: up to five seconds. A language model's step takes seconds too.
HEAVY = {**QUEUED, "preprocess": False, "concurrency_id": "arena", "concurrency_limit": 4}


def _wire_game(page: Layout, first: ArenaGame) -> None:
    begin = bound(address.begin_here, page)
    change_task = bound(address.change_task, page)
    take_step = queued(callbacks.take_step, page)
    advise = queued(callbacks.advise, page)
    tick = queued(callbacks.tick, page)
    wait_for_round = queued(callbacks.wait_for_round, page)

    def opened(request: gr.Request, earlier: str | None) -> Updates:
        query = request.query_params
        here = query if query.get("tab") == "gpu_arena" else {}
        return address.reopen(page, first, FIRST_PLAYER, earlier, here)

    def returned(query: Mapping[str, str]) -> Updates:
        return address.open_world(page, FIRST_PLAYER, query)

    whole = [*page.of_game, page.about, page.task, page.seed, page.address.shown]
    gr.on(
        None, named(opened, callbacks.resume), page.earlier, whole,
        js=RECALL, **QUIET,
    )  # fmt: skip
    on_return(page.address, returned, whole)
    page.session.change(None, page.session, None, js=REMEMBER, **QUIET)
    page.policy.change(callbacks.introduced, [page.policy, page.game], page.about, **QUIET)
    world = [page.task, page.seed, page.policy]
    gr.on([page.new_world.click, page.seed.submit], begin, world, whole, **QUIET)
    page.task.input(change_task, [page.game, *world], whole, **QUIET)
    by_policy = [page.game, page.policy]
    page.ask.click(advise, page.game, [page.advice, page.problem], **HEAVY)
    page.step.click(take_step, by_policy, page.of_game, **HEAVY)
    page.clock.tick(tick, by_policy, page.of_game, **HEAVY)
    page.wait.click(wait_for_round, page.game, page.of_game, **HEAVY)
    _wire_watching(page)


def _wire_watching(page: Layout) -> None:
    state = [page.game, page.running]
    for button, player in ((page.watch, EXPERT), (page.watch_published, PUBLISHED)):
        watch = named(partial(callbacks.watch, page, player=player), callbacks.watch)
        button.click(watch, state, page.of_game, **QUIET)
    page.run.click(bound(callbacks.watch, page), [*state, page.policy], page.of_game, **QUIET)


def _wire_presses(page: Layout) -> None:
    """The buttons within the calendar, the offers and the advice."""
    press_calendar = bound(callbacks.press_calendar, page)
    press_offer = bound(callbacks.press_offer, page)
    take_advice = bound(callbacks.take_advice, page)

    def on_calendar(request: gr.Request, event: gr.EventData, game: ArenaGame | None) -> Updates:
        CALLER.set(visitor_of(request))
        sent = (event_value(event, name) for name in ("blocks", "job", "want"))
        return press_calendar(game, *sent)

    def on_offer(request: gr.Request, event: gr.EventData, game: ArenaGame | None) -> Updates:
        CALLER.set(visitor_of(request))
        sent = (event_value(event, name) for name in ("action", "counter"))
        return press_offer(game, *sent)

    def on_advice(request: gr.Request, event: gr.EventData, game: ArenaGame | None) -> Updates:
        CALLER.set(visitor_of(request))
        return take_advice(game, event_value(event, "action"))

    for part, press, callback in (
        (page.calendar, on_calendar, callbacks.press_calendar),
        (page.others, on_calendar, callbacks.press_calendar),
        (page.offers, on_offer, callbacks.press_offer),
        (page.advice, on_advice, callbacks.take_advice),
    ):  # a press while an earlier one is answered counts too
        part.click(
            named(press, callback), page.game, page.of_game, **HEAVY, trigger_mode="multiple"
        )


def _wire_form(page: Layout) -> None:
    choose_action = bound(callbacks.choose_action, page)
    act_by_form = queued(callbacks.act_by_form, page)

    gr.on(
        [page.give.input, page.want.input, page.to.input],
        bound(callbacks.price_offer, page),
        [page.game, page.give, page.want, page.to, page.answered],
        page.of_offer, **QUIET_UNCHECKED,
    )  # fmt: skip
    gr.on(
        [page.way.input, page.credits.input],
        bound(callbacks.weigh_offer, page),
        [page.game, page.give, page.way, page.credits, page.want, page.to],
        page.deal, **QUIET_UNCHECKED,
    )  # fmt: skip
    page.send.click(
        queued(callbacks.send_offer, page),
        [
            page.game, page.give, page.way, page.credits, page.want, page.to, page.say,
            page.answered,
        ],
        page.of_game, **HEAVY,
    )  # fmt: skip
    page.choice.input(choose_action, page.choice, page.terms, **QUIET_UNCHECKED)
    page.act.click(
        act_by_form, [page.game, page.choice, page.share, page.message], page.of_game, **HEAVY
    )
