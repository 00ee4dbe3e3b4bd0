"""What either seat wins from people who haggle, and what words are worth against them.

A seller plays the scripts of a buyer in the mirror (`sauda.policies.customers`). The best script is
searched by the cross-entropy method (Rubinstein 1999) on training seeds; the best wall, which names
one price in every round, by trying them. The bound is the planner that is told the other side.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, Policy, Table, Task, corpus, get_task, rollout, speech
from env import customers as customer_rules
from env import people as rules
from sauda.experiments.base import experiment
from sauda.experiments.scripts import cross_entropy
from sauda.played import play_cells
from sauda.players import CUSTOMERS, PEOPLE, TOLD
from sauda.policies import SELLERS, SLOW_CUSTOMERS, SLOW_PEOPLE
from sauda.policies.bazaar import Says
from sauda.policies.customers import Across, Vendor, line
from sauda.policies.people import Dance, Planner
from sauda.records.seeds import deal_at, first_seeds
from sauda.statistics import difference_of, exact_share, mean_of

SHARES = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))  # of the limit, of walls
POPULATION, ELITES, GENERATIONS, GAMES = 24, 6, 12, 120  # of the search
LEAST, MOST = np.array([0.3, 0, 0, 0, 0, 0.7, 0]), np.array([1, 0.8, 0.8, 0.6, 0.1, 1, 0.6])


@dataclass(frozen=True)
class Seat:
    """What is played and compared in one seat."""

    task: Task
    training: Task
    bound: str  # the name of the planner that is told the other side
    told: Callable[[int], Policy]  # that planner in the game of a seed
    slow: Mapping[str, Policy]
    phrases: Mapping[str, str]
    others: Mapping[str, Policy]
    plays: Callable[[Policy], Policy]  # a buyer's script in this seat
    prices: Callable[[Table], Sequence[float]]  # of the seat, such that a concession is a rise


SEATS = {
    "buyer": Seat(
        get_task(PEOPLE),
        rules.people_task("training"),
        TOLD,
        lambda seed: Planner(truth=deal_at(get_task(PEOPLE), seed).seller["stance"]),
        SLOW_PEOPLE,
        {act: corpus.buyer_line(act, 0, 0.0) for act in speech.ACTS},
        {},
        lambda script: script,
        lambda table: table.bids,
    ),
    "seller": Seat(
        get_task(CUSTOMERS),
        customer_rules.customers_task("training"),
        "told the buyer",
        lambda seed: Vendor(truth=deal_at(get_task(CUSTOMERS), seed).buyer["stance"]),
        SLOW_CUSTOMERS,
        {plea: line(plea, 0.0) for plea in customer_rules.PLEAS},
        {name: SELLERS[name] for name in ("boulware", "linear", "conceder")},
        Across,
        lambda table: [-ask for ask in table.asks],
    ),
}


@dataclass(frozen=True)
class Wall:
    """Bids one share of its limit, or of the opening ask, in every round."""

    share: float

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept:
        price = max(1, round(self.share * min(obs.budget, obs.opening_ask)))
        if obs.ask <= price or (obs.rounds_left <= 1 and obs.ask <= obs.budget):
            return Accept()
        return Offer(price)


def search(seat: Seat) -> Dance:
    """The best silent script that the cross-entropy method finds on training seeds."""
    size, rng = len(fields(Dance)), np.random.default_rng(11)
    how = (size, POPULATION, ELITES, GENERATIONS, GAMES, rng)
    point = cross_entropy(seat.training, lambda x: seat.plays(numbered(x)), *how, spread=0.25)
    return numbered(point)


def numbered(point: np.ndarray) -> Dance:
    """The script at a point of the unit cube."""
    return Dance(*(round(float(x), 3) for x in LEAST + point * (MOST - LEAST)))


def play_cell(cell: str, seeds: Any, seat: str, rule: Dance) -> dict[str, Any]:
    """The games of one player: grades, prices after the first, and how many of them concede."""
    met, won, raises, later = SEATS[seat], [], [], []
    for seed in seeds:
        episode = rollout(met.task, players(met, rule)[cell](seed), seed)
        won.append(round(met.task.grade(episode.final), 6))
        prices = met.prices(episode.final.table)
        raises.append(sum(after > before for before, after in pairwise(prices)))
        later.append(max(0, len(prices) - 1))
    return {"grade": won, "raises": raises, "later": later}


def players(seat: Seat, rule: Dance) -> Mapping[str, Callable[[int], Policy]]:
    """Every player of the table, by name: a function from the seed of a game to its policy."""
    silent = seat.slow["bayesian"]
    fixed: dict[str, Policy] = {
        **{f"wall {share:g}": seat.plays(Wall(share)) for share in SHARES},
        "best rule": seat.plays(rule),
        **seat.others,
        **seat.slow,
        **{f"says {name}": Says(silent, phrase) for name, phrase in seat.phrases.items()},
        "says all": Says(silent, " ".join(seat.phrases.values())),
    }
    return {
        **{name: (lambda seed, policy=policy: policy) for name, policy in fixed.items()},
        seat.bound: seat.told,
    }


def measure(seat: str, episodes: int, phrased: int, workers: int) -> dict[str, Any]:
    """The rows of a seat, its best script and its phrases.

    Raises ValueError for more seeds than there are.
    """
    seeds, fewer = first_seeds(episodes), first_seeds(phrased)
    rule = search(SEATS[seat])
    names = list(players(SEATS[seat], rule))
    short = [name for name in names if name.startswith(("says", "told"))]
    cells = {name: fewer if name in short else seeds for name in names}
    played = play_cells(partial(play_cell, seat=seat, rule=rule), cells, workers)
    silent = np.array(played["bayesian"]["grade"])
    rows, phrases = [], []
    for name, columns in played.items():
        won = np.array(columns["grade"])
        less = difference_of(won, silent[: len(won)])
        row = {"player": name, "n": len(won), "grade": mean_of(won), "less_silent": less}
        share = exact_share(sum(columns["raises"]), sum(columns["later"]))
        (phrases if name.startswith("says") else rows).append(row | {"raises": share})
    return {"rows": rows, "rule": asdict(rule), "phrases": phrases}


@experiment("people.json")
def people(
    episodes: int = 1000,  # hold-out seeds, from 50,000
    phrased: int = 300,  # of those, games of each fixed phrase and of the bound
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact. ValueError for more seeds than there are."""
    return measure("buyer", episodes, phrased, workers)


@experiment("customers.json")
def customers(
    episodes: int = 1000,  # hold-out seeds, from 50,000
    phrased: int = 300,  # of those, games of each fixed phrase and of the bound
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact. ValueError for more seeds than there are."""
    return measure("seller", episodes, phrased, workers)
