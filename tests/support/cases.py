"""Cases that are data: the files of tests/cases."""

import csv
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"


def rows(file: str) -> list[dict[str, str]]:
    """The rows of `file` by the names of its columns, in order."""
    with (CASES / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def cases(file: str, check: str) -> list[tuple[str, ...]]:
    """The other columns of each row of `file` whose first names `check`, in order."""
    with (CASES / file).open(encoding="utf-8", newline="") as lines:
        return [tuple(row) for first, *row in csv.reader(lines) if first == check]


def each(file: str, check: str) -> pytest.MarkDecorator:
    """Runs a test with every `text` of `file` for `check` and what to `expect` of it."""
    return pytest.mark.parametrize(("text", "expect"), cases(file, check))
