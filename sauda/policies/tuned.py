"""`tuned`: the best script that is known where bids stand, its numbers found by a search.

`python -m sauda run people` and `run simplest` find them, in training games alone.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway
from sauda.policies.people import Dance
from sauda.policies.ruled import Ruled
from sauda.records.store import ROOT, load

RULE = "simplest.json"  # under artifacts/
PEOPLE, THIRD = "bazaar/people", "bazaar/open-3"  # whose scripts are families of their own
Action = Offer | Accept | WalkAway


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
