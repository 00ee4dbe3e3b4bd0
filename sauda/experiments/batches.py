"""Grades and columns of many games, in batches: over processes, or each batch kept on disk.

Columns are what a batch of episodes gives: lists or strings of one value per episode or deal, in
tables by name.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from env import Policy, Task, get_task, rollout
from sauda.llm.model import Model, load_once
from sauda.llm.registry import player_spec
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games
from sauda.records import progress
from sauda.records.store import source_digest, write

BATCH = 40  # games of a player played together
Cell = TypeVar("Cell", bound=Hashable)  # such as a player and a market


def grades(task: Task | str, player: Policy, seeds: Sequence[int]) -> np.ndarray:
    """The grades of a player, one per seed."""
    task = get_task(task) if isinstance(task, str) else task
    return np.array([task.grade(rollout(task, player, seed).final) for seed in seeds])


def cross_entropy(
    grade: Callable[[int, np.ndarray], float],
    size: int,
    population: int,
    elites: int,
    generations: int,
    rng: np.random.Generator,
    spread: float = 0.3,
) -> tuple[np.ndarray, list[float]]:
    """The point of the unit cube with the best grades, shape (size,), by the cross-entropy method.

    Rubinstein (1999): draw candidates, keep the best few, fit mean and spread to them, draw again.
    `grade` is that of a point in a generation. Returns the mean of the last fit, and the elite's
    mean grade by generation.
    """
    mean, spread, reached = np.full(size, 0.5), np.full(size, spread), []
    for generation in range(generations):
        points = np.clip(mean + spread * rng.standard_normal((population, size)), 0, 1)
        won = np.array([grade(generation, point) for point in points])
        best = won.argsort(kind="stable")[::-1][:elites]
        mean, spread = points[best].mean(0), points[best].std(0) + 0.02
        reached.append(round(float(won[best].mean()), 6))
    return mean, reached


def round_all(values: Iterable[float]) -> list[float]:
    """The values as artifacts hold them, to six digits."""
    return [round(float(value), 6) for value in values]


def play_together(task: Task, player: PlayerSpec, seeds: Sequence[int]) -> list[ModelGame]:
    """The games of a language model at `seeds`, played to their ends in one batch."""
    games = [new_game(task, seed) for seed in seeds]
    play_games(games, player)
    return games


def in_batches(
    items: Sequence[Any],
    batch: int,
    folder: Path,
    key: Callable[[Sequence[Any]], str],
    play: Callable[[Sequence[Any]], Any],
) -> Any:
    """`play` of each `batch` of the items, joined; each result is a JSON file under `folder`.

    `key` names all that a batch's result depends on; a file that is there already is read, so that
    a stopped run resumes where it was.
    """
    pieces = []
    for start in range(0, len(items), batch):
        part = items[start : start + batch]
        file = folder / f"{sha256(key(part).encode()).hexdigest()[:24]}.json"
        if not file.exists():
            write(file, json.dumps(play(part), ensure_ascii=False))
        pieces.append(json.loads(file.read_text(encoding="utf-8")))
    return join(pieces)


def play_model_batches(
    name: str,
    seeds: Sequence[int],
    batch: int,
    folder: Path,
    play: Callable[[Sequence[int]], Any],
    about: str = "",
) -> Any:
    """`in_batches` of the games that the language model called `name` plays at `seeds`.

    A batch's result depends on what its games are `about`, its seeds and the model's version.
    """
    weights = player_spec(name).weights
    version = version_of(load_once(weights) if weights else None)

    def key(part: Sequence[int]) -> str:
        return repr((name, about, list(part), version))

    return in_batches(seeds, batch, folder, key, play)


def version_of(model: Model | None) -> tuple[Any, ...]:
    """What a model's replies depend on beside the requests: weights, sampling, the code."""
    return model and (model.sha256, model.source, asdict(model.decoder.sampling)), source_digest()


def play_cells(
    play: Callable[[Cell, Sequence[int]], Any], cells: Mapping[Cell, Sequence[int]], workers: int
) -> dict[Cell, Any]:
    """What `play` gives of each cell at its seeds, in batches spread over processes and joined."""
    jobs = [
        (cell, seeds[start : start + BATCH])
        for cell, seeds in cells.items()
        for start in range(0, len(seeds), BATCH)
    ]
    pieces: dict[Cell, list[Any]] = {cell: [] for cell in cells}
    with ProcessPoolExecutor(workers) as pool:
        done = pool.map(play, *zip(*jobs, strict=True)) if jobs else ()
        done = progress(done, len(jobs), "playing", "batch")
        for (cell, _), piece in zip(jobs, done, strict=True):
            pieces[cell].append(piece)
    return {cell: join(parts) for cell, parts in pieces.items()}


def join(pieces: Sequence[Any]) -> Any:
    """The columns of several batches as those of one; whole numbers are counts and add up."""
    if isinstance(pieces[0], Mapping):
        return {name: join([piece[name] for piece in pieces]) for name in pieces[0]}
    if isinstance(pieces[0], int):
        return sum(pieces)
    return "".join(pieces) if isinstance(pieces[0], str) else [x for piece in pieces for x in piece]


def take_first(columns: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The first `n` episodes of `columns`, with values per deal or per episode."""
    had = len(columns["grade"])
    return {
        name: {part: numbers[:n] for part, numbers in values.items()}
        if isinstance(values, Mapping)
        else values[: n * (len(values) // had)]
        for name, values in columns.items()
    }
