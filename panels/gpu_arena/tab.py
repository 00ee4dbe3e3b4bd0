"""AI labs share scarce GPUs: the visitor plays `lab_0`, or lets a script or a model play it."""

from collections.abc import Mapping

import gradio as gr

from panels.gpu_arena import address, callbacks
from panels.gpu_arena.callbacks import Updates
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import RECALL, REMEMBER, TITLE, Layout, lay_out
from panels.gpu_arena.players import FIRST_PLAYER
from panels.site.visitor import CALLER, visitor_of
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED
from panels.ui.wiring import bound, event_value, named, on_return, queued, with_closed
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
    toggle_run = bound(callbacks.toggle_run, page)
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
    by_policy = [page.game, page.policy, page.kind]
    page.advice.click(advise, [page.game, page.policy], [page.problem], **HEAVY)
    page.step.click(take_step, by_policy, page.of_game, **HEAVY)
    page.clock.tick(tick, by_policy, page.of_game, **HEAVY)
    page.run.click(toggle_run, [page.game, page.running], [*page.of_run, page.problem], **QUIET)
    page.wait.click(wait_for_round, [page.game, page.kind], page.of_game, **HEAVY)


def _wire_presses(page: Layout) -> None:
    """The buttons within the calendar and within the offers."""
    press_calendar = bound(callbacks.press_calendar, page)
    press_offer = bound(callbacks.press_offer, page)

    def on_calendar(request: gr.Request, event: gr.EventData, game: ArenaGame | None) -> Updates:
        CALLER.set(visitor_of(request))
        sent = (event_value(event, name) for name in ("blocks", "job", "want"))
        return press_calendar(game, *sent)

    def on_offer(request: gr.Request, event: gr.EventData, game: ArenaGame | None) -> Updates:
        CALLER.set(visitor_of(request))
        sent = (event_value(event, name) for name in ("action", "counter"))
        return press_offer(game, *sent)

    for part, press, callback in (
        (page.calendar, on_calendar, callbacks.press_calendar),
        (page.others, on_calendar, callbacks.press_calendar),
        (page.offers, on_offer, callbacks.press_offer),
    ):  # a press while an earlier one is answered counts too
        part.click(
            named(press, callback), page.game, page.of_game, **HEAVY, trigger_mode="multiple"
        )


def _wire_form(page: Layout) -> None:
    choose_kind = bound(callbacks.choose_kind, page)
    choose_action = bound(callbacks.choose_action, page)
    act_by_form = queued(callbacks.act_by_form, page)
    act_by_json = queued(callbacks.act_by_json, page)

    with_closed(
        [page.choice], [page.kind.input],
        choose_kind, [page.game, page.kind], [page.choice, *page.terms], **QUIET_UNCHECKED,
    )  # fmt: skip
    page.choice.input(choose_action, page.choice, page.terms, **QUIET_UNCHECKED)
    page.act.click(
        act_by_form,
        [page.game, page.kind, page.choice, page.payment, page.ask, page.share, page.message],
        page.of_game, **HEAVY,
    )  # fmt: skip
    gr.on(
        [page.send_json.click, page.json.submit],
        act_by_json, [page.game, page.kind, page.json], page.of_game, **HEAVY,
    )  # fmt: skip
