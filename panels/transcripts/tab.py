"""Transcripts: the same game under several policies, side by side, to step through and download."""

import gradio as gr

from panels.transcripts import before_after, callbacks, pair_tab
from panels.transcripts.episodes import MEDIANS, play
from panels.transcripts.layout import PART, Layout, lay_out
from panels.ui.look import QUEUED, QUIET, heading
from panels.ui.provenance import load_or_say
from panels.ui.wiring import bound, on_address, queued, with_closed
from sauda.experiments.episodes import POLICIES, SEED
from sauda.records.store import Artifact

TITLE = "Transcripts"


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Before and after training", id=pair_tab.PART):
            pair_tab.build()
        with gr.Tab("Any game, side by side", id=PART):
            _any_game()


def _any_game() -> None:
    """Any task at any seed, up to four policies, move by move."""
    gr.HTML(heading("One seed, several policies", "The same partners, the same luck."))
    evaluation, _ = load_or_say(MEDIANS)
    task_name = callbacks.FIRST_TASK
    episodes = play(task_name, SEED, POLICIES)
    page = lay_out(task_name, POLICIES, episodes)
    gr.on(None, lambda: episodes, None, page.episodes, **QUIET)
    _wire(page, evaluation)


def _wire(page: Layout, evaluation: Artifact | None) -> None:
    everything = [*page.of_choice, *page.of_episodes]
    # A language model takes seconds for a game: these wait in the queue and show that they do.
    patient = {
        **QUEUED,
        "show_progress": "minimal",
        "show_progress_on": page.transcripts,
        "concurrency_id": "transcripts",
        "concurrency_limit": 2,
    }
    change_task = queued(callbacks.change_task, page)
    show_median = queued(callbacks.show_median, page, evaluation)
    show_demo = queued(callbacks.show_demo, page)
    record, _ = load_or_say(before_after.FILE)
    shoot_out = queued(callbacks.shoot_out, page, record)
    play_or_pause = bound(callbacks.play_or_pause, page)
    show_next = bound(callbacks.show_next, page)
    replay = queued(callbacks.replay, page)
    show_step = bound(callbacks.show_step, page)

    for trigger, choose, inputs in (
        (page.task.input, change_task, [page.task, page.episodes, page.seed]),
        (page.median.click, show_median, page.task),
        (page.demo.click, show_demo, None),
        (page.shoot_out.click, shoot_out, page.seed),
    ):
        with_closed([page.policies], [trigger], choose, inputs, everything, **patient)
    gr.on(
        [page.seed.submit, page.seed.blur, page.policies.input],
        replay,
        [page.task, page.seed, page.policies],
        page.of_episodes,
        **patient,
    )
    on_address(page.address, bound(callbacks.from_address, page), everything, patient)
    player = page.player
    player.step.input(
        show_step,
        [page.episodes, player.step],
        [page.problem, page.transcripts],
        trigger_mode="always_last",
        **QUIET,
    )
    player.play.click(
        play_or_pause, [player.playing, player.step, page.episodes], player.controls, **QUIET
    )
    player.clock.tick(
        show_next,
        [page.episodes, player.step],
        [page.problem, page.transcripts, *player.controls],
        **QUIET,
    )
