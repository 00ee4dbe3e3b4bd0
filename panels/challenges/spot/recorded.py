"""The recorded pairs: games of the two stages at one seed in which both buyers make moves.

`recorded.json` holds them; `record.py` wrote it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sauda.records.seeds import SPLITS

FILE = Path(__file__).with_name("recorded.json")
TASK = "bazaar/open"
SEEDS = SPLITS["holdout"][:16]
LEAST = 6  # moves of each buyer: fewer show no way of bargaining
Row = Mapping[str, Any]  # a game of a language model as JSON, with its replies


@dataclass(frozen=True)
class Pair:
    """A seed's game of the untrained and of the trained buyer."""

    untrained: Row
    trained: Row

    @property
    def seed(self) -> int:
        return self.trained["seed"]

    @property
    def rows(self) -> tuple[Row, Row]:
        return self.untrained, self.trained


def both_move(pair: Pair) -> bool:
    """Whether each buyer makes LEAST moves or more: what a recorded pair is chosen by."""
    made = [
        sum(move["agent"] == "buyer" and move["action"] != "forfeit" for move in row["moves"])
        for row in pair.rows
    ]
    return min(made) >= LEAST


@cache
def data() -> Mapping[str, Any]:
    """The file: both players' names, the seeds played, the weights, the pairs chosen of them."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def pairs_of(untrained: str, trained: str) -> Sequence[Pair]:
    """The recorded pairs of two players in which both move; none of other players."""
    if data()["players"] != [untrained, trained]:
        return []
    return [pair for rows in data()["pairs"] if both_move(pair := Pair(*rows))]
