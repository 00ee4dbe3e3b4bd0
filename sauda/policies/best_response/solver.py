"""The best play of a buyer that knows the seller, by backward induction (`solve`).

A seller draws chance only for walking away, so the buyer faces a Markov decision process with the
state (moves made, best bid so far). The rivals in a crowd bid by the round and the ask alone, which
follow from that state too. `solve` treats many sellers at once.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from env import LOW_BID
from sauda.policies.best_response.sellers import Dynamics

FORBIDDEN = -9.0  # the value of an illegal move; below any grade
ACCEPT, WALK, LOWEST = -1.0, -2.0, 1.0  # codes in a table of moves; any other entry is a bid


@dataclass(frozen=True)
class Stakes:
    """What a buyer plays for: its private values, and the list price that scales a loss."""

    limit: float
    purse: float
    list_price: float
    discount: float
    deadline: int | None

    def kept(self, t: int) -> float:
        """The share of its worth that a deal keeps when it ends in round `t`, counted from 1."""
        return 0.0 if self.deadline and t > self.deadline else self.discount ** (t - 1)

    def gain(self, t: int, price: np.ndarray, reservation: np.ndarray) -> np.ndarray:
        """`market_grade` of a deal at `price` in round `t`; FORBIDDEN if the purse is too small.

        `reservation` is the seller's; arrays that broadcast.
        """
        width = np.where(self.limit > reservation, self.limit - reservation, inf)
        share = self.kept(t) * (self.limit - price) / width
        loss = np.maximum(-1.0, (self.limit - price) / self.list_price)
        gain = np.where((price > self.limit) | (self.limit <= reservation), loss, share)
        return np.where(price > self.purse, FORBIDDEN, gain)

    def left(self, t: int, reservation: np.ndarray) -> np.ndarray:
        """`market_grade` of walking away in round `t` from sellers of `reservation`."""
        return np.where(self.limit > reservation, 0.0, self.kept(t))


def solve(
    known: Dynamics, stakes: Stakes, rival: np.ndarray | None = None, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Best values (n, T + 1, k + 1) and moves (n, T, k + 1) before each of the buyer's moves.

    Exact for bids on the grid, for the least bid that is accepted and for every bid below the best
    one: the least accepted bid and the highest refused one are optimal in their groups. `rival`
    holds the highest bid of the other buyers in each state, (n, T, k + 1), -inf where nobody else
    bids; a tie with it counts as lost, and the value after a rival's bid between two points of the
    grid is interpolated. Rounds before `first` are left uninitialised.
    """
    sellers, rounds = known.sellers, known.sellers.rounds
    reservation = sellers.reservation[:, None]
    values = np.empty((len(reservation), rounds + 1, known.asks.shape[2]))
    moves = np.empty(known.asks.shape)
    values[:, rounds] = stakes.left(rounds, reservation)
    payable = known.prices <= stakes.purse
    for i in reversed(range(first, rounds)):
        t, after = i + 1, values[:, i + 1]
        left = stakes.left(t, reservation)
        ahead = np.where(payable, after[:, :-1] - left, -1.0)  # -1: worse than any walk
        raised = known.stays[:, i] * ahead.astype(np.float32)[:, None, :]
        taken, accepted = known.enough[:, i], stakes.gain(t, known.asks[:, i], reservation)
        held = np.where(known.held[:, i] > 0, left + known.held[:, i] * (after - left), -inf)
        if rival is not None:
            theirs = rival[:, i]
            raised = np.where(known.prices[:, None, :] > theirs[:, :, None], raised, -inf)
            taken = np.maximum(taken, theirs + 1)
            accepted = np.where(known.asks[:, i] > theirs, accepted, FORBIDDEN)
            held = np.where(known.hold[:, i] > theirs, held, -inf)
        best = raised.argmax(2)
        raising = left + _at(known.stays[:, i], best) * np.take_along_axis(ahead, best, 1)
        if rival is not None:
            raising = np.where(_at(raised, best) > -inf, raising, -inf)
        bids = np.take_along_axis(known.prices, best, 1)
        options = [
            (WALK, np.broadcast_to(left, after.shape)),
            (ACCEPT, accepted),
            (taken, stakes.gain(t, taken, reservation)),
            (known.hold[:, i], held),
            (bids, raising),
        ]
        if rival is not None:
            options.append((LOWEST, _outbid(known, i, rival[:, i], after, left)))
        worth = np.stack([value for _, value in options])
        choices = np.stack([np.broadcast_to(move, after.shape) for move, _ in options])
        chosen = worth.argmax(0)
        values[:, i], moves[:, i] = _at(worth, chosen, 0), _at(choices, chosen, 0)
    return values, moves


def _outbid(
    known: Dynamics, i: int, rival: np.ndarray, after: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """The value of bidding below `rival`, shape (n, k + 1): lost where the seller takes `rival`."""
    sellers, zero = known.sellers, np.zeros((len(left), 1))
    best = np.hstack([known.prices, zero])
    before = np.hstack([known.prices, LOW_BID * sellers.opening[:, None]])
    bid = np.maximum(rival, 0.0)
    reached = np.maximum(best, bid)
    threshold = sellers.threshold(i + 1, reached)
    stay = 1 - sellers.walks(bid, before, threshold)
    grid = zip(reached, known.prices, after, strict=True)
    then = np.stack([np.interp(r, prices, value[:-1]) for r, prices, value in grid])
    value = np.where(bid >= threshold, left, left + stay * (then - left))
    return np.where(rival > -inf, value, -inf)


def _at(table: np.ndarray, index: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.take_along_axis(table, np.expand_dims(index, axis), axis).squeeze(axis)
