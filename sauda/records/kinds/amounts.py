"""How much `verify` has to replay or recompute for some kinds, from config and data."""

from collections.abc import Mapping
from typing import Any

from sauda.records.schemas.training import Selector

Config = Mapping[str, Any]


def episodes_in_rows(config: Config, data: Any) -> int:
    """Episodes of all rows."""
    return sum(row.n for row in data.rows)


def scripted_games(config: Config, data: Any) -> int:
    """Games of the rows for which no language model wrote a token."""
    return sum(row.n for row in data.rows if not row.tokens)


def selector_episodes(config: Config, data: Selector) -> int:
    """Training episodes with the expert's at the same seeds, and the evaluation of every arm."""
    return 2 * len(data.curve) + sum(row.n * len(row.arms) for row in data.final)
