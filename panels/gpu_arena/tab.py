"""AI labs share scarce GPUs: a policy plays `lab_0` step by step, or the visitor does."""

import gradio as gr

from panels.gpu_arena import callbacks
from panels.gpu_arena.layout import FIRST_POLICY, TITLE, Layout, lay_out
from panels.ui.look import QUEUED, QUIET, QUIET_UNCHECKED
from panels.ui.wiring import bound
from sauda.sessions.arena import ArenaGame

__all__ = ["TITLE", "build"]

FIRST_TASK, FIRST_SEED = "arena/coalition_market", "5"  # the world that a visitor finds


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    first = callbacks.new_game(FIRST_TASK, FIRST_SEED)
    page = lay_out(first, callbacks.introduced(FIRST_POLICY))
    _wire_game(page)
    _wire_form(page, first)


# A step that ends the game also draws its settlement, which plays every policy and solves for an
# upper bound: up to five seconds.
HEAVY = {**QUEUED, "preprocess": False, "concurrency_id": "arena", "concurrency_limit": 4}


def _wire_game(page: Layout) -> None:
    begin = bound(callbacks.begin, page)
    take_step = bound(callbacks.take_step, page)
    tick = bound(callbacks.tick, page)
    toggle_run = bound(callbacks.toggle_run, page)

    page.policy.change(callbacks.introduced, page.policy, page.about, **QUIET)
    gr.on(
        [page.new_world.click, page.task.input, page.seed.submit],
        begin, [page.task, page.seed], page.of_game, **QUIET,
    )  # fmt: skip
    by_policy = [page.game, page.policy, page.kind]
    page.step.click(take_step, by_policy, page.of_game, **HEAVY)
    page.clock.tick(tick, by_policy, page.of_game, **HEAVY)
    page.run.click(toggle_run, [page.game, page.running], [*page.of_run, page.problem], **QUIET)


def _wire_form(page: Layout, first: ArenaGame) -> None:
    choose_kind = bound(callbacks.choose_kind, page)
    choose_action = bound(callbacks.choose_action, page)
    act_by_form = bound(callbacks.act_by_form, page)
    act_by_json = bound(callbacks.act_by_json, page)

    gr.on(None, lambda: first, None, page.game, **QUIET)
    gr.on(None, bound(callbacks.choose_action, page, page.choice.value), None, page.terms, **QUIET)
    page.kind.input(choose_kind, [page.game, page.kind], [page.choice], **QUIET_UNCHECKED)
    page.choice.change(choose_action, page.choice, page.terms, **QUIET_UNCHECKED)
    page.act.click(
        act_by_form,
        [page.game, page.kind, page.choice, page.payment, page.ask, page.share, page.message],
        page.of_game, **HEAVY,
    )  # fmt: skip
    gr.on(
        [page.send_json.click, page.json.submit],
        act_by_json, [page.game, page.kind, page.json], page.of_game, **HEAVY,
    )  # fmt: skip
