"""The figures of a pair, all computed from its columns and the scenarios.

A share is of the ZOPA, or of the list price where there is none; no deal counts 0. Utility is the
share with the buyer's cost of time; time costs the seller nothing.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sauda.evaluation.market.tournament.games import ENDS, SEATS
from sauda.evaluation.market.tournament.players import Pair
from sauda.evaluation.market.tournament.scenarios import Scenarios
from sauda.statistics import mean_interval, named_interval, wilson_interval


@dataclass(frozen=True)
class Payoffs:
    """What both sides got in n scenarios; every array has shape (n,)."""

    deal: np.ndarray  # bool
    share: Mapping[str, np.ndarray]  # by seat
    utility: Mapping[str, np.ndarray]  # by seat

    @classmethod
    def of(cls, columns: Mapping[str, Any], at: Scenarios) -> "Payoffs":
        """The payoffs of the games in `columns`."""
        deal = np.array([end == "A" for end in columns["end"]])
        price = np.array([np.nan if price is None else price for price in columns["price"]], float)
        share = {
            "buyer": np.where(deal, (at.buyer - price) / at.width, 0.0),
            "seller": np.where(deal, (price - at.seller) / at.width, 0.0),
        }
        kept = at.discount ** np.maximum(0, np.array(columns["rounds"]) - 1)
        bought = np.where(share["buyer"] > 0, kept, 1.0) * share["buyer"]
        return cls(deal, share, {"buyer": bought, "seller": share["seller"]})


def pareto_distance(buyer: np.ndarray, seller: np.ndarray) -> np.ndarray:
    """The distance of utilities from those of deals in the first round, as shares of the ZOPA.

    The Euclidean distance from the Pareto frontier from (0, 1) to (1, 0): 0 for such a deal,
    1/sqrt(2) for no deal. Both arrays have shape (n,).
    """
    nearest = np.clip((1 + buyer - seller) / 2, 0, 1)
    return np.hypot(buyer - nearest, seller - (1 - nearest))


def cell(pair: Pair, columns: Mapping[str, Any], at: Scenarios) -> dict[str, Any]:
    """The row of the matrix for one pair."""
    won, count = Payoffs.of(columns, at), Counter(columns["end"])
    fair = 1 - abs(won.share["buyer"] - won.share["seller"])[won.deal & at.zopa]
    n, deals = len(won.deal), int(won.deal.sum())
    distance = pareto_distance(*(won.utility[seat][at.zopa] for seat in SEATS))
    return {
        "buyer": pair.buyer,
        "seller": pair.seller,
        "n": n,
        "share": {seat: named_interval(mean_interval(won.share[seat])) for seat in SEATS},
        "utility": {seat: named_interval(mean_interval(won.utility[seat])) for seat in SEATS},
        "deal_rate": named_interval(wilson_interval(deals, n)),
        "fairness": named_interval(mean_interval(fair)) if len(fair) else None,
        "fair_deals": len(fair),
        "pareto_distance": named_interval(mean_interval(distance)),
        "rounds": named_interval(mean_interval(np.array(columns["rounds"], float))),
        "refused_rightly": int((~won.deal & ~at.zopa).sum()),
        "losses": {seat: int((won.share[seat] < 0).sum()) for seat in SEATS},
        "misstated": {seat: len(columns["misstated"][seat]) for seat in SEATS},
        "invalid": {"buyer": count["F"], "seller": count["G"]},
        "ends": {meaning: count[letter] for letter, meaning in ENDS.items()},
    }
