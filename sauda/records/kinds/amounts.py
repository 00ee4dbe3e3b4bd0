"""How much `verify` has to replay or recompute for some kinds, from config and data."""

from collections.abc import Mapping
from typing import Any

from sauda.records.schemas.market.tournament import Profiles, Tournament

Config = Mapping[str, Any]


def episodes_in_rows(config: Config, data: Any) -> int:
    """Episodes of all rows."""
    return sum(row.n for row in data.rows)


def scripted_games(config: Config, data: Any) -> int:
    """Games of the rows for which no language model wrote a token."""
    return sum(row.n for row in data.rows if not row.tokens)


def tournament_games(config: Config, data: Tournament) -> int:
    """Games of all pairs without a language model."""
    models = tuple(data.models)
    scripts = (
        cell
        for cell in data.cells
        if not (cell.buyer.startswith(models) or cell.seller.startswith(models))
    )
    return sum(cell.n for cell in scripts)


def profile_games(config: Config, data: Profiles) -> int:
    """Games of all scripts, those with three kinds of signals included."""
    models = tuple(data.models)
    return sum(row.n + 3 * row.cues.n for row in data.rows if not row.player.startswith(models))
