"""Before and after training: pickers, play and pause, Reproduce, and the address of a pair.

A part of Transcripts; `before_after.py` draws the games.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import get_task
from panels.results.model_labels import policy_label, weights
from panels.transcripts.before_after import (
    FILE,
    choices,
    explained,
    longest,
    pair_of_games,
    pick,
    typical,
)
from panels.transcripts.playing import (
    Player,
    Updates,
    all_shown,
    lay_out_player,
    show_next_move,
    start_or_stop,
)
from panels.ui.look import QUIET, note
from panels.ui.provenance import Beside, load_or_say, provenance, side_by_side
from panels.ui.terms import task_choices
from panels.ui.wiring import Address, in_address, lay_out_address, on_address
from sauda.experiments.before_after import SIDES, ChosenPair, play_replies
from sauda.records.store import Artifact, digest

PART = "before-after"  # id of the sub-tab


def reproduced(pair: ChosenPair) -> Markup:
    """Both games played again now from the recorded replies, beside their records."""
    parts = []
    for side in SIDES:
        record = getattr(pair, side)
        then = record.as_json()
        now = play_replies(get_task(record.task), record.policy, pair.seed, record.replies)
        differing = [name for name in then if then[name] != now.get(name)]
        what = f"grade {side}, {policy_label(record.policy)},"
        digests = digest(then), digest({name: now.get(name) for name in then})
        beside = Beside(what, record.grade, now["grade"], 1, len(then), differing, digests)
        parts.append(side_by_side(beside))
    parts.append(note("Played from the model’s recorded replies, against the task’s own sellers."))
    return Markup("").join(parts)


def named_in_address(artifact: Artifact, task_name: str, why: str) -> dict[str, str]:
    """What the page's address says of a pair; nothing of the one that the tab opens with."""
    first = artifact.data.tasks[0].task
    if (task_name, why) == (first, typical(artifact, first).why):
        return {}
    return {"task": task_name, "game": why}


def pair_named(artifact: Artifact, query: Mapping[str, str]) -> tuple[str, ChosenPair]:
    """The task and the pair that an address names; the first ones where it names none."""
    tasks = [row.task for row in artifact.data.tasks]
    task_name = query["task"] if query.get("task") in tasks else tasks[0]
    known = [why for _, why in choices(artifact, task_name)]
    if query.get("game") in known:
        return task_name, pick(artifact, task_name, query["game"])
    return task_name, typical(artifact, task_name)


@dataclass(frozen=True, eq=False)
class PairLayout:
    """Every component that an event of this part reads or writes."""

    chosen_by: gr.HTML
    where: gr.Radio
    which: gr.Radio
    player: Player
    shown: gr.HTML
    again: gr.Button
    result: gr.HTML
    address: Address

    @property
    def of_pair(self) -> list[Any]:
        """The components that another pair sets."""
        own = [self.where, self.which, self.chosen_by, self.shown, self.result]
        return [*own, self.address.shown, *self.player.controls]


def build() -> None:
    """Lay out the part. Called inside the Transcripts tab."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
    else:
        _wire(artifact, _lay_out(artifact))


def _lay_out(artifact: Artifact) -> PairLayout:
    tasks = [row.task for row in artifact.data.tasks]
    first = typical(artifact, tasks[0])
    parts: dict[str, Any] = {"chosen_by": gr.HTML(explained(artifact, tasks[0]))}
    # Not "Task" and no seed in a label: the tab has inputs of those names.
    with gr.Row():
        parts["where"] = gr.Radio(
            task_choices(tasks), value=tasks[0], label="Market", min_width=300
        )
        parts["which"] = gr.Radio(
            choices(artifact, tasks[0]),
            value=first.why,
            label="Game, by what training changed in the grade",
            min_width=300,
        )
    parts["player"] = lay_out_player(longest(first))
    parts["shown"] = gr.HTML(pair_of_games(first), elem_id="transcripts-pair")
    gr.HTML(
        note(
            "≠ marks a move whose price or words differ from the other game’s in that round. Both"
            " games have the same seller and the same seed."
        )
    )
    with gr.Row(elem_classes="sauda-actions"):
        parts["again"] = gr.Button("Reproduce: play both games again, now", size="sm", scale=0)
    parts["result"] = gr.HTML(elem_id="transcripts-reproduced")
    n = len(artifact.data.tasks[0].seeds)
    gr.HTML(provenance(artifact, f"n = {n} paired hold-out seeds a task; {weights(artifact)}"))
    parts["address"] = lay_out_address("transcripts", PART, ("task", "game"))
    return PairLayout(**parts)


def pair_shown(artifact: Artifact, page: PairLayout, task_name: str, pair: ChosenPair) -> Updates:
    """The part at this pair, shown to its end."""
    return {
        page.where: task_name,
        page.which: gr.Radio(choices(artifact, task_name), value=pair.why),
        page.chosen_by: explained(artifact, task_name),
        page.shown: pair_of_games(pair),
        page.result: "",
        page.address.shown: in_address(named_in_address(artifact, task_name, pair.why)),
        **all_shown(page.player, longest(pair)),
    }


def _wire(artifact: Artifact, page: PairLayout) -> None:
    player, choice = page.player, [page.where, page.which]

    def change_task(task_name: str) -> Updates:
        return pair_shown(artifact, page, task_name, typical(artifact, task_name))

    def change_game(task_name: str, why: str) -> Updates:
        return pair_shown(artifact, page, task_name, pick(artifact, task_name, why))

    def follow_pair(query: Mapping[str, str]) -> Updates:
        return pair_shown(artifact, page, *pair_named(artifact, query))

    def show_step(task_name: str, why: str, step: int) -> Updates:
        return {page.shown: pair_of_games(pick(artifact, task_name, why), int(step))}

    def play_or_pause(task_name: str, why: str, playing: bool, step: int) -> Updates:
        return start_or_stop(player, playing, step, longest(pick(artifact, task_name, why)))

    def show_next(task_name: str, why: str, step: int) -> Updates:
        moves = longest(pick(artifact, task_name, why))
        return show_next_move(player, step, moves, lambda to: show_step(task_name, why, to))

    def reproduce(task_name: str, why: str) -> Markup:
        return reproduced(pick(artifact, task_name, why))

    page.where.input(change_task, page.where, page.of_pair, **QUIET)
    page.which.input(change_game, choice, page.of_pair, **QUIET)
    on_address(page.address, follow_pair, page.of_pair)
    player.step.input(
        show_step, [*choice, player.step], [page.shown], trigger_mode="always_last", **QUIET
    )
    player.play.click(
        play_or_pause, [*choice, player.playing, player.step], player.controls, **QUIET
    )
    player.clock.tick(show_next, [*choice, player.step], [page.shown, *player.controls], **QUIET)
    page.again.click(reproduce, choice, page.result, **QUIET)
