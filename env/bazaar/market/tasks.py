"""The tasks of the open market: settings, the draw of an episode, the grader.

An episode draws an item of the catalogue, the reservation prices of seller and buyer (independent
of each other and of the ask, so that one episode in ten has no ZOPA), the number of rounds, the
buyer's discount for each round, and a hidden seller type. Prices are whole rupees. Time costs the
same in payoff and grade.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...core import Task
from ..env import Bazaar, discounted
from ..listings import CATALOGUE
from ..types import Instance
from .sellers import (
    SELLER_TYPES,
    SellerType,
    Stance,
    draw_chance,
    draw_type,
    market_seller,
    market_tells,
)

SELLER_RESERVATION = (0.40, 0.80)  # range of the reservation price, as a share of the list price
BUYER_RESERVATION = (0.60, 1.10)  # the same; below the seller's in one episode of ten
PURSE = 1.5  # most that a buyer can pay, even at a loss, as a share of the list price


@dataclass(frozen=True)
class Market:
    """The settings of one task; ranges are uniform, with both ends for whole numbers."""

    about: str
    rounds: tuple[int, int] = (8, 12)
    discount: tuple[float, float] = (0.94, 0.98)  # factor on a gain, for each round after the first
    deadline: tuple[int, int] | None = (
        None  # round after which a deal is worth nothing to the buyer
    )
    bluffing: float = 0.0  # least bluff rate of every type
    rival: float = 0.2  # chance that another buyer really waits


MARKETS = {
    "open": Market("A stranger sells one thing; nothing about them is known."),
    "rushed": Market(
        "Every round costs dear, and past a deadline only the buyer knows the deal is worthless.",
        rounds=(5, 8),
        discount=(0.85, 0.92),
        deadline=(3, 6),
    ),
}


def draw(market: Market, rng: np.random.Generator, seller_type: str = "") -> tuple[Instance]:
    """The deal of one episode; a `seller_type` replaces the drawn one."""
    drawn = tuple(SELLER_TYPES)[rng.integers(len(SELLER_TYPES))]
    kind = draw_type(rng, seller_type or drawn)
    kind = replace(kind, bluff_rate=max(kind.bluff_rate, market.bluffing))
    discount = rng.uniform(*market.discount)
    return (_draw_deal(market, kind, discount, rng),)


def _draw_deal(
    market: Market, kind: SellerType, discount: float, rng: np.random.Generator
) -> Instance:
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    rounds = int(rng.integers(*market.rounds, endpoint=True))
    seller_limit = round(item.list_price * rng.uniform(*SELLER_RESERVATION))
    # The first is the buyer's. Without the draws of the others every later draw would change.
    limits = [round(item.list_price * rng.uniform(*BUYER_RESERVATION)) for _ in range(3)]
    own: dict[str, Any] = {"discount": discount, "purse": round(PURSE * item.list_price)}
    deadline = rng.integers(*market.deadline, endpoint=True) if market.deadline else None
    rival = bool(rng.random() < market.rival)
    opening = round(kind.markup * item.list_price)
    stance = Stance(kind, seller_limit, opening, rounds, rival)
    return Instance(
        item,
        buyer={**own, "reservation": limits[0], "deadline": deadline and int(deadline)},
        seller={
            "reservation": seller_limit,
            "stance": stance,
            "chance": draw_chance(rng, rounds),
        },
        rounds=rounds,
    )


def market_grade(state: Any) -> float:
    """The objective of the open market, in [-1, 1].

    With a ZOPA a deal earns the buyer's share of it, discounted; no deal, or one past the deadline,
    earns 0. Without a ZOPA no deal earns 1, discounted. A deal at a loss earns the loss as a share
    of the list price, at most -1.
    """
    if not state.table.past:
        return 0.0
    (instance,), (deal,) = state.private["nature"], state.table.past
    own, limit = instance.buyer, instance.buyer["reservation"]
    width = limit - instance.seller["reservation"]
    kept = discounted(own, deal)
    if deal.price is None:
        return kept if width <= 0 else 0.0
    if width <= 0 or deal.price > limit:
        return max(-1.0, (limit - deal.price) / instance.item.list_price)
    return kept * (limit - deal.price) / width


def market_task(name: str, market: Market) -> Task:
    """The task `bazaar/<name>` with these settings."""
    env = Bazaar(draw=partial(draw, market), rounds=market.rounds[1], manner=market_tells)
    return Task(
        name=f"bazaar/{name}",
        env=env,
        learner="buyer",
        opponents={"seller": market_seller},
        grade=market_grade,
        success=0.3,
        about=market.about,
    )


def with_seller_type(task: Task, seller_type: str) -> Task:
    """The open-market `task` with every seller of that type; all other draws stay the same.

    Raises ValueError if the type is not in SELLER_TYPES or the task is not of the open market.
    """
    market = task.name.removeprefix("bazaar/")
    if market not in MARKETS or seller_type not in SELLER_TYPES:
        raise ValueError(
            f"no seller type {seller_type!r} in {task.name}; the tasks "
            f"{', '.join(f'bazaar/{name}' for name in MARKETS)} have {', '.join(SELLER_TYPES)}"
        )
    chosen = partial(draw, MARKETS[market], seller_type=seller_type)
    return replace(task, env=replace(task.env, draw=chosen))


TASKS = tuple(market_task(name, market) for name, market in MARKETS.items())
