"""What a model comparison shows, in sentences: gains of training, the wrapper's own share.

A wrapper around no model stands in a row of its own, so that what the wrapper wins is not counted
as the model's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from panels.results.model_labels import BASE, policy_label
from panels.ui.tables import with_interval
from sauda.experiments.comparison import (
    BAYESIAN,
    LAB,
    LISTENER,
    ORACLE,
    OURS,
    SCRIPTS,
    TUNED,
    ArenaModelRow,
    GapClosed,
    ModelRow,
)
from sauda.llm.model import NULL
from sauda.llm.registry import is_model
from sauda.policies import ZERO_GRADE
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact
from sauda.statistics import paired_difference

FORM = "z.3f"  # of grades
UNINFORMED_SCRIPTS = ("expert", *SCRIPTS)  # they know no more than the model

Rows = Mapping[str, ModelRow | ArenaModelRow]  # by policy


def rows_by_policy(comparison: Artifact, task: str) -> Rows:
    """The rows of one task, by policy."""
    return {row.policy: row for row in comparison.data.rows if row.task == task}


def best_script(rows: Rows) -> tuple[str, float]:
    """Name and mean grade of the best bazaar script that knows no more than the model."""
    return _best({name: rows[name] for name in UNINFORMED_SCRIPTS if name in rows})


def best_lab_script(rows: Rows) -> tuple[str, float]:
    """Name and mean grade of the best scripted lab; all of them see what the model sees."""
    return _best({name: row for name, row in rows.items() if not is_model(name)})


def _best(rows: Rows) -> tuple[str, float]:
    best = max(rows, key=lambda name: rows[name].grade.mean)
    return best, rows[best].grade.mean


def in_percent(share: GapClosed) -> tuple[str, str]:
    """A share of the gap closed, and its interval: "59%", "[46%, 72%]"."""
    return f"{share.share:.0%}", f"[{share.low:.0%}, {share.high:.0%}]"


# The bazaar --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """The stage that Sauda plays with, bare, on one task; figures are mean grades."""

    row: ModelRow
    base: float
    script: tuple[str, float]  # the best without hidden information
    gap_closed: GapClosed | None  # share of the gap from the base to the planner


def standing(comparison: Artifact, task: str) -> Standing | None:
    """Where Sauda stands on a task; None where it did not play."""
    rows = rows_by_policy(comparison, task)
    if OURS not in rows:
        return None
    shares = {(row.task, row.policy): row for row in comparison.data.gap_closed}
    base = rows[BASE].grade.mean
    return Standing(rows[OURS], base, best_script(rows), shares.get((task, OURS)))


def model_summary(comparison: Artifact, task: str) -> str:
    """What training brought on a task, and how much of the gap to the planner that closes."""
    place = standing(comparison, task)
    if place is None:
        return ""
    sentence = (
        f"Bare, {policy_label(place.row.policy)} scores"
        f" {with_interval(place.row.grade, FORM)} on n = {place.row.n} hold-out seeds, the"
        f" untrained base {place.base:{FORM}} and the best untuned script"
        f" {place.script[1]:{FORM}}"
    )
    if place.gap_closed is None:
        return f"{sentence}."
    share, interval = in_percent(place.gap_closed)
    return (
        f"{sentence}; that closes {share} {interval} of the gap from the base to the"
        f" {policy_label(LISTENER)}."
    )


def tuned_sentence(comparison: Artifact, task: str) -> str:
    """What the tuned script scores beside Sauda; "" where it did not play."""
    gain = gain_on_same_seeds(comparison, task, OURS, TUNED)
    if gain is None:
        return ""
    n, _, theirs, interval = gain
    place = "level with"
    if interval.low > 0:
        place = "less than"
    elif interval.high < 0:
        place = "more than"
    return (
        f"The script whose numbers did best in a search on training games scores {theirs:{FORM}},"
        f" {place} Sauda (Sauda less the script: {with_interval(interval, '+.3f')}, n = {n})."
    )


@dataclass(frozen=True)
class WrapperGain:
    """A wrapper's mean grade around a model and around no model, on the same seeds."""

    n: int
    wrapped: float
    alone: float
    interval: Interval  # of the difference


def wrapper_gain(comparison: Artifact, task: str, stage: str, wrapper: str) -> WrapperGain | None:
    """What a wrapper wins more around `stage` than around no model; None where one is missing."""
    wrapped, alone = f"{stage}+{wrapper}", f"{NULL}+{wrapper}"
    gain = gain_on_same_seeds(comparison, task, wrapped, alone)
    return None if gain is None else WrapperGain(*gain)


def gain_on_same_seeds(
    comparison: Artifact, task: str, policy: str, rival: str
) -> tuple[int, float, float, Interval] | None:
    """Seeds that both played, both mean grades and the difference; None where one is missing."""
    grades = {name: columns.grade for name, columns in comparison.data.episodes[task].items()}
    if policy not in grades or rival not in grades:
        return None
    n = min(len(grades[policy]), len(grades[rival]))
    first, second = np.array(grades[policy][:n]), np.array(grades[rival][:n])
    mean, low, high = paired_difference(first, second)
    gain = Interval(mean=mean, low=low, high=high)
    return n, float(first.mean()), float(second.mean()), gain


# The arena ---------------------------------------------------------------------------------------


def lab_summary(comparison: Artifact, task: str) -> str:
    """The grade of the last stage as a lab, beside the base and the best script."""
    rows = rows_by_policy(comparison, task)
    base, last = rows[BASE], rows[LAB]
    script, script_grade = best_lab_script(rows)
    sentences = [
        f"Bare, {policy_label(last.policy)} reaches {with_interval(last.grade, FORM)} on n ="
        f" {last.n} hold-out seeds, the {policy_label(base.policy)}"
        f" {base.grade.mean:{FORM}}, the best script, {policy_label(script)},"
        f" {script_grade:{FORM}}. A grade is the surplus over what"
        " the lab could have done alone, as a share of what its jobs are worth: below 0 it would"
        " have done better alone.",
        ZERO_GRADE,
    ]
    if constrained := rows.get(f"{base.policy}+constrained"):
        sentences.append(
            "Under a grammar that allows only the numbers of the options in its prompt, the"
            f" untrained base reaches {with_interval(constrained.grade, FORM)}."
        )
    return " ".join(sentences)


def references(artifact: Artifact, task: str) -> list[tuple[str, float]]:
    """Mean grades of the best script, the planners and the oracle, where they played."""
    rows = rows_by_policy(artifact, task)
    script, grade = best_script(rows)
    lines = [(f"best untuned script, {policy_label(script)}", grade)]
    others = [name for name in (BAYESIAN, LISTENER, ORACLE) if name in rows]
    return lines + [(policy_label(name), rows[name].grade.mean) for name in others]


def lab_references(artifact: Artifact, task: str) -> list[tuple[str, float]]:
    """The mean grade of the best scripted lab."""
    script, grade = best_lab_script(rows_by_policy(artifact, task))
    return [(f"best script, {policy_label(script)}", grade)]
