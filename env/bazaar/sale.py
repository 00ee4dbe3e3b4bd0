"""The task in which the learner sells, and `TimeDependent`, a policy for either seat."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..amounts import conceded
from ..core import Task
from .classic import draw_chance as draw_classic_chance
from .classic import terms
from .rules import Bazaar, shares
from .types import CATALOGUE, Accept, Action, Instance, Observation, Offer, State, WalkAway

# The time-dependent negotiator, a standard baseline, for the buyer's or the seller's seat.
#
# It is an opponent in some tasks and, with three exponents, a contestant.


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


# The task in which the learner sells an item to a buyer whose reservation price is hidden.
#
# The brief follows the published Sell page (reservation price at 0.78 of the asking price, a
# bonus for what is won above it), but the buyer's reservation price is drawn independently: there
# it was 1.05 of whatever the seller asked, so asking more always paid. Prices are whole rupees.

ROUNDS = 8
RESERVATION_SHARE = 0.78  # of the asking price


def draw_sale(rng: np.random.Generator) -> tuple[Instance, ...]:
    """One sale: the item, the seller's brief, the buyer's reservation price."""
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    reservation = round(RESERVATION_SHARE * item.list_price)
    limit = round(item.list_price * rng.uniform(0.85, 1.15))
    seller = {"reservation": reservation, **scheduled(reservation, item.list_price, ROUNDS, rng)}
    return (Instance(item, buyer={"reservation": limit}, seller=seller),)


def scheduled(
    reservation: int, list_price: int, rounds: int, rng: np.random.Generator
) -> dict[str, Any]:
    """What a script in the learner's seat that plays the published schedule needs.

    Its asks come to rest at 1.05 of the cost and it accepts 0.98 of an ask; the cost here makes
    that its reservation price.
    """
    cost = reservation / (1.05 * 0.98)
    schedule = terms("default", cost, list_price, rounds, 0.08, 0.05, 1)
    return {"terms": schedule, "chance": draw_classic_chance(rng, rounds)}


def bonus(price: float | None, asking_price: float, reservation: float) -> int:
    """The bonus that the brief promises, in rupees: 1 for each full 10 above the reservation price.

    At most a tenth of asking price minus reservation price, rounded down, which a sale at the
    asking price earns. 0 without a deal (`price` is None) or below the reservation price.
    """
    if price is None:
        return 0
    cap = int((asking_price - reservation) // 10)
    return max(0, min(cap, int((price - reservation) // 10)))


def seller_share(state: State) -> float:
    """The seller's share of the ZOPA, clipped to [0, 1]."""
    return min(1.0, max(0.0, shares(state, "seller")[0]))


SELL = Task(
    name="bazaar/sell",
    env=Bazaar(draw=draw_sale, rounds=ROUNDS),
    learner="seller",
    opponents={"buyer": TimeDependent(exponent=1.0, opening=0.5)},
    grade=seller_share,
    success=0.3,  # as in the published single deal
    about="Sell an item to a buyer whose limit is hidden, above a reservation price of your own.",
)

TASKS = (SELL,)
