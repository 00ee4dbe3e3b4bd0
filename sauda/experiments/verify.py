"""Check an artifact: its checksum, then what can be computed again, digit by digit.

`verify` repeats a whole file by the function that `kinds.csv` names, `verify_models` the first
games of language models. What differs is named by its place. Fingerprints that an artifact records
are compared with those of today's code, for which no weights are needed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from env import get_task
from sauda.experiments import comparison
from sauda.games import game_of
from sauda.llm.model import load_once
from sauda.played import Cell, Sample, hashes, play_model, take_first
from sauda.players import player_spec
from sauda.records import store
from sauda.records.kinds import KINDS


def verify(file: str, workers: int = 2, root: Path = store.ROOT) -> list[str]:
    """The faults of `file`, a sentence each: its checksum, and values that recompute differently.

    Empty where all of it is right. A file with another checksum is not replayed: its settings may
    be the part that was changed. Raises ArtifactError for a file that is missing or malformed.
    """
    artifact = store.load(file, root)
    recorded, now = store.checksums(root).get(file), store.sha256(root / file)
    if recorded is None:
        return [f"{file} has no line in {store.CHECKSUMS}; `make checksums` writes one"]
    if recorded != now:
        return [f"{file} was changed: its SHA-256 is {now}, and {store.CHECKSUMS} has {recorded}"]
    data, moved = artifact.data.as_json(), moved_hashes(artifact)
    replayed = KINDS[artifact.kind].recompute(artifact, workers, root)
    models = {name: value for name, value in data.items() if name == "models"}  # are not repeated
    places = store.differences(data, {**replayed, **models}, "data")
    return [*moved.values(), *(p for p in places if p.partition(": ")[0] not in moved)]


# Fingerprints ------------------------------------------------------------------------------------


def moved_hashes(artifact: store.Artifact) -> dict[str, str]:
    """What is wrong with each fingerprint in `artifact` that is not today's, by its place."""
    return {
        place: f"{place}: recorded {recorded!r}, but today's code has {today!r}: what was measured"
        " is not what this code does"
        for place, recorded, today in read_hashes(artifact)
        if recorded != today
    }


def read_hashes(artifact: store.Artifact) -> Iterator[tuple[str, str, str]]:
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
                yield store.child(store.child("data.models", model), name), source[name], now


# Games that are played again --------------------------------------------------------------------


def verify_models(task_name: str) -> Iterator[Sample]:
    """Each trained stage's first games on a task, played again by the adapters that are kept.

    Raises ArtifactError, and ValueError for a task that was not played.
    """
    artifact = store.load(comparison.COMPARISONS[game_of(task_name).name]().file)
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
