"""How the trained model's grade depends on the temperature of its replies, on training seeds.

The decoding of all rows is chosen here, so that no hold-out game has a say in it. Greedy decoding
is taken unless another temperature wins clearly more, since its replies depend on no draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import get_task
from sauda.evaluation.batches import in_batches, joined
from sauda.evaluation.models.comparison import PARTS, played_with
from sauda.evaluation.models.config import OURS
from sauda.evaluation.models.sources import model_source
from sauda.games.bazaar import BAZAAR
from sauda.llm.backends.decoding import Sampling
from sauda.llm.backends.model import Model, load
from sauda.llm.batched_rollout import new_game, play_games
from sauda.llm.registry import PlayerSpec, player_spec
from sauda.records.splits import SPLITS
from sauda.statistics import mean_interval, named_interval, paired_difference


@dataclass(frozen=True)
class Config:
    """Which games are played at which temperatures; differences are from the first of these."""

    policy: str = OURS
    tasks: tuple[str, ...] = ("bazaar/open",)
    temperatures: tuple[float, ...] = (0.0, 0.2, 0.7)  # 0 is greedy; 0.7 the published evaluation's
    episodes: int = 400
    first_seed: int = 47_000  # of the training split; no stage trains on seeds from here on
    batch: int = 50  # games played together

    @property
    def seeds(self) -> range:
        """The seeds of every row; ValueError where they leave the training split."""
        seeds = range(self.first_seed, self.first_seed + self.episodes)
        if not seeds or seeds[0] not in SPLITS["train"] or seeds[-1] not in SPLITS["train"]:
            raise ValueError(
                f"{self.episodes} seeds from {self.first_seed} leave the training split"
            )
        return seeds


def decoding(config: Config, parts: Path = PARTS) -> dict[str, Any]:
    """The data of the artifact: a row a task and temperature, and every grade.

    Each batch is kept under `parts`: a stopped run resumes where it was.
    """
    weights = player_spec(config.policy).weights
    if weights != config.policy:
        raise ValueError(f"a bare model is decoded, not {config.policy!r}")
    grades: dict[str, dict[str, list[float]]] = {task: {} for task in config.tasks}
    for temperature in config.temperatures:
        model = load(weights, sampling=Sampling(temperature))
        for task in config.tasks:
            grades[task][str(temperature)] = _grades(task, model, config, parts)
    return summarised(config, grades) | {"models": {weights: model_source(model, BAZAAR)}}


def summarised(
    config: Config, grades: Mapping[str, Mapping[str, Sequence[float]]]
) -> dict[str, Any]:
    """The rows of recorded grades, by task and temperature."""
    rows = []
    for task, by_temperature in grades.items():
        baseline = np.array(by_temperature[str(config.temperatures[0])])
        for temperature in config.temperatures:
            values = np.array(by_temperature[str(temperature)])
            gap = None
            if temperature != config.temperatures[0]:
                gap = named_interval(paired_difference(values, baseline))
            rows.append(
                {
                    "task": task,
                    "temperature": temperature,
                    "n": len(values),
                    "grade": named_interval(mean_interval(values)),
                    "difference": gap,
                }
            )
    return {"rows": rows, "grades": grades}


def _grades(task_name: str, model: Model, config: Config, parts: Path) -> list[float]:
    marks = config.policy, *played_with(model)

    def key(seeds: Sequence[int]) -> str:
        return repr(("decoding", task_name, list(seeds), *marks))

    def play(seeds: Sequence[int]) -> list[float]:
        games = [new_game(get_task(task_name), seed) for seed in seeds]
        play_games(games, PlayerSpec(model))
        return [round(game.grade, 6) for game in games]

    return joined(in_batches(config.seeds, config.batch, parts, key, play))
