"""A buyer and a seller by name, and their games over the same scenarios.

In PAIR_TASK both sides are scripts, or one of them a script whose moves a language model says. Each
knows its own limit and sees prices; the last bid counts, and no words do. A buyer and a seller go
by their names in BUYERS and SELLERS; "acts(linear)" is the script that plays through language.

The games of a pair are columns with one value per scenario: `end` is a letter of ENDS, `price` the
price of the deal or None, `rounds` those played, 0 after a forfeit. Prices are rupees.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from env import CATALOGUE, Bazaar, EndReason, Episode, Instance, Policy, Task, market, rollout
from sauda.llm.registry import script
from sauda.policies import BUYERS, SELLERS
from sauda.records.seeds import SPLITS, deal_at, is_unseen_game

SCRIPTS = tuple(name for name in SELLERS if name != "schedule")  # whose terms no scenario has
SEATS = ("buyer", "seller")
ENDS = {
    "A": "agreement",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "buyer forfeited",
    "G": "seller forfeited",
}


class Pair(NamedTuple):
    """A buyer and a seller by name."""

    buyer: str
    seller: str


# What they play for ------------------------------------------------------------------------------


def draw_deal(rng: np.random.Generator) -> tuple[Instance]:
    """One deal: item, rounds, both limits, the buyer's cost of time.

    Numbers of a seller type are drawn first and thrown away: in the games that are recorded of role
    play they come first in the stream, and these games must come out again.
    """
    rng.integers(4)
    rng.random(7)
    discount = rng.uniform(0.94, 0.98)  # factor on the buyer's gain per round after the first
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    rounds = int(rng.integers(8, 12, endpoint=True))
    seller, buyer = (
        round(item.list_price * rng.uniform(*shares)) for shares in ((0.40, 0.80), (0.60, 1.10))
    )
    own = {"reservation": buyer, "discount": discount, "purse": round(1.5 * item.list_price)}
    return (Instance(item, own, {"reservation": seller}, rounds=rounds),)


PAIR_TASK = Task(
    name="bazaar/pair",
    env=Bazaar(draw=draw_deal, rounds=12),
    learner="buyer",
    opponents={"seller": SELLERS["linear"]},
    grade=market.market_grade,
    success=0.3,
    about="A buyer and a seller who see prices and their own limits, and nothing else.",
)


def task_against(seller: str) -> Task:
    """PAIR_TASK with the script called `seller`; ValueError naming the sellers there are."""
    policy = _script("seller", {name: SELLERS[name] for name in SCRIPTS}, seller)
    return replace(PAIR_TASK, opponents={"seller": policy})


def buyer_policy(buyer: str) -> Policy:
    """The script called `buyer`; ValueError naming the buyers there are."""
    return _script("buyer", BUYERS, buyer)


def _script(seat: str, policies: Mapping[str, Policy], name: str) -> Policy:
    if (policy := script(policies, name)) is None:
        raise ValueError(f"no {seat} {name!r}; {seat}s are {', '.join(policies)}, acts(SCRIPT)")
    return policy


def scenario_seeds(n: int) -> tuple[int, ...]:
    """The first `n` hold-out seeds about listings that no training game has.

    Raises ValueError for fewer than 2, or too many.
    """
    unseen = (seed for seed in SPLITS["holdout"] if is_unseen_game(PAIR_TASK, seed))
    seeds = tuple(islice(unseen, max(0, n)))
    if n < 2 or len(seeds) < n:
        most = f"; there are {len(seeds):,}" if len(seeds) < n else ""
        raise ValueError(f"at least 2 scenarios are needed, not {n:,}{most}")
    return seeds


@dataclass(frozen=True)
class Scenarios:
    """What n scenarios are about; every array has shape (n,)."""

    seeds: Sequence[int]
    list_price: np.ndarray
    buyer: np.ndarray  # the buyer's reservation price
    seller: np.ndarray  # the seller's
    discount: np.ndarray  # factor on the buyer's gain for each round after the first

    @classmethod
    def of(cls, seeds: Sequence[int]) -> "Scenarios":
        """The scenarios of `seeds`."""
        deals = [deal_at(PAIR_TASK, seed) for seed in seeds]
        return cls(
            seeds,
            np.array([deal.item.list_price for deal in deals], float),
            np.array([deal.buyer["reservation"] for deal in deals], float),
            np.array([deal.seller["reservation"] for deal in deals], float),
            np.array([deal.buyer["discount"] for deal in deals]),
        )

    @classmethod
    def of_columns(cls, columns: Any) -> "Scenarios":
        """The scenarios of an artifact: of its ScenarioColumns."""
        prices = (columns.list_price, columns.buyer, columns.seller, columns.discount)
        return cls(columns.seed, *(np.array(column, float) for column in prices))

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


# Their games -------------------------------------------------------------------------------------


def play_pair(pair: Pair, seeds: Sequence[int]) -> list[Episode]:
    """The games of two scripts over `seeds`."""
    task, buyer = task_against(pair.seller), buyer_policy(pair.buyer)
    return [rollout(task, buyer, seed) for seed in seeds]


def columns(episodes: Sequence[Episode]) -> dict[str, Any]:
    """The columns of `episodes`."""
    deals = [played.final.table.past[0] if played.final.table.past else None for played in episodes]
    return {
        "end": "".join(map(_letter, episodes)),
        "price": [deal and deal.price for deal in deals],
        "rounds": [deal.rounds if deal else 0 for deal in deals],
    }


def _letter(played: Episode) -> str:
    """How an episode ended, as a letter of ENDS."""
    if played.end == EndReason.FORFEIT:
        return "F" if played.turns[-1].agent == "buyer" else "G"
    if played.end == EndReason.WALKAWAY:
        return "S" if played.final.table.past[0].by == "seller" else "B"
    return {EndReason.AGREEMENT: "A", EndReason.DEADLINE: "D"}[played.end]


@dataclass(frozen=True)
class Payoffs:
    """What both sides got in n scenarios; every array has shape (n,).

    A share is of the ZOPA, or of the list price where there is none; no deal counts 0. Utility is
    the share with the buyer's cost of time; time costs the seller nothing.
    """

    share: Mapping[str, np.ndarray]  # by seat
    utility: Mapping[str, np.ndarray]  # by seat

    @classmethod
    def of(cls, played: Mapping[str, Any], at: Scenarios) -> "Payoffs":
        """The payoffs of games in columns."""
        deal = np.array([end == "A" for end in played["end"]])
        price = np.array([np.nan if price is None else price for price in played["price"]], float)
        share = {
            "buyer": np.where(deal, (at.buyer - price) / at.width, 0.0),
            "seller": np.where(deal, (price - at.seller) / at.width, 0.0),
        }
        kept = at.discount ** np.maximum(0, np.array(played["rounds"]) - 1)
        bought = np.where(share["buyer"] > 0, kept, 1.0) * share["buyer"]
        return cls(share, {"buyer": bought, "seller": share["seller"]})
