"""What each of a visitor's moves cost, found by playing the finished game again from before it.

All of it is for a game that is over. `Search` finds the best line of play against a seeded
opponent: which own moves would have earned the most. Its grid of prices lies between the hidden
limits of both sides. `oracle` says what a player who knew the hidden values would have made of it.

The worth of a position is what the best line known from there earns. A line is advice: it names no
price beyond the visitor's own limit and takes no own price back. A move costs the worth of the
position before it less that of the position after it, so the costs of a deal add up to what the
visitor missed in it. Each deal of a career is reviewed by itself, after the earlier deals as they
were played: what a deal teaches the seller for the next one is left out.

`findings` searches where code decides the other side's moves. A language model that buys is asked
for its reply to a few other prices (`ask_findings`); beyond that reply nothing is known but that
the visitor could take it or leave.
"""

from bisect import bisect_left
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, floor
from operator import itemgetter

from env import (
    ARENA_TASKS,
    MARKETS,
    Accept,
    Deal,
    IllegalAction,
    Offer,
    Play,
    Task,
    Turn,
    WalkAway,
    advance,
    begin,
    get_task,
    move,
)
from sauda.policies.arena_bound import upper_bound
from sauda.policies.best_response import informed_value, rivals_in
from sauda.sessions.bazaar import Action, Game, answer, back, moves_of

PRICES = 16  # of the grid between the two limits
WIDTH = 16  # positions of a round that the search plays on from
DIGITS = 9  # that tell one worth from another
STALLS = (0.4, 0.7, 0.95)  # of the seller's limit: bids that let time pass
ANCHORS = (1.1, 1.6, 2.5, 5.0, 9.5)  # of the higher of list price and buyer's limit: high asks


@dataclass(frozen=True, order=True, slots=True)
class Worth:
    """What a deal earned the visitor; compared by grade, then by rupees."""

    grade: float  # the task's grade, the part of this deal
    rupees: float  # surplus over no deal, discounted where the game discounts

    def __sub__(self, other: "Worth") -> "Worth":
        grade, rupees = self.grade - other.grade, self.rupees - other.rupees
        return Worth(round(grade, DIGITS), round(rupees, DIGITS))


def worth(task: Task, play: Play) -> Worth:
    """What the deals that are closed in `play` earned the learner."""
    rupees = task.env.payoffs(play.state)[task.learner]
    return Worth(round(task.grade(play.state), DIGITS), round(rupees, DIGITS))


@dataclass(frozen=True, slots=True)
class Line:
    """Moves of the visitor from one position to the end of its deal, and what the deal earned."""

    play: Play  # up to the end of the deal
    first: int  # index among the turns of the visitor's first move of the line
    worth: Worth

    @property
    def action(self) -> Action:
        """The first move of the line."""
        return self.play.turns[self.first].action


@dataclass(frozen=True)
class Search:
    """Finds good lines against the opponents in `task`, whose moves follow from the seed.

    A line is replayed move by move, so what it earns can be earned: the search may miss the best
    line, and it never claims more than can be won. In each position it tries acceptance, walking
    away, and `prices` whole rupees evenly between the two limits, with a few below the seller's
    limit (a buyer who waits) or above the buyer's (a seller who aims high). Where two neighbouring
    prices are answered differently, it halves the distance between them down to one rupee. So a
    closing price is exact where the other side accepts all prices beyond one bound.

    Positions of the same round with the same own price on the grid count as one: that in which the
    other side offers most. The search plays on from the `width` of them in which it offers most.
    That misses a line whose earlier prices look worse for a while, or which needs a price
    between two points of the grid that nothing sets apart. Of lines that earn the same, `best`
    returns a short one that holds its prices where it can.
    """

    task: Task
    prices: int = PRICES
    width: int = WIDTH
    as_advice: bool = False  # only lines to advise: no price beyond the own limit or taken back

    def best(self, play: Play) -> Line:
        """The best line from `play`, in which the learner is to move, to the end of this deal."""
        best = max(self.lines(play), key=lambda line: line.worth)
        actions = self._actions(best)
        for i in range(len(actions) - 2, -1, -1):
            if not (isinstance(actions[i], Offer) and isinstance(actions[i + 1], Offer)):
                continue
            held = self._replay(play, [*actions[:i], *actions[i + 1 : i + 2], *actions[i + 1 :]])
            if held is not None and held.worth >= best.worth:
                best, actions = held, self._actions(held)
        return best

    def _actions(self, line: Line) -> list[Action]:
        """The learner's moves in a line."""
        deal = len(line.play.turns[line.first].observation.table.past)
        return [
            turn.action
            for turn in line.play.turns[line.first :]
            if turn.agent == self.task.learner and len(turn.observation.table.past) == deal
        ]

    def _replay(self, play: Play, actions: Sequence[Action]) -> Line | None:
        """The line of these moves; None where they break the rules or leave the deal open."""
        deal, after = len(play.state.table.past), play
        for action in actions:
            if isinstance(action, Offer) and not self._may_name(after, action.price):
                return None
            after = self._answer(after, action)
            if after is None:
                return None
            if is_closed(self.task, after, deal):
                gained = worth(self.task, after) - worth(self.task, play)
                return Line(after, len(play.turns), gained)
        return None

    def lines(self, play: Play) -> Iterator[Line]:
        """Every line to the end of this deal that the search meets, walking away among them."""
        deal, before = len(play.state.table.past), worth(self.task, play)
        grid, layer = self._grid(play), [play]
        while layer:
            kept: dict[int, Play] = {}
            for position in layer:
                for after in self._answers(position, grid):
                    if is_closed(self.task, after, deal):
                        yield Line(after, len(play.turns), worth(self.task, after) - before)
                    else:
                        bucket = bisect_left(grid, self._own_price(after))
                        kept[bucket] = max(kept.get(bucket, after), after, key=self._standing_offer)
            layer = sorted(kept.values(), key=self._standing_offer, reverse=True)[: self.width]

    def _answers(self, play: Play, grid: list[int]) -> Iterator[Play]:
        """The game after each move that the search tries in `play`."""
        tried = {
            price: after
            for price in {*grid, *self._last_own_price(play)}
            if (after := self._name_price(play, price)) is not None
        }
        if (taken := self._answer(play, Accept())) is not None:
            tried[self._their_price(play)] = taken  # an offer next to it may do as well
        yield self._answer(play, WalkAway())
        yield from tried.values()
        for (lower, below), (upper, above) in pairwise(sorted(tried.items(), key=itemgetter(0))):
            if self._kind(play, below) != self._kind(play, above):
                yield from self._bisect(play, lower, below, upper)

    def _bisect(self, play: Play, lower: int, below: Play, upper: int) -> Iterator[Play]:
        """The games after the two neighbouring prices that are answered differently."""
        while upper - lower > 1:
            middle = (lower + upper) // 2
            after = self._name_price(play, middle)
            if after is None:
                return
            yield after
            if self._kind(play, after) == self._kind(play, below):
                lower = middle
            else:
                upper = middle

    def _last_own_price(self, play: Play) -> list[int]:
        """The learner's last price in this deal, where there is one in whole rupees."""
        table = self.task.env.observe(play.state, self.task.learner).table
        own = table.asks if self._sells else table.bids
        return [int(own[-1])] if own and own[-1] == int(own[-1]) else []

    def _name_price(self, play: Play, price: int) -> Play | None:
        """The game after the learner's price and the replies; None for a price not to be named."""
        return self._answer(play, Offer(price)) if self._may_name(play, price) else None

    def _answer(self, play: Play, action: Action) -> Play | None:
        """The game after `action` and the replies to it; None where the rules forbid it."""
        try:
            return advance(self.task, self.task.opponents, move(self.task, play, action))
        except IllegalAction:
            return None

    def _may_name(self, play: Play, price: float) -> bool:
        """Whether the search may try a price.

        A bid is below the ask: the page takes no other, though the rules would.
        """
        obs = self.task.env.observe(play.state, self.task.learner)
        asks, bids = obs.table.asks, obs.table.bids
        if not self._sells and price >= asks[-1]:
            return False
        if not self.as_advice:
            return True
        if self._sells:
            return obs.reservation <= price and (not asks or price <= asks[-1])
        return price <= obs.reservation and (not bids or price >= bids[-1])

    def _their_price(self, play: Play) -> int:
        """The other side's standing price in whole rupees, no better for it than it is."""
        table = self.task.env.observe(play.state, self.task.learner).table
        return floor(table.bids[-1]) if self._sells else ceil(table.asks[-1])

    def _kind(self, before: Play, after: Play) -> tuple:
        """How a move was answered: by a deal with whom, a walk-away, or a counter-offer."""
        past = after.state.table.past[len(before.state.table.past) :]
        return tuple((deal.end, deal.buyer) for deal in past)

    def _grid(self, play: Play) -> list[int]:
        """The prices that the search tries, in whole rupees."""
        seller, buyer = play.state.private["seller"], play.state.private["buyer"]
        low, limit = seller["reservation"], buyer["reservation"]
        if self._sells:
            high = max(limit, play.state.table.item.list_price)
            beyond = [share * high for share in ANCHORS]
        else:
            limit = min(limit, buyer.get("purse", limit))
            beyond = [share * low for share in STALLS if share * low < limit]
        step = (limit - low) / max(1, self.prices - 1)
        between = [low + step * i for i in range(self.prices)] if limit > low else []
        return sorted({max(1, int(price)) for price in (*between, *beyond)})

    @property
    def _sells(self) -> bool:
        return self.task.learner == "seller"

    def _own_price(self, play: Play) -> float:
        """The learner's standing price in a deal that runs."""
        return self._prices(play)[0]

    def _standing_offer(self, play: Play) -> float:
        """How good the other side's standing price is for the learner, in rupees."""
        return self._prices(play)[1] * (1 if self._sells else -1)

    def _prices(self, play: Play) -> tuple[float, float]:
        """The learner's last price and the other side's in a deal that runs."""
        table = self.task.env.observe(play.state, self.task.learner).table
        prices = (table.bids[-1], table.asks[-1])
        return prices[::-1] if self._sells else prices


def is_closed(task: Task, play: Play, deal: int) -> bool:
    """Whether deal number `deal`, counted from 0, is over in `play`."""
    return play.forfeit or task.env.to_act(play.state) is None or len(play.state.table.past) > deal


SOLVER_SECONDS = 5.0  # that the upper bound of an arena game may take
ORACLE_PRICES, ORACLE_WIDTH = 10, 6  # of the search where no exact solution is known
BOUND = (
    "An upper bound: no play has a higher grade unless it leaves another lab with less than it"
    " could make alone."
)


@dataclass(frozen=True)
class Oracle:
    """A grade to compare a finished game with; `meaning` says in a sentence what it is."""

    grade: float
    meaning: str


def informed_grade(task: Task, seed: int) -> float:
    """The expected grade of the best response to the known seller, for the open market's buyer."""
    (deal,) = begin(task, seed).state.private["nature"]
    return informed_value(deal, rivals_in(task))


@lru_cache(maxsize=256)
def oracle(task_name: str, seed: int) -> Oracle | None:
    """The oracle's figure for the game of a task at a seed; None where none can be computed."""
    task = get_task(task_name)
    start = begin(task, seed)
    if task_name in ARENA_TASKS:
        own = start.state.private[task.learner]
        bound = upper_bound(start.state, task.learner, SOLVER_SECONDS).utility
        grade = max(-1.0, min(1.0, (bound - own.batna) / own.stake))
        return Oracle(grade, BOUND)
    if task_name.removeprefix("bazaar/") in MARKETS:
        meaning = "What a buyer who knew this seller would have expected."
        return Oracle(informed_grade(task, seed), meaning)
    if start.state.table.deals > 1:
        return None
    line = Search(task, ORACLE_PRICES, ORACLE_WIDTH).best(advance(task, task.opponents, start))
    return Oracle(line.worth.grade, "The best line of play that a search found in this very game.")


# Prices and width of a search, so that a review takes at most a second or two of one core.
FINE, MEDIUM, COARSE = (12, 8), (10, 6), (6, 4)
FINE_MOVES = 12  # own moves that are searched finely, or MEDIUM where rivals move too
ASKED_MOVES = 4  # offers, the last ones, for which a language model is asked other prices
ASKED_PRICES = 2  # for each of them: a queue of eight replies is what one visitor may ask for
LEAST_GAP = 0.01  # of the buyer's limit: for less than that no reply is asked for
NOTHING = Worth(0, 0)


@dataclass(frozen=True)
class Finding:
    """A line from before the visitor's move `number`, counted from 0."""

    number: int
    line: Line


@dataclass(frozen=True)
class OwnMove:
    """One of the visitor's moves, with what could be earned before it and after it."""

    number: int  # among the visitor's moves, from 0
    deal: int  # from 0
    action: Action
    before: Worth
    after: Worth
    line: Line | None  # the line that earns more than the game after this move did, if one is known
    most: Worth  # what the deal could earn at its start

    @property
    def cost(self) -> Worth:
        """What the move gave away, at least 0."""
        return self.before - self.after

    @property
    def left(self) -> float | None:
        """The share of the deal's best grade that is still to win; None where that is 0."""
        if self.most.grade <= 0:
            return None
        return min(1.0, max(0.0, self.after.grade / self.most.grade))


@dataclass(frozen=True)
class Review:
    """The visitor's moves in a finished game, each with its cost as far as the findings show it."""

    game: Game
    findings: tuple[Finding, ...]

    @cached_property
    def moves(self) -> tuple[OwnMove, ...]:
        """Every move of the visitor, in order."""
        known: dict[int, Line] = {}
        for found in self.findings:
            best = known.get(found.number, found.line)
            known[found.number] = max(best, found.line, key=lambda line: line.worth)
        reviewed: list[OwnMove] = []
        for first, last in deals_of(self.game):
            reviewed += self._deal(first, last, known)
        return tuple(reviewed)

    def _deal(self, first: int, last: int, known: dict[int, Line]) -> list[OwnMove]:
        """The moves `first` to `last`, which made one deal."""
        after, rows = earnings(self.game, first, last), []
        for number in range(last, first - 1, -1):
            line = known.get(number)
            line = line if line is not None and line.worth > after else None
            before = line.worth if line else after
            rows.append((number, before, after, line))
            after = before
        turns = [self.game.play.turns[i] for i in moves_of(self.game)]
        return [
            OwnMove(number, deal_of(turns[number]), turns[number].action, *found, most=after)
            for number, *found in reversed(rows)
        ]

    @property
    def tried(self) -> tuple[Finding, ...]:
        """The findings that begin with a price of the visitor: the other prices that were tried."""
        return tuple(found for found in self.findings if isinstance(found.line.action, Offer))

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

    @cached_property
    def best(self) -> Line | None:
        """The best line of the deal with the costliest move, from the first move it changes.

        None where no better line is known.
        """
        if self.costliest is None:
            return None
        deal = [move for move in self.moves if move.deal == self.costliest.deal]
        return next(move.line for move in deal if move.line)


def deal_of(turn: Turn) -> int:
    """The number of the deal, from 0, that a turn belongs to."""
    return len(turn.observation.table.past)


def deals_of(game: Game) -> list[tuple[int, int]]:
    """The numbers of the visitor's first and last move in each deal."""
    deals: dict[int, list[int]] = {}
    for number, turn in enumerate(moves_of(game)):
        deals.setdefault(deal_of(game.play.turns[turn]), []).append(number)
    return [(numbers[0], numbers[-1]) for numbers in deals.values()]


def earnings(game: Game, first: int, last: int) -> Worth:
    """What the deal earned that the visitor's moves `first` to `last` made."""
    ended = game if last + 1 == len(moves_of(game)) else back(game, last + 1)
    return worth(game.task, ended.play) - worth(game.task, back(game, first).play)


def outcome_of(line: Line) -> Deal | None:
    """How the deal of a line ended; None where the other side forfeited."""
    deals = line.play.state.table.past
    number = deal_of(line.play.turns[line.first])
    return deals[number] if number < len(deals) else None


def is_asked(game: Game) -> bool:
    """Whether the other moves can only be learnt from a language model, which buys."""
    return game.model_seat is not None and game.model_seat.agent == "buyer"


def findings(game: Game) -> Iterator[Finding]:
    """The best line from before each move of the visitor, the last move first.

    For a finished game in which code decides the other side's moves. Raises ValueError otherwise.
    """
    if not game.over or is_asked(game):
        raise ValueError("only a finished game against moves that code decides can be searched")
    numbers = range(len(moves_of(game)))
    size = FINE if len(game.task.env.agents) == 2 else MEDIUM
    size = size if len(numbers) <= FINE_MOVES else COARSE
    search = Search(game.task, *size, as_advice=True)
    for number in reversed(numbers):
        yield Finding(number, search.best(back(game, number).play))


def search(game: Game) -> Review:
    """The whole review of a finished game, by `findings`; raises ValueError as it does."""
    return Review(game, tuple(findings(game)))


def closing_findings(game: Game) -> Iterator[Finding]:
    """The better of taking the other side's price and leaving, at each move of the visitor."""
    for number in range(len(moves_of(game))):
        position = back(game, number)
        yield Finding(number, _best_ending(position, len(position.play.turns)))


async def ask_findings(
    game: Game, known: Sequence[Finding], reply: Callable[[Game], Awaitable[Game]]
) -> AsyncIterator[Finding]:
    """What a language model that buys replies to other prices at the last offers of the visitor.

    A price is halfway between what is known to be earned from before that offer, by the findings,
    and the least price that the model did not take there, at first the buyer's limit. `reply`
    returns the game after the model's move, or the same game where the model made none.
    """
    found = list(known)
    for number in offers_to_ask(game):
        position = back(game, number)
        refused = position.play.state.private["buyer"]["reservation"]
        for _ in range(ASKED_PRICES):
            made = Review(game, tuple(found)).moves[number]
            price = _another_price(position, made, refused)
            if price is None:
                break
            after = await reply(answer(position, Offer(price)))
            if after.waiting:
                break
            found.append(Finding(number, _best_ending(after, len(position.play.turns))))
            yield found[-1]
            if not _takes(after, price):
                refused = price


def _takes(after: Game, price: int) -> bool:
    """Whether the model closed at `price`."""
    past = after.play.state.table.past
    return after.over and bool(past) and past[-1].price == price


def offers_to_ask(game: Game) -> list[int]:
    """The numbers of the visitor's last offers, the last one first."""
    turns = [game.play.turns[i] for i in moves_of(game)]
    offers = [i for i, turn in enumerate(turns) if isinstance(turn.action, Offer)]
    return offers[: -ASKED_MOVES - 1 : -1]


def _another_price(position: Game, made: OwnMove, refused: float) -> int | None:
    """A price to ask of a buyer instead of the one that was asked; None where none is better.

    `refused` is the least price that the buyer is known not to take here.
    """
    obs, limit = position.observation, position.play.state.private["buyer"]["reservation"]
    least = max(obs.reservation + made.before.rupees, obs.bid or 0)
    asks = obs.table.asks
    price = round((least + min(refused, asks[-1] if asks else refused)) / 2)
    if price - least < LEAST_GAP * limit or price == made.action.price:
        return None
    return price


def _best_ending(game: Game, first: int) -> Line:
    """The better of taking the other side's price in `game` and leaving; `game` itself if over."""
    ends: list[Play] = [game.play] if game.over else []
    if not game.over:
        for action in (Accept(), WalkAway()):
            try:
                ends.append(answer(game, action).play)
            except IllegalAction:  # no price is named yet
                continue
    lines = [Line(play, first, worth(game.task, play)) for play in ends]
    return max(lines, key=lambda line: line.worth)
