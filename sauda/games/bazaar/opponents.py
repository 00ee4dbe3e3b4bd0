"""The scripted policies for the bazaar's two seats: who learns, and whom it meets."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from env import MARKETS, Policy, Task, with_seller_type
from sauda.policies import BUYERS, SELLERS, SLOW
from sauda.policies.bazaar_scripted import leave
from sauda.policies.pilot.buyer import trained
from sauda.policies.pilot.tuned import tuned
from sauda.records.splits import UNSEEN_SELLER, seller_type

PILOT = "pilot"
LEAVE, TUNED = "leave", "tuned"  # to compare with: no play at all, a rule found by search
OTHERS: Mapping[str, tuple[str, ...]] = {"train": ("",), "holdout": ("",)}  # the task's own


def policies(task: Task) -> Mapping[str, Policy]:
    """The policies that can take the learner's seat of `task`, by name.

    The pilot, and what is there to compare with, plays the open market alone. Raises ArtifactError
    where the weights of the pilot or the numbers of the tuned rule are missing.
    """
    if task.learner == "seller":
        return SELLERS
    market = task.name.removeprefix("bazaar/") in MARKETS
    if not market:
        return BUYERS
    return MappingProxyType({**BUYERS, LEAVE: leave, PILOT: trained(), TUNED: tuned()})


def slow_policies(task: Task) -> Mapping[str, Policy]:
    """The buyers that are too slow to be compared by default."""
    return SLOW if task.learner == "buyer" else {}


def against(task: Task, name: str) -> Task:
    """`task` with the other seat taken by `name`; "" keeps the task's own opponents.

    Where the learner sells, `name` is a buyer; in the open market, a type of seller. Raises
    ValueError where there is none of that name, or nothing to choose, and ArtifactError where the
    pilot's weights are missing.
    """
    if not name:
        return task
    if task.learner != "seller":
        return with_seller_type(task, name)
    if name not in (*BUYERS, PILOT):
        known = ", ".join((*BUYERS, PILOT))
        raise ValueError(f"no buyer {name!r} to sell to; buyers are {known}")
    buyer = trained() if name == PILOT else BUYERS[name]
    return replace(task, opponents={**task.opponents, "buyer": buyer})


def has_unseen_opponent(task: Task, seed: int) -> bool:
    """Whether the seller in the game of `seed` is of the type that no training game has."""
    return seller_type(task, seed) == UNSEEN_SELLER
