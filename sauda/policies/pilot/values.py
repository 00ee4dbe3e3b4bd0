"""What each move is worth if the pilot plays on: its value of a move, at what is believed.

Sellers are resampled from the belief and each is played to the end, with every chance to walk
weighed instead of drawn, so one position has one table. Unlike the belief buyer's own values these
assume no knowledge of the seller in later moves. A career's later deals and the rivals of a crowd
are left out, as they are by the belief buyer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from env import ACCEPT, LOW_BID, WALK, Observation
from sauda.policies.belief.posterior import Belief, believe
from sauda.policies.best_response.sellers import Sellers
from sauda.policies.best_response.solver import Stakes
from sauda.policies.move_values import MoveValues
from sauda.policies.pilot.buyer import Pilot
from sauda.policies.pilot.numbers import Position, of_observation

SELLERS = 64  # sellers of the belief to play against


def pilot_values(pilot: Pilot, obs: Observation, percents: Sequence[int] = ()) -> MoveValues:
    """The value of accepting, walking and offering each of `percents` of the limit at `obs`.

    By default every whole percent up to the ask, the limit and the purse.
    """
    at = of_observation(obs)
    limit, budget = float(at.limit[0]), float(at.budget[0])
    most = min(100, int(100 * budget / limit), int(np.ceil(100 * obs.ask / limit)))
    aims = np.array(percents or range(1, max(1, most) + 1))
    prices = np.unique(np.maximum(1.0, np.rint(limit * aims / 100)))
    few = believe(obs.table).drawn(SELLERS)
    game = _Playout.of(few, obs, at, len(prices))
    weight = few.weights[:, None]
    first = np.broadcast_to(prices, game.shape)
    offers = (weight * game.value(pilot, first)).sum(0)
    t = obs.round + 1
    floor = few.sellers.reservation[:, None]
    accept = game.stakes.gain(t, np.full_like(floor, obs.ask / few.opening), floor)
    left = game.stakes.left(t, floor)
    return MoveValues(
        prices, np.round(offers, 9), float((weight * accept).sum()), float((weight * left).sum())
    )


@dataclass(frozen=True, eq=False)
class _Playout:
    """One position against n sellers and k first offers; arrays of shape (n, k)."""

    sellers: Sellers  # prices in units of the opening ask
    opening: float
    stakes: Stakes
    at: Position
    shape: tuple[int, int]

    @classmethod
    def of(cls, few: Belief, obs: Observation, at: Position, k: int) -> "_Playout":
        opening, own = few.opening, obs.own
        stakes = Stakes(
            obs.reservation / opening, own.get("purse", obs.reservation) / opening,
            obs.table.item.list_price / opening, own.get("discount", 1.0), own.get("deadline"),
        )  # fmt: skip
        return cls(few.sellers, opening, stakes, at, (len(few.weights), k))

    def value(self, pilot: Pilot, first: np.ndarray) -> np.ndarray:
        """The expected grade of each first offer, in rupees, with the pilot's moves after it."""
        many = self.shape[0] * self.shape[1]
        asks, bids = self._history(self.at.asks, many), self._history(self.at.bids, many)
        worth, alive = np.zeros(self.shape), np.ones(self.shape)
        floor = np.broadcast_to(self.sellers.reservation[:, None], self.shape)
        bid, ends = first, np.zeros(self.shape, int)  # an end: OFFER, or how the pilot leaves
        for t in range(self.at.round + 1, self.sellers.rounds + 1):
            leaves = np.where(ends == WALK, self.stakes.left(t, floor), 0.0)
            taken = self.stakes.gain(t, asks[-1].reshape(self.shape) / self.opening, floor)
            worth += alive * np.where(ends == ACCEPT, taken, leaves)
            alive = np.where(ends > 0, 0.0, alive)
            worth, alive, ask = self._answered(t, bid / self.opening, bids, floor, worth, alive)
            if t == self.sellers.rounds or not alive.any():
                break
            bids = np.vstack([bids, bid.reshape(1, many)])
            asks = np.vstack([asks, np.minimum(asks[-1], np.ceil(ask * self.opening).ravel())])
            kind, price = pilot.move(self._position(asks, bids, many))
            ends, bid = (np.asarray(x).reshape(self.shape) for x in (kind, price))
        return worth + alive * self.stakes.left(self.sellers.rounds, floor)

    def _answered(
        self, t: int, bid: np.ndarray, bids: np.ndarray, floor: np.ndarray,
        worth: np.ndarray, alive: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Worth, chance of going on and next ask after the sellers' replies to `bid`."""
        best = bids.max(axis=0).reshape(self.shape) / self.opening if len(bids) else 0.0
        reached = np.maximum(best, bid)
        threshold = self.sellers.threshold(t, reached)
        before = best if len(bids) else np.full(self.shape, LOW_BID)
        stay = 1 - self.sellers.walks(bid, before, threshold)
        agreed = bid >= threshold
        left = (1 - stay) * self.stakes.left(t, floor)
        worth = worth + alive * np.where(agreed, self.stakes.gain(t, bid, floor), left)
        return worth, alive * np.where(agreed, 0.0, stay), self.sellers.ask(t, reached)

    def _history(self, rows: np.ndarray, many: int) -> np.ndarray:
        return np.repeat(rows.reshape(len(rows), 1), many, axis=1)

    def _position(self, asks: np.ndarray, bids: np.ndarray, many: int) -> Position:
        def spread(value: np.ndarray) -> np.ndarray:
            return np.full(many, value[0])

        at = self.at
        return Position(
            spread(at.limit), spread(at.list_price), spread(at.discount), spread(at.deadline),
            spread(at.rounds), asks, bids, spread(at.purse), at.deals,
            tuple(spread(share) for share in at.paid), at.contested,
        )  # fmt: skip
