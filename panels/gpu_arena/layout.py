"""The components of the GPU arena tab, laid out and not yet wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from env import ARENA_TASKS, arena
from panels.gpu_arena import view
from panels.gpu_arena.form import ACTION_NAMES, choices
from panels.site.sessions import HOUR
from panels.ui.look import heading, note
from sauda.policies import LABS
from sauda.sessions.arena import ArenaGame

TITLE = "GPU arena"
FIRST_POLICY = "planner"
PACE = 0.7  # seconds between two steps of a run
Parts = dict[str, Any]  # components by the name of their field in `Layout`


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    task: gr.Dropdown
    seed: gr.Textbox
    policy: gr.Dropdown
    step: gr.Button
    run: gr.Button
    new_world: gr.Button
    about: gr.HTML
    problem: gr.HTML
    settlement: gr.HTML
    calendar: gr.HTML
    message_board: gr.HTML
    papers: gr.HTML
    reward: gr.HTML
    log: gr.HTML
    kind: gr.Dropdown
    choice: gr.Dropdown
    act: gr.Button
    purpose: gr.HTML
    payment: gr.Number
    ask: gr.Number
    share: gr.Number
    message: gr.Textbox
    json: gr.Textbox
    send_json: gr.Button
    game: gr.State
    running: gr.State  # whether the clock takes a step each `PACE` seconds
    clock: gr.Timer

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.game, self.calendar, self.message_board, self.papers, self.reward, self.log,
            self.settlement, self.problem, self.kind, self.choice, *self.of_run,
        ]  # fmt: skip

    @property
    def of_run(self) -> list[Any]:
        """The components that show whether the game runs by itself."""
        return [self.step, self.run, self.clock, self.running]

    @property
    def terms(self) -> list[Any]:
        """The form of the chosen action."""
        return [self.purpose, self.payment, self.ask, self.share, self.message]


def lay_out(game: ArenaGame, about: str) -> Layout:
    """Place every component, drawn for `game`; `about` describes the first policy."""
    gr.HTML(
        heading(
            TITLE,
            "Labs trade GPU time before their deadlines. A scripted policy plays lab_0: step, run,"
            " or take over at any time.",
        )
    )
    parts = {
        "game": gr.State(None, time_to_live=HOUR),
        "running": gr.State(False, time_to_live=HOUR),
        "clock": gr.Timer(PACE, active=False),
    }
    parts |= _controls(game)
    parts["about"] = gr.HTML(about)
    parts["problem"] = gr.HTML(elem_id="arena-problem")
    parts["settlement"] = gr.HTML(elem_id="arena-end")
    parts |= _game_view(game)
    with gr.Accordion("Take over lab_0", open=False, elem_id="arena-hand"):
        parts |= _form(game)
    return Layout(**parts)


def _controls(game: ArenaGame) -> Parts:
    with gr.Row(elem_classes="sauda-actions"):
        return {
            "task": gr.Dropdown(
                list(ARENA_TASKS), value=game.task_name, label="Task", scale=2, min_width=190
            ),
            "seed": gr.Textbox(
                "", label="Seed", placeholder="empty: a secret one", scale=1, min_width=150,
                max_lines=1,
            ),
            "policy": gr.Dropdown(
                list(LABS), value=FIRST_POLICY, label="Policy of lab_0", scale=2, min_width=190
            ),
            "step": gr.Button("Step", variant="primary", scale=0, min_width=84),
            "run": gr.Button("Run", variant="secondary", scale=0, min_width=84),
            "new_world": gr.Button("New world", variant="secondary", scale=0, min_width=110),
        }  # fmt: skip


def _game_view(game: ArenaGame) -> Parts:
    with gr.Row():
        with gr.Column(scale=6, min_width=320):
            calendar = gr.HTML(view.calendar(game), elem_id="arena-board")
            message_board = gr.HTML(view.message_board(game), elem_id="arena-floor")
        with gr.Column(scale=5, min_width=320):
            papers = gr.HTML(view.papers(game.observation), elem_id="arena-papers")
            reward = gr.HTML(view.reward(game), elem_id="arena-reward")
            log = gr.HTML(view.log(game), elem_id="arena-log")
    return {
        "calendar": calendar,
        "message_board": message_board,
        "papers": papers,
        "reward": reward,
        "log": log,
    }


def _form(game: ArenaGame) -> Parts:
    options = choices(game)
    first = next(iter(options))
    gr.HTML(note("The lists hold the actions that are legal now; you set amounts and messages."))
    with gr.Row(elem_classes="sauda-actions"):
        kind = gr.Dropdown(
            [(ACTION_NAMES[name], name) for name in options], value=first, label="Action", scale=1,
            min_width=170, elem_id="arena-kind",
        )  # fmt: skip
        choice = gr.Dropdown(
            options[first], value=options[first][0][1], label="Choice", scale=3, min_width=260,
            elem_id="arena-choice",
        )  # fmt: skip
        act = gr.Button("Act", variant="primary", scale=0, min_width=84)
    purpose = gr.HTML()
    with gr.Row():
        payment = gr.Number(0, label="You pay, credits", minimum=0, visible=False)
        ask = gr.Number(0, label="They pay you, credits", minimum=0, visible=False)
        share = gr.Number(0.5, label="Owner’s share of a pooled gain, 0 to 1", visible=False)
        message = gr.Textbox(
            "", label="What you say", max_length=arena.LONGEST_MESSAGE, visible=False
        )
    with gr.Row(elem_classes="sauda-actions"):
        json = gr.Textbox(
            "", label="Or as JSON", placeholder='{"action_type": "wait"}', max_lines=3, scale=4
        )
        send_json = gr.Button("Send JSON", variant="secondary", scale=0, min_width=110)
    return {
        "kind": kind, "choice": choice, "act": act, "purpose": purpose, "payment": payment,
        "ask": ask, "share": share, "message": message, "json": json, "send_json": send_json,
    }  # fmt: skip
