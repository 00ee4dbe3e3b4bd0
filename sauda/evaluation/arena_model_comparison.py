"""What a language model wins as a lab of the GPU arena: bare, after each stage, beside scripts.

As the ladder does in the bazaar: games of a batch go in step, and what is played is kept on disk
after each batch.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from env import arena, episode, get_task
from sauda.evaluation.arena_evaluate import (
    DRAWN,
    ENDS,
    bound_row,
    columns_of,
    play_cell,
    row,
    worlds_of,
)
from sauda.evaluation.evaluate import SPLITS
from sauda.evaluation.model_comparison import (
    PARTS,
    Replayed,
    first,
    in_batches,
    models_behind,
    same_model,
)
from sauda.evaluation.statistics import paired_difference
from sauda.llm.backends.decoding import Decoder
from sauda.llm.batched_rollout import new_game, play_in_step
from sauda.llm.games import arena as arena_llm
from sauda.llm.games.arena import ArenaLLMPolicy
from sauda.llm.registry import contestant, is_model, lab_policy, loaded
from sauda.records.code_hash import code_hash
from sauda.records.progress import progress

COUNTS = ("unparsed", "tokens")  # of the learner, an episode


@dataclass(frozen=True)
class Config:
    """What is compared; the defaults are the numbers we report."""

    task: str = "arena/market_round"
    stages: tuple[str, ...] = ("mini", "mini+sft-arena", "mini+grpo-arena")  # bare
    policies: tuple[str, ...] = (
        "mini+constrained", "mini+grpo-arena+constrained", "planner", "autarky",
        "rule_based_expert", "always_accept", "greedy_hoarder", "random", "wait",
    )  # fmt: skip
    episodes: int = 100  # from the first hold-out seed
    batch: int = 50  # games in step; also what a stopped run loses at most

    def seeds(self) -> range:
        """The hold-out seeds that are played; ValueError where there are too few."""
        if not 1 <= self.episodes <= len(SPLITS["holdout"]) or self.batch < 1:
            raise ValueError(
                f"there is at least 1 episode and a batch has 1 game, not {self.episodes} and "
                f"{self.batch}"
            )
        return SPLITS["holdout"][: self.episodes]

    def names(self) -> tuple[str, ...]:
        """Every policy; ValueError for a model whose name says nothing."""
        for name in filter(is_model, (*self.stages, *self.policies)):
            lab_policy(name)
        return (*self.stages, *self.policies)


def arena_ladder(
    config: Config, parts: Path = PARTS, recorded: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The artifact's data: a row a policy, what each stage adds, their episodes, the models.

    `recorded` is kept from as in `ladder`.
    """
    seeds, models = config.seeds(), models_behind(config.names(), arena_llm)
    kept = {
        name: recorded["episodes"][name]
        for name in config.names()
        if recorded and name in recorded["episodes"] and same_model(name, recorded, models)
    }
    episodes = {
        name: kept.get(name) or _cell(config.task, name, seeds, config.batch, parts)
        for name in config.names()
    }
    return summarised(config, episodes) | {"models": models}


def summarised(config: Config, episodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Rows, climbs, and the bound over them, all computed from the episodes."""
    worlds = worlds_of(config.task, config.seeds())
    cells = {(DRAWN, config.task, name): columns for name, columns in episodes.items()}
    rows = [
        row(cell, cells, worlds, config.stages[0], model_hash(cell[2]))
        | {count: sum(columns[count]) for count in COUNTS}
        for cell, columns in cells.items()
    ]
    return {
        "ends": ENDS,
        "rows": rows,
        "climbs": [_climb(config.task, *pair, episodes) for pair in pairwise(config.stages)],
        "bounds": [bound_row(config.task, worlds)],
        "worlds": worlds,
        "episodes": dict(episodes),
    }


def _climb(
    task_name: str, before: str, after: str, episodes: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What a stage adds to the one before, bare, paired by seed."""
    grades = [np.array(episodes[name]["grade"]) for name in (after, before)]
    found = zip(("difference", "low", "high"), paired_difference(*grades), strict=True)
    told = {"task": task_name, "before": before, "after": after, "on": "all", "n": len(grades[0])}
    return told | {name: round(float(value), 6) for name, value in found}


def _cell(
    task_name: str, name: str, seeds: Sequence[int], batch: int, parts: Path
) -> dict[str, Any]:
    if not is_model(name):
        return _scripted(task_name, name, seeds)
    return in_batches(
        seeds,
        batch,
        lambda some: parts / f"{_key(task_name, name, some)}.json",
        lambda some: play_model(task_name, name, some),
    )


def _scripted(task_name: str, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    return play_cell(DRAWN, task_name, name, seeds) | {count: [0] * len(seeds) for count in COUNTS}


def _key(task_name: str, name: str, seeds: Sequence[int]) -> str:
    """All that a batch's outcome depends on, as a file name."""
    task, player = get_task(task_name), contestant(name)
    model = loaded(player.weights) if player.weights else None
    marks = model and (model.sha256, model.source)
    code = (
        code_hash(task.env, task.opponents, task.grade, arena.episode_rewards),
        model_hash(name),
    )
    return sha256(repr((task_name, name, list(seeds), marks, code)).encode()).hexdigest()[:24]


def model_hash(name: str) -> str:
    """Hashes prompt, decoder and parser of a model in a lab's seat; "" for a script."""
    if not is_model(name):
        return ""
    player = contestant(name)
    speaks = Decoder if player.weights else type(player.generate)
    return code_hash(ArenaLLMPolicy, speaks, player.constrained)


def play_model(task_name: str, name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The games of `seeds` in step, as the columns of an arena's evaluation and the COUNTS."""
    task = get_task(task_name)
    games = [new_game(task, seed) for seed in seeds]
    play_in_step(games, contestant(name))
    played = [episode(task, game.play) for game in games]
    return columns_of(task, played) | {
        "unparsed": [
            sum(isinstance(asked.proposal, arena.Malformed) for asked in game.asked)
            for game in games
        ],
        "tokens": [sum(asked.reply.tokens for asked in game.asked) for game in games],
    }


def again(config: Config, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The data as it should be: all figures computed again, and the scripts played again."""
    seeds = config.seeds()
    kept = recorded["episodes"]
    episodes = {
        name: kept[name] if is_model(name) else _scripted(config.task, name, seeds)
        for name in progress(config.names(), len(config.names()), "playing scripts", "script")
    }
    return summarised(config, episodes) | {"models": recorded["models"]}


def stages_again(config: Config, recorded: Mapping[str, Any]) -> Iterator[Replayed]:
    """Each stage of training, its first batch played again by its adapter."""
    seeds = config.seeds()[: config.batch]
    for name in config.stages:
        weights = contestant(name).weights
        yield Replayed(
            config.task,
            name,
            first(recorded["episodes"][name], len(seeds)),
            play_model(config.task, name, seeds),
            recorded["models"][weights]["cpu"] if weights else "",
            loaded(weights).cpu if weights else "",
        )
