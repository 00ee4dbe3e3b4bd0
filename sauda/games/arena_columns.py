"""The GPU arena's actions in words, and its episodes as columns and tables.

One value per episode. Utilities are in credits; grades and rewards are shares of the stake, which
is what a lab's first jobs are worth in full. The reward of an episode is the sum over its steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from env import Episode, Task, arena, begin, get_task, rollout
from sauda.games.adapter import Evaluated, ModelTurn
from sauda.games.arena_words import events
from sauda.statistics import correlation, mean_of, name_interval

DRAWN = "as drawn"  # the other labs, as each world draws them
METRICS = ("grade", "utility", "reward")
COMPONENTS = tuple(component.name for component in arena.COMPONENTS)
ENDS = {"D": "deadline", "W": "walkaway", "F": "forfeit"}
MODEL_COUNTS = ("invalid_replies", "tokens")  # of a language model, per episode


def episode_columns(task: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """Episodes of one task as columns: one value per episode."""
    rows = [episode_row(task, episode) for episode in played]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "components"}
    parts = {name: [row["components"][name] for row in rows] for name in COMPONENTS}
    return columns | {"end": "".join(columns["end"]), "components": parts}


def episode_row(task: Task, played: Episode) -> dict[str, Any]:
    """One episode in figures; an action without a result, where a policy forfeits, is not valid."""
    steps = arena.episode_rewards(begin(task, played.seed).state, played.turns, task.learner)
    whole, lab = arena.total(steps), played.final.private[task.learner]
    return {
        "end": str(played.end)[0].upper(),
        "utility": round(lab.utility, 2),
        "grade": round(task.grade(played.final), 6),
        "reward": round(whole.normalized_reward, 6),
        "actions": len(played.trajectory(task.learner)),
        "valid": sum(step.invalid_action_penalty == 0 for step in steps),
        "jobs": sum(job.completed for job in lab.jobs),
        "jobs_had": len(lab.jobs),
        "components": {name: round(getattr(whole, name), 6) for name in COMPONENTS},
    }


def worlds_of(task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The world of each seed: the learner's stake and its BATNA."""
    task = get_task(task_name)
    owns = [begin(task, seed).state.private[task.learner] for seed in seeds]
    return {"stake": [lab.stake for lab in owns], "batna": [lab.batna for lab in owns]}


def figures(task: Task, columns: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """What a row holds beside METRICS, its ends and hashes; `worlds` are those of the task."""
    share = np.array(columns["utility"]) / np.array(worlds["stake"])
    return {
        "actions": sum(columns["actions"]),
        "valid": round(sum(columns["valid"]) / sum(columns["actions"]), 6),
        "jobs": mean_of(columns["jobs"]),
        "jobs_had": round(float(np.mean(columns["jobs_had"])), 6),
        "correlation": correlation_interval(columns["reward"], share),
        "components": {name: mean_of(columns["components"][name]) for name in COMPONENTS},
    }


def count_model(task: Task, turns: Sequence[ModelTurn]) -> dict[str, int]:
    """The MODEL_COUNTS of one episode from the model's turns."""
    return {
        "invalid_replies": sum(isinstance(turn.action, arena.Malformed) for turn in turns),
        "tokens": sum(turn.reply.tokens for turn in turns),
    }


def correlation_interval(rewards: Any, shares: Any) -> dict[str, float] | None:
    """Pearson's r of rewards and utilities with its interval; None where either does not vary."""
    r = correlation(rewards, shares)
    return None if r is None else name_interval(r)


def tables(played: Evaluated) -> dict[str, Any]:
    """The correlations and examples of an evaluation, and the worlds under them."""
    return {
        "correlations": [pooled_correlation(name, played) for name in played.tasks],
        "examples": list(examples(played)),
        "worlds": dict(played.worlds),
    }


def pooled_correlation(task_name: str, played: Evaluated) -> dict[str, Any]:
    """How far reward follows utility over all episodes of all policies; seeds are resampled."""
    cells = [played.columns[task_name, name] for name in played.policies]
    rewards = np.array([cell["reward"] for cell in cells])
    stake = np.array(played.worlds[task_name]["stake"])
    shares = np.array([cell["utility"] for cell in cells]) / stake
    return {
        "others": DRAWN,
        "task": task_name,
        "n": int(rewards.size),
        "correlation": correlation_interval(rewards, shares),
    }


def examples(played: Evaluated) -> Iterator[dict[str, Any]]:
    """One measured step for each component that occurs: the largest of its first episode.

    The first is sought in the last task, policy by policy and seed by seed, then in those before.
    """
    cells = list(product(played.tasks[::-1], played.policies))
    for component in COMPONENTS:
        places = (
            (task_name, policy_name, seed)
            for task_name, policy_name in cells
            for seed, amount in zip(
                played.seeds,
                played.columns[task_name, policy_name]["components"][component],
                strict=True,
            )
            if amount
        )
        if place := next(places, None):
            yield _example(component, *place, played)


def _example(
    component: str, task_name: str, policy_name: str, seed: int, played: Evaluated
) -> dict[str, Any]:
    task = get_task(task_name)
    episode = rollout(task, played.get_policy(task, policy_name), seed)
    rewarded = [event for event in events(episode, task.learner) if event.reward is not None]
    step, largest = max(enumerate(rewarded, 1), key=lambda p: abs(getattr(p[1].reward, component)))
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
