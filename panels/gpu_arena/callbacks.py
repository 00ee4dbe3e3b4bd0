"""What the GPU arena tab does on each press.

An action takes the visit and what the press sent, and returns the visit after it. An action that
the rules would refuse is answered with a sentence and costs the visitor nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from env import ARENA_TASKS, IllegalAction, arena
from panels.gpu_arena import form, players, view
from panels.gpu_arena.board import booking, preview, refused, wanted
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.names import block_name
from panels.gpu_arena.reasons import EXPERT
from panels.gpu_arena.screen import OF_GAME, REGIONS, Layout, draw, named_in_address
from panels.gpu_arena.visit import Fields, Sent, Visit, read
from panels.site.sessions import Gone, no_longer_here, states_of
from panels.site.visitor import visitor_of_event
from panels.ui.look import note, trouble
from panels.ui.wiring import Updates, queried
from sauda.llm.types import ReplyError
from sauda.policies import LABS
from sauda.records.seeds import draw_seed, whole_seed
from sauda.sessions.arena import ArenaGame, act, is_alone, play_out, proposal, start, step

# Games -------------------------------------------------------------------------------------------


def new_game(task_name: str, seed: str) -> ArenaGame:
    """A fresh game at the typed seed, or at a secret one where none was typed.

    ValueError with one sentence on a bad task or seed.
    """
    if task_name not in ARENA_TASKS:
        raise ValueError("choose one of the arena’s tasks")
    if not seed.strip():
        return start(task_name, draw_seed(), secret=True)
    return start(task_name, whole_seed(seed))


def stepped(game: ArenaGame, player: str) -> ArenaGame:
    """The game after one action of a player; a script plays the rest where nobody else is left.

    ValueError on an unknown player; ReplyError where a language model gives no reply.
    """
    after = step(game, player, players.policy_of(player, visitor_of_event()))
    return play_out(after, player) if player in LABS and is_alone(after) else after


def play_on(game: ArenaGame, action: arena.Action | arena.Malformed) -> ArenaGame:
    """The game after the visitor's action; the expert plays the rest where nobody else is left.

    IllegalAction where the rules would refuse the action.
    """
    if why := refused(game, action):
        raise IllegalAction(why)
    after = act(game, action)
    return play_out(after, EXPERT) if is_alone(after) else after


# Presses -----------------------------------------------------------------------------------------


def begin(visit: Visit, sent: Sent) -> Visit:
    """A new game."""
    players.load(visit.fields.player)
    return visit.show(new_game(visit.fields.task, visit.fields.seed))


def follow(visit: Visit, sent: Sent) -> Visit:
    """A new game in the world that the address names, or in the first world."""
    named = _named(queried(sent.search))
    first = {"task": TASK, "seed": "" if named else str(SEED)}
    return begin(visit.fill(**first | named), sent)


def _named(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in ("task", "seed") if name in query}


def choose_player(visit: Visit, sent: Sent) -> Visit:
    """The player of the list, which begins to load where it is a language model."""
    players.load(visit.fields.player)
    return visit


def tick(visit: Visit, sent: Sent) -> Visit:
    """The game after one action of the player; the run goes on, and waits for a model to load."""
    try:
        return visit.show(stepped(visit.game, visit.fields.player), running=True)
    except players.StillLoading as error:
        return visit.say("problem", note(f"{error}."))
    except ReplyError as error:
        return replace(visit, running=False).say("problem", trouble(error))


def watch(visit: Visit, sent: Sent) -> Visit:
    """Let a player act by itself from here on, or pause; a finished world begins anew."""
    game, player = visit.game, sent.value or visit.fields.player
    if visit.running:
        return replace(visit, running=False)
    if player not in players.players():
        raise ValueError("choose one of the players in the list")
    if game.over:
        game = start(game.task_name, game.play.seed, game.secret)
    return visit.fill(player=player).show(game, running=True)


def advise(visit: Visit, sent: Sent) -> Visit:
    """What the expert would do next, why, and a button that does it; the game stays as it is."""
    if visit.game.over:
        raise IllegalAction("this game is over; start a new one to play on")
    action = proposal(visit.game, LABS[EXPERT])
    return replace(visit, advice=view.advice(visit.game.observation, action))


def take_advice(visit: Visit, sent: Sent) -> Visit:
    """The game after the advised action, with the advice for the next one."""
    after = PRESSES["take"].action(visit, sent)
    return after if after.game.over else advise(after, sent)


def bid(visit: Visit, sent: Sent) -> Visit:
    """The sentence of an offer for another lab's block, at a price that the lab may take."""
    worth, obs = wanted(visit.game, sent.value), visit.game.observation
    if sent.value not in [name for _, name in form.wanted_blocks(obs)]:
        raise IllegalAction(f"{block_name(obs.market, sent.value)} cannot be asked for now")
    chosen = visit.fill(give=(), want=(sent.value,), answered="")
    return price(chosen, sent).say("hint", note(f"{worth}."))


def counter(visit: Visit, sent: Sent) -> Visit:
    """The sentence of an answer with other terms to an open offer."""
    incoming = visit.game.observation.incoming
    offer = next((one for one in incoming if one.offer_id == sent.value), None)
    if offer is None:
        raise IllegalAction("no other terms can be named for this offer now")
    given, received = offer.requested_blocks, offer.offered_blocks
    to = offer.from_lab_id
    return price(visit.fill(give=given, want=received, to=to, answered=offer.offer_id), sent)


def price(visit: Visit, sent: Sent) -> Visit:
    """The price that the other side may take for the chosen blocks."""
    return visit.fill(**form.suggested_money(visit.game.observation, visit.fields))


# Answers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Press:
    """What a press does, where its mistakes are told, and what it draws where the game stays."""

    action: Callable[[Visit, Sent], Visit]
    place: str = "problem"
    draws: tuple[str, ...] = ("top",)


def play(
    chosen: Callable[[Visit, Sent], arena.Action | arena.Malformed], place: str = "problem"
) -> Press:
    """A press that plays the chosen action."""
    return Press(lambda visit, sent: visit.show(play_on(visit.game, chosen(visit, sent))), place)


BEGINNINGS = ("begin", "follow")  # presses that need no game
REGION_OF = {"problem": "top", "hint": "others", "deal": "floor", "purpose": "floor"}
PRESSES: Mapping[str, Press] = {
    "begin": Press(begin),
    "follow": Press(follow),
    "choose_player": Press(choose_player, draws=("foot",)),
    "step": Press(lambda visit, sent: visit.show(stepped(visit.game, visit.fields.player))),
    "tick": Press(tick),
    "watch": Press(watch),
    "advise": Press(advise),
    "take": play(lambda visit, sent: form.chosen_action(sent.value)),
    "take_advice": Press(take_advice),
    "wait": play(lambda visit, sent: arena.Action("wait")),
    "preview": Press(
        lambda visit, sent: visit.say("hint", preview(visit.game, sent.blocks)), "hint", ("others",)
    ),
    "book": play(lambda visit, sent: booking(sent.value, sent.blocks), "hint"),
    "bid": Press(bid, "hint", ("others", "table", "floor")),
    "counter": Press(counter, draws=("table", "floor")),
    "price": Press(price, "deal", ("table", "floor")),
    "weigh": Press(lambda visit, sent: visit, "deal", ("floor",)),
    "send": play(lambda visit, sent: form.offer_of(visit.game.observation, visit.fields), "deal"),
    "choose_move": Press(lambda visit, sent: visit, "purpose", ("floor",)),
    "act": play(lambda visit, sent: form.composed(visit.fields), "purpose"),
}


def answer(
    page: Layout, visit: Visit | None, name: str, sent: Sent, typed: object = None
) -> Updates:
    """What a press changes on the page; a mistake is told where its button stands.

    `typed` is what the fields hold, as the browser sent it. The visit is kept where the game, the
    run or the advice changed, so that no press that only looks holds back a step under way.
    """
    if name == "open":
        return open_tab(page, visit, sent)
    press = PRESSES[name]
    before = replace(visit or Visit(None), fields=read(Fields, typed), said="", place="")
    try:
        if before.game is None and name not in BEGINNINGS:
            raise IllegalAction(f"{no_longer_here('this world was')}; press “New world”")
        after, draws = press.action(before, sent), press.draws
    except (ValueError, ReplyError) as error:  # IllegalAction is a ValueError too
        after = before.say(press.place, trouble(error))
        draws = (REGION_OF[after.place],)
    if after.game is not before.game:
        draws = OF_GAME
    if _of_foot(after) != _of_foot(before):
        draws = (*draws, "top", "foot")
    kept = {page["visit"]: after} if _of_session(after) != _of_session(before) else {}
    return draw(page, after, dict.fromkeys(draws)) | kept


def _of_session(visit: Visit) -> tuple[Any, ...]:
    return visit.game, visit.running, visit.advice


def _of_foot(visit: Visit) -> tuple[Any, ...]:
    """What the pickers of the world and of the player show of the game."""
    game = visit.game
    return visit.running, *((game.task_name, game.play.seed, game.over) if game else ())


def open_tab(page: Layout, kept: Visit | None, sent: Sent) -> Updates:
    """The game of this browser tab, unless the address names another world; else the first one.

    A tab that is loaded again has a new session, and sends the name of its former one; it is told
    where the game of that session is gone.
    """
    first, query = Visit(new_game(TASK, str(SEED))), queried(sent.search)
    visit = kept or (_find(page, sent.value) if sent.value else first)
    if visit is None:
        gone = f"{no_longer_here('your game was')}; this is a new one"
        visit = first.say("problem", trouble(ValueError(gone)))
    if query.get("tab") == "gpu_arena" and _named(query) not in ({}, named_in_address(visit.game)):
        try:
            visit = follow(first, sent)
        except ValueError as error:
            visit = first.say("problem", trouble(error))
    return draw(page, visit, REGIONS) | {page["visit"]: visit}


def _find(page: Layout, earlier: str) -> Visit | None:
    """The visit of another session of this browser tab, at rest; None where it is gone."""
    try:
        (visit,) = states_of(earlier, [page["visit"]])
    except Gone:
        return None
    return visit.show(visit.game) if isinstance(visit, Visit) and visit.game else None
