"""What the GPU arena tab does on each event.

A callback takes the tab's `Layout` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value. An action that the rules would refuse is
answered with a sentence and costs the visitor nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, IllegalAction, arena
from panels.gpu_arena import offers, players, view
from panels.gpu_arena.board import calendar
from panels.gpu_arena.board.booking import booking, preview, refused, wanted
from panels.gpu_arena.first_world import TASK, why_this_world
from panels.gpu_arena.form import (
    Choices,
    answer_to,
    bid_for,
    changeable,
    choices,
    chosen_action,
    composed,
    from_text,
)
from panels.gpu_arena.layout import Layout
from panels.gpu_arena.names import block_name
from panels.gpu_arena.settlement import settlement
from panels.gpu_arena.words import ACTIONS, advised, player_title
from panels.site.sessions import Gone, no_longer_here, states_of
from panels.site.visitor import visitor_of_event
from panels.ui.look import note, trouble
from sauda.llm.types import ReplyError
from sauda.records.seeds import draw_seed, whole_seed
from sauda.sessions.arena import ArenaGame, act, proposal, start, step

Updates = dict[Any, Any]  # new values, or components with new properties, by component


# Games -------------------------------------------------------------------------------------------


def new_game(task_name: str, seed: str) -> ArenaGame:
    """A fresh game at the typed seed, or at a secret one where none was typed.

    ValueError with one sentence on a bad task or seed.
    """
    if task_name not in ARENA_TASKS:
        raise ValueError("choose one of the arena’s tasks")
    if not (seed or "").strip():
        return start(task_name, draw_seed(), secret=True)
    return start(task_name, whole_seed(seed))


def stepped(game: ArenaGame, player: str) -> ArenaGame:
    """The game after one action of a player.

    ValueError on an unknown player; ReplyError where a language model gives no reply.
    """
    return step(game, player, players.policy_of(player, visitor_of_event()))


def played(game: ArenaGame, action: arena.Action | arena.Malformed) -> ArenaGame:
    """The game after the visitor's action; IllegalAction where the rules would refuse it."""
    if why := refused(game, action):
        raise IllegalAction(why)
    return act(game, action)


def introduced(player: str, game: ArenaGame | None) -> Markup:
    """What a player is, with its measured grade; begins to load a language model."""
    if player not in players.players():
        return trouble(ValueError("choose one of the players in the list"))
    players.load(player)
    return players.badge(player, game.task_name if game else TASK)


def _kept(game: ArenaGame | None) -> ArenaGame:
    if game is None:
        raise IllegalAction(f"{no_longer_here('this world was')}; press “New world”")
    return game


# Showing a game ----------------------------------------------------------------------------------


def show(page: Layout, game: ArenaGame, running: bool = False, kind: str | None = None) -> Updates:
    """New values of all components that show `game`; the pickers keep `kind` while it is legal."""
    return {
        page.game: game,
        page.calendar: calendar.calendar(game),
        page.others: calendar.others(game),
        page.hint: "",
        page.last_step: view.last_step(game),
        page.papers: view.papers(game.observation),
        page.offers: offers.offers(game.observation),
        page.message_board: view.message_board(game),
        page.reward: view.reward(game),
        page.log: view.log(game),
        page.settlement: settlement(game),
        page.about_world: why_this_world(game),
        page.wait: gr.Button(visible=not game.over),
        page.other_actions: gr.Accordion(visible=not game.over),
        page.problem: "",
        page.session: visitor_of_event().session if game.movers else "",
        **offer_actions(page, choices(game), kind),
        **_controls(page, game, running),
    }


def offer_actions(
    page: Layout, options: Choices, kind: str | None = None, choice: str | None = None
) -> Updates:
    """The pickers of the visitor's next action, at `kind` and `choice` where they are legal."""
    chosen = kind if kind in options else next(iter(options), None)
    listed = options.get(chosen, [])
    choice = choice or (listed[0][1] if listed else None)
    return {
        page.kind: gr.Dropdown([(ACTIONS[name], name) for name in options], value=chosen),
        page.choice: gr.Dropdown(listed, value=choice),
        **choose_action(page, choice),
    }


def _controls(page: Layout, game: ArenaGame, running: bool) -> Updates:
    running = running and not game.over
    return {
        page.advice: gr.Button(interactive=not game.over),
        page.step: gr.Button(interactive=not game.over),
        page.run: gr.Button("Pause" if running else "Run", interactive=not game.over),
        page.clock: gr.Timer(active=running),
        page.running: running,
    }


def _shown_or_problem(place: Any, act_on_game: Callable[[], Updates]) -> Updates:
    """What `act_on_game` returns; the sentence of its error in `place`, with the game as it is."""
    try:
        return act_on_game()
    except (ValueError, ReplyError) as error:  # IllegalAction is a ValueError too
        return {place: trouble(error)}


# Events of a game --------------------------------------------------------------------------------


def resume(page: Layout, first: ArenaGame, earlier: str | None) -> Updates:
    """The game of this browser tab from before it was reloaded, or why it is gone, else `first`.

    `earlier` is the name of the session in which the tab had begun a game; "" for none.
    """
    afresh = {page.game: first, **choose_action(page, page.choice.value)}
    if not earlier:
        return afresh
    try:
        (game,) = states_of(earlier, [page.game])
    except Gone:
        game = None
    if isinstance(game, ArenaGame):
        return show(page, game)
    gone = f"{no_longer_here('your game was')}; this is a new one"
    return afresh | {page.problem: trouble(ValueError(gone))}


def begin(page: Layout, task_name: str, seed: str, player: str) -> Updates:
    """A new game."""

    def begun() -> Updates:
        game = new_game(task_name, seed)
        return show(page, game) | {page.about: introduced(player, game)}

    return _shown_or_problem(page.problem, begun)


def take_step(page: Layout, game: ArenaGame | None, player: str, kind: str | None) -> Updates:
    """The game after one action of the player; a run stops."""
    return _shown_or_problem(
        page.problem, lambda: show(page, stepped(_kept(game), player), kind=kind)
    )


def advise(page: Layout, game: ArenaGame | None, player: str) -> Updates:
    """What the player would do next; the game stays as it is."""

    def asked() -> Updates:
        kept = _kept(game)
        if kept.over:
            raise IllegalAction("this game is over; start a new one to play on")
        action = proposal(kept, players.policy_of(player, visitor_of_event()))
        words = advised(kept.observation, action)
        stop = "" if words.endswith("”") else "."
        return {page.problem: note(f"{player_title(player)}’s advice: {words}{stop}")}

    return _shown_or_problem(page.problem, asked)


def tick(page: Layout, game: ArenaGame | None, player: str, kind: str | None) -> Updates:
    """The game after one action of the player; the run goes on, and waits for a model to load."""

    def ticked() -> Updates:
        kept = _kept(game)
        try:
            return show(page, stepped(kept, player), running=True, kind=kind)
        except players.StillLoading as error:
            return {page.problem: note(f"{error}.")}
        except ReplyError as error:
            return {page.problem: trouble(error), **_controls(page, kept, False)}

    return _shown_or_problem(page.problem, ticked)


def toggle_run(page: Layout, game: ArenaGame | None, running: bool) -> Updates:
    """Start or pause the run."""
    return _shown_or_problem(page.problem, lambda: _controls(page, _kept(game), not running))


def wait_for_round(page: Layout, game: ArenaGame | None, kind: str | None) -> Updates:
    """The game after the visitor gave up what is left of the round."""
    return _shown_or_problem(
        page.problem, lambda: show(page, played(_kept(game), arena.Action("wait")), kind=kind)
    )


# Presses on the calendar and on offers -----------------------------------------------------------


def press_calendar(
    page: Layout, game: ArenaGame | None, blocks: Any, job: Any, want: Any
) -> Updates:
    """Book the pressed blocks for the job; without one, what they would do for each.

    `want` is a block of another lab: the form is filled with an offer for it. What a browser sends
    is checked here, because any client can send anything.
    """
    chosen = [one for one in blocks if isinstance(one, str)] if isinstance(blocks, list) else []

    def pressed() -> Updates:
        kept = _kept(game)
        if isinstance(want, str):
            return _bid(page, kept, want)
        if not isinstance(job, str):
            return {page.hint: preview(kept, chosen)}
        if not chosen:
            raise IllegalAction("press one or more of your blocks first, then the job")
        return show(page, played(kept, booking(job, chosen)))

    return _shown_or_problem(page.hint, pressed)


def press_offer(page: Layout, game: ArenaGame | None, action: Any, counter: Any) -> Updates:
    """Take the action of the pressed button; `counter` is an offer to answer with other terms."""

    def pressed() -> Updates:
        kept = _kept(game)
        if isinstance(action, str):
            return show(page, played(kept, chosen_action(action)))
        options = choices(kept)
        choice = answer_to(options, counter)
        if choice is None:
            raise IllegalAction("no other terms can be named for this offer now")
        return _opened_form(page, options, "counter_offer", choice)

    return _shown_or_problem(page.problem, pressed)


def _bid(page: Layout, game: ArenaGame, block_id: str) -> Updates:
    """The form with an offer for another lab's block."""
    sentence, options = wanted(game, block_id), choices(game)
    choice = bid_for(options, block_id)
    if choice is None:
        raise IllegalAction(
            f"{block_name(game.observation.market, block_id)} cannot be asked for now"
        )
    return {page.hint: note(f"{sentence}."), **_opened_form(page, options, "send_offer", choice)}


def _opened_form(page: Layout, options: Choices, kind: str, choice: str) -> Updates:
    fold = gr.Accordion(open=True, visible=True)
    return {page.other_actions: fold} | offer_actions(page, options, kind, choice)


# Events of the form ------------------------------------------------------------------------------


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
        return show(page, played(_kept(game), action), kind=kind)

    return _shown_or_problem(page.problem, acted)


def act_by_json(page: Layout, game: ArenaGame | None, kind: str | None, text: str) -> Updates:
    """The game after the action that the visitor typed."""
    return _shown_or_problem(
        page.problem, lambda: show(page, played(_kept(game), from_text(text or "")), kind=kind)
    )


def choose_kind(page: Layout, game: ArenaGame | None, kind: str | None) -> Updates:
    """The choices of that type of action, and the fields of the first."""
    if game is None:
        return {page.choice: gr.skip()}
    updates = offer_actions(page, choices(game), kind)
    return {part: updates[part] for part in (page.choice, *page.terms)}


def choose_action(page: Layout, choice: str | None) -> Updates:
    """The fields that the chosen action takes, with the values that it suggests."""
    if not choice:
        return {page.purpose: "", **_terms(page, (), arena.Action("wait"))}
    try:
        action = chosen_action(choice)
    except ValueError as error:
        return {page.purpose: trouble(error)}
    purpose = Markup('<p title="{}">{}</p>').format(
        action.action_type, arena.KINDS[action.action_type].purpose
    )
    return {page.purpose: purpose, **_terms(page, changeable(action.action_type), action)}


def _terms(page: Layout, fields: Sequence[str], action: arena.Action) -> Updates:
    pools = action.action_type == "form_coalition"
    return {
        page.payment: gr.Number(action.payment, visible="payment" in fields),
        page.ask: gr.Number(
            action.condition("ask", 0.0), visible="conditions" in fields and not pools
        ),
        page.share: gr.Number(action.condition("share", 0.5), visible=pools),
        page.message: gr.Textbox(action.message, visible="message" in fields),
    }
