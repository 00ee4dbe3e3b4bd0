"""Play an artifact again and compare, digit by digit.

Each kind has a function that returns the data as it should be; what differs is named by its place.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sauda.artifact import Artifact, digest, entry, load
from sauda.evaluate import SPLITS, Config, play_cells, row
from sauda.record import replayed
from sauda.reproduce import reproduction


def verify(file: str, workers: int = 2) -> list[str]:
    """What in `file` does not come out again, one sentence a place; empty where all of it does.

    Raises ArtifactError for a file that is missing or malformed.
    """
    artifact = load(file)
    return list(differences(artifact.data, _AGAIN[artifact.kind](artifact, workers), "data"))


def differences(recorded: Any, again: Any, place: str) -> Iterator[str]:
    """Every place where two JSON values differ."""
    if isinstance(recorded, Mapping) and isinstance(again, Mapping):
        for key in recorded.keys() | again.keys():
            here = f"{place}.{key}" if key.isidentifier() else f"{place}[{key!r}]"
            yield from differences(recorded.get(key, _NOTHING), again.get(key, _NOTHING), here)
    elif isinstance(recorded, list) and isinstance(again, list | tuple):
        if len(recorded) != len(again):
            yield f"{place}: {len(recorded)} recorded, {len(again)} when played again"
        for index, (old, new) in enumerate(zip(recorded, again, strict=False)):
            yield from differences(old, new, f"{place}[{index}]")
    elif recorded != again:
        yield f"{place}: recorded {recorded!r:.60}, played again {again!r:.60}"


_NOTHING = "nothing"


def _evaluation(artifact: Artifact, workers: int) -> Mapping[str, Any]:
    """Every episode played again, and every row computed again from the recorded columns."""
    names = {"tasks", "policies", "split", "episodes", "baseline"}
    config = Config(**{name: _tuple(artifact.config[name]) for name in names})
    cells = [(t, p) for t in config.tasks for p in config.policies]
    seeds = SPLITS[config.split][: config.episodes]
    again = dict(zip(cells, play_cells(cells, seeds, workers), strict=True))
    recorded = {(t, p): artifact.data["episodes"][t][p] for t, p in cells}
    return {
        "ends": artifact.data["ends"],
        "rows": [row(*cell, recorded, config.baseline) for cell in cells],
        "episodes": {t: {p: again[t, p] for p in config.policies} for t in config.tasks},
    }


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _episodes(artifact: Artifact, workers: int) -> Mapping[str, Any]:
    return {"episodes": [replayed(episode) for episode in artifact.data["episodes"]]}


def _reproduction(artifact: Artifact, workers: int) -> Mapping[str, Any]:
    return reproduction()


def _published(artifact: Artifact, workers: int) -> Mapping[str, Any]:
    """Published figures cannot be played; each must still be the one that was sealed."""
    figures = []
    for figure in artifact.data["figures"]:
        sealed = artifact.made["digests"].get(figure["id"])
        changed = f"another content than the one sealed under {figure['id']}"
        figures.append(figure if digest(figure) == sealed else changed)
    return {"figures": figures}


def _bench(artifact: Artifact, workers: int) -> Mapping[str, Any]:
    """A speed does not come out twice; only the medians must follow from the recorded samples."""
    from sauda.bench import medians

    return medians(artifact.data)


_AGAIN: Mapping[str, Callable[[Artifact, int], Mapping[str, Any]]] = {
    "evaluation/1": _evaluation,
    "episodes/1": _episodes,
    "reproduction/1": _reproduction,
    "published/1": _published,
    "bench/1": _bench,
}


def describe(file: str) -> str:
    """What verifying this file means, for people."""
    return {
        "evaluation/1": "all episodes played again, all rows computed again",
        "episodes/1": "every move played again",
        "reproduction/1": "compared again from the two artifacts it rests on",
        "published/1": "every figure is the one that was sealed",
        "bench/1": "medians follow from the recorded samples",
    }[entry(file).kind]
