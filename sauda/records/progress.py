"""Progress of a long computation: a bar on a terminal, elsewhere at most a line in ten seconds."""

import sys
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def progress(items: Iterable[T], total: int, about: str, unit: str) -> Iterable[T]:
    """The `items`, of which there are `total`, while progress is shown on standard error."""
    interval = 0.1 if sys.stderr.isatty() else 10.0
    return tqdm(items, about, total, leave=False, unit=unit, mininterval=interval)
