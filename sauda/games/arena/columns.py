"""Episodes of the GPU arena as columns, one value an episode, and the figures of a row.

Utilities are in credits; grades and rewards are shares of the stake, which is what a lab's first
jobs are worth in full. The reward of an episode is the sum over its steps.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from env import Episode, Task, arena, begin, get_task
from sauda.games.messages import ModelTurn
from sauda.statistics import correlation, mean_interval

METRICS = ("grade", "utility", "reward")
COMPONENTS = tuple(component.name for component in arena.COMPONENTS)
ENDS = {"D": "deadline", "W": "walkaway", "F": "forfeit"}
MODEL_COUNTS = ("invalid_replies", "tokens")  # of a language model, an episode


def episode_columns(task: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """Episodes of one task as columns: one value an episode."""
    rows = [episode_row(task, one) for one in played]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "components"}
    parts = {name: [row["components"][name] for row in rows] for name in COMPONENTS}
    return columns | {"end": "".join(columns["end"]), "components": parts}


def episode_row(task: Task, played: Episode) -> dict[str, Any]:
    """One episode in figures; an action without a result, where a policy forfeits, is not valid."""
    steps = arena.episode_rewards(begin(task, played.seed).state, played.turns, task.learner)
    whole, own = arena.total(steps), played.final.private[task.learner]
    return {
        "end": str(played.end)[0].upper(),
        "utility": round(own.utility, 2),
        "grade": round(task.grade(played.final), 6),
        "reward": round(whole.normalized_reward, 6),
        "actions": len(played.trajectory(task.learner)),
        "valid": sum(step.invalid_action_penalty == 0 for step in steps),
        "jobs": sum(job.completed for job in own.jobs),
        "jobs_had": len(own.jobs),
        "components": {name: round(getattr(whole, name), 6) for name in COMPONENTS},
    }


def batch_columns(task_name: str, policy_name: str, seeds: Sequence[int]) -> dict[str, Any] | None:
    """None: the arena has no faster engine."""
    return None


def worlds_of(task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The world of each seed: the learner's stake and its BATNA."""
    task = get_task(task_name)
    owns = [begin(task, seed).state.private[task.learner] for seed in seeds]
    return {"stake": [own.stake for own in owns], "batna": [own.batna for own in owns]}


def figures(task: Task, columns: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """What a row holds beside METRICS, its ends and hashes; `worlds` are those of the task."""
    share = np.array(columns["utility"]) / np.array(worlds["stake"])
    return {
        "actions": sum(columns["actions"]),
        "valid": round(sum(columns["valid"]) / sum(columns["actions"]), 6),
        "jobs": interval(columns["jobs"]),
        "jobs_had": round(float(np.mean(columns["jobs_had"])), 6),
        "correlation": correlation_interval(columns["reward"], share),
        "components": {name: interval(columns["components"][name]) for name in COMPONENTS},
    }


def count_model(task: Task, turns: Sequence[ModelTurn]) -> dict[str, int]:
    """The MODEL_COUNTS of one episode from the model's turns."""
    return {
        "invalid_replies": sum(isinstance(turn.action, arena.Malformed) for turn in turns),
        "tokens": sum(turn.reply.tokens for turn in turns),
    }


def interval(values: Any) -> dict[str, float]:
    """The mean of `values` with its 95 % bootstrap interval, to six decimals."""
    return _named(mean_interval(np.asarray(values, dtype=float)))


def _named(figures: tuple[float, float, float]) -> dict[str, float]:
    return {k: round(v, 6) for k, v in zip(("mean", "low", "high"), figures, strict=True)}


def correlation_interval(rewards: Any, shares: Any) -> dict[str, float] | None:
    """Pearson's r of rewards and utilities with its interval; None where either does not vary."""
    r = correlation(rewards, shares)
    return None if r is None else _named(r)
