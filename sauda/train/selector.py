"""The lightweight selector: a softmax over scripted policies, trained by REINFORCE.

    python -m sauda train selector

The published page shows such a run of 180 episodes, with one of its lines computed by a formula.
Here every number of the curve is recorded from the run. There is one softmax a task, and an
episode's return is the sum of its rewards. Williams (1992) for the rule, with a moving baseline.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import arena, begin, get_task, rollout
from sauda.llm.registry import get_policy
from sauda.records.progress import progress
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact
from sauda.statistics import mean_interval, paired_difference

EXPERT = "rule_based_expert"
DIGITS = 6  # of a recorded reward or probability


@dataclass(frozen=True)
class Config:
    """A run and its evaluation; the rates are those of the published selector."""

    tasks: tuple[str, ...] = ("arena/single_trade", "arena/market_round", "arena/coalition_market")
    arms: tuple[str, ...] = (
        "random",
        "greedy_hoarder",
        "always_accept",
        EXPERT,
        "planner",
    )
    episodes: int = 60  # a task, the tasks one after the other: 180 in all
    first_seed: int = 40_000  # of the training split, far from the seeds that evaluations use
    evaluated: int = 100  # hold-out seeds a task
    learning_rate: float = 2.4
    temperature: float = 0.75
    baseline_decay: float = 0.92  # of the moving average of returns, which starts at 0
    seed: int = 7  # of the choices


def select(config: Config) -> dict[str, Any]:
    """The data of the selector artifact: a curve row an episode, and the final evaluation."""
    if config.first_seed + config.episodes * len(config.tasks) > len(SPLITS["train"]):
        raise ValueError("the seeds run into the hold-out; take fewer episodes or a lower first")
    rows = (row for index in range(len(config.tasks)) for row in _trained(config, index))
    curve = list(progress(rows, config.episodes * len(config.tasks), "training", "episode"))
    return {"arms": list(config.arms), "curve": curve, "final": _final(config, curve)}


def recomputed(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data of a selector artifact, by the whole run again; for `verify`."""
    return select(Config(**artifact.settings()))


def _trained(config: Config, index: int) -> Iterator[dict[str, Any]]:
    """The run on one task: each episode with the probabilities before and after it."""
    name, rng = config.tasks[index], np.random.default_rng([config.seed, index])
    preferences, baseline = np.zeros(len(config.arms)), 0.0
    for number in range(config.episodes):
        before = softmax(preferences, config.temperature)
        arm = int(rng.choice(len(config.arms), p=before))
        episode = index * config.episodes + number
        seed = config.first_seed + episode
        reward = episode_return(name, config.arms[arm], seed)
        advantage = reward - baseline
        preferences = updated(preferences, before, arm, config.learning_rate * advantage)
        yield {
            "episode": episode,
            "task": name,
            "seed": seed,
            "policy": config.arms[arm],
            "reward": round(reward, DIGITS),
            "expert": round(episode_return(name, EXPERT, seed), DIGITS),
            "baseline": round(baseline, DIGITS),
            "before": _rounded(before),
            "after": _rounded(softmax(preferences, config.temperature)),
        }
        baseline = config.baseline_decay * baseline + (1 - config.baseline_decay) * reward


def softmax(preferences: np.ndarray, temperature: float) -> np.ndarray:
    """The probabilities that belong to `preferences`, both shape (arms,)."""
    scaled = np.exp((preferences - preferences.max()) / temperature)
    return scaled / scaled.sum()


def updated(preferences: np.ndarray, chances: np.ndarray, arm: int, step: float) -> np.ndarray:
    """Preferences moved by `step` along the gradient of the chosen arm's log probability.

    The gradient's factor 1 / temperature is part of the step, as in the published rule.
    """
    return preferences + step * (np.eye(len(chances))[arm] - chances)


def episode_return(task_name: str, policy_name: str, seed: int) -> float:
    """The sum of the learner's rewards over one episode."""
    task = get_task(task_name)
    played = rollout(task, get_policy(task, policy_name), seed)
    steps = arena.episode_rewards(begin(task, seed).state, played.turns, task.learner)
    return arena.total(steps).normalized_reward


def _rounded(chances: np.ndarray) -> list[float]:
    return [round(float(chance), DIGITS) for chance in chances]


def _final(config: Config, curve: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every arm on hold-out seeds, and the gain of the last preferred one over the expert."""
    rows, seeds = [], SPLITS["holdout"][: config.evaluated]
    for name in progress(config.tasks, len(config.tasks), "evaluating every arm", "task"):
        last = [row for row in curve if row["task"] == name][-1]["after"]
        best = config.arms[int(np.argmax(last))]
        names = dict.fromkeys((*config.arms, EXPERT))
        returns = {arm: np.array([episode_return(name, arm, s) for s in seeds]) for arm in names}
        gain = paired_difference(returns[best], returns[EXPERT])
        rows.append(
            {
                "task": name,
                "n": len(seeds),
                "policy": best,
                "probabilities": last,
                "arms": {arm: _interval(mean_interval(returns[arm])) for arm in config.arms},
                "less_expert": _interval(gain),
            }
        )
    return rows


def _interval(figures: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("mean", "low", "high"), (round(x, DIGITS) for x in figures), strict=True))
