"""The value of every move in one position, and what a move gives away against the best of them."""

from dataclasses import dataclass

import numpy as np

from env import Accept, Observation, Offer, WalkAway

Action = Offer | Accept | WalkAway


@dataclass(frozen=True, eq=False)
class MoveValues:
    """Expected grades of a buyer's moves in one position, by somebody's reckoning."""

    prices: np.ndarray  # (k,), rupees, rising
    offers: np.ndarray  # (k,), of offering each price
    accept: float  # below any grade where the ask cannot be paid
    walk: float

    def best(self, obs: Observation) -> Action:
        """The move with the highest value; of equal ones a walk, then an acceptance."""
        means = np.concatenate([[self.walk, self.accept], self.offers])
        move = int(means.argmax())
        if move < 2:
            return (WalkAway(), Accept())[move]
        return Offer(obs.priced(self.prices[move - 2]))

    def of(self, move: Action) -> float:
        """The value of `move`; an offer between two prices is interpolated."""
        if isinstance(move, Offer):
            return float(np.interp(move.price, self.prices, self.offers))
        return self.accept if isinstance(move, Accept) else self.walk

    def regret(self, move: Action) -> float:
        """How much less `move` is worth than the best move, at least 0."""
        return max(self.walk, self.accept, float(self.offers.max()), self.of(move)) - self.of(move)
