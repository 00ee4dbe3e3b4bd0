"""What every question of Results lays out: verdict, folded details, its figure's numbers as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr
import pandas as pd
from markupsafe import Markup

from panels.results.questions.verdict import Verdict, verdict_html
from panels.ui.downloads import offered
from panels.ui.tables import Column, comparison, csv_file, estimate, number, sortable_table
from sauda.records.schemas.base import Interval


@dataclass(frozen=True)
class Measured:
    """One number of a question's figure, as the table below the figure lists it."""

    task: str
    policy: str  # or the step of training
    n: int  # hold-out seeds
    interval: Interval


def show_verdict(name: str, verdict: Verdict) -> None:
    """Show the verdict of the question called `name`."""
    gr.HTML(verdict_html(verdict), elem_id=f"results-{name}-verdict")


def show_caption(text: str) -> None:
    """Show what the figure above shows, in words."""
    gr.HTML(Markup("<p>{}</p>").format(text))


def fold(title: str) -> gr.Accordion:
    """A folded part of a question, to be filled in its context."""
    return gr.Accordion(title, open=False, elem_classes="sauda-fold")


def numbers(name: str, rows: Sequence[Measured], form: str, what: str) -> None:
    """Lay out the figure's numbers, folded: a table to sort and search, and a CSV file.

    `what` heads the column of policies or steps.
    """
    columns = (
        Column("task", lambda row: row.task),
        Column(what, lambda row: row.policy),
        Column("n", lambda row: number(row.n, ",")),
        Column("mean [95 % interval]", lambda row: estimate(row.interval, form)),
    )
    with fold("The numbers of this figure"):
        sortable_table(comparison(columns, rows), "Hold-out seeds", f"results-{name}-numbers")
        file = f"results-{name}.csv"
        csv, problem = offered(lambda: csv_file(numbers_frame(rows, what), file))
        gr.HTML(problem, visible=bool(problem))
        gr.DownloadButton("Download these numbers as CSV", value=csv, size="sm", scale=0)


def numbers_frame(rows: Sequence[Measured], what: str) -> pd.DataFrame:
    """The figure's numbers in full precision, one line a row."""
    return pd.DataFrame(
        [
            {"task": row.task, what: row.policy, "n": row.n}
            | {end: getattr(row.interval, end) for end in ("mean", "low", "high")}
            for row in rows
        ]
    )
