"""Artifacts on disk and what belongs to a record.

`store.py` loads, saves and keeps checksums and provenance, `kinds.py` lists files and
kinds, `schemas/` has the types of their data, `seeds.py` the splits.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")
PRINTED = 100  # rows of a table at most


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, by the names in its first line."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def check_least(settings: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Raise ValueError for a whole number below the `least` of its name, 1 of all others."""
    for name, value in settings.items():
        if type(value) is int and value < (lowest := least.get(name, 1)):
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} is a whole number of at least {lowest}, not {value}")


def progress(items: Iterable[T], total: int, about: str, unit: str) -> Iterable[T]:
    """The `items`, of which there are `total`, while progress is shown on standard error."""
    interval = 0.1 if sys.stderr.isatty() else 10.0
    return tqdm(items, about, total, leave=False, unit=unit, mininterval=interval)


def rows_in(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The first rows of each table in a result, without lists in them and fingerprints."""
    for table in data.values():
        if isinstance(table, list):
            for row in [row for row in table if isinstance(row, Mapping)][:PRINTED]:
                shown = (name for name in row if not isinstance(row[name], list))
                yield {name: row[name] for name in shown if name != "hashes"}


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Rows as lines of text: aligned columns, with a line of names where the columns change."""
    names: Sequence[str] = ()
    for row in rows:
        if list(row) != names:
            names = list(row)
            yield "  ".join(f"{name:>12}" for name in names)
        yield "  ".join(f"{text(value):>12}" for value in row.values())


def text(value: Any) -> str:
    """A value of a row in few characters; of what has an interval, the mean [low, high]."""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping) and {"mean", "low", "high"} <= value.keys():
        return f"{value['mean']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, Mapping):
        return " ".join(f"{name} {text(x)}" for name, x in value.items())
    return "–" if value is None else str(value)
