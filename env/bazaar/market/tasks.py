"""The tasks of the open market: settings, the draw of an episode, the grader.

An episode draws an item of the catalogue, the reservation prices of seller and buyer (independent
of each other and of the ask, so that one episode in ten has no ZOPA), the number of rounds, the
buyer's discount for each round, and a hidden seller type. Prices are whole rupees. Time costs the
same in payoff and grade.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...core import Task
from ..env import Bazaar, discounted
from ..listings import CATALOGUE
from ..multi_buyer_env import MultiBuyerBazaar
from ..time_dependent import TimeDependent
from ..types import Deal, Instance
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
CAREER_PURSE = 0.75  # the same of ten list prices together; too little for ten expensive deals
LARGEST_MARGIN = (
    0.9  # margin that a seller comes to whatever it remembers, so that it still concedes
)


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
    deals: int = 1


MARKETS = {
    "open": Market("A stranger sells one thing; nothing about them is known."),
    "rushed": Market(
        "Every round costs dear, and past a deadline only the buyer knows the deal is worthless.",
        rounds=(5, 8),
        discount=(0.85, 0.92),
        deadline=(3, 6),
    ),
    "bluff": Market(
        "Sellers claim rivals, finality and haste, truly or not; their manner tells which.",
        bluffing=0.5,
        rival=0.4,
    ),
    "career": Market(
        "Ten deals with one seller who remembers how soft the buyer was, and one purse for all.",
        rounds=(8, 8),
        deals=10,
    ),
    "crowd": Market("Three buyers bid under seal for one thing; the highest bid buys.", (8, 12)),
}


def draw(name: str, rng: np.random.Generator, seller_type: str = "") -> tuple[Instance, ...]:
    """The deals of one episode of `bazaar/<name>`; a `seller_type` replaces the drawn one."""
    market = MARKETS[name]
    drawn = tuple(SELLER_TYPES)[rng.integers(len(SELLER_TYPES))]
    kind = draw_type(rng, seller_type or drawn)
    kind = replace(kind, bluff_rate=max(kind.bluff_rate, market.bluffing))
    discount = rng.uniform(*market.discount)
    deals = [_draw_deal(market, kind, discount, rng) for _ in range(market.deals)]
    if market.deals == 1:
        return tuple(deals)
    purse = round(CAREER_PURSE * sum(deal.item.list_price for deal in deals))
    return tuple(replace(deal, buyer={**deal.buyer, "purse": purse}) for deal in deals)


def _draw_deal(
    market: Market, kind: SellerType, discount: float, rng: np.random.Generator
) -> Instance:
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    rounds = int(rng.integers(*market.rounds, endpoint=True))
    seller_limit = round(item.list_price * rng.uniform(*SELLER_RESERVATION))
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
        rivals=tuple({**own, "reservation": limit, "deadline": None} for limit in limits[1:]),
        rounds=rounds,
    )


def softness(past: tuple[Deal, ...]) -> float:
    """How much of the opening ask a buyer paid on average, in [0, 1]: half of it is 0, all is 1.

    A failed deal counts 0.
    """
    if not past:
        return 0.0
    paid = [0.0 if d.price is None else 2 * d.price / d.opening_ask - 1 for d in past]
    return min(1.0, max(0.0, sum(paid) / len(paid)))


def remember(instance: Instance, past: tuple[Deal, ...]) -> Instance:
    """The next deal after `past` ones: the seller is firmer with a soft buyer."""
    stance = instance.seller["stance"]
    margin = min(LARGEST_MARGIN, stance.type.margin + softness(past))
    firmer = replace(stance, type=replace(stance.type, margin=margin))
    spent = sum(deal.price for deal in past if deal.price is not None)
    return replace(
        instance,
        seller={**instance.seller, "stance": firmer},
        buyer={**instance.buyer, "purse": instance.buyer["purse"] - spent},
    )


def market_grade(state: Any) -> float:
    """The objective of the open market: the mean grade of the deals, in [-1, 1].

    With a ZOPA a deal earns the buyer's share of it, discounted; no deal, or one past the deadline,
    earns 0. Without a ZOPA no deal earns 1, discounted. A deal at a loss earns the loss as a share
    of the list price, at most -1.
    """
    past, left = state.table.past, state.private["buyer"].get("left")
    grades = [
        _deal_grade(instance, past[i], left) if i < len(past) else 0.0
        for i, instance in enumerate(state.private["nature"])
    ]
    return sum(grades) / len(grades)


def _deal_grade(instance: Instance, deal: Deal, left: int | None) -> float:
    own, limit = instance.buyer, instance.buyer["reservation"]
    width = limit - instance.seller["reservation"]
    kept = discounted(own, deal if left is None else replace(deal, rounds=left))
    if deal.price is None or deal.buyer != "buyer":
        return kept if width <= 0 else 0.0
    if width <= 0 or deal.price > limit:
        return max(-1.0, (limit - deal.price) / instance.item.list_price)
    return kept * (limit - deal.price) / width


def _task(name: str) -> Task:
    market = MARKETS[name]
    crowd = name == "crowd"
    rivals: Mapping[str, Any] = (
        {"rival_1": TimeDependent(1.0), "rival_2": TimeDependent(0.5)} if crowd else {}
    )
    env = (MultiBuyerBazaar if crowd else Bazaar)(
        draw=partial(draw, name), rounds=market.rounds[1], manner=market_tells
    )
    if market.deals > 1:
        env = replace(env, remember=remember)
    return Task(
        name=f"bazaar/{name}",
        env=env,
        learner="buyer",
        opponents={"seller": market_seller, **rivals},
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
    chosen = partial(draw, market, seller_type=seller_type)
    return replace(task, env=replace(task.env, draw=chosen))


TASKS = tuple(_task(name) for name in MARKETS)
