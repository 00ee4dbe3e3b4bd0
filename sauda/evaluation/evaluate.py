"""Policies x tasks x seeds -> one artifact, with every episode it rests on.

Shares are of the ZOPA, a failure counts 0. A career is one episode of several deals: its share is
the mean over them; `deal_rate`, `rounds` and `ends` count deals.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from env import get_task
from sauda.evaluation.columns import ENDS, play_cell
from sauda.evaluation.statistics import paired_difference, summary
from sauda.policies import policy
from sauda.records.code_hash import code_hash
from sauda.records.progress import progress

PlayCell = Callable[[str, str, Sequence[int]], dict[str, Any]]  # plays a task and policy over seeds
SPLITS = {"train": range(50_000), "holdout": range(50_000, 100_000)}


@dataclass(frozen=True)
class Config:
    """What to evaluate; the defaults are the numbers we report."""

    tasks: tuple[str, ...]
    policies: tuple[str, ...]
    split: str = "train"
    episodes: int = 1000  # a policy and task; gives intervals near 2 % of the mean
    baseline: str = "rule_based"  # of the paired differences

    def seeds(self) -> range:
        """The first `episodes` seeds of the split; ValueError where it has fewer."""
        if self.split not in SPLITS:
            raise ValueError(f"no split {self.split!r}; splits are {', '.join(SPLITS)}")
        pool = SPLITS[self.split]
        if not 1 <= self.episodes <= len(pool):
            raise ValueError(f"episodes must be from 1 to {len(pool):,}, not {self.episodes:,}")
        return pool[: self.episodes]

    def cells(self) -> list[tuple[str, str]]:
        """Every (task, policy); ValueError on a name or a baseline that is not there."""
        cells = [(t, p) for t in self.tasks for p in self.policies]
        for cell in cells:
            policy(get_task(cell[0]), cell[1])
        if self.baseline not in self.policies:
            raise ValueError(
                f"the baseline {self.baseline!r} must be one of the policies that are evaluated: "
                f"{', '.join(self.policies)}"
            )
        return cells


def evaluate(config: Config, workers: int = 2, play: PlayCell = play_cell) -> dict[str, Any]:
    """The data of an evaluation artifact: a row per task and policy, and their episodes."""
    cells = config.cells()
    episodes = dict(zip(cells, play_cells(cells, config.seeds(), workers, play), strict=True))
    rows = [row(*cell, episodes, config.baseline) for cell in cells]
    grouped = {t: {p: episodes[t, p] for p in config.policies} for t in config.tasks}
    return {"ends": ENDS, "rows": rows, "episodes": grouped}


def play_cells(
    cells: Sequence[tuple[str, str]],
    seeds: Sequence[int],
    workers: int = 2,
    play: PlayCell = play_cell,
) -> Iterable[dict[str, Any]]:
    """The episodes of each (task, policy), in order, with a progress bar."""
    with ProcessPoolExecutor(workers) as pool:
        played = pool.map(play, *zip(*cells, strict=True), [seeds] * len(cells))
        yield from progress(played, len(cells), "playing", "cell")


def row(
    task_name: str,
    policy_name: str,
    episodes: Mapping[tuple[str, str], Mapping[str, Any]],
    baseline: str,
    code: str = "",
) -> dict[str, Any]:
    """The figures of one cell, all computed from the recorded columns.

    `code` is the policy's hash where it is not that of a policy by name.
    """
    task, columns = get_task(task_name), episodes[task_name, policy_name]
    base = episodes.get((task_name, baseline))
    count = Counter(columns["end"])
    return {
        "task": task_name,
        "policy": policy_name,
        "n": len(columns["grade"]),
        "deals": len(columns["end"]),
        **{metric: measured(columns, base, metric) for metric in ("share", "grade")},
        "deal_rate": round(count["A"] / len(columns["end"]), 6),
        "success_rate": round(float(np.mean(np.array(columns["grade"]) >= task.success)), 6),
        "rounds": round(float(np.mean(columns["rounds"])), 6),
        "ends": {meaning: count[letter] for letter, meaning in ENDS.items()},
        "hashes": {
            "task": task_hash(task_name),
            "opponents": opponents_hash(task_name),
            "policy": code or policy_hash(task_name, policy_name),
        },
    }


@cache  # a hash takes up to half a second, and many rows share it
def task_hash(task_name: str) -> str:
    """The hash of a task's rules, its learner's seat and its grade."""
    task = get_task(task_name)
    return code_hash(task.env, task.learner, task.grade, task.success)


@cache
def opponents_hash(task_name: str) -> str:
    """The hash of the policies in a task's other seats."""
    return code_hash(get_task(task_name).opponents)


@cache
def policy_hash(task_name: str, policy_name: str) -> str:
    """The hash of a policy by name."""
    return code_hash(policy(get_task(task_name), policy_name))


def measured(
    columns: Mapping[str, Any], base: Mapping[str, Any] | None, metric: str
) -> dict[str, Any]:
    """Summary of one metric over episodes, and its paired difference to the baseline."""
    values = per_episode(columns, metric)
    figures = asdict(summary(values))
    if base is not None:
        names = ("difference", "difference_low", "difference_high")
        figures |= zip(names, paired_difference(values, per_episode(base, metric)), strict=True)
    return {name: round(value, 6) for name, value in figures.items()}


def per_episode(columns: Mapping[str, Any], metric: str) -> np.ndarray:
    """One value an episode, shape (n,): the grade, or the mean share over its deals."""
    values = np.asarray(columns[metric], dtype=float)
    return values.reshape(len(columns["grade"]), -1).mean(axis=1)


def compare(mine: Mapping[str, Any], other: Mapping[str, Any], metric: str) -> float:
    """Difference of two rows' means; refused where they were not playing the same game.

    Raises ValueError naming both hashes where the task or its opponents differ.
    """
    for part in ("task", "opponents"):
        a, b = mine["hashes"][part], other["hashes"][part]
        if a != b:
            raise ValueError(
                f"{mine['policy']} and {other['policy']} did not play the same game: "
                f"the {part} hash of {mine['task']} is {a} in one row and {b} in the other"
            )
    return mine[metric]["mean"] - other[metric]["mean"]
