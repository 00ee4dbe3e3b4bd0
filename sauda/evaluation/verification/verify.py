"""Check an artifact: first its checksum, then what can be computed again, digit by digit.

Each kind has a function that returns the data as it should be; what differs is named by its place.
The entry of its kind names it and says in words what is checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sauda.evaluation.market.tournament import report
from sauda.evaluation.verification.recorded_hashes import child, recorded_hashes
from sauda.experiments import comparison
from sauda.games import game_of
from sauda.llm.sources import kinds_of_cpu
from sauda.records.kinds import KINDS
from sauda.records.store import CHECKSUMS, ROOT, checksums, load, sha256
from sauda.statistics import paired_difference

TOURNAMENT = "tournament"


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
    again = KINDS[artifact.kind].check.recompute()(artifact, workers, root)
    hashes = {hash_.place: hash_.fault for hash_ in recorded_hashes(artifact) if hash_.fault}
    moved = differences(artifact.data.as_json(), again, "data")
    others = [place for place in moved if place.partition(": ")[0] not in hashes]
    return [*hashes.values(), *others]


@dataclass(frozen=True)
class Played:
    """Result of replaying a model's games; `faults` is empty where they agree."""

    task: str
    policy: str
    n: int
    verdict: str
    faults: list[str]


def verify_models(tasks: Sequence[str], root: Path = ROOT) -> Iterator[Played]:
    """Each trained stage's first games on some tasks, played again by the adapters that are kept.

    The task "tournament" stands for the first games of each pair of the tournament with a model.

    On the kind of CPU that recorded them every digit must come out. Elsewhere bf16 is rounded in
    another way and a game may part from the recorded one; there the mean grade must not differ
    (paired, 95 % interval). So it is for a model whose games several kinds of CPU played, since an
    artifact does not say which of them played a game. Raises ArtifactError, and ValueError for a
    task that was not played.
    """
    for pair in _stages_again(tasks, root):
        place = f"data.episodes[{pair.task!r}][{pair.policy!r}]"
        faults = list(differences(pair.recorded, pair.again, place))
        n = len(pair.again["grade"])
        played = Played(pair.task, pair.policy, n, "to the last digit", faults)
        if faults and pair.cpu_then != pair.cpu_now:
            then, now = (np.array(side["grade"]) for side in (pair.recorded, pair.again))
            difference, low, high = paired_difference(now, then)
            where = (
                "one of its CPUs" if pair.cpu_now in kinds_of_cpu(pair.cpu_then) else "another CPU"
            )
            verdict = f"grades differ by {difference:+.3f} [{low:+.3f}, {high:+.3f}] on {where}"
            faults = [] if low <= 0 <= high else faults
            played = replace(played, verdict=verdict, faults=faults)
        yield played


def _stages_again(tasks: Sequence[str], root: Path) -> Iterator[comparison.Replayed]:
    """Of each task in the comparison of its game; of the models of the tournament by its name."""
    for task_name in tasks:
        if task_name == TOURNAMENT:
            artifact = load(f"{TOURNAMENT}.json", root)
            settled = report.Config(**artifact.settings())
            yield from report.models_again(settled, artifact.data.as_json())
            continue
        artifact = load(comparison.COMPARISONS[game_of(task_name).name]().file, root)
        recorded = artifact.data.as_json()
        compared = comparison.recorded_comparison(artifact)
        yield from comparison.replay_stages(compared, recorded, [task_name])


def differences(recorded: Any, again: Any, place: str) -> Iterator[str]:
    """Every place where two JSON values differ."""
    if isinstance(recorded, Mapping) and isinstance(again, Mapping):
        for key in sorted(recorded.keys() | again.keys()):
            pair = recorded.get(key, _NOTHING), again.get(key, _NOTHING)
            yield from differences(*pair, child(place, key))
    elif isinstance(recorded, list) and isinstance(again, list | tuple):
        if len(recorded) != len(again):
            yield f"{place}: {len(recorded)} recorded, {len(again)} when played again"
        for index, (old, new) in enumerate(zip(recorded, again, strict=False)):
            yield from differences(old, new, child(place, index))
    elif recorded != again:
        yield f"{place}: recorded {_short(recorded)}, played again {_short(again)}"


_NOTHING = "nothing"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
