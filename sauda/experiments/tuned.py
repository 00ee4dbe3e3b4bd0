"""The best script of each family, found on training games by the cross-entropy method.

Rubinstein (1999): draw candidates, keep the best few, fit mean and spread to them, draw again. All
candidates of a generation meet the same games, every generation new ones. What is found is the mean
of the last fit; its grade is measured on training games that the search did not use.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields
from itertools import product
from typing import Any

import numpy as np

from env import Policy, get_task, rollout
from sauda.experiments.base import experiment
from sauda.policies.tuned import FAMILIES, FILE, at
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, Number, Record
from sauda.records.seeds import SPLITS
from sauda.statistics import mean_interval, name_interval

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


def grades(task_name: str, player: Policy, seeds: Sequence[int]) -> np.ndarray:
    """The grades of a player, one per seed."""
    task = get_task(task_name)
    return np.array([task.grade(rollout(task, player, seed).final) for seed in seeds])


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
    script = FAMILIES[family](**numbers)
    used = settings["generations"] * settings["seeds"]
    graded = {"train": SPLITS["train"][used : used + GRADED], "holdout": SPLITS["holdout"]}
    graded["holdout"] = graded["holdout"][:episodes]
    by_split = {
        split: name_interval(mean_interval(grades(task, script, seeds)))
        for split, seeds in graded.items()
    }
    return {
        "task": task,
        "family": family,
        "numbers": numbers,
        "generations": reached,
        "n": episodes,
        **by_split,
    }


def per_family(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per task and family."""
    for row in data["rows"]:
        yield {name: row[name] for name in ("task", "family", "train", "holdout", "numbers")}


@experiment(
    FILE,
    TunedScripts,
    version=1,
    tab="Results",
    checks="the whole search and both grades",
    table=per_family,
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
