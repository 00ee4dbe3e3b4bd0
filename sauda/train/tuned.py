"""The search for the numbers of the rule `tuned`, by the cross-entropy method.

    python -m sauda train tuned

It asks how far a script gets that is tuned as the trained players are: on games drawn from the same
listings and sellers. A generation draws candidates from a normal distribution, plays each on the
same fresh games, and fits the next distribution to the best of them. Rubinstein (1999).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import draw_games, play_batch
from sauda.policies.pilot import Pilot
from sauda.policies.tuned import PRICE, WALK, rule
from sauda.records.kinds import Check, File, Kind, register_kind
from sauda.records.progress import progress
from sauda.records.schemas.pilot import TunedRule
from sauda.records.store import Artifact
from sauda.train.pilot_games import SEEN_PRICES, SEEN_TYPES

DIGITS = 4  # decimals of a number of the rule


@dataclass(frozen=True)
class SearchSettings:
    """A search; the defaults are those of the committed rule."""

    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed")
    population: int = 64  # candidates per generation
    elite: int = 8  # of them, those that the next generation is drawn around
    generations: int = 30
    games: int = 300  # per task and generation; all candidates play the same ones
    start: float = 0.3  # standard deviation of the first candidates around FIRST
    floor: float = 0.02  # added to the standard deviation at first; falls linearly to 0
    seed: int = 0  # of all games and candidates


# Where the search starts: bids 0.6 of its limit, does not walk away.
FIRST = (0.6, *[0.0] * (len(PRICE) - 1), -1.0, *[0.0] * (len(WALK) - 1))


def search(settings: SearchSettings) -> dict[str, Any]:
    """The data of the artifact: the numbers found and the log, one entry per generation."""
    began, rng = time.process_time(), np.random.default_rng(settings.seed)
    mean, spread, log = np.array(FIRST), np.full(len(FIRST), settings.start), []
    for number in progress(range(settings.generations), settings.generations, "searching", "round"):
        games = [
            draw_games(task, settings.games, rng, SEEN_TYPES, SEEN_PRICES)
            for task in settings.tasks
        ]
        tried = mean + spread * rng.standard_normal((settings.population, len(FIRST)))
        grades = [
            float(np.mean([play_batch(batch, _buyer(one).batch).grade.mean() for batch in games]))
            for one in tried
        ]
        best = np.argsort(grades)[::-1][: settings.elite]
        mean = tried[best].mean(axis=0)
        spread = tried[best].std(axis=0) + settings.floor * (1 - number / settings.generations)
        log.append(
            {
                "step": number + 1,
                "mean": round(float(np.mean(grades)), 6),
                "elite": round(float(np.mean(np.array(grades)[best])), 6),
            }
        )
    price, walk = _name_numbers(np.round(mean, DIGITS).tolist())
    seconds = round(time.process_time() - began, 1)
    return {"price": price, "walk": walk, "log": log, "seconds": seconds}


def _name_numbers(numbers: Sequence[float]) -> tuple[dict[str, float], dict[str, float]]:
    """The numbers of the price and of walking away, by feature."""
    price, walk = numbers[: len(PRICE)], numbers[len(PRICE) :]
    return dict(zip(PRICE, price, strict=True)), dict(zip(WALK, walk, strict=True))


def _buyer(numbers: np.ndarray) -> Pilot:
    return rule(*_name_numbers(numbers.tolist()))


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data of an artifact, by the whole search again but for its seconds; for `verify`."""
    again = search(SearchSettings(**artifact.settings()))
    return again | {"seconds": artifact.data.seconds}


register_kind(
    Kind(
        "tuned/1",
        TunedRule,
        (File("training/tuned.json", "train tuned", "Results"),),
        Check(
            "replayed",
            "the whole search, but for its seconds",
            lambda config, data: len(data.log),
            "generations",
            replay,
        ),
    )
)
