"""Speed of the games: one by one, in batches, and in the arena.

The ways to play one task are timed in turn, repetition by repetition, so that the load of the
machine meets them alike; only figures of one such run are put into a ratio.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from env import ARENA_TASKS, Task, draw_games, games_of, get_task, play_batch, rollout
from sauda.evaluation.speed import figure, ratio, rounded
from sauda.llm.registry import get_policy
from sauda.policies.vectorized import BATCH
from sauda.records.progress import progress

REPETITIONS = 5
EPISODES = 2000  # a repetition, as in the published measurement
BATCH_EPISODES = 20_000  # a repetition, drawn at once
GAMES = (  # policy, task
    ("rule_based", "classic/single_deal"),
    ("expert", "classic/single_deal"),
    ("rule_based", "bazaar/open"),
    ("linear", "bazaar/open"),
)
ALONE, SEEDED, DRAWN = "one by one", "in a batch, from seeds", "in a batch, drawn at once"
ARENA_EPISODES = 200  # a repetition

Figures = list[dict[str, Any]]


def game_speeds(games: Sequence[tuple[str, str]] = GAMES) -> tuple[Figures, Figures]:
    """Figures and ratios of each policy and task."""
    pairs = [ways_to_play(*game) for game in progress(games, len(games), "playing", "game")]
    return [f for figures, _ in pairs for f in figures], [r for _, ratios in pairs for r in ratios]


def ways_to_play(
    name: str, task_name: str, episodes: int = EPISODES, drawn: int = BATCH_EPISODES
) -> tuple[Figures, Figures]:
    """Episodes a second on one core in three ways, and each batch as a ratio to one by one.

    "One by one" and "from seeds" play the same games. Drawing the games counts in every way.
    """
    learner, form = get_policy(get_task(task_name), name), BATCH[name]

    def alone(repetition: int) -> int:
        for seed in seeds(repetition):
            rollout(get_task(task_name), learner, seed)
        return episodes

    def from_seeds(repetition: int) -> int:
        play_batch(games_of(task_name, seeds(repetition)), form)
        return episodes

    def drawn_at_once(repetition: int) -> int:
        play_batch(draw_games(task_name, drawn, np.random.default_rng(repetition)), form)
        return drawn

    def seeds(repetition: int) -> range:
        return range(repetition * episodes, (repetition + 1) * episodes)

    samples = interleaved({ALONE: alone, SEEDED: from_seeds, DRAWN: drawn_at_once})
    figures = {
        way: figure(
            f"episodes a second, {name} on {task_name}, {way}",
            "episodes/s",
            samples[way],
            task=task_name,
            episodes=drawn if way == DRAWN else episodes,
            cores=1,
        )
        for way in samples
    }
    return list(figures.values()), [ratio(figures[way], figures[ALONE]) for way in (SEEDED, DRAWN)]


def interleaved(
    ways: Mapping[str, Callable[[int], int]],
    repetitions: int = REPETITIONS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Work a second of `clock` of each way, one sample a repetition, the ways in turn in each.

    A way does the work of the repetition whose number it is given, from 0, and returns how much
    that was. A first repetition, with the last one's work, warms up.
    """
    samples: dict[str, list[float]] = {way: [] for way in ways}
    for repetition in range(-1, repetitions):
        for way, work in ways.items():
            start = clock()
            done = work(repetition % repetitions)
            if repetition >= 0:
                samples[way].append(done / (clock() - start))
    return samples


def arena_speeds(name: str = "rule_based_expert") -> Figures:
    """Episodes and steps a second of the arena on one core, two figures a task.

    A step is an action of the learner with all that the other labs do until its next.
    """
    tasks = progress(ARENA_TASKS.values(), len(ARENA_TASKS), "playing", "arena task")
    return [figure for task in tasks for figure in _arena_speed(task, name)]


def _arena_speed(played_task: Task, name: str) -> Figures:
    learner = get_policy(played_task, name)
    episodes, steps, taken, actions = [], [], 0, 0
    for repetition in range(REPETITIONS):
        seeds = range(repetition * ARENA_EPISODES, (repetition + 1) * ARENA_EPISODES)
        start = time.perf_counter()
        played = [rollout(played_task, learner, seed).turns for seed in seeds]
        seconds = time.perf_counter() - start
        own = sum(turn.agent == played_task.learner for turns in played for turn in turns)
        episodes.append(ARENA_EPISODES / seconds)
        steps.append(own / seconds)
        taken += own
        actions += sum(map(len, played))
    more = {"task": played_task.name, "episodes": ARENA_EPISODES, "cores": 1}
    more["steps_an_episode"] = rounded(taken / (REPETITIONS * ARENA_EPISODES))
    more["actions_of_all_labs_an_episode"] = rounded(actions / (REPETITIONS * ARENA_EPISODES))
    return [
        figure(f"{unit} a second, {name}, {played_task.name}", f"{unit}/s", samples, **more)
        for unit, samples in (("episodes", episodes), ("steps", steps))
    ]
