"""The GPU arena's policies x tasks x other labs x seeds -> one artifact, with its episodes.

Utilities are in credits; grades and rewards are shares of the stake, which is what a lab's first
jobs are worth in full. The reward of an episode is the sum over its steps.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from env import Episode, Task, arena, begin, get_task, rollout
from sauda.evaluation.evaluate import Config, measured, policy_hash, task_hash
from sauda.evaluation.statistics import correlation, mean_interval
from sauda.policies import LABS, policy
from sauda.policies.arena_bound import upper_bound
from sauda.records.arena_events import events
from sauda.records.code_hash import code_hash
from sauda.records.progress import progress

METRICS = ("grade", "utility", "reward")
NAMES = tuple(component.name for component in arena.COMPONENTS)
BASELINE = "rule_based_expert"
EPISODES = 200  # a policy and task; a grade's interval is about ±0.03 wide
ENDS = {"D": "deadline", "W": "walkaway", "F": "forfeit"}
SLACK = 0.1  # credits by which rounding may carry a utility over its bound

# Who sits in the other seats: on hold-out seeds also markets that nothing was tuned on.
DRAWN = "as drawn"
OTHERS: Mapping[str, tuple[str, ...]] = {
    "train": (DRAWN,),
    "holdout": (DRAWN, *arena.ARCHETYPES, "planner"),
}

Cell = tuple[str, str, str]  # other labs, task, policy


def with_others(task: Task, others: str) -> Task:
    """`task` with the other labs as each world draws them, all of one archetype, or of one policy.

    Raises ValueError naming what there is to choose from.
    """
    if others == DRAWN:
        return task
    if others in arena.ARCHETYPES:
        seat = partial(as_archetype, others)
    elif others in LABS:
        seat = LABS[others]
    else:
        known = (DRAWN, *arena.ARCHETYPES, *LABS)
        raise ValueError(f"no other labs {others!r}; they may be {', '.join(known)}")
    return replace(task, opponents=dict.fromkeys(task.opponents, seat))


def as_archetype(
    kind: str, obs: arena.Observation, rng: np.random.Generator
) -> arena.Action | arena.Malformed:
    """The action of a scripted lab that is of this archetype, whatever the world drew for it."""
    return arena.scripted_lab(obs._replace(own=obs.own._replace(archetype=kind)), rng)


def evaluate(config: Config, others: Sequence[str], workers: int = 2) -> dict[str, Any]:
    """The data of an arena evaluation: rows, bounds and examples, and the episodes under them."""
    config.cells()  # refuses names that are not there
    seeds = config.seeds()
    cells = list(product(others, config.tasks, config.policies))
    for name in others:
        with_others(get_task(config.tasks[0]), name)
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(worlds_of, config.tasks, [seeds] * len(config.tasks))
        played = pool.map(play_cell, *zip(*cells, strict=True), [seeds] * len(cells))
        found = progress(found, len(config.tasks), "solving the bounds", "task")
        worlds = dict(zip(config.tasks, found, strict=True))
        played = progress(played, len(cells), "playing", "cell")
        columns = dict(zip(cells, played, strict=True))
    return {
        "ends": ENDS,
        "rows": [row(cell, columns, worlds[cell[1]], config.baseline) for cell in cells],
        "correlations": [
            pooled(others, name, config.policies, columns, worlds[name])
            for others, name in product(others, config.tasks)
        ],
        "bounds": [bound_row(name, worlds[name]) for name in config.tasks],
        "examples": list(examples(config, others[0], columns)),
        "worlds": worlds,
        "episodes": {
            o: {t: {p: columns[o, t, p] for p in config.policies} for t in config.tasks}
            for o in others
        },
    }


# Episodes -----------------------------------------------------------------------------------------


def play_cell(
    others: str, task_name: str, policy_name: str, seeds: Sequence[int]
) -> dict[str, Any]:
    """One task, policy and company over `seeds`, as columns: one value an episode."""
    task = with_others(get_task(task_name), others)
    learner = policy(task, policy_name)
    return columns_of(task, [rollout(task, learner, seed) for seed in seeds])


def columns_of(task: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """Episodes of one task as columns: one value an episode."""
    rows = [episode_row(task, one) for one in played]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "components"}
    parts = {name: [row["components"][name] for row in rows] for name in NAMES}
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
        "components": {name: round(getattr(whole, name), 6) for name in NAMES},
    }


def worlds_of(task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """What the learner meets at each seed: its stake, its BATNA, and the most it could gain."""
    task = get_task(task_name)
    starts = [begin(task, seed).state for seed in seeds]
    owns = [start.private[task.learner] for start in starts]
    bounds = [upper_bound(start, task.learner) for start in starts]
    return {
        "stake": [own.stake for own in owns],
        "batna": [own.batna for own in owns],
        "bound": [bound.utility for bound in bounds],
        "solved": sum(bound.solved for bound in bounds),
    }


# Figures ------------------------------------------------------------------------------------------


def row(
    cell: Cell,
    columns: Mapping[Cell, Mapping[str, Any]],
    worlds: Mapping[str, Any],
    baseline: str,
    code: str = "",
) -> dict[str, Any]:
    """The figures of one cell, all computed from the recorded columns.

    `code` is the policy's hash where it is not that of a policy by name.
    """
    others, task_name, policy_name = cell
    mine, base = columns[cell], columns.get((others, task_name, baseline))
    count = Counter(mine["end"])
    share = np.array(mine["utility"]) / np.array(worlds["stake"])
    over = np.array(mine["utility"]) > np.array(worlds["bound"]) + SLACK
    return {
        "others": others,
        "task": task_name,
        "policy": policy_name,
        "n": len(mine["grade"]),
        **{metric: measured(mine, base, metric) for metric in METRICS},
        "actions": sum(mine["actions"]),
        "valid": round(sum(mine["valid"]) / sum(mine["actions"]), 6),
        "jobs": interval(mine["jobs"]),
        "jobs_had": round(float(np.mean(mine["jobs_had"])), 6),
        "correlation": _correlation(mine["reward"], share),
        "above_bound": int(over.sum()),
        "components": {name: interval(mine["components"][name]) for name in NAMES},
        "ends": {meaning: count[letter] for letter, meaning in ENDS.items()},
        "hashes": {
            "task": task_hash(task_name),
            "opponents": opponents_hash(task_name, others),
            "policy": code or policy_hash(task_name, policy_name),
        },
    }


@cache
def opponents_hash(task_name: str, others: str) -> str:
    """The hash of the policies in a task's other seats, where these are `others`."""
    return code_hash(with_others(get_task(task_name), others).opponents)


def pooled(
    others: str,
    task_name: str,
    policies: Sequence[str],
    columns: Mapping[Cell, Mapping[str, Any]],
    worlds: Mapping[str, Any],
) -> dict[str, Any]:
    """How far reward follows utility over all episodes of all policies; seeds are resampled."""
    cells = [columns[others, task_name, name] for name in policies]
    rewards = np.array([cell["reward"] for cell in cells])
    shares = np.array([cell["utility"] for cell in cells]) / np.array(worlds["stake"])
    return {
        "others": others,
        "task": task_name,
        "n": int(rewards.size),
        "correlation": _correlation(rewards, shares),
    }


def _correlation(rewards: Any, shares: Any) -> dict[str, float] | None:
    found = correlation(rewards, shares)
    return None if found is None else _named(found)


def bound_row(task_name: str, worlds: Mapping[str, Any]) -> dict[str, Any]:
    """The upper bounds of a task in each metric; no penalty is taken from the reward's."""
    stake, batna, bound = (np.array(worlds[name]) for name in ("stake", "batna", "bound"))
    return {
        "task": task_name,
        "n": len(stake),
        "solved": worlds["solved"],
        "grade": interval(np.clip((bound - batna) / stake, -1, 1)),
        "utility": interval(bound),
        "reward": interval((bound - arena.PLAN_WEIGHT * batna) / stake),
    }


def interval(values: Any) -> dict[str, float]:
    """The mean of `values` with its 95 % bootstrap interval, to six decimals."""
    return _named(mean_interval(np.asarray(values, dtype=float)))


def _named(found: tuple[float, float, float]) -> dict[str, float]:
    return {k: round(v, 6) for k, v in zip(("mean", "low", "high"), found, strict=True)}


def examples(
    config: Config, others: str, columns: Mapping[Cell, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """One measured step for each component that occurs: the largest of its first episode.

    The first is sought in the last task, policy by policy and seed by seed, then in those before.
    """
    seeds = config.seeds()
    for name in NAMES:
        found = next(
            (
                (task_name, policy_name, seed)
                for task_name, policy_name in product(config.tasks[::-1], config.policies)
                for seed, amount in zip(
                    seeds, columns[others, task_name, policy_name]["components"][name], strict=True
                )
                if amount
            ),
            None,
        )
        if found is not None:
            yield _example(name, others, *found)


def _example(name: str, others: str, task_name: str, policy_name: str, seed: int) -> dict[str, Any]:
    task = with_others(get_task(task_name), others)
    played = rollout(task, policy(task, policy_name), seed)
    own = [event for event in events(played, task.learner) if event.reward is not None]
    step, largest = max(enumerate(own, 1), key=lambda pair: abs(getattr(pair[1].reward, name)))
    return {
        "component": name,
        "task": task_name,
        "policy": policy_name,
        "seed": seed,
        "step": step,
        "round": largest.round_index,
        "words": largest.words,
        "code": largest.code,
        "amount": round(getattr(largest.reward, name), 6),
    }
