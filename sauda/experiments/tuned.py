"""The best script of each family, found on training games by the cross-entropy method.

Rubinstein (1999): draw candidates, keep the best few, fit mean and spread to them, draw again. All
candidates of a generation meet the same games, every generation new ones. What is found is the mean
of the last fit; its grade is measured on training games that the search did not use.
"""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields
from itertools import product
from typing import Any

import numpy as np

from sauda.experiments.base import experiment
from sauda.experiments.batches import grades
from sauda.policies.tuned import FAMILIES, FILE, at
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, Number, Record
from sauda.records.seeds import SPLITS
from sauda.statistics import mean_of

TASKS = ("bazaar/open", "bazaar/rushed")
GRADED = 400  # training games, after those of the search, on which families are compared


class TunedRow(Record):
    """One family on one task."""

    task: str
    family: str  # name of the family
    numbers: dict[str, Number]  # what was found, by name
    generations: list[float]  # mean grade of the elite by generation
    train: Interval  # grade on training seeds that the search did not use
    n: int  # hold-out seeds
    holdout: Interval  # grade on the hold-out seeds


class TunedScripts(Record):
    """The best script of each family: its numbers, and its grade on training and hold-out games."""

    graded: int  # training seeds that compare the families
    rows: list[TunedRow]  # one row per task and family


def search(
    task: str, family: str, population: int, elites: int, generations: int, seeds: int
) -> tuple[dict[str, float], list[float]]:
    """The numbers found for a family on a task, and the elite's mean grade by generation."""
    kind = FAMILIES[family]
    size = len(fields(kind))
    rng = np.random.default_rng([TASKS.index(task), list(FAMILIES).index(family)])
    mean, spread = np.full(size, 0.5), np.full(size, 0.3)
    reached = []
    for generation in range(generations):
        points = np.clip(mean + spread * rng.standard_normal((population, size)), 0, 1)
        games = SPLITS["train"][generation * seeds : (generation + 1) * seeds]
        won = np.array([grades(task, at(kind, point), games).mean() for point in points])
        best = won.argsort(kind="stable")[::-1][:elites]
        mean, spread = points[best].mean(0), points[best].std(0) + 0.02
        reached.append(round(float(won[best].mean()), 6))
    return asdict(at(kind, mean)), reached


def tune(task: str, family: str, settings: Mapping[str, int], episodes: int) -> dict[str, Any]:
    """The row of a family on a task."""
    numbers, reached = search(task, family, **settings)
    script, used = FAMILIES[family](**numbers), settings["generations"] * settings["seeds"]
    return {
        "task": task,
        "family": family,
        "numbers": numbers,
        "generations": reached,
        "train": mean_of(grades(task, script, SPLITS["train"][used : used + GRADED])),
        "n": episodes,
        "holdout": mean_of(grades(task, script, SPLITS["holdout"][:episodes])),
    }


@experiment(
    FILE,
    TunedScripts,
    version=1,
    tab="Results",
    checks="the whole search and both grades",
)
def tuned(
    population: int = 24,  # candidates of a generation
    elites: int = 6,  # of those, the best, to which the next one is fitted
    generations: int = 12,
    seeds: int = 100,  # training games of a generation, the same for all its candidates
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: one row per task and family."""
    settings = {
        "population": population, "elites": elites, "generations": generations, "seeds": seeds
    }  # fmt: skip
    jobs = list(product(TASKS, FAMILIES))
    with ProcessPoolExecutor(workers) as pool:
        found = [pool.submit(tune, *job, settings, episodes) for job in jobs]
        done = (one.result() for one in found)
        rows = list(progress(done, len(jobs), "tuning scripts", "family"))
    return {"graded": GRADED, "rows": rows}
