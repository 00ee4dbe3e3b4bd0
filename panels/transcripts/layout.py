"""The components of the Transcripts tab, laid out and not yet wired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from env import ARENA_TASKS, BAZAAR_TASKS, Episode
from panels.site.sessions import HOUR
from panels.transcripts import arena as arena_transcripts
from panels.transcripts.episodes import MOST, files, player_choices, player_title
from panels.transcripts.playing import Player, lay_out_player
from panels.transcripts.view import again, columns, longest
from panels.ui.look import note
from panels.ui.terms import task_choices
from panels.ui.wiring import Address, lay_out_address
from sauda.experiments.episodes import SEED

PART = "any-game"  # id of the sub-tab


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    task: gr.Dropdown
    seed: gr.Textbox
    policies: gr.Dropdown
    median: gr.Button
    demo: gr.Button
    shoot_out: gr.Button
    problem: gr.HTML
    episodes: gr.State  # the episodes on show, by policy
    player: Player
    transcripts: gr.HTML
    json: gr.DownloadButton
    markdown: gr.DownloadButton
    command: gr.HTML
    address: Address

    @property
    def of_episodes(self) -> list[Any]:
        """The components that show the episodes or hold them."""
        return [
            self.problem, *self.player.controls, self.transcripts, self.json, self.markdown,
            self.command, self.episodes, self.address.shown,
        ]  # fmt: skip

    @property
    def of_choice(self) -> list[Any]:
        """The pickers."""
        return [self.task, self.seed, self.policies]


def lay_out(task_name: str, policies: Sequence[str], episodes: Mapping[str, Episode]) -> Layout:
    """Place every component, drawn for `episodes` of a task under `policies`."""
    parts = _pickers(task_name, policies)
    parts |= _shortcuts()
    after, before = arena_transcripts.TRAINING
    gr.HTML(
        note(
            f"“GPU arena, before and after” plays the {player_title(before)} and the"
            f" {player_title(after)} at the hold-out seed with the median difference of their"
            " grades; this takes a minute."
        )
    )
    json_path, markdown_path, problem = files(episodes)
    parts["problem"] = gr.HTML(problem)
    parts["episodes"] = gr.State(None, time_to_live=HOUR)
    moves = longest(episodes)
    parts["player"] = lay_out_player(moves)
    parts["transcripts"] = gr.HTML(columns(episodes, moves))
    with gr.Row(elem_classes="sauda-actions"):
        parts["json"] = gr.DownloadButton("JSON", value=json_path, size="sm", scale=0)
        parts["markdown"] = gr.DownloadButton("Markdown", value=markdown_path, size="sm", scale=0)
    parts["command"] = gr.HTML(again(episodes))
    parts["address"] = lay_out_address("transcripts", PART, ("task", "seed", "policies"))
    return Layout(**parts)


def _pickers(task_name: str, policies: Sequence[str]) -> dict[str, Any]:
    with gr.Row():
        return {
            "task": gr.Dropdown(
                task_choices([*BAZAAR_TASKS, *ARENA_TASKS]), value=task_name, label="Task",
                filterable=False, min_width=260, elem_id="transcripts-task",
            ),
            "seed": gr.Textbox(str(SEED), label="Seed", max_lines=1),
            "policies": gr.Dropdown(
                player_choices(task_name), value=list(policies), multiselect=True, max_choices=MOST,
                label="Policies, up to four", scale=2, min_width=300,
                elem_id="transcripts-policies",
            ),
        }  # fmt: skip


def _shortcuts() -> dict[str, gr.Button]:
    seed = arena_transcripts.DEMO_SEED
    with gr.Row(elem_classes="sauda-actions"):
        return {
            "median": gr.Button("GPU arena, before and after", size="sm"),
            "demo": gr.Button(f"GPU arena, seed {seed}", size="sm"),
            "shoot_out": gr.Button(
                "Shoot-out: a script, the planner, the untrained base, Sauda", size="sm"
            ),
        }
