"""The players of a model comparison: names and colours, rows, what one gains on another.

A wrapper around no model stands in a row of its own, so that what the wrapper scores is not counted
as the model's.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sauda.players import LAB, METHODS, ORACLE, PLANNERS, SCRIPTS, SERVED, is_model
from sauda.records.schemas.base import Interval
from sauda.records.schemas.evaluation import ArenaRow, BazaarRow
from sauda.records.store import Artifact
from sauda.statistics import exact_interval, paired_difference

FILE = "evaluation/model-comparison.json"
LAB_FILE = "evaluation/arena-model-comparison.json"
MARKET = "bazaar/"  # how the open market's tasks begin
TRAINED = (SERVED, LAB)  # the stages that the page plays with
FORM = "z.1%"  # of grades: percent of what could be won
GAIN = "+z.1%"  # of differences of grades, in percentage points
UNINFORMED_SCRIPTS = ("expert", *SCRIPTS)  # they know no more than the model


def series_role(name: str) -> str:
    """The key of `SERIES` that a policy is drawn as: its last training stage, or what it is."""
    if name == ORACLE:
        return "oracle"
    if name in PLANNERS:
        return "buyer"
    if not is_model(name) or name.startswith("null"):
        return "scripted"
    stages = (part.partition("-")[0] for part in name.split("+"))
    return next((METHODS[stage] for stage in stages if stage in METHODS), "base")


def weights(comparison: Artifact) -> str:
    """The weights and adapters of every model in a comparison."""
    phrases = []
    for model in comparison.data.models.values():
        base, _, adapter = model.sha256.partition("+")
        of_stage = f" with adapter {adapter[:12]}" if adapter else ""
        phrases.append(f"{model.source}, weights {base[:12]}{of_stage}")
    return "; ".join(phrases)


# Rows of a comparison ----------------------------------------------------------------------------

Rows = Mapping[str, BazaarRow | ArenaRow]  # by policy


def rows_by_policy(comparison: Artifact, task: str) -> Rows:
    """The rows of one task, by policy."""
    return {row.policy: row for row in comparison.data.rows if row.task == task}


def bounds(comparison: Artifact) -> Mapping[str, BazaarRow]:
    """The row of the oracle, which knows its seller, by task."""
    return {row.task: row for row in comparison.data.rows if row.policy == ORACLE}


def best_script(rows: Rows) -> tuple[str, float]:
    """Name and mean grade of the best script that knows no more than the model, as all labs do."""
    scripts = [
        name
        for name, row in rows.items()
        if name in UNINFORMED_SCRIPTS or (isinstance(row, ArenaRow) and not is_model(name))
    ]
    best = max(scripts, key=lambda name: rows[name].grade.mean)
    return best, rows[best].grade.mean


class Lead(NamedTuple):
    """What one player scores more than another on the seeds that both played."""

    n: int
    first: float  # mean grades on these seeds
    second: float
    gain: Interval


def lead_of(first: Sequence[float], second: Sequence[float]) -> Lead:
    """The lead of the first's grades over the second's, one per seed from the first seed."""
    n = min(len(first), len(second))
    grades, other_grades = np.array(first[:n]), np.array(second[:n])
    gain = exact_interval(paired_difference(grades, other_grades))
    return Lead(n, float(grades.mean()), float(other_grades.mean()), Interval(**gain))


def gain_on_same_seeds(comparison: Artifact, task: str, policy: str, rival: str) -> Lead | None:
    """What a policy scores more than its rival; None where one of them did not play."""
    played = comparison.data.episodes[task]
    if policy not in played or rival not in played:
        return None
    return lead_of(played[policy].grade, played[rival].grade)
