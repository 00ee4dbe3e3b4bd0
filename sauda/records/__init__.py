"""Artifacts on disk and what belongs to a record.

`store.py` loads, saves and keeps checksums and provenance, `schemas/base.py` holds what result
types share, `seeds.py` the splits, and `fingerprint.py` tells by play whether two rows mean the
same game.
"""

import csv
from pathlib import Path


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, by the names in its first line."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
