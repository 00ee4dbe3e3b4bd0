"""How much buyers of the open market win while their prices come out with an error.

A language model that learns from a policy plays it with an unsteady hand, so a policy is worth what
it wins with one. All policies play the same hold-out games with the same draws of the error.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from env import get_task, play_batch, rollout
from sauda.evaluation.batches import in_batches
from sauda.games.bazaar.columns import games_at
from sauda.llm.registry import get_policy
from sauda.policies.unsteady import Unsteady
from sauda.policies.vectorized import batch_form
from sauda.records.progress import progress
from sauda.records.provenance import source_digest
from sauda.records.splits import SPLITS
from sauda.statistics import mean_interval, named_interval, paired_difference

PILOT, BELIEF = "pilot", "belief"
CAREER = "bazaar/career"


@dataclass(frozen=True)
class Config:
    """What to play, on hold-out seeds from 50,000."""

    episodes: int = 400  # a task, policy and error
    believed: int = 100  # of the belief buyer, which takes 20 ms a move
    careers: int = 20  # of the belief buyer, 70 moves each
    errors: tuple[float, ...] = (0.0, 3.0, 5.0)  # percent of the limit
    tasks: tuple[str, ...] = (
        "bazaar/open",
        "bazaar/rushed",
        "bazaar/bluff",
        CAREER,
        "bazaar/crowd",
    )
    policies: tuple[str, ...] = (PILOT, BELIEF, "linear", "conceder")


class Cell(NamedTuple):
    """One row to play."""

    task: str
    error: float
    policy: str
    n: int


def robustness(config: Config, workers: int = 2, folder: Path | None = None) -> dict[str, Any]:
    """The data of the robustness artifact. Cells are kept in `folder`, and those there are read."""
    cells = list(_cells(config))
    play = _play if folder is None else partial(_kept, folder=folder)
    with ProcessPoolExecutor(workers) as pool:
        grades = progress(pool.map(play, cells), len(cells), "playing", "cell")
        played = {cell: np.array(values) for cell, values in zip(cells, grades, strict=True)}
    of_pilot = {(c.task, c.error): values for c, values in played.items() if c.policy == PILOT}
    return {"rows": [_row(c, values, of_pilot[c.task, c.error]) for c, values in played.items()]}


def _cells(config: Config) -> Iterator[Cell]:
    for task, error, policy in product(config.tasks, config.errors, config.policies):
        slow = config.careers if task == CAREER else config.believed
        yield Cell(task, error, policy, slow if policy == BELIEF else config.episodes)


def _play(cell: Cell) -> list[float]:
    return grades(cell, SPLITS["holdout"][: cell.n])


def _kept(cell: Cell, folder: Path) -> list[float]:
    (values,) = in_batches(
        [cell], 1, folder, lambda some: repr((*some, source_digest())), lambda some: _play(*some)
    )
    return values


def grades(cell: Cell, seeds: Sequence[int]) -> list[float]:
    """The grade of each seed, to six digits; through the batch engine where the policy has one."""
    task = get_task(cell.task)
    player = Unsteady(get_policy(task, cell.policy), cell.error)
    form = batch_form(player)
    if form is not None:
        values = play_batch(games_at(cell.task, tuple(seeds)), form).grade.tolist()
    else:
        values = [task.grade(rollout(task, player, seed).final) for seed in seeds]
    return [round(value, 6) for value in values]


def _row(cell: Cell, values: np.ndarray, pilot: np.ndarray) -> dict[str, Any]:
    gap = None
    if cell.policy != PILOT:
        gap = named_interval(paired_difference(values, pilot[: cell.n]))
    return {
        "task": cell.task,
        "policy": cell.policy,
        "error": cell.error,
        "n": cell.n,
        "grade": named_interval(mean_interval(values)),
        "less_pilot": gap,
    }
