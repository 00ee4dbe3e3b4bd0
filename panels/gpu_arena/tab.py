"""AI labs share scarce GPUs: the visitor plays `lab_0`, or lets a script or a model play it.

The tab is HTML, one component per region, within one `Moves`: each move comes with all that the
fields hold. An action takes the visit and what came, and returns the visit after it. An action that
the rules would refuse is answered with a sentence and costs the visitor nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, IllegalAction, arena
from panels.gpu_arena import offers, players, view
from panels.gpu_arena.offers import Fields, Visit, read
from panels.gpu_arena.players import SEED, TASK, player_title, why_this_world
from panels.gpu_arena.words import EXPERT, PUBLISHED, block_name
from panels.site.card import CREDITS, MADE
from panels.site.sessions import HOUR, no_longer_here, state_of
from panels.ui.components.moves import Move, Moves
from panels.ui.html import macros
from panels.ui.look import QUEUED, QUIET_UNCHECKED, folded, note, trouble
from panels.ui.resume import TabStore
from panels.ui.terms import task_about, task_title
from panels.ui.visitor import CALLER, visitor_of, visitor_of_event
from panels.ui.wiring import Updates, in_address, named, read_query, region
from sauda.llm.types import ReplyError
from sauda.policies import LABS
from sauda.records.seeds import draw_seed, whole_seed
from sauda.sessions.arena import ArenaGame, act, is_alone, play_out, proposal, refusal, start, step

HTML = macros("arena")
TITLE = "GPU arena"
Layout = dict[str, Any]  # the components: the regions by name, "visit", and "clock" of a run

# What the tab shows ------------------------------------------------------------------------------


def top(visit: Visit) -> Markup:
    """What the game is about, its world, who may be watched, advice, what the last action did."""
    game = visit.game
    last = address = world = ""
    if game:
        tasks, named = [(task_title(name), name) for name in ARENA_TASKS], named_in_address(game)
        # the seed of the game, not what is typed
        world = HTML.world(tasks, game.task_name, named.get("seed", ""), task_about(game.task_name))
        last, address = view.last_step(game), in_address(named)
    numbers = arena.LATE, arena.ACTIONS_PER_ROUND
    return HTML.top(TITLE, visit, *numbers, EXPERT, PUBLISHED, last, address, world)


def named_in_address(game: ArenaGame) -> dict[str, str]:
    """What the page's address says of a world; nothing of the one that the tab opens with.

    A secret seed is in no address.
    """
    if (game.task_name, game.play.seed) == (TASK, SEED):
        return {}
    return {"task": game.task_name} | ({} if game.secret else {"seed": str(game.play.seed)})


def table(visit: Visit) -> Markup:
    """The visitor's credits, the offers, and the sentence of an offer."""
    obs = visit.game.observation
    sentence = "" if visit.game.over else offers.sentence(visit)
    listed = region("arena-offers", offers.offers(obs))
    return view.credits(obs) + listed + region("arena-sentence", sentence)


def floor(visit: Visit) -> Markup:
    """What the offer of the sentence is worth, the messages, and the other moves."""
    board = view.message_board(visit.game)
    if visit.game.over:
        return HTML.floor(True, "", board, "")
    try:
        worth = visit.said_at("deal") or offers.deal(visit)
    except ValueError as error:  # the amount is no number
        worth = trouble(error)
    return HTML.floor(False, worth, board, offers.other_moves(visit))


def foot(visit: Visit) -> Markup:
    """The pickers of a player who acts for the visitor."""
    game, player = visit.game, visit.fields.player
    names = [(player_title(name), name) for name in players.players()]
    acts = HTML.players(names, player, visit.is_idle, players.badge(player, game.task_name))
    return why_this_world(game) + folded("Let another player act for you", acts)


def log(visit: Visit) -> Markup:
    """Every step so far, and the reward."""
    body = view.log(visit.game) + view.reward(visit.game)
    return folded("What happened, step by step, and its reward", body)


REGIONS: Mapping[str, Callable[[Visit], Markup]] = {  # each a component
    "top": top,
    "end": lambda visit: view.settlement(visit.game),
    "own": lambda visit: view.calendar(visit.game),
    "others": lambda visit: HTML.hint(visit) + view.others(visit.game),
    "table": table,
    "floor": floor,
    "log": log,
    "foot": foot,
}


def draw(page: Layout, visit: Visit, names: Iterable[str]) -> Updates:
    """The named regions as they show `visit`."""
    return {page[name]: REGIONS[name](visit) for name in names}


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


def step_once(game: ArenaGame, player: str) -> ArenaGame:
    """The game after one action of a player; a script plays the rest where nobody else is left.

    ValueError on an unknown player; ReplyError where a language model gives no reply.
    """
    after = step(game, player, players.policy_of(player, visitor_of_event()))
    return play_out(after, player) if player in LABS and is_alone(after) else after


def play_on(game: ArenaGame, action: arena.Action | arena.Malformed) -> ArenaGame:
    """The game after the visitor's action; the expert plays the rest where nobody else is left.

    IllegalAction where the rules would refuse the action, or where the game is over.
    """
    if result := refusal(game, action):
        reason = view.fault(game.observation, action, result)
        raise IllegalAction(f"{reason}; this cost no action")
    after = act(game, action)
    return play_out(after, EXPERT) if is_alone(after) else after


# Presses -----------------------------------------------------------------------------------------


def begin(visit: Visit) -> Visit:
    """A new game."""
    players.load(visit.fields.player)
    return visit.show(new_game(visit.fields.task, visit.fields.seed))


def follow(visit: Visit) -> Visit:
    """A new game in the world that the address names, or in the first world."""
    named = _world_in(read_query(visit.fields.search))
    first = {"task": TASK, "seed": "" if named else str(SEED)}
    return begin(visit.fill(**first | named))


def _world_in(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in ("task", "seed") if name in query}


def choose_player(visit: Visit) -> Visit:
    """The player of the list, which begins to load where it is a language model."""
    players.load(visit.fields.player)
    return visit


def tick(visit: Visit) -> Visit:
    """The game after one action of the player; the run goes on, and waits for a model to load."""
    try:
        return visit.show(step_once(visit.game, visit.fields.player), running=True)
    except players.StillLoading as error:
        return visit.say("problem", note(f"{error}."))
    except ReplyError as error:
        return replace(visit, running=False).say("problem", trouble(error))


def watch(visit: Visit) -> Visit:
    """Let a player act by itself from here on, or pause; a finished world begins anew."""
    game, player = visit.game, visit.fields.value or visit.fields.player
    if visit.running:
        return replace(visit, running=False)
    if player not in players.players():
        raise ValueError("choose one of the players in the list")
    if game.over:
        game = start(game.task_name, game.play.seed, game.secret)
    return visit.fill(player=player).show(game, running=True)


def advise(visit: Visit) -> Visit:
    """What the expert would do next, why, and a button that does it; the game stays as it is."""
    if visit.game.over:
        raise IllegalAction("this game is over; start a new one to play on")
    action = proposal(visit.game, LABS[EXPERT])
    return replace(visit, advice=view.advice(visit.game.observation, action))


def take_advice(visit: Visit) -> Visit:
    """The game after the advised action, with the advice for the next one."""
    after = PRESSES["take"].action(visit)
    return after if after.game.over else advise(after)


def bid(visit: Visit) -> Visit:
    """The sentence of an offer for another lab's block, at a price that the lab may take."""
    worth, obs = view.tell_wanted(visit.game, visit.fields.value), visit.game.observation
    if visit.fields.value not in [name for _, name in offers.wanted_blocks(obs)]:
        raise IllegalAction(f"{block_name(obs.market, visit.fields.value)} cannot be asked for now")
    chosen = visit.fill(give=(), want=(visit.fields.value,), answered="")
    return price(chosen).say("hint", note(f"{worth}."))


def counter(visit: Visit) -> Visit:
    """The sentence of an answer with other terms to an open offer."""
    incoming = visit.game.observation.incoming
    offer = {each.offer_id: each for each in incoming}.get(visit.fields.value)
    if offer is None:
        raise IllegalAction("no other terms can be named for this offer now")
    given, received = offer.requested_blocks, offer.offered_blocks
    to = offer.from_lab_id
    return price(visit.fill(give=given, want=received, to=to, answered=offer.offer_id))


def price(visit: Visit) -> Visit:
    """The price that the other side may take for the chosen blocks."""
    return visit.fill(**offers.suggested_money(visit.game.observation, visit.fields))


@dataclass(frozen=True)
class Press:
    """What a press does, where its mistakes are told, and what it draws where the game stays."""

    action: Callable[[Visit], Visit]
    place: str = "problem"
    draws: tuple[str, ...] = ("top",)


def play(
    chosen: Callable[[Visit], arena.Action | arena.Malformed], place: str = "problem"
) -> Press:
    """A press that plays the chosen action."""
    return Press(lambda visit: visit.show(play_on(visit.game, chosen(visit))), place)


BEGINNINGS = ("begin", "follow")  # presses that need no game
REGION_OF = {"problem": "top", "hint": "others", "deal": "floor", "purpose": "floor"}
PRESSES: Mapping[str, Press] = {
    "begin": Press(begin),
    "follow": Press(follow),
    "choose_player": Press(choose_player, draws=("foot",)),
    "step": Press(lambda visit: visit.show(step_once(visit.game, visit.fields.player))),
    "tick": Press(tick),
    "watch": Press(watch),
    "advise": Press(advise),
    "take": play(lambda visit: offers.chosen_action(visit.fields.value)),
    "take_advice": Press(take_advice),
    "wait": play(lambda visit: arena.Action("wait")),
    "preview": Press(
        lambda visit: visit.say("hint", view.preview(visit.game, visit.fields.blocks)),
        "hint",
        ("others",),
    ),
    "book": play(lambda visit: view.booking(visit.fields.value, visit.fields.blocks), "hint"),
    "bid": Press(bid, "hint", ("others", "table", "floor")),
    "counter": Press(counter, draws=("table", "floor")),
    "price": Press(price, "deal", ("table", "floor")),
    "weigh": Press(lambda visit: visit, "deal", ("floor",)),
    "send": play(lambda visit: offers.offer_of(visit.game.observation, visit.fields), "deal"),
    "choose_move": Press(lambda visit: visit, "purpose", ("floor",)),
    "act": play(lambda visit: offers.compose(visit.fields), "purpose"),
}
# Presses that are answered outside the queue, and those of which one runs at a time. All others
# may take seconds: a step that ends the game draws its settlement, which plays every policy.
AT_ONCE = (
    "preview", "bid", "counter", "price", "weigh", "choose_move", "choose_player", "watch",
    "begin", "follow",
)  # fmt: skip
IN_TURN = ("step", "tick")


def answer(page: Layout, visit: Visit | None, name: str, sent: object) -> Updates:
    """What a press changes on the page; a mistake is told where its button stands.

    `sent` is what the browser sent with it. The visit is kept where the game, the run or the advice
    changed, so that no press that only looks holds back a step under way.
    """
    press = PRESSES[name]
    before = replace(visit or Visit(None), fields=read(sent), said="", place="")
    try:
        if before.game is None and name not in BEGINNINGS:
            raise IllegalAction(f"{no_longer_here('this world was')}; press “New world”")
        after, draws = press.action(before), press.draws
    except (ValueError, ReplyError) as error:  # IllegalAction is a ValueError too
        after = before.say(press.place, trouble(error))
        draws = (REGION_OF[after.place],)
    if after.game is not before.game:
        draws = [name for name in REGIONS if name != "foot"]
    if _in_foot(after) != _in_foot(before):
        draws = (*draws, "top", "foot")
    updates = draw(page, after, dict.fromkeys(draws))
    # A step under way when the run was paused goes on with it.
    if name == "tick" or visit is None or after.running != before.running:
        updates[page["clock"]] = gr.Timer(active=after.running)
    now, was = ((moment.game, moment.running, moment.advice) for moment in (after, before))
    return updates | ({page["visit"]: after} if now != was else {})


def _in_foot(visit: Visit) -> tuple[Any, ...]:
    """What the pickers of the world and of the player show of the game."""
    game = visit.game
    return visit.running, *((game.task_name, game.play.seed, game.over) if game else ())


def open_tab(page: Layout, of_session: Visit | None, sent: Fields) -> Updates:
    """The game of this browser tab, unless the address names another world; else the first one.

    A tab that is loaded again has a new session, and sends the name of its former one; it is told
    where the game of that session is gone.
    """
    visit = first = Visit(new_game(TASK, str(SEED)))
    query, former = read_query(sent.search), state_of(sent.value, page["visit"])
    if of_session is not None:
        visit = of_session
    elif former is not None and former.game:
        visit = former.show(former.game)  # at rest
    elif sent.value:
        gone = f"{no_longer_here('your game was')}; this is a new one"
        visit = first.say("problem", trouble(ValueError(gone)))
    there = _world_in(query)
    if query.get("tab") == "gpu_arena" and there not in ({}, named_in_address(visit.game)):
        try:
            visit = follow(first.fill(search=sent.search))
            if CREDITS.fullmatch(made := query.get(MADE, "")):
                visit = visit.say("problem", note(f"A friend made {made} credits in this world."))
        except ValueError as error:
            visit = first.say("problem", trouble(error))
    return draw(page, visit, REGIONS) | {page["visit"]: visit}


# The layout --------------------------------------------------------------------------------------

HEAVY = {**QUEUED, "preprocess": False, "concurrency_id": "arena", "concurrency_limit": 4}
SECONDS = 2.0  # between the steps of a run: time to read the reason of each
STORE = TabStore("arena")  # the name of the session in which a game was played
WRITE = f"(session, log) => {{ if (log?.includes('<li>')) ({STORE.write})(session); }}"
PICKED = "(visit) => [visit, document.getElementById('arena-player').value]"


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    moves, page = _lay_out()
    session, shown = gr.Textbox(visible="hidden"), list(page.values())
    rest = [name for name in PRESSES if name not in (*AT_ONCE, *IN_TURN)]
    for trigger, names, how in (
        (moves.input, AT_ONCE, QUIET_UNCHECKED | {"trigger_mode": "multiple"}),
        (moves.click, rest, HEAVY | {"trigger_mode": "multiple"}),
        (moves.submit, IN_TURN, HEAVY),
    ):
        trigger(_answer(page, names), page["visit"], shown, **how)

    def ticked(request: gr.Request, visit: Visit | None, player: object) -> Updates:
        CALLER.set(visitor_of(request))
        return answer(page, visit, "tick", {"player": player})

    def opened(request: gr.Request, move: Move, visit: Visit | None, former: object) -> Updates:
        CALLER.set(visitor_of(request))
        sent = read({"search": move.search, "value": former})
        return open_tab(page, visit, sent) | {session: visitor_of(request).session}

    page["clock"].tick(named(ticked, tick), [page["visit"], session], shown, js=PICKED, **HEAVY)
    drawn = [session, page["visit"], *(page[name] for name in REGIONS)]
    moves.load(
        named(opened, open_tab), [page["visit"], session], drawn, js=STORE.read, **QUIET_UNCHECKED
    )
    page["log"].change(None, [session, page["log"]], None, js=WRITE, preprocess=False)


def _lay_out() -> tuple[Moves, Layout]:
    """Place every component: what makes the moves of the tab, and what they change."""

    def place(*names: str) -> Layout:
        return {name: gr.HTML(elem_id=f"arena-{name}", js_on_load=None) for name in names}

    visit, clock = gr.State(None, time_to_live=HOUR), gr.Timer(SECONDS, active=False)
    moves = Moves(html_template="@children", elem_id="arena-tab", input=AT_ONCE, submit=IN_TURN)
    with moves, gr.Column(elem_id="arena"):
        shown = gr.HTML(top(Visit(None)), elem_id="arena-top", js_on_load=None)
        page = {"visit": visit, "clock": clock, "top": shown, **place("end")}
        with gr.Row():
            with gr.Column(scale=6, min_width=320, elem_id="arena-board"):
                page |= place("own", "others")
            with gr.Column(scale=5, min_width=320):
                page |= place("table", "floor")
        return moves, page | place("foot", "log")


def _answer(page: Layout, names: Sequence[str]) -> Callable:
    """The answer to those moves that have one of `names`; any client can send anything."""

    def shown(request: gr.Request, move: Move, visit: Visit | None) -> Updates:
        CALLER.set(visitor_of(request))
        if move.name not in names:
            return {page["visit"]: gr.skip()}
        about = {"value": move.what, "search": move.search}
        return answer(page, visit, move.name, {**move.fields, **about})

    return named(shown, answer)
