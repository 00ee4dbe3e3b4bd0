"""Batches of two-party games: those of given seeds, or drawn all at once.

`games_of` holds the very instances and draws that `rollout` meets; `draw_games` draws from the same
distribution, fast. Crowds and careers are not covered: `BATCH_TASKS` names the tasks that are.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from env.bazaar.batch import ClassicSellers, Games, MarketSellers, power, rounded
from env.bazaar.classic import CLASSIC
from env.bazaar.classic_seller import terms
from env.bazaar.listings import CATALOGUE
from env.bazaar.market import BUYER_LIMIT, MARKETS, PURSE, SELLER_LIMIT
from env.bazaar.rules import Bazaar, Instance
from env.bazaar.sellers import TYPES, SellerType, Stance
from env.rollout import agent_stream, begin
from env.tasks import TASKS

BATCH_TASKS = tuple(
    name
    for name, task in TASKS.items()
    if type(task.env) is Bazaar
    and task.learner == "buyer"
    and {**CLASSIC, **MARKETS}[name.split("/")[1]].deals == 1
)


def games_of(name: str, seeds: Sequence[int]) -> Games:
    """The games that `rollout` plays at `seeds`, with the first draw of each buyer's turn."""
    task = TASKS[_covered(name)]
    deals: list[Instance] = [begin(task, s).state.private["nature"][0] for s in seeds]
    rounds = np.array([deal.rounds or task.env.rounds for deal in deals])
    most = int(rounds.max())
    draws = [[agent_stream(task, s, "buyer", t).random() for t in range(most)] for s in seeds]
    seller_chance = np.ones((len(deals), most, 4))  # 1: nothing happens; read within the rounds
    for row, deal in zip(seller_chance, deals, strict=True):
        row[: len(deal.seller["chance"])] = [draw[:4] for draw in deal.seller["chance"]]
    own = {key: np.array([d.buyer.get(key) for d in deals], float) for key in _BUYER}
    return _games(
        name,
        rounds,
        np.array([deal.item.list_price for deal in deals], float),
        np.array([deal.seller["reservation"] for deal in deals], float),
        own,
        np.array(draws).T,
        np.ascontiguousarray(seller_chance.T),
        None if "terms" in deals[0].seller else _stacked([d.seller["stance"] for d in deals]),
    )


def draw_games(name: str, n: int, rng: np.random.Generator) -> Games:
    """`n` games of the task called `name`, one or more, from `rng`, distributed as `begin`'s."""
    family, short = _covered(name).split("/")
    prices = np.array([item.list_price for item in CATALOGUE], float)
    list_price = prices[rng.integers(len(prices), size=n)]
    none = np.full(n, np.nan)
    if family == "classic":
        task = CLASSIC[short]
        cost, budget = np.full(n, float(task.cost)), np.full(n, float(task.budget))
        if short == "amazon_realistic":
            cost, budget = 0.7 * (list_price * rng.uniform(0.35, 0.90, n)), list_price
        else:
            list_price = np.full(n, float(round(task.cost * task.anchor)))
        deadline = none if task.deadline is None else np.full(n, float(task.deadline))
        own = {"reservation": budget, "purse": none, "discount": none, "deadline": deadline}
        rounds, stance = np.full(n, task.rounds), None
    else:
        market = MARKETS[short]
        rounds = rng.integers(*market.rounds, size=n, endpoint=True)
        cost = np.rint(list_price * rng.uniform(*SELLER_LIMIT, n))
        own = {
            "reservation": np.rint(list_price * rng.uniform(*BUYER_LIMIT, n)),
            "purse": np.rint(PURSE * list_price),
            "discount": rng.uniform(*market.discount, n),
            "deadline": none,
        }
        if market.deadline:
            own["deadline"] = rng.integers(*market.deadline, size=n, endpoint=True).astype(float)
        which = rng.integers(len(TYPES), size=n)
        spans = np.array([list(ranges.values()) for ranges in TYPES.values()])  # (types, 7, 2)
        low, high = np.moveaxis(spans[which], 0, 2).swapaxes(0, 1)
        kind = SellerType(np.array(list(TYPES))[which], *(low + (high - low) * rng.random((7, n))))
        kind = replace(kind, bluff_rate=np.maximum(kind.bluff_rate, market.bluffing))
        opening = np.rint(kind.markup * list_price)
        stance = Stance(kind, cost, opening, rounds, rng.random(n) < market.rival)
    most = int(rounds.max())
    chance, seller_chance = rng.random((most, n)), rng.random((4, most, n))
    return _games(name, rounds, list_price, cost, own, chance, seller_chance, stance)


_BUYER = ("reservation", "purse", "discount", "deadline")


def _games(
    name: str,
    rounds: np.ndarray,
    list_price: np.ndarray,
    cost: np.ndarray,
    own: dict[str, np.ndarray],
    chance: np.ndarray,
    seller_chance: np.ndarray,
    stance: Stance | None,
) -> Games:
    """Games from what differs; `seller_chance` holds four draws, (4, rounds, n), NaN is None."""
    walk, bluff, late, pull_back = seller_chance
    if stance is None:
        task = CLASSIC[name.split("/")[1]]
        settings = (task.rounds, task.concession, task.walk_probability, task.inventory)
        own_terms = terms(task.persona, cost, list_price, *settings)
        opening = rounded(own_terms.anchor, 2)
        sellers = ClassicSellers(own_terms, walk, late, *_bluffs(bluff, pull_back))
    else:
        after = np.arange(1, len(walk) + 1)[:, None]
        in_time = power(np.minimum(1.0, after / rounds), 1 / stance.type.exponent).astype(float)
        opening, sellers = stance.opening, MarketSellers(stance, walk, in_time)
    return Games(
        task=name,
        decimals=TASKS[name].env.decimals,
        rounds=rounds,
        opening=opening,
        list_price=list_price,
        seller_reservation=cost,
        reservation=own["reservation"],
        purse=np.nan_to_num(own["purse"], nan=np.inf),
        discount=np.nan_to_num(own["discount"], nan=1.0),
        deadline=np.nan_to_num(own["deadline"], nan=np.inf),
        chance=chance,
        sellers=sellers,
    )


def _bluffs(bluff: np.ndarray, pull_back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In which rounds a deceptive seller makes fake concessions, and takes them back."""
    fakes, takes_back = np.zeros(bluff.shape, bool), np.zeros(bluff.shape, bool)
    outstanding = np.zeros(bluff.shape[1], int)
    for t in range(len(bluff)):
        fakes[t] = (bluff[t] < 0.3) & (outstanding < 2)
        outstanding = outstanding + fakes[t]
        takes_back[t] = (outstanding > 0) & (pull_back[t] < 0.25) & (t > 0)
        outstanding = np.where(takes_back[t], 0, outstanding)
    return fakes, takes_back


def _stacked(records: Sequence[Any]) -> Any:
    """One record of arrays from several dataclass instances of a kind."""
    columns = [[getattr(record, field.name) for record in records] for field in fields(records[0])]
    return type(records[0])(
        *(_stacked(c) if isinstance(c[0], SellerType) else np.array(c) for c in columns)
    )


def _covered(name: str) -> str:
    if name not in BATCH_TASKS:
        raise ValueError(f"no batch of {name!r}; there are {', '.join(BATCH_TASKS)}")
    return name
