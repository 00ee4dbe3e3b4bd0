"""The time-dependent negotiator, a standard baseline, for the buyer's or the seller's seat.

It is an opponent in some tasks and, with three exponents, a contestant.
"""

from dataclasses import dataclass

import numpy as np

from ..concession import conceded
from .types import Accept, Action, Observation, Offer, WalkAway


@dataclass(frozen=True)
class TimeDependent:
    """Moves from its opening price to its reservation price along a concession curve.

    Faratin et al. (1998). Accepts a price at least as good as its own next one (AC_next; Baarslag
    et al. 2014). A buyer opens at the share `opening` of the first ask or of its reservation price,
    whichever is lower; a seller opens at the list price. On its last move it takes any price within
    its reservation price; otherwise a buyer leaves and a seller asks its reservation price. A buyer
    with less than the smallest unit of money leaves at once.
    """

    exponent: float
    opening: float = 0.3

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        return self.sell(obs) if obs.agent == "seller" else self.buy(obs)

    def buy(self, obs: Observation) -> Action:
        limit, step = min(obs.budget, obs.opening_ask), 10**-obs.table.decimals
        if obs.budget < step:
            return WalkAway()
        best = self.opening * limit
        share = conceded(obs.round, obs.table.rounds, self.exponent)
        price = max(obs.bid or step, obs.priced(min(best + share * (limit - best), limit)))
        if obs.ask <= min(price, obs.budget) or (obs.rounds_left <= 1 and obs.ask <= limit):
            return Accept()
        return Offer(price) if obs.rounds_left > 1 else WalkAway()

    def sell(self, obs: Observation) -> Action:
        best = max(obs.table.item.list_price, obs.reservation)
        share = conceded(obs.round, obs.table.rounds + 1, self.exponent)
        price = max(obs.priced(best - share * (best - obs.reservation)), obs.reservation)
        if obs.table.asks:
            price = min(price, obs.ask)
        if obs.bid is not None and obs.bid >= price:
            return Accept()
        return Offer(obs.priced(price))
