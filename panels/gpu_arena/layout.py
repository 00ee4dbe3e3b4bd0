"""The components of the GPU arena tab, laid out and not yet wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, arena
from panels.gpu_arena import offers, players, view
from panels.gpu_arena.board import calendar
from panels.gpu_arena.first_world import why_this_world
from panels.gpu_arena.form import ASK, PAYMENT, SHARE, choices
from panels.gpu_arena.words import ACTIONS, GOAL
from panels.site.sessions import HOUR
from panels.ui.look import heading, note
from panels.ui.terms import task_about, task_title
from panels.ui.wiring import Address, lay_out_address
from sauda.sessions.arena import ArenaGame

TITLE = "GPU arena"
PACE = 0.7  # seconds between two steps of a run
# A browser tab remembers the session of its game, and tells it when it opens the page again.
REMEMBER = "name => { sessionStorage.setItem('sauda-arena', name); return []; }"
RECALL = "() => [sessionStorage.getItem('sauda-arena') ?? '']"
Parts = dict[str, Any]  # components by the name of their field in `Layout`


@dataclass(frozen=True, eq=False)
class Layout:
    """Every component that a callback reads or writes."""

    task: gr.Dropdown
    seed: gr.Textbox
    new_world: gr.Button
    about_world: gr.HTML
    policy: gr.Dropdown
    advice: gr.Button
    step: gr.Button
    run: gr.Button
    about: gr.HTML
    problem: gr.HTML
    settlement: gr.HTML
    calendar: gr.HTML
    others: gr.HTML  # the other labs' part of the calendar
    hint: gr.HTML  # what the pressed blocks would do, or why a press was refused
    wait: gr.Button
    last_step: gr.HTML
    papers: gr.HTML
    offers: gr.HTML
    message_board: gr.HTML
    reward: gr.HTML
    log: gr.HTML
    other_actions: gr.Accordion
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
    session: gr.Textbox  # the name of the session that holds a begun game; for the browser tab
    earlier: gr.Textbox  # what the browser tab remembers of it when the page is opened
    address: Address

    @property
    def of_game(self) -> list[Any]:
        """The components that show the game or hold it."""
        return [
            self.game, self.calendar, self.others, self.hint, self.last_step, self.papers,
            self.offers, self.message_board, self.reward, self.log, self.settlement,
            self.problem, self.about_world, self.session, self.wait, self.other_actions, self.kind,
            self.choice, *self.terms, *self.of_run,
        ]  # fmt: skip

    @property
    def of_run(self) -> list[Any]:
        """The components that show whether the game runs by itself."""
        return [self.advice, self.step, self.run, self.clock, self.running]

    @property
    def terms(self) -> list[Any]:
        """The form of the chosen action."""
        return [self.purpose, self.payment, self.ask, self.share, self.message]


def lay_out(game: ArenaGame) -> Layout:
    """Place every component, drawn for `game`."""
    lines = Markup("").join(Markup("<li>{}</li>").format(line) for line in GOAL)
    gr.HTML(heading(TITLE) + Markup('<ol class="sauda-goal">{}</ol>').format(lines))
    parts: Parts = {
        "game": gr.State(None, time_to_live=HOUR),
        "running": gr.State(False, time_to_live=HOUR),
        "clock": gr.Timer(PACE, active=False),
        "session": gr.Textbox("", visible="hidden"),
        "earlier": gr.Textbox("", visible="hidden"),
        "address": lay_out_address("gpu_arena", "", ("task", "seed")),
        "settlement": gr.HTML(elem_id="arena-end"),
    }
    with gr.Row():
        with gr.Column(scale=6, min_width=320, elem_id="arena-board"):
            parts |= _board(game)
        with gr.Column(scale=5, min_width=320):
            parts |= _table(game)
            parts |= _form(game)
    parts |= _player(game)
    parts |= _world(game)
    with gr.Accordion("What happened, step by step, and its reward", open=False):
        parts["log"] = gr.HTML(view.log(game), elem_id="arena-log")
        parts["reward"] = gr.HTML(view.reward(game), elem_id="arena-reward")
    return Layout(**parts)


def _board(game: ArenaGame) -> Parts:
    press = calendar.PRESS_CALENDAR
    own = gr.HTML(calendar.calendar(game), elem_id="arena-own", js_on_load=press)
    hint = gr.HTML(elem_id="arena-hint")
    last_step = gr.HTML(view.last_step(game), elem_id="arena-last")
    with gr.Row(elem_classes="sauda-actions"):
        wait = gr.Button("Wait for the next round", variant="secondary", scale=0, min_width=180)
    others = gr.HTML(calendar.others(game), elem_id="arena-others", js_on_load=press)
    return {"calendar": own, "hint": hint, "wait": wait, "last_step": last_step, "others": others}


def _table(game: ArenaGame) -> Parts:
    obs = game.observation
    return {
        "papers": gr.HTML(view.papers(obs), elem_id="arena-papers"),
        "offers": gr.HTML(
            offers.offers(obs), elem_id="arena-offers", js_on_load=offers.PRESS_OFFER
        ),
        "message_board": gr.HTML(view.message_board(game), elem_id="arena-floor"),
        "problem": gr.HTML(elem_id="arena-problem"),
    }


def _player(game: ArenaGame) -> Parts:
    with gr.Row(elem_classes="sauda-actions"):
        parts = {
            "policy": gr.Dropdown(
                players.choices(), value=players.FIRST_PLAYER, filterable=False,
                label="Ask a player, or let it act for you", scale=1, min_width=230,
                elem_id="arena-player",
            ),
            "advice": gr.Button("Advice", variant="secondary", scale=0, min_width=84),
            "step": gr.Button("Step", variant="secondary", scale=0, min_width=84),
            "run": gr.Button("Run", variant="secondary", scale=0, min_width=84),
        }  # fmt: skip
    badge = players.badge(players.FIRST_PLAYER, game.task_name)
    return parts | {"about": gr.HTML(badge, elem_id="arena-about")}


def _world(game: ArenaGame) -> Parts:
    tasks = [(f"{task_title(name)}: {task_about(name)}", name) for name in ARENA_TASKS]
    with gr.Row(elem_classes="sauda-actions"):
        parts = {
            "task": gr.Dropdown(
                tasks, value=game.task_name, label="World", filterable=False, scale=3,
                min_width=230, elem_id="arena-task",
            ),
            "seed": gr.Textbox(
                "", label="Seed", placeholder="empty: a secret one", scale=1, min_width=150,
                max_lines=1,
            ),
            "new_world": gr.Button("New world", variant="secondary", scale=0, min_width=110),
        }  # fmt: skip
    return parts | {"about_world": gr.HTML(why_this_world(game), elem_id="arena-why")}


def _form(game: ArenaGame) -> Parts:
    options = choices(game)
    first = next(iter(options))
    with gr.Accordion(
        "Make an offer, pool, talk or leave", open=False, elem_id="arena-hand"
    ) as fold:
        gr.HTML(note("The lists hold what is legal now; you set amounts and words."))
        with gr.Row(elem_classes="sauda-actions"):
            kind = gr.Dropdown(
                [(ACTIONS[name], name) for name in options], value=first, label="Action", scale=1,
                min_width=170, elem_id="arena-kind",
            )  # fmt: skip
            choice = gr.Dropdown(
                options[first], value=options[first][0][1], label="Choice", scale=3, min_width=260,
                elem_id="arena-choice",
            )  # fmt: skip
            act = gr.Button("Act", variant="primary", scale=0, min_width=84)
        purpose = gr.HTML()
        with gr.Row():
            payment = gr.Number(0, label=PAYMENT, visible=False)
            ask = gr.Number(0, label=ASK, visible=False)
            share = gr.Number(0.5, label=SHARE, visible=False)
            message = gr.Textbox(
                "", label="What you say", max_length=arena.LONGEST_MESSAGE, visible=False
            )
        with gr.Row(elem_classes="sauda-actions"):
            json = gr.Textbox(
                "", label="Or as JSON", placeholder='{"action_type": "wait"}', max_lines=3, scale=4
            )
            send_json = gr.Button("Send JSON", variant="secondary", scale=0, min_width=110)
    return {
        "other_actions": fold, "kind": kind, "choice": choice, "act": act, "purpose": purpose,
        "payment": payment, "ask": ask, "share": share, "message": message, "json": json,
        "send_json": send_json,
    }  # fmt: skip
