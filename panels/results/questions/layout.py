"""A question of Results: its answer as one value, and the section that lays it out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.questions import reproduce
from panels.results.questions.verdict import Verdict, verdict_html
from panels.ui.look import folded
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import data_table
from panels.ui.terms import task_title
from panels.ui.wiring import Address, Updates, fill_on_opening, lay_out_address, on_address, region
from sauda.experiments.comparison import OURS
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

LaysOut = Callable[[Address | None, gr.Accordion], None]  # lays a part out inside its fold


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
    details: Mapping[str, Markup] = field(default_factory=dict)  # folded, by title
    parts: Mapping[str, LaysOut] = field(default_factory=dict)  # folded, with pickers


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
    build: Callable[[gr.Tab], None] | None = None
    names: Sequence[str] = ("task", reproduce.AGAIN)  # of the values in its address, if any


def section(question: Question, tab: gr.Tab) -> None:
    """Lay out a question, which is filled as its tab is opened. Called inside the tab."""
    if question.build is not None:
        question.build(tab)
        return
    loaded = {file: load_or_say(file) for file in question.files}
    missing = Markup("").join(message for _, message in loaded.values())
    answer = question.answer({file: found for file, (found, _) in loaded.items() if found})
    if answer is None:
        gr.HTML(missing)
        return
    prefix, (above, below) = f"results-{question.name}", _in_words(question.name, answer)
    address = None
    if question.names:
        address = lay_out_address("results", question.name, question.names, tab)
    values: Updates = {gr.HTML(): missing + above}
    if callable(answer.figure):
        answer.figure(address)
    elif isinstance(answer.figure, go.Figure):
        values[gr.Plot(show_label=False, elem_id=f"{prefix}-figure")] = answer.figure
    if below:
        values[gr.HTML()] = below
    again = answer.replayed and reproduce.build(
        question.name, answer.replayed[0], address, answer.replayed[1], answer.ours
    )

    if again:

        def show(query: Mapping[str, str]) -> Updates:
            return values | again.show(query)

        on_address(address, show, [*values, *again.outputs], names=(reproduce.AGAIN,))
    else:
        fill_on_opening(tab, lambda _: values, list(values))
    for title, lay_out in answer.parts.items():
        with gr.Accordion(title, open=False, elem_classes="sauda-fold") as part:
            lay_out(address, part)


def _in_words(name: str, answer: Answer) -> tuple[Markup, Markup]:
    """What stands above a question's figure and below it; all above where the figure is HTML."""
    verdict = verdict_html(answer.verdict) if answer.verdict else ""
    above = region(f"results-{name}-verdict", verdict)
    told = [Markup("<p>{}</p>").format(text) for text in answer.captions]
    told += [provenance(source, answer.n) for source in answer.sources]
    folds = dict(answer.details)
    if answer.rows:
        folds = {NUMBERS: numbers(name, answer.rows, answer.form, answer.what)} | folds
    below = Markup("").join([*told, *(folded(title, body) for title, body in folds.items())])
    if answer.figure is None:
        return above + below, Markup("")
    if isinstance(answer.figure, Markup):
        return above + region(f"results-{name}-figure", answer.figure) + below, Markup("")
    return above, below


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
