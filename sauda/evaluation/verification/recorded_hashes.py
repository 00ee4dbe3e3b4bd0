"""Every hash of code that an artifact records, beside the hash of the same code today.

Needs no weights and plays nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from sauda.evaluation import arena_model_comparison as arena_ladder
from sauda.evaluation import model_comparison as ladder
from sauda.evaluation.arena_evaluate import DRAWN
from sauda.evaluation.arena_evaluate import opponents_hash as arena_opponents_hash
from sauda.evaluation.evaluate import opponents_hash, policy_hash, task_hash
from sauda.evaluation.seller.quality import word_hashes
from sauda.llm.games import arena as arena_llm
from sauda.llm.games import bazaar as llm
from sauda.records.seal import child
from sauda.records.store import Artifact

ARENA = ("arena/1", "arena_ladder/1")
WITH_ROWS = ("evaluation/1", "ladder/1", *ARENA)  # of which each has hashes
WITH_MODELS: Mapping[
    str, Callable[[], dict[str, str]]
] = {  # what is hashed for each of their models
    "ladder/1": lambda: ladder.speech_hashes(llm),
    "before_after/1": lambda: ladder.speech_hashes(llm),
    "arena_ladder/1": lambda: ladder.speech_hashes(arena_llm),
    "seller_quality/1": word_hashes,
}
KINDS = {*WITH_ROWS, *WITH_MODELS}  # of artifacts that record hashes of code


@dataclass(frozen=True)
class RecordedHash:
    """A hash in an artifact's data: the keys that lead to it, its value, and today's."""

    keys: tuple[str | int, ...]
    recorded: str
    today: str

    @property
    def place(self) -> str:
        """Where it stands, such as data.rows[0].hashes.task."""
        return reduce(child, self.keys, "data")

    @property
    def fault(self) -> str:
        """What is wrong with it, in a sentence; "" where nothing is."""
        if self.recorded == self.today:
            return ""
        return (
            f"{self.place}: recorded {self.recorded!r}, but today's code has the hash "
            f"{self.today!r}: what was measured is not what this code does"
        )


def recorded_hashes(artifact: Artifact) -> list[RecordedHash]:
    """Each hash in `artifact`; none for a kind that records no hashes.

    Raises ValueError where a row names a task or policy that is not there.
    """
    data = artifact.data.as_json() if artifact.kind in KINDS else {}
    places = [*_of_rows(artifact.kind, data), *_of_models(artifact.kind, data)]
    return [RecordedHash(keys, _at(data, keys), today) for keys, today in places]


def _of_rows(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for i, row in enumerate(data["rows"] if kind in WITH_ROWS else ()):
        for name, today in _row_hashes(kind, row).items():
            yield ("rows", i, "hashes", name), today


def _row_hashes(kind: str, row: Mapping[str, Any]) -> dict[str, str]:
    task_name, policy_name = row["task"], row["policy"]
    models = {"ladder/1": ladder, "arena_ladder/1": arena_ladder}
    model = models[kind].model_hash(policy_name) if kind in models else ""
    return {
        "task": task_hash(task_name),
        "opponents": arena_opponents_hash(task_name, row.get("others", DRAWN))
        if kind in ARENA
        else opponents_hash(task_name),
        "policy": model or policy_hash(task_name, policy_name),
    }


def _of_models(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if kind in WITH_MODELS:
        today = WITH_MODELS[kind]()
        for model in data["models"]:
            yield from ((("models", model, name), value) for name, value in today.items())


def _at(data: Any, keys: tuple[str | int, ...]) -> Any:
    return reduce(lambda part, key: part[key], keys, data)
