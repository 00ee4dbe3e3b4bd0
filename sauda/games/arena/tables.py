"""The tables of an arena evaluation beside its rows: correlations, example steps."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from env import get_task, rollout
from sauda.games.adapter import Evaluated
from sauda.games.arena.columns import COMPONENTS, correlation_interval
from sauda.games.arena.events import events
from sauda.games.arena.opponents import against


def tables(played: Evaluated) -> dict[str, Any]:
    """The correlations and examples of an evaluation, and the worlds under them."""
    return {
        "correlations": [
            pooled_correlation(others, name, played)
            for others, name in product(played.others, played.tasks)
        ],
        "examples": list(examples(played)),
        "worlds": dict(played.worlds),
    }


def pooled_correlation(others: str, task_name: str, played: Evaluated) -> dict[str, Any]:
    """How far reward follows utility over all episodes of all policies; seeds are resampled."""
    cells = [played.columns[others, task_name, name] for name in played.policies]
    rewards = np.array([cell["reward"] for cell in cells])
    stake = np.array(played.worlds[task_name]["stake"])
    shares = np.array([cell["utility"] for cell in cells]) / stake
    return {
        "others": others,
        "task": task_name,
        "n": int(rewards.size),
        "correlation": correlation_interval(rewards, shares),
    }


def examples(played: Evaluated) -> Iterator[dict[str, Any]]:
    """One measured step for each component that occurs: the largest of its first episode.

    The first is sought in the last task, policy by policy and seed by seed, then in those before.
    """
    for component in COMPONENTS:
        place = _first_place(component, played)
        if place is not None:
            yield _example(component, *place, played)


def _first_place(component: str, played: Evaluated) -> tuple[str, str, int] | None:
    """The task, policy and seed of the first episode in which the component is not 0."""
    for task_name, policy_name in product(played.tasks[::-1], played.policies):
        columns = played.columns[played.others[0], task_name, policy_name]
        for seed, amount in zip(played.seeds, columns["components"][component], strict=True):
            if amount:
                return task_name, policy_name, seed
    return None


def _example(
    component: str, task_name: str, policy_name: str, seed: int, played: Evaluated
) -> dict[str, Any]:
    task = against(get_task(task_name), played.others[0])
    episode = rollout(task, played.get_policy(task, policy_name), seed)
    own = [event for event in events(episode, task.learner) if event.reward is not None]
    step, largest = max(enumerate(own, 1), key=lambda p: abs(getattr(p[1].reward, component)))
    return {
        "component": component,
        "task": task_name,
        "policy": policy_name,
        "seed": seed,
        "step": step,
        "round": largest.round_index,
        "words": largest.words,
        "code": largest.code,
        "amount": round(getattr(largest.reward, component), 6),
    }
