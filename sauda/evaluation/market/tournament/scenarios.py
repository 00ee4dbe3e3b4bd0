"""Scenarios: hold-out games about listings that no training game has.

All pairs play the same ones: a scenario fixes item, limits, rounds, discount and every draw; only
the players at the table differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from env import Instance, begin, get_task
from sauda.evaluation.market.tournament.players import TASK
from sauda.records.schemas.market.tournament import ScenarioColumns
from sauda.records.seeds import SPLITS, is_unseen_listing


def scenario_seeds(n: int) -> tuple[int, ...]:
    """The first `n` hold-out seeds about unseen listings; ValueError for none, or too many."""
    unseen = (seed for seed in SPLITS["holdout"] if is_unseen_listing(instance(seed).item))
    seeds = tuple(islice(unseen, max(0, n)))
    if n < 2 or len(seeds) < n:
        most = f"; there are {len(seeds):,}" if len(seeds) < n else ""
        raise ValueError(f"at least 2 scenarios are needed, not {n:,}{most}")
    return seeds


def instance(seed: int) -> Instance:
    """The deal that the scenario of `seed` is about."""
    (deal,) = begin(get_task(TASK), seed).state.private["nature"]
    return deal


@dataclass(frozen=True)
class Scenarios:
    """What n scenarios are about; every array has shape (n,), prices are rupees."""

    seeds: Sequence[int]
    list_price: np.ndarray
    buyer: np.ndarray  # the buyer's reservation price
    seller: np.ndarray  # the seller's
    discount: np.ndarray  # factor on the buyer's gain for each round after the first

    @classmethod
    def of(cls, seeds: Sequence[int]) -> "Scenarios":
        """The scenarios of `seeds`."""
        deals = [instance(seed) for seed in seeds]
        return cls(
            seeds,
            np.array([deal.item.list_price for deal in deals], float),
            np.array([deal.buyer["reservation"] for deal in deals], float),
            np.array([deal.seller["reservation"] for deal in deals], float),
            np.array([deal.buyer["discount"] for deal in deals]),
        )

    @classmethod
    def recorded(cls, columns: ScenarioColumns) -> "Scenarios":
        """The scenarios of an artifact."""
        return cls(
            columns.seed,
            np.array(columns.list_price, float),
            np.array(columns.buyer, float),
            np.array(columns.seller, float),
            np.array(columns.discount),
        )

    @cached_property
    def zopa(self) -> np.ndarray:
        """Whether some price serves both sides, shape (n,)."""
        return self.buyer > self.seller

    @cached_property
    def width(self) -> np.ndarray:
        """What shares are shares of: the ZOPA's width, the list price where there is no ZOPA."""
        return np.where(self.zopa, self.buyer - self.seller, self.list_price)

    def as_json(self) -> dict[str, Any]:
        """The scenarios as columns."""
        names = ("list_price", "buyer", "seller")
        whole = {name: getattr(self, name).astype(int).tolist() for name in names}
        return {"seed": list(self.seeds), **whole, "discount": self.discount.tolist()}
