"""A question of Results: its answer as one value, and the section that lays it out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
import pandas as pd
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.questions import reproduce
from panels.results.questions.reproduce import fold
from panels.results.questions.verdict import Verdict, verdict_html
from panels.ui.provenance import load_or_say, provenance
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
from panels.ui.wiring import Address, lay_out_address
from sauda.experiments.comparison import OURS
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact


@dataclass(frozen=True)
class Measured:
    """One number of a question's figure, as the table below the figure lists it."""

    task: str
    policy: str  # or the step of training
    n: int  # hold-out seeds
    interval: Interval


@dataclass(frozen=True)
class Answer:
    """What a question shows: a verdict, one figure with its numbers, rows to replay, details."""

    verdict: Verdict
    figure: go.Figure | Markup | None
    captions: Sequence[str | Markup]
    rows: Sequence[Measured]
    what: str  # heads the column of policies or steps
    sources: Sequence[Artifact]
    form: str = "z.3f"
    n: str = ""  # of the provenance line
    replayed: tuple[Sequence[Artifact], str] | None = None  # and the policy that is picked first
    ours: str = OURS
    # By title: HTML, or what lays the part out with the question's address inside its fold.
    details: Mapping[str, Markup | Callable[[Address, gr.Accordion], None]] = field(
        default_factory=dict
    )


Artifacts = Mapping[str, Artifact]  # those that could be read, by file


@dataclass(frozen=True)
class Question:
    """One question of Results, and how its files answer it; None where those it needs are gone.

    One whose parts are others lays itself out by `build`.
    """

    name: str  # in addresses and in element ids
    title: str
    files: Sequence[str] = ()
    answer: Callable[[Artifacts], Answer | None] = lambda artifacts: None
    build: Callable[[], None] | None = None


def section(question: Question) -> None:
    """Lay out a question. Called inside the Results tab."""
    if question.build is not None:
        question.build()
        return
    artifacts = {}
    for file in question.files:
        artifact, missing = load_or_say(file)
        if artifact is None:
            gr.HTML(missing)
        else:
            artifacts[file] = artifact
    answer = question.answer(artifacts)
    if answer is None:
        return
    address = lay_out_address("results", question.name, ("task", reproduce.AGAIN))
    prefix = f"results-{question.name}"
    gr.HTML(verdict_html(answer.verdict), elem_id=f"{prefix}-verdict")
    if isinstance(answer.figure, Markup):
        gr.HTML(answer.figure, elem_id=f"{prefix}-figure")
    elif answer.figure is not None:
        gr.Plot(answer.figure, show_label=False, elem_id=f"{prefix}-figure")
    gr.HTML(Markup("").join(Markup("<p>{}</p>").format(text) for text in answer.captions))
    gr.HTML(Markup("").join(provenance(source, answer.n) for source in answer.sources))
    if answer.rows:
        numbers(question.name, answer.rows, answer.form, answer.what)
    if answer.replayed:
        reproduce.build(question.name, answer.replayed[0], address, answer.replayed[1], answer.ours)
    for title, part in answer.details.items():
        with fold(title) as unfolded:
            if callable(part):
                part(address, unfolded)
            else:
                gr.HTML(part)


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
