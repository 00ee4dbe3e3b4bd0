"""Rows of the seller's test: a criterion, its target, and a figure with its interval a side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sauda.statistics import RESAMPLES, wilson_interval

ASKS, CONTROL = "asks alone", "leaky control"
YARDSTICKS = (ASKS, CONTROL)  # columns that are no seller's words, and meet no target


def table_row(
    criterion: str,
    about: str,
    sides: Mapping[str, Mapping[str, Any]],
    target: str = "",
    published: float | None = None,
    test: str = "better",
) -> dict[str, Any]:
    return {
        "criterion": criterion,
        "about": about,
        "test": test,
        "target": target,
        "published": published,
        "sides": {
            side: figures
            | {"meets": None if side in YARDSTICKS else _meets(figures["mean"], target)}
            for side, figures in sides.items()
        },
    }


def _meets(value: float, target: str) -> bool | None:
    if not target:
        return None
    sign, limit = target.split()
    return value >= float(limit) if sign == "≥" else value <= float(limit)


def cell(n: int, of: str, figures: Sequence[float]) -> dict[str, Any]:
    named = zip(("mean", "low", "high"), figures, strict=True)
    return {"n": n, "of": of} | {name: round(float(value), 6) for name, value in named}


def of_games(hits: Sequence[bool]) -> dict[str, Any]:
    """A share of games, with its Wilson interval."""
    return cell(len(hits), "games", wilson_interval(sum(hits), len(hits)))


def of_texts(values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Mean over texts; bootstrapped over games, whose texts belong together.

    Where every text has the same 0 or 1, Wilson's interval over the games: no sample proves never.
    """
    flat = np.concatenate([np.asarray(v, float) for v in values])
    if np.ptp(flat) == 0 and flat[0] in (0, 1):
        figures = wilson_interval(int(flat[0]) * len(values), len(values))
    else:
        rng = np.random.default_rng(len(values))
        sums = np.array([[np.sum(v), len(v)] for v in values])
        n = len(values)
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ sums
        figures = (flat.mean(), *np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5]))
    return cell(len(flat), "texts", figures)
