"""Makes batches of games: those of given seeds, or a sample drawn at once.

`games_of` holds exactly the instances and draws that `rollout` meets; `draw_games` samples the same
distribution much faster. `BATCH_TASKS` names the tasks that have batches: all in which the learner
buys.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ...core import Task
from ...rollout import agent_stream, begin
from ...tasks import TASKS
from ..classic import CLASSIC, Classic, terms
from ..market import (
    BUYER_RESERVATION,
    CLAIM_RATE,
    CLAIMS,
    MARKETS,
    PURSE,
    RIVAL_HAZARD_FACTOR,
    SELLER_RESERVATION,
    SELLER_TYPES,
    Market,
    SellerType,
    Stance,
)
from ..sealed_bids import BUYERS, MultiBuyerBazaar
from ..types import CATALOGUE, Instance
from .buyers import batch_form
from .rounding import power, rounded
from .sellers import ClassicSellers, MarketSellers
from .types import Deals, Games, Own

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
    task = task or _covered(name)
    states = [begin(task, seed).state for seed in seeds]
    in_turn = zip(*(state.private["nature"] for state in states), strict=True)
    deals = tuple(_stacked_deals(name, instances) for instances in in_turn)

    def chance(turns: np.ndarray, which: np.ndarray) -> np.ndarray:
        turns_of = zip(which.tolist(), turns.tolist(), strict=True)
        drawn = [agent_stream(task, seeds[i], "buyer", turn).random(2) for i, turn in turns_of]
        return np.array(drawn).reshape(-1, 2).T

    liking = None
    if isinstance(task.env, MultiBuyerBazaar):
        orders = [state.private["seller"]["liking"] for state in states]
        liking = np.array([[order.index(buyer) for order in orders] for buyer in BUYERS])
    return _games(task, deals, chance, liking)


def _stacked_deals(name: str, instances: Sequence[Instance]) -> Deals:
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
        stance = _stacked([deal.seller["stance"] for deal in instances])
        sellers = _market_sellers(stance, draws[[*MARKET_DRAWS]])
    crowd = len(BUYERS) if isinstance(TASKS[name].env, MultiBuyerBazaar) else 1
    owns = [(deal.buyer, *(deal.rivals or [deal.buyer] * 2))[:crowd] for deal in instances]
    own = tuple(map(_stacked_own, zip(*owns, strict=True)))
    return _deals(rounds, list_price, cost, own, sellers)


def _stacked_own(owns: Sequence[Mapping[str, Any]]) -> Own:
    columns = [
        [absent if own.get(key) is None else own[key] for own in owns]
        for key, absent in ABSENT.items()
    ]
    return Own(*np.array(columns, float))


def _stacked(records: Sequence[Any]) -> Any:
    """One dataclass instance of arrays from several instances of the class."""
    columns = [[getattr(record, field.name) for record in records] for field in fields(records[0])]
    return type(records[0])(
        *(_stacked(c) if isinstance(c[0], SellerType) else np.array(c) for c in columns)
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
    task = _covered(name)
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


def _covered(name: str) -> Task:
    if name not in BATCH_TASKS:
        raise ValueError(f"no batch of {name!r}; there are {', '.join(BATCH_TASKS)}")
    return TASKS[name]
