"""What each of a visitor's moves in a finished game cost, and what would have been better.

A planner weighs every move in the open markets, in either seat, by what could be known before it: a
move costs the expected grade by which it falls short of the planner's best one. Elsewhere the game
is played again from before each move with one other move, after which the visitor takes what is
offered or leaves. A language model is not asked again: a script answers in its place. No advice
names a price beyond the visitor's own limit, and none takes an own price back.

`oracle` says what a player who knew the hidden values would have made of the game.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count, repeat
from math import ceil, floor, inf

import env
from sauda.games.bazaar_columns import PLANNED
from sauda.players import CUSTOMERS, PEOPLE
from sauda.policies import customers, people
from sauda.policies.arena import play_all_seeing
from sauda.policies.listener import NOTHING, Listener, MoveValues
from sauda.policies.values import play_informed, split_game
from sauda.records.seeds import deal_at
from sauda.sessions import bazaar, nerves
from sauda.sessions.nerves import Outlook

PRICES = 24  # other prices that are tried before each move, between the two limits
DIGITS = 9  # decimals of a difference of grades
# The classes of a move by the grade that it cost at most; costlier ones are the last, and a price
# beyond the own limit is a class of its own.
CLASSES = {"best": 0.0, "good": 0.02, "inaccuracy": 0.05, "mistake": 0.15, "blunder": inf}
LOSS = "loss"
LEAST_COST = 0.005  # of the grade: what nobody can tell from nothing
CHOICES = 3  # moves among which a better one can be found


@dataclass(frozen=True)
class Choice:
    """One move in a position, the grade to expect of it, and how its deal ends, if certain."""

    action: bazaar.Action
    grade: float
    deal: env.Deal | None = None


@dataclass(frozen=True)
class Reasons:
    """What could be known at a move: what follows it, and the best one, at once; see `nerves`."""

    after: Outlook | None  # of a price
    after_best: Outlook | None
    no_deal: float  # the chance that no price serves both sides
    is_taken: bool  # whether the other side did take the price


@dataclass(frozen=True)
class OwnMove:
    """One of the visitor's moves, the grade to expect of it, and other moves, the best first."""

    number: int  # among the visitor's moves, from 0
    turn: env.Turn
    grade: float
    others: tuple[Choice, ...] = ()
    reasons: Reasons | None = None  # where a planner weighed it

    @property
    def is_taken(self) -> bool:
        """Whether a planner calls a price within the own limit costly, and it was taken at once."""
        is_taken = self.reasons is not None and self.reasons.is_taken
        return is_taken and self.cost > 0 and self.kind != LOSS

    @property
    def is_gamble(self) -> bool:
        """Whether such a price was likelier refused, or the better move likelier taken."""
        if not self.is_taken:
            return False
        best, takes = self.reasons.after_best, self.reasons.after.takes
        likelier = best.takes > takes if best else isinstance(self.others[0].action, env.Accept)
        return takes < 0.5 or likelier

    @property
    def cost(self) -> float:
        """How much more grade the best other move was worth, at least 0."""
        more = round(self.others[0].grade - self.grade, DIGITS) if self.others else 0.0
        return more if more >= LEAST_COST else 0.0

    @property
    def better(self) -> Choice | None:
        """The best other move; None where it is no better."""
        return self.others[0] if self.cost else None

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The better move among others that are not as good, from leaving to the best price."""
        others = [
            choice for choice in self.others[1:] if self.cost and choice.action != self.turn.action
        ]
        least = self.others[0].grade - LEAST_COST if self.others else 0.0
        wrong = [choice for choice in others if choice.grade < least]
        wrong = wrong[:: max(1, len(wrong) // (CHOICES - 1))][: CHOICES - 1]  # far apart
        return tuple(sorted([self.others[0], *wrong], key=_order)) if self.cost else ()

    @property
    def kind(self) -> str:
        """LOSS for a price beyond the own limit, else one of CLASSES, by the cost."""
        if is_loss(self.turn.observation, self.turn.action):
            return LOSS
        return next(name for name, most in CLASSES.items() if self.cost <= most)


def _order(choice: Choice) -> tuple[int, float]:
    kinds = (env.WalkAway, env.Offer, env.Accept)
    return kinds.index(type(choice.action)), getattr(choice.action, "price", 0.0)


def is_loss(obs: env.Observation, action: bazaar.Action) -> bool:
    """Whether a move names or takes a price beyond the own limit."""
    sells, price = obs.agent == "seller", getattr(action, "price", None)
    if isinstance(action, env.Accept):
        price = obs.bid if sells else obs.ask
    limit = bazaar.limit_with(obs, getattr(action, "extras", ()))
    return price is not None and (limit - price) * (1 if sells else -1) > 0


@dataclass(frozen=True)
class Gap:
    """What a buyer lost to one that knows the seller, in grades; they add up to the difference."""

    inference: float  # by what it made of the seller's words and asks
    control: float  # by its bids, given that
    unknown: float  # what nobody could know; negative where luck helped


@dataclass(frozen=True)
class Review:
    """The visitor's moves in a finished game, in order, each with its cost."""

    game: bazaar.Game
    moves: tuple[OwnMove, ...]
    gap: Gap | None = None  # of a buyer in the open market

    @cached_property
    def costly(self) -> tuple[OwnMove, ...]:
        """The moves that cost something, the costliest first."""
        costly = [move for move in self.moves if move.cost]
        return tuple(sorted(costly, key=lambda move: -move.cost))

    def weigh(self, number: int, action: bazaar.Action) -> Choice:
        """Another move in the place of the own move `number`; IllegalAction where none can be."""
        position = _answered(bazaar.back(self.game, number))
        closing = bazaar.answer(position, action)  # raises for what the rules forbid
        if is_planned(self.game):
            task_name, obs = self.game.task_name, position.observation
            values = values_by(task_name, nerves.believe_at(task_name, obs), obs)
            return Choice(action, value_of(action, values, obs))
        if closing.play.forfeit:
            raise env.IllegalAction("that move would lose the game")
        return max(_lines(position, [action]), key=lambda line: line.grade)


def is_planned(game: bazaar.Game) -> bool:
    """Whether a planner weighs the visitor's moves: in the open markets."""
    return game.task_name in (*PLANNED, PEOPLE, CUSTOMERS)


def is_recorded(game: bazaar.Game) -> bool:
    """Whether the other moves would come from a language model that buys: it is not asked again."""
    return game.model_seat is not None and game.model_seat.agent == "buyer"


def review(game: bazaar.Game) -> Review:
    """The review of a finished game; raises ValueError of one that runs."""
    if not game.over:
        raise ValueError("only a finished game is reviewed")
    turns = [game.play.turns[i] for i in bazaar.moves_of(game)]
    if not is_planned(game):
        return Review(game, tuple(_review_moves(game, turns)))
    beliefs = [nerves.believe_at(game.task_name, turn.observation) for turn in turns]
    values = [
        values_by(game.task_name, belief, turn.observation)
        for belief, turn in zip(beliefs, turns, strict=True)
    ]
    planned = tuple(map(_weigh, repeat(game), count(), turns, beliefs, values))
    if game.task_name not in PLANNED:
        return Review(game, planned)
    gap = informed_grade(game.task, game.play.seed) - game.task.grade(game.play.state)
    inference, control = split_game(turns, values)
    return Review(game, planned, Gap(inference, control, gap - inference - control))


# By a planner -------------------------------------------------------------------------------------


def values_by(task_name: str, belief: nerves.AnyBelief, obs: env.Observation) -> MoveValues:
    """The expected grades of all moves of either seat, by the planner of the task's market."""
    planners = {PEOPLE: people.Planner(), CUSTOMERS: customers.Vendor()}
    return planners.get(task_name, Listener()).values(belief, obs)


def _weigh(
    game: bazaar.Game, number: int, turn: env.Turn, belief: nerves.AnyBelief, values: MoveValues
) -> OwnMove:
    """A move in an open market beside the planner's best one and others."""
    obs = turn.observation
    spoken = [
        env.Offer(int(values.prices[row.argmax()]), values.line(act, obs))
        for act, row in zip(values.acts, values.offers, strict=True)
    ]
    bare = (env.Offer(int(price)) for price in values.prices)
    offers = () if bazaar.is_too_late(obs) else (values.best(obs), *spoken, *bare)
    moves = dict.fromkeys((*offers, env.Accept(), env.WalkAway()))
    choices = [Choice(each, values.of(each)) for each in moves if not is_loss(obs, each)]
    choices = [choice for choice in choices if choice.grade > NOTHING / 2]
    choices.sort(key=_grade, reverse=True)
    after, after_best = (
        nerves.outlook(game.task_name, belief, obs, action)
        if isinstance(action, env.Offer) and not bazaar.is_too_late(obs)
        else None
        for action in (turn.action, choices[0].action)
    )
    no_deal = nerves.chance_of_no_deal(belief, obs)
    reasons = Reasons(after, after_best, no_deal, _is_taken(game, turn))
    return OwnMove(number, turn, value_of(turn.action, values, obs), tuple(choices), reasons)


def _is_taken(game: bazaar.Game, turn: env.Turn) -> bool:
    """Whether a move of the visitor was a price that the other side took at once."""
    answers = game.play.turns[game.play.turns.index(turn) + 1 :]
    is_answered = bool(answers) and isinstance(answers[0].action, env.Accept)
    return isinstance(turn.action, env.Offer) and is_answered


def value_of(move: bazaar.Action, values: MoveValues, obs: env.Observation) -> float:
    """The planner's value of a move, which it does not have of a price beyond the own limit.

    A price that comes too late is worth what no deal is worth.
    """
    if isinstance(move, env.Offer) and bazaar.is_too_late(obs):
        return values.walk
    if isinstance(move, env.Offer) and is_loss(obs, move):
        return max(-1.0, -abs(obs.reservation - move.price) / obs.table.item.list_price)
    return values.of(move)


# By playing again ---------------------------------------------------------------------------------


def _answered(position: bazaar.Game) -> bazaar.Game:
    """The position with a script in the place of a language model that buys."""
    return bazaar.play_on(position, bazaar.STAND_IN) if is_recorded(position) else position


def _review_moves(game: bazaar.Game, turns: list[env.Turn]) -> list[OwnMove]:
    """The moves with what they came to, where the moves after them are the best that are known."""
    reviewed: list[OwnMove] = []
    after = 0.0
    for number in range(len(turns) - 1, -1, -1):
        position, deal = bazaar.back(game, number), deal_of(turns[number])
        if number + 1 == len(turns) or deal_of(turns[number + 1]) != deal:
            ended = game if number + 1 == len(turns) else bazaar.back(game, number + 1)
            after = worth(game.task, ended.play) - worth(game.task, position.play)
        position = _answered(position)
        extras = getattr(turns[number].action, "extras", bazaar.held_extras(position.observation))
        prices = other_prices(position, extras)
        moves = (
            env.WalkAway(),
            env.Accept(),
            *(env.Offer(price, extras=extras) for price in prices),
        )
        best: dict[bazaar.Action, Choice] = {}
        for line in _lines(position, moves):
            best[line.action] = max(best.get(line.action, line), line, key=_grade)
        others = tuple(sorted(best.values(), key=_grade, reverse=True))
        reviewed.append(OwnMove(number, turns[number], round(after, DIGITS), others))
        after += reviewed[-1].cost
    return reviewed[::-1]


def _grade(choice: Choice) -> float:
    return choice.grade


def _lines(position: bazaar.Game, moves: Iterable[bazaar.Action]) -> Iterator[Choice]:
    """The lines from `moves` of the visitor, each with how its deal ends."""
    before, deal = worth(position.task, position.play), len(position.play.state.table.past)
    for action in moves:
        for after in _ends(position, action, deal):
            earned = worth(position.task, after.play) - before
            yield Choice(action, earned, after.play.state.table.past[deal])


def _ends(position: bazaar.Game, action: bazaar.Action, deal: int) -> Iterator[bazaar.Game]:
    """The games in which the deal is closed by `action`, or by taking or leaving what follows."""
    try:
        after = bazaar.answer(position, action)
    except env.IllegalAction:  # no price is named yet, or it is over the purse
        return
    if after.play.forfeit:
        return
    if len(after.play.state.table.past) > deal:
        yield after
        return
    for last in (env.Accept(), env.WalkAway()):
        try:
            yield bazaar.answer(after, last)
        except env.IllegalAction:
            continue


def other_prices(position: bazaar.Game, extras: Collection[str] = ()) -> list[int]:
    """Whole rupees between the limits for a package that a visitor may be advised to name here."""
    hidden, obs = position.play.state.private, position.observation
    if bazaar.is_too_late(obs):
        return []
    own_prices, their_prices = bazaar.own_and_theirs(obs)
    if obs.agent == "seller":
        low = max(ceil(obs.reservation), floor(their_prices[-1]) + 1 if their_prices else 1)
        high = floor(min(hidden["buyer"]["reservation"], own_prices[-1] if own_prices else inf))
    else:
        costs = env.amount_of(extras, hidden["seller"].get("costs", {}))
        least = ceil(hidden["seller"]["reservation"] + costs)
        low = max(least, ceil(own_prices[-1]) if own_prices else 1)
        most = min(bazaar.limit_with(obs, extras), obs.own.get("purse", inf))
        high = min(floor(most), ceil(their_prices[-1]) - 1)
    return [*range(low, high + 1, max(1, (high - low) // PRICES))]


def worth(task: env.Task, play: env.Play) -> float:
    """What the deals that are closed in `play` earned the learner, as a grade.

    Where the grade does not count a loss, it is a share of the list price, as in the open market.
    """
    rupees, item = task.env.payoffs(play.state)[task.learner], play.state.table.item
    return round(task.grade(play.state) or min(0.0, rupees / item.list_price), DIGITS)


def deal_of(turn: env.Turn) -> int:
    """The number of the deal, from 0, that a turn belongs to."""
    return len(turn.observation.table.past)


# The oracle ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Oracle:
    """A grade to compare a finished game with; `meaning` says in a sentence what it is."""

    grade: float
    meaning: str


def informed_grade(task: env.Task, seed: int) -> float:
    """The grade that a buyer expects who knows the seller, and what moves it.

    With people, of whom nobody has computed a best response, it is the planner that is told all.
    """
    if task.name != PEOPLE:
        return play_informed(task, seed).expected
    opened = env.advance(task, task.opponents, env.begin(task, seed)).state
    planner = people.Planner(truth=deal_at(task, seed).seller["stance"])
    return planner.expected(task.env.observe(opened, task.learner))


@lru_cache(maxsize=256)
def oracle(task_name: str, seed: int) -> Oracle | None:
    """The oracle's figure for the game of a task at a seed; None where none can be computed."""
    task = env.get_task(task_name)
    if task_name in env.ARENA_TASKS:
        meaning = "What a trader makes that knows every lab's private values and trades greedily."
        return Oracle(task.grade(play_all_seeing(task, seed).final), meaning)
    if task_name == PEOPLE:
        meaning = "What the planner expects where it is told all of this seller: no exact bound."
        return Oracle(informed_grade(task, seed), meaning)
    if task_name.removeprefix("bazaar/") in env.MARKETS:
        meaning = "What a buyer who knew this seller would have expected."
        return Oracle(informed_grade(task, seed), meaning)
    return None
