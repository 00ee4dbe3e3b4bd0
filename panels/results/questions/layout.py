"""What every question of Results lays out: verdict, folded details, its figure's numbers as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup

from panels.results.questions.verdict import Verdict, verdict_html
from panels.ui.look import note
from panels.ui.tables import (
    Column,
    comparison,
    estimate,
    number,
    offer_csv,
    offered_csv,
    sortable_table,
)
from panels.ui.terms import task_title
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


def show_caption(text: str, remark: str = "") -> None:
    """Show what the figure above shows, in words, and a remark in small print."""
    gr.HTML(Markup("<p>{}</p>{}").format(text, note(remark) if remark else ""))


def fold(title: str, is_open: bool = False) -> gr.Accordion:
    """A folded part of a question, to be filled in its context."""
    return gr.Accordion(title, open=is_open, elem_classes="sauda-fold")


def numbers(
    name: str, rows: Sequence[Measured], form: str, what: str, label: str = "Hold-out seeds"
) -> tuple[gr.Dataframe, gr.HTML, gr.DownloadButton]:
    """Lay out the figure's numbers, folded: a table to sort and search, and a CSV file.

    `what` heads the column of policies or steps. Returns what `numbers_values` fills.
    """
    with fold("The numbers of this figure"):
        table = sortable_table(_table(rows, form, what), label, f"results-{name}-numbers")
        return (table, *offer_csv(numbers_frame(rows, what), _file(name)))


def numbers_values(
    name: str, rows: Sequence[Measured], form: str, what: str
) -> tuple[dict[str, Any], Markup, str | None]:
    """The table's value, why there is no file, and the path of the CSV file."""
    csv, problem = offered_csv(numbers_frame(rows, what), _file(name))
    return _table(rows, form, what), problem, csv


def _file(name: str) -> str:
    return f"results-{name}.csv"


def _table(rows: Sequence[Measured], form: str, what: str) -> dict[str, Any]:
    columns = (
        Column("task", lambda row: task_title(row.task)),
        Column(what, lambda row: row.policy),
        Column("n", lambda row: number(row.n, ",")),
        Column("mean [95 % interval]", lambda row: estimate(row.interval, form)),
    )
    return comparison(columns, rows)


def numbers_frame(rows: Sequence[Measured], what: str) -> pd.DataFrame:
    """The figure's numbers in full precision, one line a row."""
    return pd.DataFrame(
        [
            {"task": row.task, what: row.policy, "n": row.n}
            | {end: getattr(row.interval, end) for end in ("mean", "low", "high")}
            for row in rows
        ]
    )
