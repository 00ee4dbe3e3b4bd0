"""Our classic family against the published game: the same policies, tasks and number of seeds.

The published side was measured on that game's own code. The streams of chance differ, so figures
must agree within sampling error: z is the difference in standard errors of the difference, and
where neither side varies the figures must be equal to four decimals.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sauda.artifact import ROOT, Artifact, load
from sauda.stats import standard_error

MEASURED = "evaluation/classic-train.json"


def reproduction(root: Path = ROOT) -> dict[str, Any]:
    """The data of the reproduction artifact: one row a figure, and how many agree."""
    measured, published = load(MEASURED, root), load("published.json", root)
    rows = [
        comparison(measured, reference, metric)
        for reference in table(published, "reference-policy-table")
        for metric in ("surplus", "deal_rate")
    ]
    sampled = [r for r in rows if r["z"] is not None]
    return {
        "rows": rows,
        "agreement": {
            "figures": len(rows),
            "without_error": len(rows) - len(sampled),
            "without_error_equal": sum(r["equal"] for r in rows if r["z"] is None),
            "within_two": sum(abs(r["z"]) <= 2 for r in sampled),
            "within_three": sum(abs(r["z"]) <= 3 for r in sampled),
        },
    }


def table(published: Artifact, figure_id: str) -> list[dict[str, Any]]:
    """A published figure as one mapping a row; raises ValueError for an unknown id."""
    for figure in published.data["figures"]:
        if figure["id"] == figure_id:
            return [dict(zip(figure["columns"], row, strict=True)) for row in figure["rows"]]
    raise ValueError(f"published.json has no figure {figure_id!r}")


def comparison(measured: Artifact, reference: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """One published figure beside ours; standard errors are over deals, as in the source."""
    columns = measured.data["episodes"][f"classic/{reference['task']}"][reference["policy"]]
    closed = np.array([letter == "A" for letter in columns["end"]], dtype=float)
    values = np.asarray(columns["share"]) if metric == "surplus" else closed
    theirs = reference[metric]
    if metric == "surplus":
        their_error = reference["surplus_se"] or 0.0
    else:
        their_error = np.sqrt(theirs * (1 - theirs) / reference["episodes"])
    ours = float(values.mean())
    error = float(np.hypot(standard_error(values), their_error))
    exact = error < 1e-9
    return {
        "task": reference["task"],
        "policy": reference["policy"],
        "metric": metric,
        "published": theirs,
        "measured": round(ours, 6),
        "deals": len(values),
        "error": round(error, 6),
        "z": None if exact else round((ours - theirs) / error, 3),
        "equal": bool(round(ours, 4) == theirs),
    }
