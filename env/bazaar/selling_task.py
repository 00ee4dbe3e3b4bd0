"""The task in which the learner sells an item to a buyer whose reservation price is hidden.

The brief follows the published Sell page (reservation price at 0.78 of the asking price, a bonus
for what is won above it), but the buyer's reservation price is drawn independently: there it was
1.05 of whatever the seller asked, so asking more always paid. Prices are whole rupees.
"""

import numpy as np

from ..core import Task
from .classic.seller import draw_chance, terms
from .env import Bazaar, shares
from .listings import CATALOGUE
from .time_dependent import TimeDependent
from .types import Instance, State

ROUNDS = 8
RESERVATION_SHARE = 0.78  # of the asking price


def draw(rng: np.random.Generator) -> tuple[Instance, ...]:
    """One sale: the item, the seller's brief, the buyer's reservation price."""
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    reservation = round(RESERVATION_SHARE * item.list_price)
    limit = round(item.list_price * rng.uniform(0.85, 1.15))
    # A scripted seller in the learner's seat plays the published schedule. Its asks come to rest at
    # 1.05 of the cost and it accepts 0.98 of an ask; this cost makes that its reservation price.
    cost = reservation / (1.05 * 0.98)
    schedule = terms("default", cost, item.list_price, ROUNDS, 0.08, 0.05, 1)
    seller = {
        "reservation": reservation,
        "terms": schedule,
        "chance": draw_chance(rng, ROUNDS),
    }
    return (Instance(item, buyer={"reservation": limit}, seller=seller),)


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


TASK = Task(
    name="bazaar/seller_brief",
    env=Bazaar(draw=draw, rounds=ROUNDS),
    learner="seller",
    opponents={"buyer": TimeDependent(exponent=1.0, opening=0.5)},
    grade=seller_share,
    success=0.3,  # as in the published single deal
    about="Sell an item to a buyer whose limit is hidden, above a reservation price of your own.",
)
