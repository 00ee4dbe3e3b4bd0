"""The lightweight selector: a softmax over scripted policies, trained by REINFORCE.

    python -m sauda train selector

The published page shows such a run of 180 episodes, with one of its lines computed by a formula.
Here every number of the curve is recorded from the run. There is one softmax per task, and an
episode's return is the sum of its rewards. Williams (1992) for the rule, with a moving baseline.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import arena, begin, get_task, rollout
from sauda.played import round_all
from sauda.players import get_policy
from sauda.records import progress
from sauda.records.seeds import SPLITS, TRAINED
from sauda.records.store import Artifact
from sauda.statistics import difference_of, mean_of

EXPERT = "rule_based_expert"
DIGITS = 6  # of a recorded reward


@dataclass(frozen=True)
class SelectorSettings:
    """A run and its evaluation; the rates are those of the published selector."""

    tasks: tuple[str, ...] = ("arena/single_trade", "arena/market_round", "arena/coalition_market")
    arms: tuple[str, ...] = ("random", "greedy_hoarder", "always_accept", EXPERT, "broker")
    episodes: int = 60  # per task, the tasks one after the other: 180 in all
    first_seed: int = 40_000  # training seeds run up from it
    evaluated: int = 100  # hold-out seeds per task
    learning_rate: float = 2.4
    temperature: float = 0.75
    baseline_decay: float = 0.92  # of the moving average of returns, which starts at 0
    seed: int = 7  # of the choices


def select(settings: SelectorSettings) -> dict[str, Any]:
    """The data of the selector artifact: a curve row per episode, and the final evaluation."""
    if settings.first_seed + settings.episodes * len(settings.tasks) > TRAINED.stop:
        raise ValueError(
            f"training seeds end below {TRAINED.stop:,}; take fewer episodes or a lower first"
        )
    rows = (row for index in range(len(settings.tasks)) for row in _train(settings, index))
    curve = list(progress(rows, settings.episodes * len(settings.tasks), "training", "episode"))
    return {"arms": list(settings.arms), "curve": curve, "final": _final(settings, curve)}


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data of a selector artifact, by the whole run again; for `verify`."""
    return select(SelectorSettings(**artifact.settings()))


def _train(settings: SelectorSettings, index: int) -> Iterator[dict[str, Any]]:
    """The run on one task: each episode with the probabilities before and after it."""
    name, rng = settings.tasks[index], np.random.default_rng([settings.seed, index])
    preferences, baseline = np.zeros(len(settings.arms)), 0.0
    for number in range(settings.episodes):
        before = softmax(preferences, settings.temperature)
        arm = int(rng.choice(len(settings.arms), p=before))
        episode = index * settings.episodes + number
        seed = settings.first_seed + episode
        reward = episode_return(name, settings.arms[arm], seed)
        advantage = reward - baseline
        preferences = update(preferences, before, arm, settings.learning_rate * advantage)
        yield {
            "episode": episode,
            "task": name,
            "seed": seed,
            "policy": settings.arms[arm],
            "reward": round(reward, DIGITS),
            "expert": round(episode_return(name, EXPERT, seed), DIGITS),
            "baseline": round(baseline, DIGITS),
            "before": round_all(before),
            "after": round_all(softmax(preferences, settings.temperature)),
        }
        baseline = settings.baseline_decay * baseline + (1 - settings.baseline_decay) * reward


def softmax(preferences: np.ndarray, temperature: float) -> np.ndarray:
    """The probabilities that belong to `preferences`, both shape (arms,)."""
    scaled = np.exp((preferences - preferences.max()) / temperature)
    return scaled / scaled.sum()


def update(preferences: np.ndarray, chances: np.ndarray, arm: int, step: float) -> np.ndarray:
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


def _final(settings: SelectorSettings, curve: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every arm on hold-out seeds, and the gain of the last preferred one over the expert."""
    rows, seeds = [], SPLITS["holdout"][: settings.evaluated]
    for name in progress(settings.tasks, len(settings.tasks), "evaluating every arm", "task"):
        last = [row for row in curve if row["task"] == name][-1]["after"]
        best = settings.arms[int(np.argmax(last))]
        names = dict.fromkeys((*settings.arms, EXPERT))
        returns = {arm: np.array([episode_return(name, arm, s) for s in seeds]) for arm in names}
        rows.append(
            {
                "task": name,
                "n": len(seeds),
                "policy": best,
                "probabilities": last,
                "arms": {arm: mean_of(returns[arm]) for arm in settings.arms},
                "less_expert": difference_of(returns[best], returns[EXPERT]),
            }
        )
    return rows
