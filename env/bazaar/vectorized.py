"""The bazaar over numpy arrays: thousands of episodes at once, equal to the scalar rules.

`play_batch` plays games move for move as `env.rollout` does: every formula keeps the order of
operations of the scalar one, so prices agree to the last bit. Arrays have shape (n,), or
(rounds, n) with the earliest round first; prices are rupees, NaN where there is none. There are no
messages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..amounts import conceded
from ..core import EndReason, Policy, Task
from ..rollout import agent_stream, begin
from ..tasks import TASKS
from .classic import (
    CLASSIC,
    Classic,
    Terms,
    aggressive,
    career_grade,
    deadline_grade,
    mean_share,
    naive,
    rule_based,
    smart,
    tells_grade,
    terms,
)
from .market import (
    BUYER_RESERVATION,
    CLAIM_RATE,
    CLAIMS,
    FULL_HAZARD_GAP,
    FULL_PROGRESS,
    LOW_BID,
    MARKETS,
    PURSE,
    RIVAL_HAZARD_FACTOR,
    SELLER_RESERVATION,
    SELLER_TYPES,
    Market,
    SellerType,
    Stance,
    TimeDependent,
    market_grade,
    threshold_at,
)
from .sealed_bids import BUYERS, MultiBuyerBazaar
from .types import CATALOGUE, Instance

# Python's arithmetic over arrays, equal to the last bit, so that a batch equals scalar games.


power = np.frompyfunc(pow, 2, 1)  # Python's pow: numpy's may differ in the last bit


def rounded(prices: np.ndarray, decimals: int) -> np.ndarray:
    """`prices` rounded as by Python's `round`, for up to 6 decimals; same shape.

    `np.round` multiplies first and errs where the product falls on a tie; here the exact remainder
    of the product decides (Dekker 1971).
    """
    if decimals == 0:
        return np.rint(prices)
    per_rupee = 10.0**decimals
    scaled = prices * per_rupee
    nearest = np.rint(scaled)
    ties = np.flatnonzero(np.abs(scaled - nearest) > 0.499)
    if ties.size:
        price, product = prices[ties], scaled[ties]
        split = price * (2.0**27 + 1)
        high = split - (split - price)  # the upper half of the digits: its product is exact
        remainder = (per_rupee * high - product) + per_rupee * (price - high)
        below = np.floor(product)
        over = (product - (below + 0.5)) + remainder
        nearest[ties] = below + ((over > 0) | ((over == 0) & (below % 2 == 1)))
    return nearest / per_rupee


def batch_conceded(move: int, moves: np.ndarray, exponent: float) -> np.ndarray:
    """`conceded` at one `move` for integer numbers of `moves`; both arrays of shape (n,)."""
    return np.array([conceded(move, m, exponent) for m in range(int(moves.max()) + 1)])[moves]


# The sellers of both families over arrays: n times `classic_seller` or `market_seller`.
#
# `asks_at` and `hazards_at` are the open market's formulas for arrays of any shapes that
# broadcast; the best response is computed with them. Rounds are counted from 1.

OFFER, ACCEPT, WALK = range(3)  # kinds of a move
Paid = Sequence[tuple[np.ndarray, np.ndarray]]  # per deal: price, NaN without one; opening ask


class BatchTells(NamedTuple):
    """The tells that a scripted buyer reads; shape (n,)."""

    verbal_deception_cue: np.ndarray
    looks_away: np.ndarray  # bool: eye_contact is "avoidant"


@dataclass(frozen=True, slots=True)
class ClassicSellers:
    """n published sellers; `terms` holds arrays where they differ."""

    terms: Terms
    walk: np.ndarray  # draws, (rounds, n), as the next two
    late: np.ndarray
    deception: np.ndarray
    fakes: np.ndarray  # (rounds, n) bool: makes a fake concession
    takes_back: np.ndarray  # (rounds, n) bool: takes its fake concessions back

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moves of `classic_seller` at round `t`: kinds and asks, (n,) each.

        `asks` and `bids` have shape (t, n).
        """
        own, offer, last_ask = self.terms, bids[-1], asks[-1]
        walks = (self.walk[t - 1] < own.walk_probability * t / own.rounds) & (
            offer < 0.9 * own.reserve
        )
        accepts = offer >= own.accept_at * last_ask
        if t / own.rounds > 0.75:
            eager = (offer - own.reserve) / (own.anchor - own.reserve)
            in_haste = self.late[t - 1] < eager * t / own.rounds * own.late
            accepts |= (offer >= own.reserve) & in_haste
        ask = own.anchor * (1 - np.minimum(0.25, own.rate) * t)
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

    def tells(self, t: int, asks: np.ndarray) -> BatchTells:
        """`classic_tells` with the reply of round `t`; `asks` are those before it, (t, n)."""
        own, cue = self.terms, np.zeros(asks.shape[1])
        pressed = 1 - (asks[-1] - own.reserve) / (own.anchor - own.reserve)
        urgency = np.minimum(1.0, own.inventory_pressure * t / own.rounds + 0.3 * pressed)
        if own.persona == "deceptive":
            cue = _clip(0.7 * urgency + 0.1 * self.deception[t - 1])
        looks_away = {"default": urgency >= 0.5, "impatient": np.full(cue.shape, t >= 3)}
        return BatchTells(cue, looks_away.get(own.persona, np.zeros(cue.shape, bool)))

    def remember(self, paid: Paid) -> "ClassicSellers":
        """The sellers after the deals `paid`: they concede less to a buyer that paid too much."""
        return replace(
            self, terms=replace(self.terms, rate=self.terms.rate * (1 - 0.3 * capitulation(paid)))
        )


@dataclass(frozen=True, slots=True)
class MarketSellers:
    """n sellers of the open market; `stance` and its type hold arrays."""

    stance: Stance
    walk: np.ndarray  # draws, (rounds, n), as `cue` and `eye`
    cue: np.ndarray
    eye: np.ndarray
    bluffs: np.ndarray  # (rounds, n) bool: makes a false claim
    in_time: np.ndarray  # share conceded with time after each round, (rounds, n)

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moves of `market_seller` at round `t`: kinds and asks, (n,) each.

        `asks` and `bids` have shape (t, n).
        """
        stance, kind, bid = self.stance, self.stance.type, bids[-1]
        before = bids[:-1].max(axis=0) if t > 1 else LOW_BID * stance.opening
        best = np.maximum(before, bid) if t > 1 else bid
        ask = asks_at(stance.opening, stance.resting, kind.reciprocity, self.in_time[t - 1], best)
        ask = np.minimum(asks[-1], np.ceil(ask - 1e-9))
        threshold = threshold_at(stance, t, ask)
        impatience = np.where(stance.rival, RIVAL_HAZARD_FACTOR, 1.0) * kind.impatience
        hazard = hazards_at(stance.opening, impatience, bid, before, threshold)
        return np.where(bid >= threshold, ACCEPT, (self.walk[t - 1] < hazard) * WALK), ask

    def tells(self, t: int, asks: np.ndarray) -> BatchTells:
        """`market_tells` with the reply of round `t`; `asks` is not used."""
        bluffing = self.bluffs[t - 1]
        cue = _clip(0.2 + 0.5 * bluffing + 0.15 * self.cue[t - 1])
        return BatchTells(cue, bluffing + 0.4 * self.eye[t - 1] > 0.6)


def asks_at(
    opening: np.ndarray,
    resting: np.ndarray,
    reciprocity: np.ndarray,
    in_time: np.ndarray,
    best_bid: np.ndarray,
) -> np.ndarray:
    """`ask_at` without rounding up; `in_time` is the share conceded with time."""
    low = LOW_BID * opening
    moved = np.minimum(1.0, np.maximum(0.0, (best_bid - low) / (opening - low)))
    return opening - (opening - resting) * ((1 - reciprocity) * in_time + reciprocity * moved)


def hazards_at(
    opening: np.ndarray,
    impatience: np.ndarray,
    bid: np.ndarray,
    best_before: np.ndarray,
    threshold: np.ndarray,
) -> np.ndarray:
    """`hazard_at`; `impatience` includes the factor for a rival."""
    progress = np.maximum(0.0, bid - best_before) / (FULL_PROGRESS * opening)
    distance = (threshold - bid) / (FULL_HAZARD_GAP * opening)
    stalled = 1 - np.minimum(1.0, progress)
    return impatience * stalled * np.minimum(1.0, np.maximum(0.0, distance))


def capitulation(paid: Paid) -> np.ndarray | float:
    """`capitulation_rate` of the deals `paid`; shape (n,), or 0.0 without deals."""
    recent = paid[-10:]
    return sum(price > 0.85 * ask for price, ask in recent) / len(recent) if recent else 0.0


def _clip(level: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, np.maximum(0.0, level))


# Games: their values, and what the buyers may see

ENDS = tuple(EndReason)  # an end is stored as its index here
AGREEMENT, WALKAWAY, DEADLINE, FORFEIT = map(ENDS.index, EndReason)
RUNNING = -1
NOBODY = -1  # buyer of an item that was not sold
SELLER, BUYER = range(2)  # who ended a deal; the rivals have the next numbers

Moves = tuple[np.ndarray, np.ndarray]  # kinds and prices, (n,) each; a price counts with an OFFER


class Own(NamedTuple):
    """The private values of n buyers; every array has shape (n,)."""

    reservation: np.ndarray
    purse: np.ndarray  # infinite if there is none, as `deadline`
    discount: np.ndarray  # factor on a gain for each round after the first; 1 in the classic game
    deadline: np.ndarray  # a round

    @property
    def payable(self) -> np.ndarray:
        """The most that the rules let it pay: its purse, or without one its reservation price."""
        return np.where(np.isfinite(self.purse), self.purse, self.reservation)


@dataclass(frozen=True, slots=True)
class Deals:
    """One deal of each of n games before its first move, with the sellers' draws."""

    rounds: np.ndarray  # limit of rounds, int
    opening: np.ndarray  # opening ask
    list_price: np.ndarray
    seller_reservation: np.ndarray
    own: tuple[Own, ...]  # the learner's private values, then each rival's
    sellers: ClassicSellers | MarketSellers

    def remember(self, past: Sequence["Outcome"]) -> "Deals":
        """The deals after `past` ones, which the sellers remember."""
        if not past:
            return self
        paid = [(deal.price, deal.asks[0]) for deal in past]
        return replace(self, sellers=self.sellers.remember(paid))


@dataclass(frozen=True, slots=True)
class Games:
    """n games of one task before their first move, with all their draws."""

    task: str
    decimals: int  # of a price
    seller_type: str  # disclosed in the classic game only
    deals: tuple[Deals, ...]
    # Takes the turns in their games, counted from 0 over all deals, and the indices of the games,
    # (k,) each; returns the first two uniform draws of the learner at those turns, (2, k).
    chance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rivals: tuple["Buyers", ...] = ()  # the other buyers; they draw nothing
    liking: np.ndarray | None = None  # with rivals, (buyers, n): of equal bids the lowest rank wins


class BatchView(NamedTuple):
    """What one buyer of each game may see before its next move, named as in `Observation`."""

    decimals: int
    seller_type: str
    deals: int
    rounds: np.ndarray
    list_price: np.ndarray
    own: Own
    paid: tuple[np.ndarray, ...]  # of each earlier deal, share of its opening ask; NaN without one
    capitulation: np.ndarray | float  # `capitulation_rate` of the earlier deals
    round: int  # moves that the buyer has made
    asks: np.ndarray  # (round + 1, n)
    bids: np.ndarray  # (round, n)
    contested: np.ndarray | bool  # a rival is still active
    tells: Callable[[], BatchTells]  # of the seller's last move, from round 1
    chance: Callable[[], np.ndarray]  # the uniform draws of this turn, (2, n)

    @property
    def reservation(self) -> np.ndarray:
        return self.own.reservation

    @property
    def budget(self) -> np.ndarray:
        return np.minimum(self.own.reservation, self.own.purse)

    @property
    def rounds_left(self) -> np.ndarray:
        return self.rounds - self.round

    @property
    def opening_ask(self) -> np.ndarray:
        return self.asks[0]

    @property
    def ask(self) -> np.ndarray:
        return self.asks[-1]

    @property
    def bid(self) -> np.ndarray:
        """The buyer's last bid; from round 1, as `drop`."""
        return self.bids[-1]

    @property
    def drop(self) -> np.ndarray:
        return rounded(self.asks[-2] - self.asks[-1], 2)


Buyers = Callable[[BatchView], Moves]


class Outcome(NamedTuple):
    """The outcome of one deal of each game; after a forfeit the later deals have no asks."""

    asks: np.ndarray  # (rounds + 1, n)
    bids: np.ndarray  # (rounds, n): the learner's, legal ones
    end: np.ndarray  # index into ENDS
    by: np.ndarray  # who ended it: SELLER, BUYER or a rival's number
    buyer: np.ndarray  # who bought: 0 the learner, then its rivals, or NOBODY
    price: np.ndarray
    rounds: np.ndarray  # int: rounds played


@dataclass(frozen=True, slots=True)
class Results:
    """The outcomes of n games: one Outcome for each deal, the learner's shares and grades."""

    deals: tuple[Outcome, ...]
    share: np.ndarray  # (deals, n): share of the ZOPA, as `shares`
    parts: np.ndarray  # (deals, n): the grade of each deal alone, of which `grade` is made
    grade: np.ndarray  # (n,): the task's grade


# The scripted buyers of `classic.py` and `TimeDependent` over arrays; the same moves.


def batch_rule_based(view: BatchView) -> Moves:
    """`rule_based` over arrays."""
    ask, budget, (draw, _) = view.opening_ask, view.reservation, view.chance()
    if view.round:
        price = view.bid + (ask - view.bid) * _uniform(0.20, 0.35, draw)
    else:
        price = ask * _uniform(0.25, 0.40, draw)
    kind = np.where(ask <= 0.5 * budget, ACCEPT, (ask > budget) * WALK)
    return kind, _offer(view, np.minimum(price, 0.8 * budget))


def _uniform(low: float, high: float, draw: np.ndarray) -> np.ndarray:
    return low + (high - low) * draw


def batch_smart(view: BatchView) -> Moves:
    """`smart` over arrays."""
    ask, budget, deadline = view.ask, view.reservation, view.own.deadline
    if not view.round:
        return OFFER, _careful(view, 0.4 * view.opening_ask)
    late = view.round >= deadline
    step = np.where(view.drop > 0.05 * view.opening_ask, 0.02, 0.05)
    price = _careful(view, view.bid + step * budget)
    closing = _offer(view, np.minimum(0.95 * ask, 0.7 * budget))
    last = np.where(ask > 0.75 * budget, WALK, ACCEPT)
    kind = np.where((late & (ask <= budget)) | (ask <= 0.55 * budget), ACCEPT, OFFER)
    kind = np.where((kind == OFFER) & (view.rounds_left <= 1), last, kind)
    return kind, np.where(view.round >= deadline - 1, closing, price)


def _careful(view: BatchView, price: np.ndarray) -> np.ndarray:
    if view.round:
        price = np.where(view.tells().verbal_deception_cue > 0.4, price * 0.92, price)
    price = np.where(view.capitulation > 0.3, price * 0.95, price)
    price = np.maximum(price, 0.3 * view.opening_ask)
    return _offer(view, np.minimum(price, 0.7 * view.reservation))


def batch_aggressive(view: BatchView) -> Moves:
    """`aggressive` over arrays."""
    target = 0.35 * view.reservation
    if not view.round:
        return OFFER, _offer(view, 0.7 * target)
    kind = np.where(view.ask <= 1.1 * target, ACCEPT, (view.rounds_left <= 1) * WALK)
    return kind, _offer(view, np.minimum(target, target * (0.7 + 0.05 * view.round)))


def batch_naive(view: BatchView) -> Moves:
    """`naive` over arrays."""
    if view.round >= 2:
        return np.where(view.ask <= view.reservation, ACCEPT, WALK), view.ask
    return OFFER, _offer(view, (0.80, 0.85)[view.round] * view.opening_ask)


def _offer(view: BatchView, price: np.ndarray) -> np.ndarray:
    per_rupee = 10**view.decimals
    steps = np.floor(np.minimum(price, view.reservation) * per_rupee + 1e-6)
    return np.maximum(1, steps) / per_rupee


@dataclass(frozen=True)
class BatchTimeDependent:
    """`TimeDependent.buy` over arrays, with the same settings."""

    exponent: float
    opening: float = 0.3

    def __call__(self, view: BatchView) -> Moves:
        ask, budget, left = view.ask, view.budget, view.rounds_left
        limit, step = np.minimum(budget, view.opening_ask), 10**-view.decimals
        best = self.opening * limit
        share = batch_conceded(view.round, view.rounds, self.exponent)
        price = rounded(np.minimum(best + share * (limit - best), limit), view.decimals)
        price = np.maximum(view.bid if view.round else step, price)
        accepts = (ask <= np.minimum(price, budget)) | ((left <= 1) & (ask <= limit))
        leaves = (budget < step) | ~accepts & (left <= 1)
        return np.where(leaves, WALK, accepts * ACCEPT), price


_FORMS = {
    rule_based: batch_rule_based,
    smart: batch_smart,
    aggressive: batch_aggressive,
    naive: batch_naive,
}


def batch_form(policy: Policy) -> Buyers | None:
    """`policy` over arrays; None if it has no such form."""
    if isinstance(policy, TimeDependent):
        return BatchTimeDependent(policy.exponent, policy.opening)
    return _FORMS.get(policy)


# The graders of both families over arrays: a share for each deal, a grade for each game.


def shares_of(deal: Deals, outcome: Outcome) -> np.ndarray:
    """The learner's share of the ZOPA in one deal, as `shares`; shape (n,)."""
    limit, width = deal.own[0].reservation, deal.own[0].reservation - deal.seller_reservation
    to_share = np.where(width > 0, width, deal.list_price)
    return np.where(outcome.buyer == 0, (limit - outcome.price) / to_share, 0.0)


def parts_of(games: Games, outcomes: Sequence[Outcome], share: np.ndarray) -> np.ndarray:
    """The grade of each deal alone, shape (deals, n), as `share`."""
    grade = _GRADES[TASKS[games.task].grade]
    return np.stack([grade(*part) for part in zip(games.deals, outcomes, share, strict=True)])


def grade_games(games: Games, parts: np.ndarray) -> np.ndarray:
    """The task's grade of each game, shape (n,), from those of its deals, shape (deals, n)."""
    mean = sum(parts) / len(parts)
    grade = _GRADES[TASKS[games.task].grade]
    return mean if grade is _market_part else np.minimum(1.0, mean)


def _share_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, share)


def _career_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, share) * (1 - 0.3 * outcome.rounds / deal.rounds)


def _tells_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    won = np.maximum(0.0, share)
    return np.minimum(1.0, won + 0.15 * np.maximum(0.0, 2 * won - 1))


def _deadline_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    """For a task of one deal, where clipping the mean after halving makes no difference."""
    late = outcome.rounds > deal.own[0].deadline
    return np.minimum(1.0, np.maximum(0.0, share)) * np.where(late, 0.5, 1.0)


def _market_part(deal: Deals, outcome: Outcome, share: np.ndarray) -> np.ndarray:
    own, price = deal.own[0], outcome.price
    width = own.reservation - deal.seller_reservation
    kept = power(own.discount, np.maximum(0, outcome.rounds - 1)).astype(float)
    kept = np.where(outcome.rounds > own.deadline, 0.0, kept)
    undealt = np.where((width <= 0) & (outcome.end != FORFEIT), kept, 0.0)
    loss = np.maximum(-1.0, (own.reservation - price) / deal.list_price)
    gain = np.where(
        (width <= 0) | (price > own.reservation), loss, kept * (own.reservation - price) / width
    )
    return np.where(outcome.buyer == 0, gain, undealt)


_GRADES: Mapping[Callable, Callable[[Deals, Outcome, np.ndarray], np.ndarray]] = {
    mean_share: _share_part,
    deadline_grade: _deadline_part,
    career_grade: _career_part,
    tells_grade: _tells_part,
    market_grade: _market_part,
}


# Plays a batch of games to their end: two-party deals one after the other, or several buyers.
#
# An illegal move of a buyer forfeits only its own game. In the rounds after a game is over its
# prices are NaN.

CLOSED_BY = np.array([RUNNING, AGREEMENT, WALKAWAY])  # how a legal move of each kind ends a deal


def play_batch(games: Games, buyers: Buyers) -> Results:
    """Plays all `games` with `buyers` in the learner's seat; sellers and rivals are the task's."""
    past: list[Outcome] = []
    running = np.ones(len(games.deals[0].rounds), bool)
    play = _compete if games.rivals else _bargain
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for deal in games.deals:
            past.append(play(games, deal.remember(past), buyers, past, running))
            running = past[-1].end != FORFEIT
        share = np.stack([shares_of(*pair) for pair in zip(games.deals, past, strict=True)])
        parts = parts_of(games, past, share)
        return Results(tuple(past), share, parts, grade_games(games, parts))


def legal(
    kind: np.ndarray, bid: np.ndarray, ask: np.ndarray, payable: np.ndarray, decimals: int
) -> np.ndarray:
    """Whether the rules allow these moves of buyers who can pay `payable`; arrays of shape (n,)."""
    fits = (bid > 0) & (bid <= payable) & (rounded(bid, decimals) == bid)
    return np.where(kind == OFFER, fits, (kind == WALK) | (ask <= payable))


def _bargain(
    games: Games, deal: Deals, buyers: Buyers, past: Sequence[Outcome], running: np.ndarray
) -> Outcome:
    """One deal between two, by the rules of `Bazaar`."""
    (own,), sellers = deal.own, deal.sellers
    running, payable, blank = running.copy(), own.payable, _blank(deal, running)
    asks, bids, end, by, buyer, price, rounds = blank
    see = _sight(games, deal, own, past, running)
    for t in range(1, len(asks)):
        kind, bid = buyers(see(t, asks, bids))
        lawful = legal(kind, bid, asks[t - 1], payable, games.decimals)
        closed = np.where(lawful, CLOSED_BY[kind], FORFEIT)
        np.copyto(price, asks[t - 1], where=running & (closed == AGREEMENT))
        np.copyto(by, BUYER, where=running & (closed != RUNNING))
        rounds += running & lawful

        open_bids = running & (closed == RUNNING)
        np.copyto(bids[t - 1], bid, where=open_bids)
        answer, ask = sellers.answer(t, asks[:t], bids[:t])
        np.copyto(price, bid, where=open_bids & (answer == ACCEPT))
        np.copyto(asks[t], ask, where=open_bids & (answer == OFFER))
        late = (answer == OFFER) & (t >= deal.rounds)
        np.copyto(closed, np.where(late, DEADLINE, CLOSED_BY[answer]), where=open_bids)
        np.copyto(end, closed, where=running)
        running &= closed == RUNNING
        if not running.any():
            break
    buyer[end == AGREEMENT] = 0
    return blank


def _compete(
    games: Games, deal: Deals, buyers: Buyers, past: Sequence[Outcome], running: np.ndarray
) -> Outcome:
    """One deal under sealed bids, by the rules of `MultiBuyerBazaar`."""
    running, blank = running.copy(), _blank(deal, running)
    asks, bids, end, by, buyer, price, rounds = blank
    seats = (buyers, *games.rivals)
    sealed = np.full((len(seats), *bids.shape), np.nan)
    best = np.full(bids.shape, np.nan)  # what the seller sees
    active = np.ones((len(seats), len(end)), bool)
    sights = [_sight(games, deal, own, past, running) for own in deal.own]
    for t in range(1, len(asks)):
        for seat, move in enumerate(seats):
            contested = np.delete(active, seat, axis=0).any(axis=0)
            kind, bid = move(sights[seat](t, asks, sealed[seat], contested))
            payable = deal.own[seat].payable
            moves = running & active[seat]
            fouls = moves & ~legal(kind, bid, asks[t - 1], payable, games.decimals)
            end[fouls], by[fouls] = FORFEIT, BUYER + seat
            running &= ~fouls
            named = np.where(kind == ACCEPT, asks[t - 1], np.where(kind == OFFER, bid, np.nan))
            np.copyto(sealed[seat, t - 1], named, where=moves & running)
        rounds += running
        last = len(seats) - 1 - active[::-1].argmax(axis=0)
        active = ~np.isnan(sealed[:, t - 1])
        np.fmax.reduce(sealed[:, t - 1], out=best[t - 1])
        deserted = running & ~active.any(axis=0)
        end[deserted], by[deserted] = WALKAWAY, BUYER + last[deserted]
        running &= ~deserted

        answer, ask = deal.sellers.answer(t, asks[:t], best[:t])
        closed = np.where((answer == OFFER) & (t >= deal.rounds), DEADLINE, CLOSED_BY[answer])
        np.copyto(end, closed, where=running)
        np.copyto(asks[t], ask, where=running & (answer == OFFER))
        sold = running & (closed == AGREEMENT)
        tied = np.where(sealed[:, t - 1] == best[t - 1], games.liking, len(seats))
        np.copyto(buyer, tied.argmin(axis=0), where=sold)
        np.copyto(price, best[t - 1], where=sold)
        running &= closed == RUNNING
        if not running.any():
            break
    bids[:] = sealed[0]
    return blank


def _blank(deal: Deals, running: np.ndarray) -> Outcome:
    """An outcome to write into: opening asks filled in, games that are over marked as forfeits."""
    n, most = len(running), int(deal.rounds.max())
    asks, bids = np.full((most + 1, n), np.nan), np.full((most, n), np.nan)
    np.copyto(asks[0], deal.opening, where=running)
    end, by = np.where(running, RUNNING, FORFEIT), np.full(n, SELLER)
    return Outcome(asks, bids, end, by, np.full(n, NOBODY), np.full(n, np.nan), np.zeros(n, int))


def _sight(
    games: Games, deal: Deals, own: Own, past: Sequence[Outcome], running: np.ndarray
) -> Callable[..., BatchView]:
    """A function that returns what one buyer sees at a round. It reads `running` at each call."""
    turns = sum(before.rounds for before in past) + np.zeros(len(running), int)
    paid = tuple(before.price / before.asks[0] for before in past)
    rate = capitulation([(before.price, before.asks[0]) for before in past])

    def chance(t: int) -> np.ndarray:
        drawn, which = np.zeros((2, len(running))), np.flatnonzero(running)
        drawn[:, which] = games.chance(turns[which] + t - 1, which)
        return drawn

    def see(t, asks, bids, contested=False) -> BatchView:
        tells = partial(deal.sellers.tells, t - 1, asks[: t - 1])
        return BatchView(
            games.decimals,
            games.seller_type,
            len(games.deals),
            deal.rounds,
            deal.list_price,
            own,
            paid,
            rate,
            t - 1,
            asks[:t],
            bids[: t - 1],
            contested,
            tells,
            partial(chance, t),
        )

    return see


# Makes batches of games: those of given seeds, or a sample drawn at once.
#
# `games_of` holds exactly the instances and draws that `rollout` meets; `draw_games` samples the
# same distribution much faster. `BATCH_TASKS` names the tasks that have batches: all in which the
# learner buys.

BATCH_TASKS = tuple(name for name, task in TASKS.items() if task.learner == "buyer")
PRICES = np.array([item.list_price for item in CATALOGUE], float)
# Indices of the draws of a round that are used here: uniform ones, then noise.
CLASSIC_DRAWS = (0, 1, 2, 3, 8)  # walk, bluff, late, pull_back; of the deception
MARKET_DRAWS = (0, 1, 2, 3, 7, 9)  # walk, claim, kind, bluff; of the deception, of the eyes
# Values that stand for what a buyer does not have.
ABSENT: Mapping[str, float] = {
    "reservation": np.nan,
    "purse": np.inf,
    "discount": 1.0,
    "deadline": np.inf,
}


# The games of seeds


def games_of(name: str, seeds: Sequence[int], task: Task | None = None) -> Games:
    """The games that `rollout` plays at `seeds`, one or more, of the task called `name`.

    `task` replaces the registered one where its draws differ, as with another type of seller; its
    seller must be the family's own. Raises ValueError if the task called `name` has no batches.
    """
    task = task or _covered_task(name)
    states = [begin(task, seed).state for seed in seeds]
    in_turn = zip(*(state.private["nature"] for state in states), strict=True)
    deals = tuple(_stack_deals(name, instances) for instances in in_turn)

    def chance(turns: np.ndarray, which: np.ndarray) -> np.ndarray:
        turns_of = zip(which.tolist(), turns.tolist(), strict=True)
        drawn = [agent_stream(task, seeds[i], "buyer", turn).random(2) for i, turn in turns_of]
        return np.array(drawn).reshape(-1, 2).T

    liking = None
    if isinstance(task.env, MultiBuyerBazaar):
        orders = [state.private["seller"]["liking"] for state in states]
        liking = np.array([[order.index(buyer) for order in orders] for buyer in BUYERS])
    return _games(task, deals, chance, liking)


def _stack_deals(name: str, instances: Sequence[Instance]) -> Deals:
    rounds = np.array([deal.rounds or TASKS[name].env.rounds for deal in instances])
    chance = np.ones((len(instances), int(rounds.max()), 12))  # 1 after the last round, never used
    for row, deal in zip(chance, instances, strict=True):
        row[: len(deal.seller["chance"])] = deal.seller["chance"]
    draws = np.ascontiguousarray(chance.T)
    list_price = np.array([deal.item.list_price for deal in instances], float)
    cost = np.array([deal.seller["reservation"] for deal in instances], float)
    if "terms" in instances[0].seller:
        sellers = _classic_sellers(_classic(name), cost, list_price, draws[[*CLASSIC_DRAWS]])
    else:
        stance = _stack([deal.seller["stance"] for deal in instances])
        sellers = _market_sellers(stance, draws[[*MARKET_DRAWS]])
    crowd = len(BUYERS) if isinstance(TASKS[name].env, MultiBuyerBazaar) else 1
    owns = [(deal.buyer, *(deal.rivals or [deal.buyer] * 2))[:crowd] for deal in instances]
    own = tuple(map(_stack_own, zip(*owns, strict=True)))
    return _deals(rounds, list_price, cost, own, sellers)


def _stack_own(owns: Sequence[Mapping[str, Any]]) -> Own:
    columns = [
        [absent if own.get(key) is None else own[key] for own in owns]
        for key, absent in ABSENT.items()
    ]
    return Own(*np.array(columns, float))


def _stack(records: Sequence[Any]) -> Any:
    """One dataclass instance of arrays from several instances of the class."""
    columns = [[getattr(record, field.name) for record in records] for field in fields(records[0])]
    return type(records[0])(
        *(_stack(c) if isinstance(c[0], SellerType) else np.array(c) for c in columns)
    )


# Games drawn at once


def draw_games(
    name: str,
    n: int,
    rng: np.random.Generator,
    sellers: Sequence[str] = tuple(SELLER_TYPES),
    prices: np.ndarray = PRICES,
) -> Games:
    """`n` games of the task called `name`, drawn from `rng`; distributed as those of `begin`.

    In the open market `sellers` names the types and `prices` holds the list prices that occur, each
    equally often. Raises ValueError if the task has no batches.
    """
    task = _covered_task(name)
    family, short = name.split("/")
    if family == "classic":
        draw = _draw_classic(short, n, rng)
    else:
        draw = _draw_market(short, n, rng, sellers, prices)
    turns = sum(len(deal.sellers.walk) for deal in draw)
    draws = rng.random((2, turns, n))
    liking = None
    if isinstance(task.env, MultiBuyerBazaar):
        liking = rng.permuted(np.tile(np.arange(len(BUYERS))[:, None], n), axis=0)
    return _games(task, draw, lambda turns, which: draws[:, turns, which], liking)


def _draw_classic(short: str, n: int, rng: np.random.Generator) -> tuple[Deals, ...]:
    task = CLASSIC[short]
    if short == "amazon_realistic":
        list_price = PRICES[rng.integers(len(PRICES), size=n)]
        cost, budget = 0.7 * (list_price * rng.uniform(0.35, 0.90, n)), list_price
    else:
        list_price = np.full(n, float(round(task.cost * task.anchor)))
        cost, budget = np.full(n, float(task.cost)), np.full(n, float(task.budget))
    deadline = np.full(n, ABSENT["deadline"] if task.deadline is None else task.deadline)
    own = Own(budget, np.full(n, np.inf), np.ones(n), deadline)
    buyers = (own,) * (len(BUYERS) if short == "marketplace_arena" else 1)

    def deal() -> Deals:
        draws = [*rng.random((4, task.rounds, n)), rng.standard_normal((task.rounds, n))]
        sellers = _classic_sellers(task, cost, list_price, draws)
        return _deals(np.full(n, task.rounds), list_price, cost, buyers, sellers)

    return tuple(deal() for _ in range(task.deals))


def _draw_market(
    short: str, n: int, rng: np.random.Generator, names: Sequence[str], prices: np.ndarray
) -> tuple[Deals, ...]:
    market = MARKETS[short]
    which = rng.integers(len(names), size=n)
    spans = np.array([list(SELLER_TYPES[name].values()) for name in names])  # (types, 7, 2)
    low, high = np.moveaxis(spans[which], 0, 2).swapaxes(0, 1)
    kind = SellerType(np.array(names)[which], *(low + (high - low) * rng.random((7, n))))
    kind = replace(kind, bluff_rate=np.maximum(kind.bluff_rate, market.bluffing))
    discount = rng.uniform(*market.discount, n)
    return (_draw_deal(market, kind, discount, rng, prices),)


def _draw_deal(
    market: Market,
    kind: SellerType,
    discount: np.ndarray,
    rng: np.random.Generator,
    prices: np.ndarray,
) -> Deals:
    n = len(discount)
    list_price = prices[rng.integers(len(prices), size=n)]
    rounds = rng.integers(*market.rounds, size=n, endpoint=True)
    cost = np.rint(list_price * rng.uniform(*SELLER_RESERVATION, n))
    deadline = np.full(n, ABSENT["deadline"])
    if market.deadline:
        deadline = rng.integers(*market.deadline, size=n, endpoint=True).astype(float)
    limit = np.rint(list_price * rng.uniform(*BUYER_RESERVATION, n))
    own = (Own(limit, np.rint(PURSE * list_price), discount, deadline),)
    stance = Stance(
        kind, cost, np.rint(kind.markup * list_price), rounds, rng.random(n) < market.rival
    )
    most = int(rounds.max())
    draws = [*rng.random((4, most, n)), *rng.standard_normal((2, most, n))]
    return _deals(rounds, list_price, cost, own, _market_sellers(stance, draws))


# Shared by both


def _games(
    task: Task,
    deals: tuple[Deals, ...],
    chance: Callable[[np.ndarray, np.ndarray], np.ndarray],
    liking: np.ndarray | None,
) -> Games:
    rivals = tuple(batch_form(task.opponents[b]) for b in BUYERS if b in task.opponents)
    env = task.env
    return Games(task.name, env.decimals, env.seller_type, deals, chance, rivals, liking)


def _deals(
    rounds: np.ndarray,
    list_price: np.ndarray,
    cost: np.ndarray,
    own: tuple[Own, ...],
    sellers: ClassicSellers | MarketSellers,
) -> Deals:
    classic = isinstance(sellers, ClassicSellers)
    opening = rounded(sellers.terms.anchor, 2) if classic else sellers.stance.opening
    return Deals(rounds, opening, list_price, cost, own, sellers)


def _classic_sellers(
    task: Classic, cost: np.ndarray, list_price: np.ndarray, draws: Sequence[np.ndarray]
) -> ClassicSellers:
    walk, bluff, late, pull_back, deception = draws
    settings = (task.rounds, task.concession, task.walk_probability, task.inventory)
    own = terms(task.persona, cost, list_price, *settings)
    fakes, takes_back = np.zeros(bluff.shape, bool), np.zeros(bluff.shape, bool)
    outstanding = np.zeros(bluff.shape[1], int)
    for t in range(len(bluff)):  # as in `bluffs_outstanding`
        fakes[t] = (bluff[t] < 0.3) & (outstanding < 2)
        outstanding = outstanding + fakes[t]
        takes_back[t] = (outstanding > 0) & (pull_back[t] < 0.25) & (t > 0)
        outstanding = np.where(takes_back[t], 0, outstanding)
    return ClassicSellers(own, walk, late, deception, fakes, takes_back)


def _market_sellers(stance: Stance, draws: Sequence[np.ndarray]) -> MarketSellers:
    walk, speaks, claim, bluff, cue, eye = draws
    kind, t = stance.type, np.arange(1, len(walk) + 1)[:, None]
    in_time = power(np.minimum(1.0, t / stance.rounds), 1 / kind.exponent).astype(float)
    hurry = np.where(stance.rival, RIVAL_HAZARD_FACTOR, 1.0)
    next_walk = np.vstack([walk[1:], np.ones((1, walk.shape[1]))])
    true = {  # as in `claim_at`
        "rival": np.broadcast_to(stance.rival, walk.shape),
        "final": next_walk < hurry * kind.impatience,
        "urgent": (kind.impatience > 0.06) | (t > 0.7 * stance.rounds),
    }
    meant = np.choose((claim * len(CLAIMS)).astype(int) % len(CLAIMS), [true[c] for c in CLAIMS])
    bluffs = (speaks < CLAIM_RATE) & ~meant & (bluff < kind.bluff_rate)
    return MarketSellers(stance, walk, cue, eye, bluffs, in_time)


def _classic(name: str) -> Classic:
    return CLASSIC[name.split("/")[1]]


def _covered_task(name: str) -> Task:
    if name not in BATCH_TASKS:
        raise ValueError(f"no batch of {name!r}; there are {', '.join(BATCH_TASKS)}")
    return TASKS[name]
