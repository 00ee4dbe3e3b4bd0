"""What the GPU arena tab does on each event.

A callback takes the tab's `Layout` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value. An action that the rules would refuse is
answered with a sentence and costs the visitor nothing.
"""

from collections.abc import Callable
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, IllegalAction, arena
from panels.gpu_arena import form, offers, players, view
from panels.gpu_arena.board import calendar
from panels.gpu_arena.board.booking import booking, preview, refused, wanted
from panels.gpu_arena.first_world import TASK, why_this_world
from panels.gpu_arena.layout import Layout
from panels.gpu_arena.names import block_name, lab_name
from panels.gpu_arena.reasons import EXPERT, suggested_price
from panels.gpu_arena.settlement import settlement
from panels.gpu_arena.words import WATCH, WATCH_PUBLISHED
from panels.site.sessions import Gone, no_longer_here, states_of
from panels.site.visitor import visitor_of_event
from panels.ui.look import note, trouble
from sauda.llm.types import ReplyError
from sauda.policies import LABS
from sauda.records.seeds import draw_seed, whole_seed
from sauda.sessions.arena import ArenaGame, act, is_alone, play_out, proposal, start, step

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
    """The game after one action of a player; a script plays the rest where nobody else is left.

    ValueError on an unknown player; ReplyError where a language model gives no reply.
    """
    after = step(game, player, players.policy_of(player, visitor_of_event()))
    return play_out(after, player) if player in LABS and is_alone(after) else after


def played(game: ArenaGame, action: arena.Action | arena.Malformed) -> ArenaGame:
    """The game after the visitor's action; the expert plays the rest where nobody else is left.

    IllegalAction where the rules would refuse the action.
    """
    if why := refused(game, action):
        raise IllegalAction(why)
    after = act(game, action)
    return play_out(after, EXPERT) if is_alone(after) else after


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


def show(page: Layout, game: ArenaGame, running: bool = False) -> Updates:
    """New values of all components that show `game`."""
    return {
        page.game: game,
        page.calendar: calendar.calendar(game),
        page.others: calendar.others(game),
        page.hint: "",
        page.advice: "",
        page.last_step: view.last_step(game),
        page.credits_left: view.credits_strip(game.observation),
        page.offers: offers.offers(game.observation),
        page.message_board: view.message_board(game),
        page.reward: view.reward(game),
        page.log: view.log(game),
        page.settlement: settlement(game),
        page.about_world: why_this_world(game),
        page.wait: gr.Button(visible=not game.over),
        page.sentence: gr.Column(visible=not game.over),
        page.other_moves: gr.Accordion(visible=not game.over),
        page.problem: "",
        page.session: visitor_of_event().session if game.movers else "",
        **_sentence(page, game),
        page.say: "",
        **_other_moves(page, form.choices(game)),
        **_controls(page, game, running),
    }


def _sentence(
    page: Layout,
    game: ArenaGame,
    give: tuple[str, ...] = (),
    want: tuple[str, ...] = (),
    lab_id: str | None = None,
    price: float | None = None,
    answered: str = "",
) -> Updates:
    """The sentence of an offer with these terms; `price` is paid, or asked for below 0."""
    obs = game.observation
    present, price = form.labs(obs), price or 0.0
    to = lab_id or (present[0][1] if present else None)
    return {
        page.give: gr.Dropdown(form.own_blocks(obs), value=list(give), multiselect=True),
        page.want: gr.Dropdown(form.wanted_blocks(obs), value=list(want), multiselect=True),
        page.to: gr.Dropdown(present, value=to),
        page.way: form.ASK if price < 0 else form.PAY,
        page.credits: abs(price),
        page.answered: answered,
        page.deal: _deal(obs, give, want, price, to) if give or want else "",
    }


def _deal(
    obs: arena.Observation,
    give: tuple[str, ...],
    want: tuple[str, ...],
    price: float,
    lab_id: str | None,
) -> Markup:
    """What the offer of the sentence is worth to the visitor, and what the other side may take."""
    worth_of = offers.explained(obs, give, want, -price)
    hint = suggested_price(obs, lab_id, give, want) if lab_id else None
    if hint is None:
        return worth_of
    money = f"{'pay' if hint < 0 else 'take'} {abs(hint):.0f} credits"
    return worth_of + note(f"{lab_name(obs.market, lab_id)} may {money}.")


def _other_moves(page: Layout, options: list[tuple[str, str]]) -> Updates:
    choice = options[0][1] if options else None
    return {page.choice: gr.Dropdown(options, value=choice), **choose_action(page, choice)}


def _controls(page: Layout, game: ArenaGame, running: bool) -> Updates:
    running = running and not game.over
    idle = not (running or game.over)
    return {
        page.watch: gr.Button("Pause" if running else WATCH),
        page.watch_published: gr.Button(WATCH_PUBLISHED, interactive=not running),
        page.ask: gr.Button(interactive=idle),
        page.step: gr.Button(interactive=idle),
        page.run: gr.Button(interactive=idle),
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


def take_step(page: Layout, game: ArenaGame | None, player: str) -> Updates:
    """The game after one action of the player; a run stops."""
    return _shown_or_problem(page.problem, lambda: show(page, stepped(_kept(game), player)))


def advise(page: Layout, game: ArenaGame | None) -> Updates:
    """What the expert would do next, why, and a button that does it; the game stays as it is."""

    def asked() -> Updates:
        kept = _kept(game)
        if kept.over:
            raise IllegalAction("this game is over; start a new one to play on")
        return {page.advice: _advice(kept)}

    return _shown_or_problem(page.problem, asked)


def _advice(game: ArenaGame) -> Markup:
    return view.advice(game.observation, proposal(game, LABS[EXPERT]))


def take_advice(page: Layout, game: ArenaGame | None, action: Any) -> Updates:
    """The game after the advised action, with the advice for the next one."""
    updates = press_offer(page, game, action, None)
    after = updates.get(page.game)
    if after is None or after.over:
        return updates
    return updates | {page.advice: _advice(after)}


def tick(page: Layout, game: ArenaGame | None, player: str) -> Updates:
    """The game after one action of the player; the run goes on, and waits for a model to load."""

    def ticked() -> Updates:
        kept = _kept(game)
        try:
            return show(page, stepped(kept, player), running=True)
        except players.StillLoading as error:
            return {page.problem: note(f"{error}.")}
        except ReplyError as error:
            return {page.problem: trouble(error), **_controls(page, kept, False)}

    return _shown_or_problem(page.problem, ticked)


def watch(page: Layout, game: ArenaGame | None, running: bool, player: str) -> Updates:
    """Let a player act by itself from here on, or pause; a finished world begins anew."""

    def toggled() -> Updates:
        kept = _kept(game)
        if player not in players.players():
            raise ValueError("choose one of the players in the list")
        if kept.over:
            kept = start(kept.task_name, kept.play.seed, kept.secret)
        if not running:
            return show(page, kept, running=True) | {page.policy: player}
        return _controls(page, kept, False)

    return _shown_or_problem(page.problem, toggled)


def wait_for_round(page: Layout, game: ArenaGame | None) -> Updates:
    """The game after the visitor gave up what is left of the round."""
    return _shown_or_problem(
        page.problem, lambda: show(page, played(_kept(game), arena.Action("wait")))
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
            return show(page, played(kept, form.chosen_action(action)))
        offer = next((o for o in kept.observation.incoming if o.offer_id == counter), None)
        if offer is None:
            raise IllegalAction("no other terms can be named for this offer now")
        return _sentence(
            page, kept, offer.requested_blocks, offer.offered_blocks, offer.from_lab_id,
            offer.ask - offer.payment, offer.offer_id,
        )  # fmt: skip

    return _shown_or_problem(page.problem, pressed)


def _bid(page: Layout, game: ArenaGame, block_id: str) -> Updates:
    """The sentence of an offer for another lab's block, at a price that the lab may take."""
    sentence, obs = wanted(game, block_id), game.observation
    owner = obs.market.blocks[block_id].owner_lab_id
    if block_id not in [name for _, name in form.wanted_blocks(obs)]:
        raise IllegalAction(f"{block_name(obs.market, block_id)} cannot be asked for now")
    price = suggested_price(obs, owner, (), (block_id,))
    return {
        page.hint: note(f"{sentence}."),
        **_sentence(page, game, want=(block_id,), lab_id=owner, price=price),
    }


# Events of the sentence and of the other moves ---------------------------------------------------


def price_offer(
    page: Layout, game: ArenaGame | None, give: Any, want: Any, to: Any, answered: Any
) -> Updates:
    """The price that the other side may take for the chosen blocks, and what it leaves."""

    def priced() -> Updates:
        obs = _kept(game).observation
        gives, wants = form.known_ids(obs, give), form.known_ids(obs, want)
        lab_id = form.recipient(obs, want, to)
        if lab_id not in [name for _, name in form.labs(obs)]:
            raise IllegalAction("choose the lab that the offer goes to")
        if not (gives or wants):
            return {page.deal: ""}
        price = suggested_price(obs, lab_id, gives, wants) or 0.0
        return {
            page.to: lab_id,
            page.way: form.ASK if price < 0 else form.PAY,
            page.credits: abs(price),
            page.deal: _deal(obs, gives, wants, price, lab_id),
        }

    return _shown_or_problem(page.deal, priced)


def weigh_offer(
    page: Layout, game: ArenaGame | None, give: Any, way: Any, credits: Any, want: Any, to: Any
) -> Updates:
    """What the offer leaves the visitor at the price that it names."""

    def weighed() -> Updates:
        obs = _kept(game).observation
        gives, wants = form.known_ids(obs, give), form.known_ids(obs, want)
        if not (gives or wants):
            return {page.deal: ""}
        price = form.amount(credits) * (-1 if way == form.ASK else 1)
        lab_id = form.recipient(obs, want, to)
        return {page.deal: _deal(obs, gives, wants, price, lab_id)}

    return _shown_or_problem(page.deal, weighed)


def send_offer(page: Layout, game: ArenaGame | None, *sentence: Any) -> Updates:
    """The game after the offer of the sentence."""

    def sent() -> Updates:
        kept = _kept(game)
        return show(page, played(kept, form.offer_of(kept.observation, *sentence)))

    return _shown_or_problem(page.deal, sent)


def act_by_form(
    page: Layout, game: ArenaGame | None, choice: Any, share: Any, message: Any
) -> Updates:
    """The game after the move that the visitor chose."""

    def acted() -> Updates:
        return show(page, played(_kept(game), form.composed(choice, share, message)))

    return _shown_or_problem(page.purpose, acted)


def choose_action(page: Layout, choice: Any) -> Updates:
    """The fields that the chosen move takes, with the values that it suggests."""
    if not choice:
        return {page.purpose: "", **_terms(page, arena.Action("wait"))}
    try:
        action = form.chosen_action(choice)
    except ValueError as error:
        return {page.purpose: trouble(error)}
    purpose = note(arena.KINDS[action.action_type].purpose)
    return {page.purpose: purpose, **_terms(page, action)}


def _terms(page: Layout, action: arena.Action) -> Updates:
    kind = action.action_type
    return {
        page.share: gr.Number(action.condition("share", 0.5), visible=kind == "form_coalition"),
        page.message: gr.Textbox(action.message, visible=form.takes_words(kind)),
    }
