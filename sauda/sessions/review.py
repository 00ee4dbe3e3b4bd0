"""What each of a visitor's moves in a finished game cost, and what would have been better.

In the open market the planner weighs every move of a buyer by what could be known before it: a move
costs the expected grade by which it falls short of the planner's best one. Elsewhere the game is
played again from before each move with one other move, after which the visitor takes what is
offered or leaves, so what a better move earns is certain. A language model that buys is not asked
again: what it offered is all that is known. No advice names a price beyond the visitor's own limit,
and none takes an own price back.

`oracle` says what a player who knew the hidden values would have made of the game.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, floor, inf

from env import (
    ALL_MARKETS,
    ARENA_TASKS,
    Accept,
    Deal,
    IllegalAction,
    Observation,
    Offer,
    Play,
    Task,
    Turn,
    WalkAway,
    get_task,
)
from sauda.games.bazaar_columns import PLANNED
from sauda.policies.arena import play_all_seeing
from sauda.policies.listener import Listener, MoveValues, believe
from sauda.policies.values import play_informed, split_game
from sauda.sessions.bazaar import Action, Game, answer, back, moves_of, own_and_theirs

PRICES = 24  # other prices that are tried before each move, between the two limits
DIGITS = 9  # decimals of a difference of worths
# The classes of a move by the grade that it cost at most; costlier ones are the last, and a price
# beyond the own limit is a class of its own.
CLASSES = {"best": 0.0, "good": 0.02, "inaccuracy": 0.05, "mistake": 0.15, "blunder": inf}
LOSS = "loss"
LEAST_COST = 0.005  # of the grade: what the planner cannot tell from nothing


@dataclass(frozen=True, order=True, slots=True)
class Worth:
    """What a deal earned the visitor; compared by grade, then by rupees."""

    grade: float  # the task's grade, the part of this deal
    rupees: float  # surplus over no deal, discounted where the game discounts

    def __sub__(self, other: "Worth") -> "Worth":
        grade, rupees = self.grade - other.grade, self.rupees - other.rupees
        return Worth(round(grade, DIGITS), round(rupees, DIGITS))


NOTHING = Worth(0, 0)


@dataclass(frozen=True)
class OwnMove:
    """One of the visitor's moves; `better` is the best alternative, None where none is known.

    `deal` is how the deal ends after the better move, where that is certain.
    """

    number: int  # among the visitor's moves, from 0
    turn: Turn
    cost: Worth
    better: Action | None = None
    deal: Deal | None = None

    @property
    def kind(self) -> str:
        """LOSS for a price beyond the own limit, else one of CLASSES, by the cost."""
        obs, action = self.turn.observation, self.turn.action
        sells = obs.agent == "seller"
        price = getattr(action, "price", None)
        if isinstance(action, Accept):
            price = obs.bid if sells else obs.ask
        if price is not None and (obs.reservation - price) * (1 if sells else -1) > 0:
            return LOSS
        if self.cost == NOTHING:
            return "best"
        return next(name for name, most in CLASSES.items() if self.cost.grade <= most and most > 0)


@dataclass(frozen=True)
class Gap:
    """What a buyer lost to one that knows the seller, in grades; they add up to the difference."""

    inference: float  # by what it made of the seller's words and asks
    control: float  # by its bids, given that
    unknown: float  # what nobody could know; negative where luck helped


@dataclass(frozen=True)
class Review:
    """The visitor's moves in a finished game, in order, each with its cost."""

    game: Game
    moves: tuple[OwnMove, ...]
    gap: Gap | None = None  # of a buyer in the open market

    @cached_property
    def missed(self) -> Worth:
        """What all moves cost together."""
        costs = [move.cost for move in self.moves]
        total = Worth(sum(c.grade for c in costs), sum(c.rupees for c in costs))
        return total - NOTHING

    @cached_property
    def costliest(self) -> OwnMove | None:
        """The move that cost most; None where none cost anything."""
        costly = [move for move in self.moves if move.cost > NOTHING]
        return max(costly, key=lambda move: move.cost, default=None)


def is_planned(game: Game) -> bool:
    """Whether the planner weighs the visitor's moves: they buy in the open market."""
    return game.you == "buyer" and game.task_name in PLANNED


def is_recorded(game: Game) -> bool:
    """Whether the other moves would come from a language model that buys: it is not asked again."""
    return game.model_seat is not None and game.model_seat.agent == "buyer"


def review(game: Game) -> Review:
    """The review of a finished game; raises ValueError of one that runs."""
    if not game.over:
        raise ValueError("only a finished game is reviewed")
    turns = [game.play.turns[i] for i in moves_of(game)]
    if not is_planned(game):
        return Review(game, tuple(_review_moves(game, turns)))
    gap = informed_grade(game.task, game.play.seed) - game.task.grade(game.play.state)
    inference, control = split_game(game.play.turns)
    planned = tuple(weigh(number, turn) for number, turn in enumerate(turns))
    return Review(game, planned, Gap(inference, control, gap - inference - control))


def weigh(number: int, turn: Turn) -> OwnMove:
    """A buyer's move in the open market beside the planner's best one."""
    obs = turn.observation
    values = Listener().values(believe(obs), obs)
    best = values.best(obs)
    cost = round(max(0.0, values.of(best) - value_of(turn.action, values, obs)), DIGITS)
    if cost < LEAST_COST:
        return OwnMove(number, turn, NOTHING)
    return OwnMove(number, turn, Worth(cost, 0.0), best)


def value_of(move: Action, values: MoveValues, obs: Observation) -> float:
    """The planner's value of a move, which it does not have of a bid beyond the own limit."""
    if isinstance(move, Offer) and move.price > obs.reservation:
        return max(-1.0, (obs.reservation - move.price) / obs.table.item.list_price)
    return values.of(move)


# By playing again ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """One other move of the visitor, how its deal ended, and what the deal earned."""

    action: Action
    deal: Deal
    worth: Worth


def _review_moves(game: Game, turns: list[Turn]) -> list[OwnMove]:
    """The moves with their costs, the worth of each position being the best that is known."""
    reviewed: list[OwnMove] = []
    after = NOTHING
    for number in range(len(turns) - 1, -1, -1):
        position, deal = back(game, number), deal_of(turns[number])
        if number + 1 == len(turns) or deal_of(turns[number + 1]) != deal:
            ended = game if number + 1 == len(turns) else back(game, number + 1)
            after = worth(game.task, ended.play) - worth(game.task, position.play)
        line = max(_lines(position), key=lambda line: line.worth)
        cost, better = NOTHING, ()
        if line.worth > after:
            cost, better, after = line.worth - after, (line.action, line.deal), line.worth
        reviewed.append(OwnMove(number, turns[number], cost, *better))
    return reviewed[::-1]


def _lines(position: Game) -> Iterator[_Line]:
    """The lines from one other move of the visitor: leaving, taking the price, other prices."""
    before, deal = worth(position.task, position.play), len(position.play.state.table.past)
    prices = () if is_recorded(position) else other_prices(position)
    for action in (WalkAway(), Accept(), *map(Offer, prices)):
        for after in _ends(position, action, deal):
            past = after.play.state.table.past
            yield _Line(action, past[deal], worth(position.task, after.play) - before)


def _ends(position: Game, action: Action, deal: int) -> Iterator[Game]:
    """The games in which the deal is closed by `action`, or by taking or leaving what follows."""
    try:
        after = answer(position, action)
    except IllegalAction:  # no price is named yet, or it is over the purse
        return
    if after.play.forfeit:
        return
    if len(after.play.state.table.past) > deal:
        yield after
        return
    for last in (Accept(), WalkAway()):
        try:
            yield answer(after, last)
        except IllegalAction:
            continue


def other_prices(position: Game) -> list[int]:
    """Whole rupees between the two limits that a visitor may be advised to name here."""
    hidden, obs = position.play.state.private, position.observation
    own_prices, their_prices = own_and_theirs(obs)
    if obs.agent == "seller":
        low = max(ceil(obs.reservation), floor(their_prices[-1]) + 1 if their_prices else 1)
        high = floor(min(hidden["buyer"]["reservation"], own_prices[-1] if own_prices else inf))
    else:
        low = max(ceil(hidden["seller"]["reservation"]), ceil(own_prices[-1]) if own_prices else 1)
        high = min(floor(obs.budget), ceil(their_prices[-1]) - 1)
    return [*range(low, high + 1, max(1, (high - low) // PRICES))]


def worth(task: Task, play: Play) -> Worth:
    """What the deals that are closed in `play` earned the learner."""
    rupees = task.env.payoffs(play.state)[task.learner]
    return Worth(round(task.grade(play.state), DIGITS), round(rupees, DIGITS))


def deal_of(turn: Turn) -> int:
    """The number of the deal, from 0, that a turn belongs to."""
    return len(turn.observation.table.past)


# The oracle ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Oracle:
    """A grade to compare a finished game with; `meaning` says in a sentence what it is."""

    grade: float
    meaning: str


def informed_grade(task: Task, seed: int) -> float:
    """The expected grade of a buyer of the open market that knows the seller, and its key."""
    return play_informed(task, seed).expected


@lru_cache(maxsize=256)
def oracle(task_name: str, seed: int) -> Oracle | None:
    """The oracle's figure for the game of a task at a seed; None where none can be computed."""
    task = get_task(task_name)
    if task_name in ARENA_TASKS:
        meaning = "What a trader makes that knows every lab's private values and trades greedily."
        return Oracle(task.grade(play_all_seeing(task, seed).final), meaning)
    if task_name.removeprefix("bazaar/") in ALL_MARKETS:
        meaning = "What a buyer who knew this seller would have expected."
        return Oracle(informed_grade(task, seed), meaning)
    return None
