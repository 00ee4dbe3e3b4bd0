"""The best line of play against a seeded opponent: which own moves would have earned the most.

Only for a game that is over: the grid of prices lies between the hidden limits of both sides.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor
from operator import itemgetter

from env import Accept, IllegalAction, Offer, Play, Task, WalkAway, advance, move

Action = Offer | Accept | WalkAway
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
            held = self._replayed(play, [*actions[:i], *actions[i + 1 : i + 2], *actions[i + 1 :]])
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

    def _replayed(self, play: Play, actions: Sequence[Action]) -> Line | None:
        """The line of these moves; None where they break the rules or leave the deal open."""
        deal, after = len(play.state.table.past), play
        for action in actions:
            if isinstance(action, Offer) and not self._may_name(after, action.price):
                return None
            after = self._answer(after, action)
            if after is None:
                return None
            if closed(self.task, after, deal):
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
                    if closed(self.task, after, deal):
                        yield Line(after, len(play.turns), worth(self.task, after) - before)
                    else:
                        bucket = bisect_left(grid, self._own_price(after))
                        kept[bucket] = max(kept.get(bucket, after), after, key=self._offered)
            layer = sorted(kept.values(), key=self._offered, reverse=True)[: self.width]

    def _answers(self, play: Play, grid: list[int]) -> Iterator[Play]:
        """The game after each move that the search tries in `play`."""
        tried = {
            price: after
            for price in {*grid, *self._held(play)}
            if (after := self._named(play, price)) is not None
        }
        if (taken := self._answer(play, Accept())) is not None:
            tried[self._their_price(play)] = taken  # an offer next to it may do as well
        yield self._answer(play, WalkAway())
        yield from tried.values()
        for (lower, below), (upper, above) in pairwise(sorted(tried.items(), key=itemgetter(0))):
            if self._kind(play, below) != self._kind(play, above):
                yield from self._bound(play, lower, below, upper)

    def _bound(self, play: Play, lower: int, below: Play, upper: int) -> Iterator[Play]:
        """The games after the two neighbouring prices that are answered differently."""
        while upper - lower > 1:
            middle = (lower + upper) // 2
            after = self._named(play, middle)
            if after is None:
                return
            yield after
            if self._kind(play, after) == self._kind(play, below):
                lower = middle
            else:
                upper = middle

    def _held(self, play: Play) -> list[int]:
        """The learner's last price in this deal, where there is one in whole rupees."""
        table = self.task.env.observe(play.state, self.task.learner).table
        own = table.asks if self._sells else table.bids
        return [int(own[-1])] if own and own[-1] == int(own[-1]) else []

    def _named(self, play: Play, price: int) -> Play | None:
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

    def _offered(self, play: Play) -> float:
        """How good the other side's standing price is for the learner, in rupees."""
        return self._prices(play)[1] * (1 if self._sells else -1)

    def _prices(self, play: Play) -> tuple[float, float]:
        """The learner's last price and the other side's in a deal that runs."""
        table = self.task.env.observe(play.state, self.task.learner).table
        prices = (table.bids[-1], table.asks[-1])
        return prices[::-1] if self._sells else prices


def closed(task: Task, play: Play, deal: int) -> bool:
    """Whether deal number `deal`, counted from 0, is over in `play`."""
    return play.forfeit or task.env.to_act(play.state) is None or len(play.state.table.past) > deal
