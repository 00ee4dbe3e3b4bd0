"""A question of Results: its answer as one value, and the section that lays it out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.questions import reproduce
from panels.results.questions.reproduce import fold
from panels.results.questions.verdict import Verdict, verdict_html
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import data_table
from panels.ui.terms import task_title
from panels.ui.wiring import Address, lay_out_address
from sauda.experiments.comparison import OURS
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

LaysOut = Callable[[Address, gr.Accordion], None]  # lays a part out inside its fold


NUMBERS = "The numbers of this figure"


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

    verdict: Verdict | None
    figure: go.Figure | Markup | Callable[[Address], None] | None = None  # or what lays it out
    captions: Sequence[str | Markup] = ()
    rows: Sequence[Measured] = ()
    what: str = "policy"  # heads the column of policies or steps
    sources: Sequence[Artifact] = ()
    form: str = "z.3f"
    n: str = ""  # of the provenance line
    replayed: tuple[Sequence[Artifact], str] | None = None  # and the policy that is picked first
    ours: str = OURS
    details: Mapping[str, Markup | LaysOut] = field(default_factory=dict)  # by title


Artifacts = Mapping[str, Artifact]  # those that could be read, by file


@dataclass(frozen=True)
class Question:
    """One question of Results, and how its files answer it; None where those it needs are gone.

    One whose parts change with each visit lays itself out by `build`.
    """

    name: str  # in addresses and in element ids
    title: str
    files: Sequence[str] = ()
    answer: Callable[[Artifacts], Answer | None] = lambda artifacts: None
    build: Callable[[], None] | None = None
    names: Sequence[str] = ("task", reproduce.AGAIN)  # of the values in its address


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
    address = lay_out_address("results", question.name, question.names)
    prefix = f"results-{question.name}"
    if answer.verdict is not None:
        gr.HTML(verdict_html(answer.verdict), elem_id=f"{prefix}-verdict")
    if callable(answer.figure):
        answer.figure(address)
    elif isinstance(answer.figure, Markup):
        gr.HTML(answer.figure, elem_id=f"{prefix}-figure")
    elif answer.figure is not None:
        gr.Plot(answer.figure, show_label=False, elem_id=f"{prefix}-figure")
    told = [Markup("<p>{}</p>").format(text) for text in answer.captions]
    told += [provenance(source, answer.n) for source in answer.sources]
    gr.HTML(Markup("").join(told))
    parts: dict[str, Markup | LaysOut] = {}
    if answer.rows:
        parts[NUMBERS] = numbers(question.name, answer.rows, answer.form, answer.what)
    if answer.replayed:
        parts[reproduce.TITLE] = lambda address, part: reproduce.build(
            question.name, answer.replayed[0], address, part, answer.replayed[1], answer.ours
        )
    for title, part in (parts | dict(answer.details)).items():
        with fold(title) as unfolded:
            if callable(part):
                part(address, unfolded)
            else:
                gr.HTML(part)


def numbers(
    name: str, rows: Sequence[Measured], form: str, what: str, label: str = "Hold-out seeds"
) -> Markup:
    """The numbers of a figure as a table; `what` heads the column of policies or steps."""
    lines = [
        {"task": task_title(row.task), what: row.policy, "n": row.n, "mean": row.interval}
        for row in rows
    ]
    caption = f"{label}; means with 95 % intervals"
    return data_table(lines, caption, form, file=f"results-{name}.csv")
