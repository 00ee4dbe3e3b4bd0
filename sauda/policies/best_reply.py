"""The best reply to a known seller of the open market, by dynamic programming.

A seller's answer depends on (round, bid, best bid so far) and on its own draw for walking, so a
buyer who knows it faces a Markov decision process with the state (moves made, best bid so far).
`solve` does it for many sellers at once. Prices are in the unit of the sellers' fields.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from env import (
    INSULT,
    LOW_BID,
    RIVAL_HURRY,
    STRIDE,
    Accept,
    Instance,
    Observation,
    Offer,
    Policy,
    WalkAway,
)

GRID = 161  # best bids told apart, from 0 to the opening ask; every rupee where they are fewer
FORBIDDEN = -9.0  # worse than any grade
ACCEPT, WALK = -1.0, -2.0  # in a table of moves; a bid is its price


@dataclass(frozen=True)
class Sellers:
    """Many sellers, one value each, shape (n,); the fields mean what they do in Stance."""

    opening: np.ndarray
    reservation: np.ndarray
    exponent: np.ndarray
    reciprocity: np.ndarray
    hazard: np.ndarray  # impatience, doubled where a rival waits
    margin: np.ndarray
    leniency: np.ndarray
    rounds: int
    whole: bool  # whether prices are whole numbers

    def ask(self, t: int, best: np.ndarray) -> np.ndarray:
        """`ask_at` for best bids of shape (n, k); round `t` from 0."""
        opening = self.opening[:, None]
        low = LOW_BID * opening
        moved = np.clip((best - low) / (opening - low), 0, 1)
        in_time = (t / self.rounds) ** (1 / self.exponent)[:, None]
        answer = self.reciprocity[:, None]
        resting = (self.reservation + self.margin * (self.opening - self.reservation))[:, None]
        ask = opening - (opening - resting) * ((1 - answer) * in_time + answer * moved)
        return np.ceil(ask - 1e-9) if self.whole else ask

    def threshold(self, t: int, best: np.ndarray) -> np.ndarray:
        """`threshold_at` at the ask of round `t` after best bids of shape (n, k)."""
        floor = self.reservation[:, None]
        share = 1 - self.leniency[:, None] * t / self.rounds
        return floor + share * (self.ask(t, best) - floor)

    def walks(self, bid: np.ndarray, before: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        """`hazard_at`, for shapes that broadcast with the sellers first."""
        opening = self.opening.reshape(-1, *[1] * (np.ndim(threshold) - 1))
        hazard = self.hazard.reshape(opening.shape)
        stalled = 1 - np.clip((bid - before) / (STRIDE * opening), 0, 1)
        return hazard * stalled * np.clip((threshold - bid) / (INSULT * opening), 0, 1)

    def enough(self, t: int, best: np.ndarray) -> np.ndarray:
        """The least bid taken in round `t` after best bids of shape (n, k): found by halving.

        A higher bid only lowers the threshold, so all bids above one that is taken are taken.
        """
        refused, taken = np.zeros(best.shape), np.broadcast_to(self.opening[:, None], best.shape)
        steps = int(np.log2(self.opening.max())) + 2 if self.whole else 20
        for _ in range(steps):
            middle = (refused + taken) / 2
            middle = np.floor(middle) if self.whole else middle
            yes = middle >= self.threshold(t, np.maximum(best, middle))
            refused, taken = np.where(yes, refused, middle), np.where(yes, middle, taken)
        return taken


@dataclass(frozen=True)
class Stakes:
    """What a buyer plays for: its private values, and the list price that a loss is counted by."""

    limit: float
    purse: float
    list_price: float
    discount: float
    deadline: int | None

    def kept(self, t: int) -> float:
        """What the end of a deal in round `t`, from 1, keeps of its worth."""
        return 0.0 if self.deadline and t > self.deadline else self.discount ** (t - 1)

    def gain(self, t: int, price: np.ndarray, floor: np.ndarray) -> np.ndarray:
        """`market_grade` of a deal in round `t`; FORBIDDEN where the purse forbids it."""
        width = np.where(self.limit > floor, self.limit - floor, inf)
        share = self.kept(t) * (self.limit - price) / width
        loss = np.maximum(-1.0, (self.limit - price) / self.list_price)
        gain = np.where((price > self.limit) | (self.limit <= floor), loss, share)
        return np.where(price > self.purse, FORBIDDEN, gain)

    def left(self, t: int, floor: np.ndarray) -> np.ndarray:
        """`market_grade` of no deal, given up in round `t`."""
        return np.where(self.limit > floor, 0.0, self.kept(t))


@dataclass(frozen=True)
class Dynamics:
    """The sellers' answers on a grid of prices, whatever the buyer's stakes.

    The last index of a best bid stands for no bid yet. n sellers, T rounds, k prices.
    """

    sellers: Sellers
    prices: np.ndarray  # (n, k), rising
    asks: np.ndarray  # (n, T, k + 1): the standing ask before the buyer's move of each round
    enough: np.ndarray  # (n, T, k + 1): the least bid taken in each round
    hold: np.ndarray  # (n, T, k + 1): the highest bid refused that moves nothing
    held: np.ndarray  # (n, T, k + 1): chance that it stays for that
    stays: np.ndarray  # (n, T, k + 1, k): chance that it refuses a bid above the best, and stays


def dynamics(sellers: Sellers, prices: np.ndarray) -> Dynamics:
    """The sellers' answers for `prices`, shape (n, k)."""
    n, k = prices.shape
    zero = np.zeros((n, 1))
    best = np.hstack([prices, zero])
    before = np.hstack([prices, LOW_BID * sellers.opening[:, None]])
    above = np.vstack([np.triu(np.ones((k, k), bool), 1), np.ones((1, k), bool)])
    shape = (n, sellers.rounds, k + 1)
    asks, enough, hold, held = (np.empty(shape) for _ in range(4))
    stays = np.empty((*shape, k), np.float32)
    step = 1.0 if sellers.whole else 1e-3 * float(sellers.opening.min())
    for i in range(sellers.rounds):
        asks[:, i] = sellers.ask(i, best)
        enough[:, i] = sellers.enough(i + 1, best)
        hold[:, i] = np.minimum(best, enough[:, i] - step)
        held[:, i] = 1 - sellers.walks(hold[:, i], before, sellers.threshold(i + 1, best))
        threshold = sellers.threshold(i + 1, prices)[:, None, :]
        raised = prices[:, None, :]
        stay = 1 - sellers.walks(raised, before[:, :, None], threshold)
        stays[:, i] = np.where(above & (raised < threshold), stay, 0)
    held[..., -1] = 0  # without a bid there is none to repeat
    return Dynamics(sellers, prices, asks, enough, hold, held, stays)


def solve(known: Dynamics, stakes: Stakes) -> tuple[np.ndarray, np.ndarray]:
    """Best values (n, T + 1, k + 1) and moves (n, T, k + 1) before each of the buyer's moves.

    Exact for bids on the grid, for the least bid that is taken and for every bid below the best:
    of those that are taken the least is best, of those refused the highest.
    """
    sellers, rounds = known.sellers, known.sellers.rounds
    floor = sellers.reservation[:, None]
    values = np.empty((len(floor), rounds + 1, known.asks.shape[2]))
    moves = np.empty(known.asks.shape)
    values[:, rounds] = stakes.left(rounds, floor)
    payable = known.prices <= stakes.purse
    for i in reversed(range(rounds)):
        t, after = i + 1, values[:, i + 1]
        left = stakes.left(t, floor)
        ahead = np.where(payable, after[:, :-1] - left, -1.0)  # -1: worse than any walk
        raised = known.stays[:, i] * ahead.astype(np.float32)[:, None, :]
        best = raised.argmax(2)
        options = np.stack(
            [
                np.broadcast_to(left, after.shape),
                stakes.gain(t, known.asks[:, i], floor),
                stakes.gain(t, known.enough[:, i], floor),
                np.where(known.held[:, i] > 0, left + known.held[:, i] * (after - left), -inf),
                left + _at(known.stays[:, i], best) * np.take_along_axis(ahead, best, 1),
            ]
        )
        bids = np.take_along_axis(known.prices, best, 1)
        walk, accept = np.full(after.shape, WALK), np.full(after.shape, ACCEPT)
        choices = np.stack([walk, accept, known.enough[:, i], known.hold[:, i], bids])
        chosen = options.argmax(0)
        values[:, i], moves[:, i] = _at(options, chosen, 0), _at(choices, chosen, 0)
    return values, moves


def _at(table: np.ndarray, index: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.take_along_axis(table, np.expand_dims(index, axis), axis).squeeze(axis)


def informed(instance: Instance, grid: int = GRID) -> tuple[Dynamics, np.ndarray, np.ndarray]:
    """The known seller of a deal with the best values and moves against it."""
    stance, own = instance.seller["stance"], instance.buyer
    kind = stance.type
    hazard = kind.impatience * (RIVAL_HURRY if stance.rival else 1.0)
    numbers = (stance.opening, stance.reservation, kind.exponent, kind.reciprocity, hazard)
    fields = [np.array([float(x)]) for x in (*numbers, kind.margin, kind.leniency)]
    sellers = Sellers(*fields, rounds=stance.rounds, whole=True)
    prices = np.unique(np.round(np.linspace(0, stance.opening, grid)))[None, 1:]
    known = dynamics(sellers, prices)
    purse = own.get("purse", own["reservation"])
    stakes = Stakes(
        own["reservation"], purse, instance.item.list_price, own["discount"], own["deadline"]
    )
    return known, *solve(known, stakes)


def informed_value(instance: Instance, grid: int = GRID) -> float:
    """The expected grade of the best play against a seller known but for when it walks."""
    return float(informed(instance, grid)[1][0, 0, -1])


def informed_policy(instance: Instance) -> Policy:
    """The play that has `informed_value`, for this one deal only."""
    known, _, moves = informed(instance)
    prices = known.prices[0]

    def play(obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        bids = obs.table.bids
        state = int(np.searchsorted(prices, max(bids))) if bids else -1
        move = moves[0, obs.round, state]
        return {ACCEPT: Accept(), WALK: WalkAway()}.get(move) or Offer(int(move))

    return play
