"""What the GPU arena tab does on each event.

A callback takes the tab's `Layout` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, IllegalAction, arena
from panels.gpu_arena import view
from panels.gpu_arena.form import (
    ACTION_NAMES,
    changeable,
    choices,
    chosen_action,
    composed,
    from_text,
)
from panels.gpu_arena.layout import Layout
from panels.site.sessions import no_longer_here
from panels.ui.look import note, trouble
from sauda.policies import LAB_LABELS, LABS
from sauda.records.seeds import drawn_seed, whole_seed
from sauda.sessions.arena import ArenaGame, act, start, step

Updates = dict[Any, Any]  # new values, or components with new properties, by component


# Games -------------------------------------------------------------------------------------------


def new_game(task_name: str, seed: str) -> ArenaGame:
    """A fresh game at the typed seed, or at a secret one where none was typed.

    ValueError with one sentence on a bad task or seed.
    """
    if task_name not in ARENA_TASKS:
        raise ValueError("choose one of the arena’s tasks")
    if not (seed or "").strip():
        return start(task_name, drawn_seed(), secret=True)
    return start(task_name, whole_seed(seed))


def stepped(game: ArenaGame, policy: str) -> ArenaGame:
    """The game after one action of a scripted policy; ValueError on an unknown policy."""
    if not isinstance(policy, str) or policy not in LABS:
        raise ValueError(f"the policies of lab_0 are {', '.join(LABS)}")
    return step(game, policy)


def introduced(policy: str) -> Markup:
    """A one-line description of the policy."""
    return note(f"{policy}: {LAB_LABELS.get(policy, '')}.")


def _kept(game: ArenaGame | None) -> ArenaGame:
    if game is None:
        raise IllegalAction(f"{no_longer_here('this world was')}; press “New world”")
    return game


# Showing a game ----------------------------------------------------------------------------------


def show(page: Layout, game: ArenaGame, running: bool = False, kind: str | None = None) -> Updates:
    """New values of all components that show `game`; the pickers keep `kind` while it is legal."""
    return {
        page.game: game,
        page.calendar: view.calendar(game),
        page.message_board: view.message_board(game),
        page.papers: view.papers(game.observation),
        page.reward: view.reward(game),
        page.log: view.log(game),
        page.settlement: view.settlement(game),
        page.problem: "",
        **offer_actions(page, game, kind),
        **_controls(page, game, running),
    }


def offer_actions(page: Layout, game: ArenaGame, kind: str | None = None) -> Updates:
    """The pickers of the visitor's next action."""
    options = choices(game)
    chosen = kind if kind in options else next(iter(options), None)
    listed = options.get(chosen, [])
    return {
        page.kind: gr.Dropdown([(ACTION_NAMES[name], name) for name in options], value=chosen),
        page.choice: gr.Dropdown(listed, value=listed[0][1] if listed else None),
    }


def _controls(page: Layout, game: ArenaGame, running: bool) -> Updates:
    running = running and not game.over
    return {
        page.step: gr.Button(interactive=not game.over),
        page.run: gr.Button("Pause" if running else "Run", interactive=not game.over),
        page.clock: gr.Timer(active=running),
        page.running: running,
    }


def _shown_or_problem(page: Layout, act_on_game: Callable[[], Updates]) -> Updates:
    """What `act_on_game` returns; the sentence of its ValueError, with the game as it is."""
    try:
        return act_on_game()
    except ValueError as error:  # IllegalAction is one too
        return {page.problem: trouble(error)}


# Events ------------------------------------------------------------------------------------------


def begin(page: Layout, task_name: str, seed: str) -> Updates:
    """A new game."""
    return _shown_or_problem(page, lambda: show(page, new_game(task_name, seed)))


def take_step(page: Layout, game: ArenaGame | None, policy: str, kind: str | None) -> Updates:
    """The game after one action of the policy; a run stops."""
    return _shown_or_problem(page, lambda: show(page, stepped(_kept(game), policy), kind=kind))


def tick(page: Layout, game: ArenaGame | None, policy: str, kind: str | None) -> Updates:
    """The game after one action of the policy; the run goes on."""
    return _shown_or_problem(
        page, lambda: show(page, stepped(_kept(game), policy), running=True, kind=kind)
    )


def toggle_run(page: Layout, game: ArenaGame | None, running: bool) -> Updates:
    """Start or pause the run."""
    return _shown_or_problem(page, lambda: _controls(page, _kept(game), not running))


def act_by_form(
    page: Layout,
    game: ArenaGame | None,
    kind: str | None,
    choice: str | None,
    payment: float | None,
    ask: float | None,
    share: float | None,
    message: str,
) -> Updates:
    """The game after the action that the visitor chose."""

    def acted() -> Updates:
        if not choice:
            raise ValueError("choose an action first")
        action = composed(choice, payment, ask, share, message)
        return show(page, act(_kept(game), action), kind=kind)

    return _shown_or_problem(page, acted)


def act_by_json(page: Layout, game: ArenaGame | None, kind: str | None, text: str) -> Updates:
    """The game after the action that the visitor typed."""
    return _shown_or_problem(
        page, lambda: show(page, act(_kept(game), from_text(text or "")), kind=kind)
    )


def choose_kind(page: Layout, game: ArenaGame | None, kind: str | None) -> Updates:
    """The choices of that type of action."""
    if game is None:
        return {page.choice: gr.skip()}
    return {page.choice: offer_actions(page, game, kind)[page.choice]}


def choose_action(page: Layout, choice: str | None) -> Updates:
    """The fields that the chosen action takes, with the values that it suggests."""
    if not choice:
        return {page.purpose: ""}
    try:
        action = chosen_action(choice)
    except ValueError as error:
        return {page.purpose: trouble(error)}
    fields = changeable(action.action_type)
    pools = action.action_type == "form_coalition"
    return {
        page.purpose: Markup("<p>{}</p>").format(arena.KINDS[action.action_type].purpose),
        page.payment: gr.Number(action.payment, visible="payment" in fields),
        page.ask: gr.Number(
            action.condition("ask", 0.0), visible="conditions" in fields and not pools
        ),
        page.share: gr.Number(action.condition("share", 0.5), visible=pools),
        page.message: gr.Textbox(action.message, visible="message" in fields),
    }
