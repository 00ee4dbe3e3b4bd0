"""Every fingerprint that an artifact records, beside that of today's code.

Needs no weights.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from sauda.experiments.evaluate import Cell, hashes
from sauda.games import ARENA, BAZAAR, game_of
from sauda.llm.sources import prompt_hashes
from sauda.records.kinds import KINDS
from sauda.records.store import Artifact


@dataclass(frozen=True)
class RecordedHash:
    """A fingerprint in an artifact's data: the keys that lead to it, its value, and today's."""

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
            f"{self.place}: recorded {self.recorded!r}, but today's code has "
            f"{self.today!r}: what was measured is not what this code does"
        )


def child(place: str, key: str | int) -> str:
    """The name of the part of `place` under `key`, such as data.log[3]."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not key.isidentifier():
        return f"{place}[{key!r}]"
    return f"{place}.{key}" if place else key


def recorded_hashes(artifact: Artifact) -> list[RecordedHash]:
    """Each fingerprint in `artifact`; none for a kind that records none.

    Raises ValueError where a row names a task or policy that is not there.
    """
    data = artifact.data.as_json()
    models = KINDS[artifact.kind].hashes_of_models()
    places = [*_of_rows(data), *_of_models(data, models)]
    return [RecordedHash(keys, _at(data, keys), today) for keys, today in places]


def bazaar_prompt() -> dict[str, str]:
    """The fingerprints of what writes and reads a buyer's or seller's prompt."""
    return prompt_hashes(BAZAAR)


def arena_prompt() -> dict[str, str]:
    """The fingerprints of what writes and reads a lab's prompt."""
    return prompt_hashes(ARENA)


def _of_rows(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for i, row in enumerate(data.get("rows", ())):
        for name, today in _row_hashes(row).items() if "hashes" in row else ():
            yield ("rows", i, "hashes", name), today


def _row_hashes(row: Mapping[str, Any]) -> dict[str, str]:
    others = row.get("others", game_of(row["task"]).others["holdout"][0])
    return hashes(Cell(others, row["task"], row["policy"]))


def _of_models(
    data: Mapping[str, Any], today: Mapping[str, str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for model in data["models"] if today else ():
        yield from ((("models", model, name), value) for name, value in today.items())


def _at(data: Any, keys: tuple[str | int, ...]) -> Any:
    return reduce(lambda part, key: part[key], keys, data)
