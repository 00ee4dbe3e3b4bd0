"""What the schedule, a specialist and its own role are worth in the loss of role runs.

Two runs are compared on the hold-out dialogues that both have measured. The loss of a dialogue is
the mean over its supervised tokens; differences are paired by dialogue, and the interval resamples
dialogues.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sauda.experiments.base import experiment
from sauda.experiments.runs import RoleRun
from sauda.records.schemas.base import Interval, Record, Row, Rows
from sauda.records.store import ROOT, digest, load
from sauda.statistics import exact_interval, paired_difference

FILE = "roles.json"
SPECIALISTS, GENERALIST = ("buyer", "seller"), "generalist"
CAUSES = {"cycles": "one-cycle", "layers": "one-rate"}  # of the schedule, with their controls
IN_WORDS = {"cycles": "Two cycles instead of one", "layers": "Rates by layer instead of one rate"}
NAMES = (
    *(f"roles-{role}{end}" for role in (*SPECIALISTS, GENERALIST) for end in ("", "-control")),
    *(f"roles-{GENERALIST}-{control}" for control in CAUSES.values()),
)
Runs = Mapping[str, RoleRun]


class RoleComparison(Record):
    """What the schedule, a specialist and its own role are worth, in loss on hold-out dialogues."""

    runs: dict[str, str]  # digest of the hold-out losses of each run, by name
    contrasts: Rows  # one per question, run and role


@experiment(
    FILE,
    RoleComparison,
    method="recomputed",
    checks="every difference and interval, from the losses of the runs",
)
def roles(runs: tuple[str, ...] = NAMES, *, root: Path = ROOT) -> dict[str, Any]:
    """The data of the artifact from the recorded runs.

    Raises ArtifactError, with the command, where a run is missing, and ValueError where two runs
    did not measure the same dialogues.
    """
    return compare({name: load(f"training/{name}.json", root).data for name in runs})


def compare(runs: Runs) -> dict[str, Any]:
    """The comparison of the runs in NAMES: a contrast per question, run and role."""
    asked = []
    for role in SPECIALISTS:
        asked.append(("schedule", f"roles-{role}", f"roles-{role}-control", role))
        asked.append(("schedule", "roles-generalist", "roles-generalist-control", role))
        for cause, control in CAUSES.items():
            asked.append((cause, "roles-generalist", f"roles-generalist-{control}", role))
    asked += [("specialist", f"roles-{role}", "roles-generalist", role) for role in SPECIALISTS]
    for role, other in zip(SPECIALISTS, SPECIALISTS[::-1], strict=True):
        asked.append(("off_role", f"roles-{other}", f"roles-{role}", role))
    digests = {name: digest([row.as_json() for row in run.holdout]) for name, run in runs.items()}
    return {"runs": digests, "contrasts": [contrast(runs, *one) for one in asked]}


def contrast(runs: Runs, question: str, run: str, baseline: str, role: str) -> dict[str, Any]:
    """One row: the loss of `run` on the turns of `role` less that of `baseline`, by dialogue.

    Raises ValueError where they did not measure the same dialogues.
    """
    ours, theirs = (
        [row for row in runs[name].holdout if row.role == role] for name in (run, baseline)
    )
    if [(d.dialogue, d.tokens) for d in ours] != [(d.dialogue, d.tokens) for d in theirs]:
        raise ValueError(f"{run} and {baseline} did not measure the same dialogues of the {role}")
    losses, others = (np.array([d.nats / d.tokens for d in rows]) for rows in (ours, theirs))
    return {
        "question": question,  # schedule, cycles, layers, specialist or off_role
        "run": run,
        "baseline": baseline,
        "role": role,  # whose turns are judged
        "n": len(ours),  # dialogues
        "tokens": sum(d.tokens for d in ours),
        "loss": float(losses.mean()),  # over dialogues, nats per token
        "baseline_loss": float(others.mean()),
        "difference": exact_interval(paired_difference(losses, others)),
    }


# In words ----------------------------------------------------------------------------------------


def schedule_verdict(contrasts: Sequence[Row]) -> str:
    """Whether the loss is lower with the schedule, cycles and rates by layer, by the intervals.

    "Yes" where it is in all comparisons, "No" where it is in none and higher in some.
    """
    rows = [row.difference for row in contrasts if row.question == "schedule"]
    lower, higher = (sum(row.high < 0 for row in rows), sum(row.low > 0 for row in rows))
    rest = len(rows) - lower - higher
    opening = "No" if higher else "Not shown"
    if lower:
        opening = "Partly" if higher or rest else "Yes"
    directions = [f"lower in {_count(lower, len(rows))}"] if lower else []
    directions += [f"higher in {_count(higher, len(rows))}"] if higher else []
    clauses = [f"with the schedule, the loss was {' and '.join(directions)}"] if directions else []
    clauses += [f"in {_count(rest, len(rows))} the interval holds 0"] if rest else []
    return f"{opening}: {'; '.join(clauses)}."


def cause_sentences(contrasts: Sequence[Row]) -> Iterator[str]:
    """A sentence for each cause in the schedule: by how much it changes the generalist's loss."""
    for cause, words in IN_WORDS.items():
        changes = [
            f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}] on the {row.role}'s turns"
            f" ({_direction(gap)})"
            for row in contrasts
            if row.question == cause
            for gap in [row.difference]
        ]
        if changes:
            yield f"{words} change the loss of the generalist by {' and '.join(changes)}."


def _direction(gap: Interval) -> str:
    if gap.high < 0:
        return "lower"
    return "higher" if gap.low > 0 else "the interval holds 0"


def _count(count: int, n: int) -> str:
    """So many of n comparisons, in words."""
    return f"{f'all {n}' if count == n else f'{count} of {n}'} comparisons with a control"
