"""A question of Results: its verdict, one figure with its numbers, and details, as one value.

A difference whose interval holds 0 is said to show nothing, and only policies that were played are
named.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import groupby
from operator import attrgetter, or_
from typing import Literal

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.frames import NUMBERS, Table, grid, lay_out
from panels.measured import FORM
from panels.results import reproduce
from panels.ui.html import macros
from panels.ui.look import QUIET, folded, with_minus_signs
from panels.ui.provenance import load_or_say, provenance, sources
from panels.ui.tables import WhiskerRow, whisker_rows
from panels.ui.terms import capital, list_tasks, short, task_title
from panels.ui.wiring import (
    Address,
    Updates,
    fill_on_opening,
    in_address,
    lay_out_address,
    on_address,
    region,
)
from sauda.players import SERVED, policy_label
from sauda.records.kinds import entry
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

HTML = macros("results")  # the verdicts, captions and parts of all questions

Side = Literal["above", "unclear", "below"]  # of an interval, by another or by 0


# Verdicts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """The answer in one sentence, and small lines with n and intervals."""

    sentence: str
    evidence: tuple[str, ...] = ()


def side(difference: Interval, bound: Interval | None = None) -> Side:
    """Whether a whole interval lies above or below another, or else 0; unclear where they meet."""
    low, high = (bound.low, bound.high) if bound else (0, 0)
    if difference.low > high:
        return "above"
    return "below" if difference.high < low else "unclear"


def clauses(sides: Mapping[str, Side], **phrases: str) -> list[str]:
    """What holds in which tasks: "scores more in the open market", in the order of `phrases`.

    The tasks stand in the place of "{}" in the phrase of their side.
    """
    return [
        phrase.format(list_tasks([task for task in sides if sides[task] == each]))
        for each, phrase in phrases.items()
        if each in sides.values()
    ]


def no_row(comparison: Artifact, policy: str = SERVED) -> str:
    """That a policy was not played, and the command that plays it."""
    return (
        f"{policy_label(policy)} ({policy}) has no row in artifacts/{comparison.file};"
        f" to play it: {entry(comparison.file).command}"
    )


def verdict_html(verdict: Verdict) -> Markup:
    """The sentence, and its evidence in small lines."""
    lines = [with_minus_signs(line) for line in verdict.evidence]
    return HTML.verdict(with_minus_signs(verdict.sentence), lines)


OF_BEST = "percent of what could be won, mean"  # the axis of grades

# Numbers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured(WhiskerRow):
    """One number of a question's figure, as the table below the figure lists it."""

    task: str
    n: int  # hold-out seeds


def grades_figure(rows: Sequence[Measured]) -> go.Figure:
    """Mean grades with their intervals, task by task."""
    by_task = {task: list(each) for task, each in groupby(rows, attrgetter("task"))}
    groups = {
        f"{capital(short(task))}, n = {span([row.n for row in each])}": each
        for task, each in by_task.items()
    }
    return whisker_rows(groups, OF_BEST, FORM)


def span(counts: Sequence[int]) -> str:
    """The least and the most of some counts; the one number where they are equal."""
    return " to ".join(f"{n:,}" for n in dict.fromkeys((min(counts), max(counts))))


def numbers(rows: Sequence[Measured], form: str, what: str) -> Table:
    """The numbers of a figure; `what` heads the column of policies or steps."""
    lines = [
        {what: row.label, "task": task_title(row.task), "n": row.n, "mean": row.interval}
        for row in rows
    ]
    return Table("numbers", lines, form=form)


# Questions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A folded part of an answer: what its pickers pick is drawn, with what stands below it."""

    name: str  # in element ids
    draw: Callable[..., tuple]  # given what is picked: a figure or None, words, rows if it has them
    pickers: Sequence[Callable[[], gr.Dropdown | gr.Radio]] = ()  # each makes one
    tasks: Sequence[str] = ()  # that the first picker picks and the address names, if any
    has_figure: bool = True
    has_table: bool = False


@dataclass(frozen=True)
class Answer:
    """What a question shows: a verdict, one figure with its numbers, rows to replay, details."""

    verdict: Verdict | None
    figure: go.Figure | None = None
    caption: Markup | str = ""
    rows: Sequence[Measured] = ()
    what: str = "policy"  # heads the column of policies or steps
    sources: Sequence[Artifact] = ()
    form: str = FORM
    n: str = ""  # of the provenance line
    replayed: tuple[Sequence[Artifact], str] | None = None  # and the policy that is picked first
    details: Mapping[str, Markup] = field(default_factory=dict)  # folded, by title
    tables: Sequence[Table] = ()  # folded, too
    parts: Mapping[str, Part | Markup] = field(default_factory=dict)  # folded, with pickers


@dataclass(frozen=True)
class Question:
    """One question of Results, and how its artifacts answer it, in the order of their files.

    One whose parts change with each visit lays itself out by `build`.
    """

    name: str  # in addresses and in element ids
    title: str
    files: Sequence[str] = ()
    answer: Callable[..., Answer] | None = None
    build: Callable[[gr.Tab], None] | None = None


def section(question: Question, tab: gr.Tab) -> None:
    """Lay out a question, which is filled as its tab is opened. Called inside the tab.

    Where a file cannot be read, the command that makes it stands in place of the answer.
    """
    if question.build is not None:
        question.build(tab)
        return
    loaded = [load_or_say(file) for file in question.files]
    if missing := Markup("").join(message for _, message in loaded):
        gr.HTML(missing)
        return
    answer = question.answer(*(artifact for artifact, _ in loaded))
    name, (above, below) = question.name, _in_words(question.name, answer)
    named = ("task", reproduce.AGAIN) if answer.replayed else ()
    address = lay_out_address("results", name, named, tab) if named else None
    values: Updates = {gr.HTML(): above}
    if answer.figure is not None:
        values[gr.Plot(show_label=False, elem_id=f"results-{name}-figure")] = answer.figure
    if below:
        values[gr.HTML()] = below
    shows, outputs = [], [*values]
    if answer.replayed:
        replay, pick = reproduce.build(name, address, *answer.replayed)
        shows, outputs = [pick], [*outputs, *replay]
    tables = [numbers(answer.rows, answer.form, answer.what)] if answer.rows else []
    for table in (*tables, *answer.tables):
        lay_out(table)
    for title, part in answer.parts.items():
        with gr.Accordion(title, open=False, elem_classes="sauda-fold") as fold:
            if isinstance(part, Markup):
                gr.HTML(part)
                continue
            if picked := _lay_out(part, address, fold):
                shows.append(picked)
                outputs += picked({"task": part.tasks[-1]})

    def show(query: Mapping[str, str]) -> Updates:
        empty = values | ({address.shown: in_address({})} if address else {})
        return reduce(or_, (each(query) for each in shows), empty)

    if address:
        on_address(address, show, outputs)
    else:
        fill_on_opening(tab, lambda _: values, outputs)


def _lay_out(
    part: Part, address: Address | None, fold: gr.Accordion
) -> Callable[[Mapping[str, str]], Updates] | None:
    """Lay a part out inside `fold`; it is drawn as that is first unfolded.

    Returns what an address changes that may name the part's task: the picker, which draws it.
    """
    with gr.Row() if len(part.pickers) > 1 else nullcontext():
        pickers = [picker() for picker in part.pickers]
    figure = part.has_figure and gr.Plot(show_label=False, elem_id=f"results-{part.name}")
    words = gr.HTML(elem_id=f"results-{part.name}-table")
    rows = part.has_table and grid(NUMBERS, elem_id=f"results-{part.name}-rows")
    draw, outputs = cache(part.draw), [part for part in (words, rows, figure) if part]

    def drawn(*picked: str) -> Updates:
        values = zip((figure, words, rows), draw(*picked), strict=False)
        return {component: value for component, value in values if component}

    first = [picker.value for picker in pickers]
    fill_on_opening(  # with what is picked by then: an address unfolds it with another task
        fold, lambda _, *picked: drawn(*(picked or first)), outputs, more=pickers
    )
    changes = [picker.change for picker in pickers]
    if not part.tasks:
        if pickers:
            gr.on(changes, drawn, pickers, outputs, **QUIET)
        return None

    def redraw(task: str, *more: str) -> Updates:
        return drawn(task, *more) | {address.shown: in_address(named_in(task))}

    def named_in(task: str) -> dict[str, str]:
        return {} if task == part.tasks[0] else {"task": task}

    def unfold(query: Mapping[str, str]) -> Updates:
        named = named_in(query["task"]) if query.get("task") in part.tasks else {}
        if not named:
            return {pickers[0]: part.tasks[0]}
        unfolded = {fold: gr.Accordion(open=True), address.shown: in_address(named)}
        return unfolded | {pickers[0]: named["task"]}

    gr.on(changes, redraw, pickers, [*outputs, address.shown], **QUIET)
    return unfold


def _in_words(name: str, answer: Answer) -> tuple[Markup, Markup]:
    """What stands above a question's figure and below it; all above where it has none."""
    above = region(
        f"results-{name}-verdict", verdict_html(answer.verdict) if answer.verdict else ""
    )
    below = [answer.caption, sources([provenance(each, answer.n) for each in answer.sources])]
    below += [folded(title, body) for title, body in answer.details.items()]
    foot = Markup("").join(below)
    return (above, foot) if answer.figure is not None else (above + foot, Markup(""))
