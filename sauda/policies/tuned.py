"""`tuned`: the best script that is known where bids stand, its numbers found by a search.

`python -m sauda run people` and `run simplest` find them, in training games alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import exp, log
from typing import TypeVar

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway
from sauda.policies.people import Dance
from sauda.policies.ruled import Ruled
from sauda.records.store import ROOT, load

RULE = "simplest.json"  # under artifacts/
PEOPLE, THIRD = "bazaar/people", "bazaar/open-3"  # whose scripts are families of their own
Action = Offer | Accept | WalkAway
Script = TypeVar("Script", Ruled, Dance)


def at(family: type[Script], point: Sequence[float]) -> Script:
    """The script of a family at a point of the unit cube, one coordinate a number."""
    numbers: dict[str, float] = {}
    for known, share in zip(fields(family), point, strict=True):
        low, high, scale = (known.metadata[key] for key in ("low", "high", "scale"))
        share = min(1.0, max(0.0, float(share)))
        if scale == "log":
            numbers[known.name] = round(exp(log(low) + share * (log(high) - log(low))), 4)
        elif scale == "number":
            numbers[known.name] = round(low + share * (high - low))
        else:
            numbers[known.name] = round(low + share * (high - low), 4)
    return family(**numbers)


@cache
def load_best(task: str) -> Policy:
    """The tuned script of a task where bids stand.

    Raises ArtifactError, with its command, without the artifact; ValueError for another task.
    """
    if task == PEOPLE:
        return Dance(**load("people.json", ROOT).data.rule)
    if task in SEARCHED:
        return Ruled(**load(RULE, ROOT).data.numbers)
    raise ValueError(f"nothing was tuned for {task}; tasks are {', '.join(SEARCHED)}")


# Words count for nothing where all are mute, so that there the numbers of the same rule serve.
SEARCHED = (PEOPLE, THIRD, "bazaar/mute-3")


@dataclass(frozen=True)
class Tuned:
    """The best tuned script of a task where bids stand; its numbers are read at its first move."""

    task: str

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        return load_best(self.task)(obs, rng)
