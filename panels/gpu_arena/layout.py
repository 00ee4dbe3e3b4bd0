"""The components of the GPU arena tab, laid out and not yet wired."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, arena
from panels.gpu_arena import offers, players, view
from panels.gpu_arena.board import calendar
from panels.gpu_arena.first_world import why_this_world
from panels.gpu_arena.form import (
    ASK,
    CREDITS,
    PAY,
    SAYINGS,
    SHARE,
    choices,
    labs,
    own_blocks,
    wanted_blocks,
)
from panels.gpu_arena.words import GOAL, WATCH, WATCH_PUBLISHED
from panels.site.sessions import HOUR
from panels.ui.look import heading
from panels.ui.terms import task_about, task_title
from panels.ui.wiring import Address, lay_out_address
from sauda.sessions.arena import ArenaGame

TITLE = "GPU arena"
PACE = 2.0  # seconds between two steps of a run: time to read the reason of each
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
    watch: gr.Button
    watch_published: gr.Button
    ask: gr.Button  # for advice
    advice: gr.HTML
    policy: gr.Dropdown
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
    credits_left: gr.HTML
    offers: gr.HTML
    message_board: gr.HTML
    reward: gr.HTML
    log: gr.HTML
    sentence: gr.Column  # the offer in words
    give: gr.Dropdown
    way: gr.Dropdown
    credits: gr.Number
    want: gr.Dropdown
    to: gr.Dropdown
    say: gr.Dropdown
    deal: gr.HTML  # what the offer is worth
    send: gr.Button
    answered: gr.State  # the id of the open offer that the sentence answers; "" for none
    other_moves: gr.Accordion
    choice: gr.Dropdown
    act: gr.Button
    purpose: gr.HTML
    share: gr.Number
    message: gr.Textbox
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
            self.game, self.calendar, self.others, self.hint, self.last_step, self.credits_left,
            self.offers, self.message_board, self.reward, self.log, self.settlement, self.advice,
            self.problem, self.about_world, self.session, self.wait, self.sentence,
            *self.of_offer, self.say, self.other_moves, self.choice, *self.terms, *self.of_run,
        ]  # fmt: skip

    @property
    def of_run(self) -> list[Any]:
        """The components that show whether the game runs by itself."""
        return [
            self.watch, self.watch_published, self.ask, self.step, self.run, self.clock,
            self.running, self.policy,
        ]  # fmt: skip

    @property
    def of_offer(self) -> list[Any]:
        """The parts of the sentence of an offer but its words."""
        return [
            self.give, self.way, self.credits, self.want, self.to, self.deal, self.answered
        ]  # fmt: skip

    @property
    def terms(self) -> list[Any]:
        """The form of another move."""
        return [self.purpose, self.share, self.message]


def lay_out(game: ArenaGame) -> Layout:
    """Place every component, drawn for `game`."""
    gr.HTML(heading(TITLE) + Markup('<p class="sauda-goal">{}</p>').format(GOAL))
    parts: Parts = {
        "game": gr.State(None, time_to_live=HOUR),
        "running": gr.State(False, time_to_live=HOUR),
        "answered": gr.State("", time_to_live=HOUR),
        "clock": gr.Timer(PACE, active=False),
        "session": gr.Textbox("", visible="hidden"),
        "earlier": gr.Textbox("", visible="hidden"),
        "address": lay_out_address("gpu_arena", "", ("task", "seed")),
    }
    parts |= _top(game)
    with gr.Row():
        with gr.Column(scale=6, min_width=320, elem_id="arena-board"):
            parts |= _board(game)
        with gr.Column(scale=5, min_width=320):
            parts |= _table(game)
            parts |= _other_moves(game)
    parts |= _world(game)
    parts |= _player(game)
    with gr.Accordion("What happened, step by step, and its reward", open=False):
        parts["log"] = gr.HTML(view.log(game), elem_id="arena-log")
        parts["reward"] = gr.HTML(view.reward(game), elem_id="arena-reward")
    return Layout(**parts)


def _top(game: ArenaGame) -> Parts:
    with gr.Row(elem_classes="sauda-actions"):
        parts = {
            "watch": gr.Button(WATCH, variant="primary", scale=0, min_width=150),
            "watch_published": gr.Button(
                WATCH_PUBLISHED, variant="secondary", scale=0, min_width=150
            ),
            "ask": gr.Button("Advice", variant="secondary", scale=0, min_width=84),
            "new_world": gr.Button("New world", variant="secondary", scale=0, min_width=110),
        }
    return parts | {
        "advice": gr.HTML(elem_id="arena-advice", js_on_load=offers.PRESS_OFFER),
        "problem": gr.HTML(elem_id="arena-problem"),
        "last_step": gr.HTML(view.last_step(game), elem_id="arena-last"),
        "settlement": gr.HTML(elem_id="arena-end"),
    }


def _board(game: ArenaGame) -> Parts:
    press = calendar.PRESS_CALENDAR
    own = gr.HTML(calendar.calendar(game), elem_id="arena-own", js_on_load=press)
    hint = gr.HTML(elem_id="arena-hint")
    with gr.Row(elem_classes="sauda-actions"):
        wait = gr.Button("Wait for the next round", variant="secondary", scale=0, min_width=180)
    others = gr.HTML(calendar.others(game), elem_id="arena-others", js_on_load=press)
    return {"calendar": own, "hint": hint, "wait": wait, "others": others}


def _table(game: ArenaGame) -> Parts:
    obs = game.observation
    parts = {
        "credits_left": gr.HTML(view.credits_strip(obs), elem_id="arena-papers"),
        "offers": gr.HTML(
            offers.offers(obs), elem_id="arena-offers", js_on_load=offers.PRESS_OFFER
        ),
    }
    parts |= _sentence(game)
    return parts | {"message_board": gr.HTML(view.message_board(game), elem_id="arena-floor")}


def _sentence(game: ArenaGame) -> Parts:
    """An offer as one sentence with lists to choose from."""
    obs = game.observation
    with gr.Column(elem_id="arena-hand") as sentence:
        gr.HTML(Markup("<h3>Make an offer</h3>"))
        give = gr.Dropdown(
            own_blocks(obs), value=[], multiselect=True, label="I give", elem_id="arena-give"
        )
        with gr.Row(elem_classes="sauda-sentence"):
            way = gr.Dropdown(
                [PAY, ASK], value=PAY, label="and", filterable=False, min_width=130,
                elem_id="arena-way",
            )  # fmt: skip
            credits = gr.Number(0, label=CREDITS, min_width=130)
        want = gr.Dropdown(
            wanted_blocks(obs), value=[], multiselect=True, label="for", elem_id="arena-want"
        )
        to = gr.Dropdown(
            labs(obs), value=labs(obs)[0][1], label="to", filterable=False, elem_id="arena-to"
        )
        say = gr.Dropdown(
            list(SAYINGS), value="", label="and say (a sentence of the list, or your own)",
            allow_custom_value=True, elem_id="arena-say",
        )  # fmt: skip
        deal = gr.HTML(elem_id="arena-deal")
        with gr.Row(elem_classes="sauda-actions"):
            send = gr.Button("Send the offer", variant="secondary", scale=0, min_width=140)
    return {
        "sentence": sentence, "give": give, "way": way, "credits": credits, "want": want,
        "to": to, "say": say, "deal": deal, "send": send,
    }  # fmt: skip


def _player(game: ArenaGame) -> Parts:
    with gr.Accordion("Let another player act for you", open=False, elem_id="arena-players"):
        with gr.Row(elem_classes="sauda-actions"):
            parts = {
                "policy": gr.Dropdown(
                    players.choices(), value=players.FIRST_PLAYER, filterable=False,
                    label="Player", scale=1, min_width=230, elem_id="arena-player",
                ),
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
        }  # fmt: skip
    return parts | {"about_world": gr.HTML(why_this_world(game), elem_id="arena-why")}


def _other_moves(game: ArenaGame) -> Parts:
    options = choices(game)
    with gr.Accordion(
        "Pool, hold a block, talk or leave", open=False, elem_id="arena-more"
    ) as fold:
        with gr.Row(elem_classes="sauda-actions"):
            choice = gr.Dropdown(
                options, value=options[0][1], label="Move", min_width=230, elem_id="arena-choice"
            )
            act = gr.Button("Do it", variant="secondary", scale=0, min_width=84)
        purpose = gr.HTML()
        with gr.Row():
            share = gr.Number(0.5, label=SHARE, visible=False)
            message = gr.Textbox(
                "", label="What you say", max_length=arena.LONGEST_MESSAGE, visible=False
            )
    return {
        "other_moves": fold, "choice": choice, "act": act, "purpose": purpose, "share": share,
        "message": message,
    }  # fmt: skip
