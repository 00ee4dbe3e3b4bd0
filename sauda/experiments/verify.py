"""Check an artifact: its checksum, then what can be computed again, digit by digit.

`verify` replays a whole file by the function that its kind registers, `verify_models` the first
games of language models, and `replay_row` enough of one row to be watched. What differs is named by
its place. Fingerprints that an artifact records are compared with those of today's code, for which
no weights are needed.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import Policy, Task, get_task
from sauda.experiments import comparison
from sauda.games import game_of
from sauda.games.adapter import Columns
from sauda.llm.model import load_once
from sauda.played import Cell, hashes, kinds_of_cpu, play_cell, play_model, take_first
from sauda.players import is_model, player_spec, sit
from sauda.records.kinds import KINDS
from sauda.records.seeds import SPLITS
from sauda.records.store import CHECKSUMS, ROOT, Artifact, checksums, load, sha256
from sauda.statistics import paired_difference

NOTHING = "nothing"  # stands for a value that one side has not


def verify(file: str, workers: int = 2, root: Path = ROOT) -> list[str]:
    """The faults of `file`, a sentence each: its checksum, and values that recompute differently.

    Empty where all of it is right. A file with another checksum is not replayed: its settings may
    be the part that was changed. Raises ArtifactError for a file that is missing or malformed.
    """
    artifact = load(file, root)
    recorded, now = checksums(root).get(file), sha256(root / file)
    if recorded is None:
        return [f"{file} has no line in {CHECKSUMS}; `make checksums` writes one"]
    if recorded != now:
        return [f"{file} was changed: its SHA-256 is {now}, and {CHECKSUMS} has {recorded}"]
    replayed = KINDS[artifact.kind].check.recompute(artifact, workers, root)
    moved = moved_hashes(artifact)
    places = differences(artifact.data.as_json(), replayed, "data")
    return [*moved.values(), *(p for p in places if p.partition(": ")[0] not in moved)]


def differences(recorded: Any, replayed: Any, place: str) -> Iterator[str]:
    """Every place where two JSON values differ."""
    if isinstance(recorded, Mapping) and isinstance(replayed, Mapping):
        for key in sorted(recorded.keys() | replayed.keys()):
            pair = recorded.get(key, NOTHING), replayed.get(key, NOTHING)
            yield from differences(*pair, child(place, key))
    elif isinstance(recorded, list) and isinstance(replayed, list | tuple):
        if len(recorded) != len(replayed):
            yield f"{place}: {len(recorded)} recorded, {len(replayed)} when played again"
        for index, (old, new) in enumerate(zip(recorded, replayed, strict=False)):
            yield from differences(old, new, child(place, index))
    elif recorded != replayed:
        yield f"{place}: recorded {_short(recorded)}, played again {_short(replayed)}"


def child(place: str, key: str | int) -> str:
    """The name of the part of `place` under `key`, such as data.log[3]."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not key.isidentifier():
        return f"{place}[{key!r}]"
    return f"{place}.{key}" if place else key


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


# Fingerprints ------------------------------------------------------------------------------------


def moved_hashes(artifact: Artifact) -> dict[str, str]:
    """What is wrong with each fingerprint in `artifact` that is not today's, by its place."""
    return {
        place: f"{place}: recorded {recorded!r}, but today's code has {today!r}: what was measured"
        " is not what this code does"
        for place, recorded, today in read_hashes(artifact)
        if recorded != today
    }


def read_hashes(artifact: Artifact) -> Iterator[tuple[str, str, str]]:
    """Each fingerprint in `artifact`: its place, its value, and that of today's code.

    Raises ValueError where a row names a task or policy that is not there.
    """
    data = artifact.data.as_json()
    for i, row in enumerate(data.get("rows", ())):
        if "hashes" in row:
            for name, now in hashes(Cell(row["task"], row["policy"])).items():
                yield f"data.rows[{i}].hashes.{name}", row["hashes"][name], now
    if of_models := KINDS[artifact.kind].model_hashes():
        for model, source in data["models"].items():
            for name, now in of_models.items():
                yield child(child("data.models", model), name), source[name], now


# Games that are played again --------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """The first episodes of a row as recorded and as replayed; of a model, on which CPUs."""

    cell: Cell
    seeds: Sequence[int]
    recorded: Columns
    replayed: Columns
    cpu_then: str = ""
    cpu_now: str = ""

    def compare(self) -> tuple[str, list[str]]:
        """The verdict on a model in words, and the faults: none where the games agree.

        On the kind of CPU that recorded them every digit must come out. Elsewhere bf16 is rounded
        in another way and a game may part from the recorded one; there the mean grade must not
        differ (paired, 95 % interval). The same holds where several kinds of CPU played a model's
        games, since an artifact does not say which of them played a game.
        """
        place = f"data.episodes[{self.cell.task!r}][{self.cell.policy!r}]"
        faults = list(differences(self.recorded, self.replayed, place))
        if not faults or self.cpu_then == self.cpu_now:
            return "to the last digit", faults
        then, now = (np.array(side["grade"]) for side in (self.recorded, self.replayed))
        difference, low, high = paired_difference(now, then)
        is_one = self.cpu_now in kinds_of_cpu(self.cpu_then)
        where = "one of its CPUs" if is_one else "another CPU"
        verdict = f"grades differ by {difference:+.3f} [{low:+.3f}, {high:+.3f}] on {where}"
        return verdict, [] if low <= 0 <= high else faults


def verify_models(task_name: str) -> Iterator[Sample]:
    """Each trained stage's first games on a task, played again by the adapters that are kept.

    Raises ArtifactError, and ValueError for a task that was not played.
    """
    artifact = load(comparison.COMPARISONS[game_of(task_name).name]().file)
    compared = comparison.read_comparison(artifact)
    yield from replay_stages(compared, artifact.data.as_json(), task_name)


def replay_stages(
    compared: comparison.Comparison, recorded: Mapping[str, Any], task_name: str
) -> Iterator[Sample]:
    """The first batch of each training stage, bare, on a task; ValueError where none played it."""
    episodes, seeds_of = recorded["episodes"], compared.cells()
    stages = [name for name in compared.stages if name in episodes.get(task_name, ())]
    if not stages:
        raise ValueError(f"no model was played on {task_name!r}; tasks are {', '.join(episodes)}")
    for name in stages:
        seeds, player = seeds_of[task_name, name][: compared.batch], player_spec(name)
        yield Sample(
            Cell(task_name, name),
            seeds,
            take_first(episodes[task_name][name], len(seeds)),
            play_model(get_task(task_name), player, seeds),
            recorded["models"][player.weights]["cpu"] if player.weights else "",
            load_once(player.weights).cpu if player.weights else "",
        )


def cells(artifact: Artifact) -> dict[Cell, Columns]:
    """The recorded columns of an evaluation or a model comparison, by row.

    Raises ValueError for an artifact of another kind.
    """
    by_task = getattr(artifact.data, "episodes", None)
    if not isinstance(by_task, dict):
        raise ValueError(f"{artifact.file} holds no rows of episodes that can be sampled")
    by_task = artifact.data.as_json()["episodes"]
    if artifact.kind.startswith("arena/"):
        by_task = by_task[game_of(artifact.config["tasks"][0]).others]
    return comparison.flat(by_task)


def needs_weights(policy: str) -> bool:
    """Whether a language model plays the row, which takes seconds per game."""
    return is_model(policy) and bool(player_spec(policy).weights)


def replay_row(
    artifact: Artifact,
    cell: Cell,
    episodes: int,
    sits: Callable[[Task, str], Callable[[int], Policy]] = sit,
) -> Sample:
    """Play the first `episodes` of a row again, one at a time; only columns of both sides.

    `sits` gives the policy of that name in the game of each seed where another than that of
    `players.py` is to play, such as a language model that a page has loaded. Raises KeyError for a
    row that is not recorded.
    """
    recorded = take_first(cells(artifact)[cell], episodes)
    seeds = SPLITS[artifact.config.get("split", "holdout")][: len(recorded["grade"])]
    replayed = json.loads(json.dumps(play_cell(cell, seeds, sits)))  # as a file has it
    recorded = {name: values for name, values in recorded.items() if name in replayed}
    return Sample(cell, seeds, recorded, {name: replayed[name] for name in recorded})
