"""The scripted policies for a lab of the GPU arena: who learns, and whom it meets."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from env import Policy, Task, arena
from sauda.policies import LABS

DRAWN = "as drawn"  # the other labs as each world draws them

# Who is evaluated in the other seats: on hold-out seeds also markets in which every lab plans.
OTHERS: Mapping[str, tuple[str, ...]] = {
    "train": (DRAWN,),
    "holdout": (DRAWN, "planner"),
}


def policies(task: Task) -> Mapping[str, Policy]:
    """The policies that can take the learner's seat of `task`, by name."""
    return LABS


def slow_policies(task: Task) -> Mapping[str, Policy]:
    """Every policy of the arena is compared by default."""
    return {}


def against(task: Task, name: str) -> Task:
    """`task` with the other labs as drawn (DRAWN or ""), all of one archetype, or of one policy.

    Raises ValueError naming what there is to choose from.
    """
    if name in ("", DRAWN):
        return task
    if name in arena.ARCHETYPES:
        seat = partial(as_archetype, name)
    elif name in LABS:
        seat = LABS[name]
    else:
        known = (DRAWN, *arena.ARCHETYPES, *LABS)
        raise ValueError(f"no other labs {name!r}; they may be {', '.join(known)}")
    return replace(task, opponents=dict.fromkeys(task.opponents, seat))


def as_archetype(
    kind: str, obs: arena.Observation, rng: np.random.Generator
) -> arena.Action | arena.Malformed:
    """The action of a scripted lab of this archetype, instead of the archetype that was drawn."""
    return arena.scripted_lab(obs._replace(own=obs.own._replace(archetype=kind)), rng)


def has_unseen_opponent(task: Task, seed: int) -> bool:
    """Training in the arena meets every archetype of lab."""
    return False
