"""Artifacts on disk and what belongs to a record.

`store.py` loads, saves and keeps checksums and provenance, `schemas/base.py` holds what result
types share, `seeds.py` the splits.
"""

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")


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
