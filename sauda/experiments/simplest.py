"""The smallest rule that does as well as the planner in the open market: `simplest`.

Seventeen numbers are found by the cross-entropy method (Rubinstein 1999) on training games, with
and without words. Then one number after another is put to its neutral value, each time the one that
costs least, until a drop costs more than `TOLERATED`; what remains is the smallest rule.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields, replace
from functools import partial
from math import exp, log
from typing import Any

import numpy as np

from env import Task, get_task, market
from sauda.experiments.base import experiment
from sauda.experiments.scripts import cross_entropy
from sauda.played import grades, play_cells, round_all
from sauda.players import get_policy
from sauda.policies.ruled import NEUTRAL, Ruled
from sauda.records.seeds import SPLITS, first_seeds
from sauda.statistics import difference_of, mean_of

TASK = "bazaar/open-3"
SEARCH = 3  # seed of the search's draws
TOLERATED = 0.004  # of the grade on training games, that leaving a number out may cost
WORDS = ("firm", "fair", "hasty", "bluffer", "pleased", "short", "rival", "trust", "early", "late",
         "speaks", "second")  # fmt: skip
SILENT = {name: NEUTRAL[name] for name in WORDS}
PLANNERS = {"planner on numbers": "bayesian", "planner that reads and speaks": "listener"}


def training_task() -> Task:
    """The task with sellers that say training sentences."""
    return market.market_task("open-3", replace(market.MARKETS["open-3"], use="training"))


def rule_of(point: Sequence[float]) -> Ruled:
    """The rule at a point of the unit cube, one coordinate a number."""
    numbers: dict[str, float] = {}
    for known, share in zip(fields(Ruled), point, strict=True):
        low, high, scale = (known.metadata[key] for key in ("low", "high", "scale"))
        share = min(1.0, max(0.0, float(share)))
        at = low + share * (high - low)
        at = exp(log(low) + share * (log(high) - log(low))) if scale == "log" else at
        numbers[known.name] = round(at, 4)
    return Ruled(**numbers)


def search(
    population: int, elites: int, generations: int, games: int, fixed: Mapping[str, float]
) -> Ruled:
    """The rule that the search finds with some numbers fixed."""

    def rule_at(point: np.ndarray) -> Ruled:
        return replace(rule_of(point), **fixed)

    size, rng = len(fields(Ruled)), np.random.default_rng(SEARCH)
    how = (size, population, elites, generations, games, rng)
    return rule_at(cross_entropy(training_task(), rule_at, *how))


def shrink(rule: Ruled, seeds: Sequence[int]) -> tuple[Ruled, list[dict[str, Any]]]:
    """The smallest rule, and the numbers left out in turn with the grade after each."""
    task, dropped = training_task(), []
    won = grades(task, rule, seeds).mean()
    while True:
        left = [name for name, neutral in NEUTRAL.items() if getattr(rule, name) != neutral]
        tried = {name: replace(rule, **{name: NEUTRAL[name]}) for name in left}
        reached = {name: grades(task, smaller, seeds).mean() for name, smaller in tried.items()}
        if not reached:
            return rule, dropped
        best = max(reached, key=lambda name: reached[name])
        if reached[best] < won - TOLERATED:
            return rule, dropped
        rule, won = tried[best], max(won, reached[best])
        dropped.append({"number": best, "grade": round(float(reached[best]), 6)})


def play(rule: Ruled | str, seeds: Sequence[int]) -> list[float]:
    """The grades of a rule, or of a policy by name, on evaluation sentences."""
    policy = get_policy(get_task(TASK), rule) if isinstance(rule, str) else rule
    return round_all(grades(TASK, policy, seeds))


@experiment("simplest.json")
def simplest(
    population: int = 24,  # candidates of a generation
    elites: int = 6,
    generations: int = 14,
    games: int = 120,  # training games of a generation, the same for all its candidates
    shrunk: int = 300,  # training games on which numbers are left out
    episodes: int = 1000,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact. ValueError for more seeds than there are."""
    seeds = first_seeds(episodes)
    first_seeds(generations * games + shrunk, "train")  # refuses too many before the search begins
    find = partial(search, population, elites, generations, games)
    with ProcessPoolExecutor(workers) as pool:
        whole, silent = pool.map(find, ({}, SILENT))
    used = generations * games
    smallest, dropped = shrink(whole, SPLITS["train"][used : used + shrunk])
    names = {"rule": whole, "smallest rule": smallest, "rule without words": silent, **PLANNERS}
    played = play_cells(play, dict.fromkeys(names.values(), seeds), workers)
    won = {name: np.array(played[player]) for name, player in names.items()}
    return {
        "numbers": asdict(whole),
        "silent": asdict(silent),
        "dropped": dropped,
        "kept": [name for name, neutral in NEUTRAL.items() if getattr(smallest, name) != neutral],
        "rows": [
            {"player": name, "n": len(values), "grade": mean_of(values),
             "less_rule": difference_of(values, won["rule"])}
            for name, values in won.items()
        ],
    }  # fmt: skip
