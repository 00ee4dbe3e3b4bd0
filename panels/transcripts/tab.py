"""Transcripts: the same game under several policies, side by side, to step through and download."""

import gradio as gr

from env import BAZAAR_TASKS
from panels.transcripts import before_after, callbacks
from panels.transcripts.episodes import MEDIANS, play
from panels.transcripts.layout import Layout, lay_out
from panels.ui.look import QUEUED, QUIET, heading
from panels.ui.provenance import load_or_say
from panels.ui.wiring import bound
from sauda.evaluation.episodes import POLICIES, SEED
from sauda.records.store import Artifact

TITLE = "Transcripts"
# A language model takes seconds for a game: these wait in the queue and show that they do.
PATIENT = {
    **QUEUED,
    "show_progress": "minimal",
    "concurrency_id": "transcripts",
    "concurrency_limit": 2,
}


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Before and after training", id="before-after"):
            before_after.build()
        with gr.Tab("Any game, side by side", id="any-game"):
            _any_game()


def _any_game() -> None:
    """Any task at any seed, up to four policies, move by move."""
    gr.HTML(heading("One seed, several policies", "The same partners, the same luck."))
    evaluation, _ = load_or_say(MEDIANS)
    task_name = next(iter(BAZAAR_TASKS))
    episodes = play(task_name, SEED, POLICIES)
    page = lay_out(task_name, POLICIES, episodes)
    gr.on(None, lambda: episodes, None, page.episodes, **QUIET)
    _wire(page, evaluation)


def _wire(page: Layout, evaluation: Artifact | None) -> None:
    everything = [*page.of_choice, *page.of_episodes]
    change_task = bound(callbacks.change_task, page)
    show_median = bound(callbacks.show_median, page, evaluation)
    show_demo = bound(callbacks.show_demo, page)
    record, _ = load_or_say(before_after.FILE)
    shoot_out = bound(callbacks.shoot_out, page, record)
    play_or_pause = bound(callbacks.play_or_pause, page)
    show_next = bound(callbacks.show_next, page)
    replay = bound(callbacks.replay, page)
    show_step = bound(callbacks.show_step, page)

    page.task.input(change_task, [page.task, page.episodes, page.seed], everything, **PATIENT)
    page.median.click(show_median, page.task, everything, **PATIENT)
    page.demo.click(show_demo, None, everything, **PATIENT)
    page.shoot_out.click(shoot_out, page.seed, everything, **PATIENT)
    gr.on(
        [page.seed.submit, page.seed.blur, page.policies.input],
        replay,
        [page.task, page.seed, page.policies],
        page.of_episodes,
        **PATIENT,
    )
    page.step.input(
        show_step,
        [page.episodes, page.step],
        [page.problem, page.transcripts],
        trigger_mode="always_last",
        **QUIET,
    )
    page.play.click(
        play_or_pause,
        [page.playing, page.step, page.episodes],
        [page.play, page.clock, page.playing, page.step],
        **QUIET,
    )
    page.clock.tick(
        show_next,
        [page.episodes, page.step],
        [page.problem, page.transcripts, page.step, page.play, page.clock, page.playing],
        **QUIET,
    )
