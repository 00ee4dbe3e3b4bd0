"""The two-party games of one deal over numpy arrays: thousands at once, the same rules and prices.

`play_batch` plays games move for move as `rollout` does: every formula keeps the order of the
scalar one, so the prices agree to the last bit. Arrays have shape (n,), or (rounds, n) with the
earliest round first; prices are rupees, NaN where there is none. No messages and no tells. The
games come from `batch_games`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from env.bazaar.classic_seller import Terms
from env.bazaar.sellers import INSULT, LOW_BID, RIVAL_HURRY, STRIDE, Stance, threshold_at
from env.concession import conceded
from env.core import EndReason

OFFER, ACCEPT, WALK = range(3)  # kinds of a move
ENDS = tuple(EndReason)  # an end is its place here
AGREEMENT, WALKAWAY, DEADLINE, FORFEIT = map(ENDS.index, EndReason)
RUNNING = -1
CLOSED_BY = np.array([RUNNING, AGREEMENT, WALKAWAY])  # what a legal move of each kind makes of it
power = np.frompyfunc(pow, 2, 1)  # Python's: that of numpy may differ in the last bit

Moves = tuple[np.ndarray, np.ndarray]  # kinds and prices, (n,) each; a price counts with an OFFER


@dataclass(frozen=True, slots=True)
class ClassicSellers:
    """The published seller n times; `terms` holds arrays where the instances differ."""

    terms: Terms
    walk: np.ndarray  # draws, (rounds, n), like the next
    late: np.ndarray
    fakes: np.ndarray  # (rounds, n) bool: makes a fake concession
    takes_back: np.ndarray  # (rounds, n) bool: takes its fake concessions back

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> Moves:
        """`classic_seller` at round `t`, counted from 1, in a first deal."""
        own, offer, last_ask = self.terms, bids[-1], asks[-1]
        walks = (self.walk[t - 1] < own.walk_probability * t / own.rounds) & (
            offer < 0.9 * own.reserve
        )
        accepts = offer >= own.accept_at * last_ask
        if t / own.rounds > 0.75:
            eager = (offer - own.reserve) / (own.anchor - own.reserve)
            in_haste = self.late[t - 1] < eager * t / own.rounds * own.late
            accepts |= (offer >= own.reserve) & in_haste
        ask = own.anchor * (1 - min(0.25, own.rate) * t)
        if own.persona == "deceptive":
            ask = np.where(self.fakes[t - 1], ask * 0.92, ask)
        elif own.persona == "impatient" and t <= 2:
            ask = ask * (1 - 0.08 * t)
        elif own.persona == "collaborative" and t > 1:
            ask = 0.7 * ask + 0.3 * (1.1 * own.cost + last_ask) / 2
        ask = rounded(np.maximum(ask, own.reserve), 2)
        if t > 1:
            ask = np.maximum(np.maximum(ask, 0.95 * (ask + offer) / 2), own.reserve)
            if own.persona == "deceptive":
                ask = np.where(self.takes_back[t - 1], np.maximum(ask, 1.03 * last_ask), ask)
            ask = rounded(ask, 2)
        accepts |= ask <= offer
        return np.where(walks, WALK, accepts * ACCEPT), ask


@dataclass(frozen=True, slots=True)
class MarketSellers:
    """The open market's seller n times; `stance` and its type hold arrays."""

    stance: Stance
    walk: np.ndarray  # draws, (rounds, n)
    in_time: np.ndarray  # share conceded with time after each round, (rounds, n)

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> Moves:
        """`market_seller` at round `t`, counted from 1."""
        stance, kind, bid = self.stance, self.stance.type, bids[-1]
        opening, low = stance.opening, LOW_BID * stance.opening
        before = bids[:-1].max(axis=0) if t > 1 else low
        best = np.maximum(before, bid) if t > 1 else bid
        moved = np.minimum(1.0, np.maximum(0.0, (best - low) / (opening - low)))
        given = (1 - kind.reciprocity) * self.in_time[t - 1] + kind.reciprocity * moved
        ask = np.ceil(opening - (opening - stance.resting) * given - 1e-9)
        ask = np.minimum(asks[-1], ask)
        threshold = threshold_at(stance, t, ask)
        progress = np.maximum(0.0, bid - before) / (STRIDE * opening)
        distance = (threshold - bid) / (INSULT * opening)
        hurry = np.where(stance.rival, RIVAL_HURRY, 1.0)
        stalled = 1 - np.minimum(1.0, progress)
        hazard = hurry * kind.impatience * stalled * np.minimum(1.0, np.maximum(0.0, distance))
        return np.where(bid >= threshold, ACCEPT, (self.walk[t - 1] < hazard) * WALK), ask


@dataclass(frozen=True, slots=True)
class Games:
    """n games of one task before their first move, with all their chance."""

    task: str
    decimals: int  # of a price
    rounds: np.ndarray  # limit of each, int
    opening: np.ndarray  # first ask
    list_price: np.ndarray
    seller_reservation: np.ndarray
    reservation: np.ndarray  # the buyer's, like the next four
    purse: np.ndarray  # infinite where there is none
    discount: np.ndarray  # what a deal keeps of its worth, a round; 1 in the classic game
    deadline: np.ndarray  # a round, infinite where there is none
    chance: np.ndarray  # one uniform draw a round, (rounds, n)
    sellers: ClassicSellers | MarketSellers


class BatchView(NamedTuple):
    """What the buyers may see before their next move, named as in `Observation`."""

    games: Games  # a buyer reads no seller's values there
    round: int  # moves made
    asks: np.ndarray  # (round + 1, n)
    bids: np.ndarray  # (round, n)

    @property
    def budget(self) -> np.ndarray:
        return np.minimum(self.games.reservation, self.games.purse)

    @property
    def rounds_left(self) -> np.ndarray:
        return self.games.rounds - self.round


Buyers = Callable[[BatchView], Moves]


@dataclass(frozen=True, slots=True)
class Results:
    """How n games came out. `asks` has shape (rounds + 1, n), `bids` (rounds, n)."""

    asks: np.ndarray
    bids: np.ndarray  # legal ones
    end: np.ndarray  # places in ENDS
    price: np.ndarray
    rounds: np.ndarray  # legal moves of the buyer, int
    share: np.ndarray  # the buyer's share of the ZOPA, as `shares` has it
    grade: np.ndarray  # the task's


def play_batch(games: Games, buyers: Buyers) -> Results:
    """Play all `games` to their end; an illegal move of a buyer forfeits its game alone."""
    n, most = len(games.rounds), int(games.rounds.max(initial=0))
    asks, bids = np.full((most + 1, n), np.nan), np.full((most, n), np.nan)
    end, rounds, price = np.full(n, RUNNING), np.zeros(n, int), np.full(n, np.nan)
    running = np.ones(n, bool)
    limit = np.where(np.isfinite(games.purse), games.purse, games.reservation)
    asks[0] = games.opening
    with np.errstate(invalid="ignore", over="ignore"):  # NaN, where a game is over, stays NaN
        for t in range(1, most + 1):
            kind, bid = buyers(BatchView(games, t - 1, asks[:t], bids[: t - 1]))
            fits = (bid > 0) & (bid <= limit) & (rounded(bid, games.decimals) == bid)
            legal = np.where(kind == OFFER, fits, (kind == WALK) | (asks[t - 1] <= games.purse))
            closed = np.where(legal, CLOSED_BY[kind], FORFEIT)
            bought = running & (closed == AGREEMENT)
            np.copyto(price, asks[t - 1], where=bought)
            rounds += running & legal

            asked = running & (closed == RUNNING)
            np.copyto(bids[t - 1], bid, where=asked)
            answer, ask = games.sellers.answer(t, asks[:t], bids[:t])
            np.copyto(price, bid, where=asked & (answer == ACCEPT))
            np.copyto(asks[t], ask, where=asked & (answer == OFFER))
            late = (answer == OFFER) & (t >= games.rounds)
            np.copyto(closed, np.where(late, DEADLINE, CLOSED_BY[answer]), where=asked)
            np.copyto(end, closed, where=running)
            running &= closed == RUNNING
            if not running.any():
                break
    return Results(asks, bids, end, price, rounds, *_graded(games, end, price, rounds))


def _graded(
    games: Games, end: np.ndarray, price: np.ndarray, rounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Shares and grades: `mean_share`, `deadline_grade` and `market_grade` of a single deal."""
    limit, width = games.reservation, games.reservation - games.seller_reservation
    dealt, late = end == AGREEMENT, rounds > games.deadline
    to_share = np.where(width > 0, width, games.list_price)
    share = np.where(dealt, (limit - price) / to_share, 0.0)
    if isinstance(games.sellers, ClassicSellers):
        return share, np.minimum(1.0, np.maximum(0.0, share)) * np.where(late, 0.5, 1.0)
    kept = np.where(late, 0.0, power(games.discount, np.maximum(0, rounds - 1)))
    undealt = np.where((width <= 0) & (end != FORFEIT), kept, 0.0)
    loss = np.maximum(-1.0, (limit - price) / games.list_price)
    gain = np.where((width <= 0) | (price > limit), loss, kept * (limit - price) / to_share)
    return share, np.where(dealt, gain, undealt).astype(float)


def rounded(prices: np.ndarray, decimals: int) -> np.ndarray:
    """`prices` as Python's `round` has them at 0 or 2 decimals, to the last bit.

    `np.round` multiplies by 100 and errs where the product falls on a tie; here the remainder of
    the product decides, which is exact (Dekker 1971).
    """
    if decimals == 0:
        return np.rint(prices)
    hundredfold = prices * 100
    nearest = np.rint(hundredfold)
    ties = np.flatnonzero(np.abs(hundredfold - nearest) > 0.499999)
    if ties.size:
        price, product = prices[ties], hundredfold[ties]
        scaled = price * (2.0**27 + 1)
        high = scaled - (scaled - price)  # the upper half of the digits: 100 of it is exact
        remainder = (100 * high - product) + 100 * (price - high)
        below = np.floor(product)
        over = (product - (below + 0.5)) + remainder
        nearest[ties] = below + ((over > 0) | ((over == 0) & (below % 2 == 1)))
    return nearest / 100


# Buyers


def batch_rule_based(view: BatchView) -> Moves:
    """`rule_based` with the draws of `games.chance`."""
    games, ask, budget = view.games, view.asks[0], view.games.reservation
    low, high = (0.20, 0.35) if view.round else (0.25, 0.40)
    step = low + (high - low) * games.chance[view.round]
    price = view.bids[-1] + (ask - view.bids[-1]) * step if view.round else ask * step
    price = np.minimum(np.minimum(price, 0.8 * budget), budget)
    per_rupee = 10**games.decimals
    price = np.maximum(1, np.floor(price * per_rupee + 1e-6)) / per_rupee
    return np.where(ask <= 0.5 * budget, ACCEPT, (ask > budget) * WALK), price


def batch_wait(view: BatchView, opening: float = 0.48, dodge: float = 0.01) -> Moves:
    """Repeat a bid of `opening` of the first ask, plus `dodge` at every second; take the ask once
    it stops falling or at the last move."""
    decimals, budget = view.games.decimals, view.budget
    settled = view.round > 0 and rounded(view.asks[-2] - view.asks[-1], 2) == 0
    accepts = (view.asks[-1] <= budget) & (settled | (view.rounds_left <= 1))
    price = np.minimum((opening + dodge * (view.round % 2)) * view.asks[0], budget)
    price = np.minimum(np.maximum(rounded(price, decimals), 10**-decimals), budget)
    return accepts * ACCEPT, price


@dataclass(frozen=True)
class BatchTimeDependent:
    """`TimeDependent.buy` with the same settings."""

    exponent: float
    opening: float = 0.3

    def __call__(self, view: BatchView) -> Moves:
        games, ask, budget, left = view.games, view.asks[-1], view.budget, view.rounds_left
        limit, step = np.minimum(budget, view.asks[0]), 10**-games.decimals
        best = self.opening * limit
        lengths = range(int(games.rounds.max()) + 1)
        share = np.array([conceded(view.round, r, self.exponent) for r in lengths])[games.rounds]
        price = rounded(np.minimum(best + share * (limit - best), limit), games.decimals)
        price = np.maximum(view.bids[-1] if view.round else step, price)
        accepts = (ask <= np.minimum(price, budget)) | ((left <= 1) & (ask <= limit))
        leaves = (budget < step) | ~accepts & (left <= 1)
        return np.where(leaves, WALK, accepts * ACCEPT), price


@dataclass(frozen=True)
class BatchSchedule:
    """Moves fixed beforehand: `kinds` and `prices`, (rounds, n) each."""

    kinds: np.ndarray
    prices: np.ndarray

    def __call__(self, view: BatchView) -> Moves:
        return self.kinds[view.round], self.prices[view.round]
