"""What buyers of the open market win while their prices come out with an error."""

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import heading, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short
from sauda.records.schemas.market.pilot import RobustRow
from sauda.records.store import Artifact

MIDDLE = 3.0  # the error at which differences are shown, percent of the limit


def robust_table(report: Artifact) -> Markup:
    """One row a task and policy, one column a price error."""
    errors = list(report.config["errors"])
    rows: dict[tuple[str, str], dict[float, RobustRow]] = {}
    for row in report.data.rows:
        rows.setdefault((row.task, row.policy), {})[row.error] = row
    return table(
        (
            "task",
            "policy",
            "n",
            *(f"{error:.0f} % error" for error in errors),
            "difference from the pilot",
        ),
        [
            (
                task,
                policy_label(policy),
                f"{cells[errors[0]].n:,}",
                *(with_interval(cells[error].grade) for error in errors),
                _gap(cells[MIDDLE]),
            )
            for (task, policy), cells in rows.items()
        ],
        caption=f"Mean grade on hold-out seeds by the error of its prices, % of the own limit; the "
        f"last column at {MIDDLE:.0f} %, paired by seed",
    )


def _gap(row: RobustRow) -> str:
    return "–" if row.less_pilot is None else with_interval(row.less_pilot, "+.3f")


def robust_sentence(report: Artifact) -> str:
    """What an error of 5 % costs the pilot and the belief buyer on the first task, as text."""
    task, worst = report.data.rows[0].task, max(report.config["errors"])
    grades = {
        (row.policy, row.error): row.grade.mean for row in report.data.rows if row.task == task
    }
    cost = {name: grades[name, 0.0] - grades[name, worst] for name in ("pilot", "belief")}
    return (
        f"In the {short(task)} an error of {worst:.0f} % costs the pilot {cost['pilot']:.3f} and"
        f" the belief buyer {cost['belief']:.3f}."
    )


def build() -> None:
    """Lay out the section. Called inside the Results tab."""
    gr.HTML(
        heading(
            "What price errors cost",
            "A language model copies a policy with errors, so each policy is measured with errors.",
        )
    )
    report, missing = load_or_say("robustness.json")
    if report is None:
        gr.HTML(missing)
        return
    gr.HTML(Markup("<p>{}</p>").format(robust_sentence(report)))
    gr.HTML(robust_table(report))
    gr.HTML(provenance(report, f"n = {report.config['episodes']:,} games a row"))
