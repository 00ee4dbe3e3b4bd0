"""What can be won at all? The bound of a buyer that knows its seller, and who comes how near."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.market import belief, oracle, sellers
from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_labels import series_role
from panels.results.model_summary import rows_by_policy
from panels.results.questions import reproduce
from panels.results.questions.layout import Measured, fold, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict, buyer_name, short, tasks_listed
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from panels.ui.wiring import lay_out_address
from sauda.experiments.comparison import BELIEF, ORACLE, OURS, PILOT
from sauda.experiments.oracle import OracleRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME, TITLE = "optimum", "What can be won at all?"
FORM = "z.3f"  # of grades


@dataclass(frozen=True)
class Buyer:
    """A buyer that does not know its seller, on one task."""

    policy: str
    n: int
    grade: Interval


def buyers(row: OracleRow, comparison: Artifact | None) -> list[Buyer]:
    """The belief buyer, the pilot, Sauda and the best script on a task, where each was played."""
    found = [Buyer(BELIEF, row.n, row.belief)]
    compared = {} if comparison is None else rows_by_policy(comparison, row.task)
    found += [
        Buyer(name, compared[name].n, compared[name].grade)
        for name in (PILOT, OURS)
        if name in compared
    ]
    scripts = [cell for cell in row.policies if cell.policy != "leave"]
    if scripts:
        best = max(scripts, key=lambda cell: cell.mean)
        found.append(Buyer(best.policy, row.n, best))
    return found


def verdict(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> Verdict:
    """What knowing the seller would win, what share is won without, and where room is left.

    `found` has the buyers that do not know their seller, by task.
    """
    best = {
        row.task: max(found[row.task], key=lambda buyer: buyer.grade.mean)
        for row in bounds
        if found[row.task]
    }
    sentence = f"A buyer that knows its seller wins {_span([r.informed.mean for r in bounds])}"
    if not best:
        return Verdict(f"{sentence}; no buyer without that knowledge has been played.")
    shares = [best[row.task].grade.mean / row.informed.mean for row in bounds if row.task in best]
    sentence += f" of 1; the best buyer without that knowledge wins {_span(shares, '.0%')} of it"
    room = {row.task: _room(row, best[row.task]) for row in bounds if row.task in best}
    for words, kind in (
        ("; no room above it is shown in", "unclear"),
        ("; it wins more than the bound, which therefore does not hold, in", "below"),
    ):
        if tasks := [task for task, sign in room.items() if sign == kind]:
            sentence += f"{words} {tasks_listed(tasks)}"
    return Verdict(f"{sentence}.", _evidence(bounds, best))


def _room(row: OracleRow, buyer: Buyer) -> str:
    """Whether the bound lies above the buyer's interval, beside it, or below."""
    if row.informed.low > buyer.grade.high:
        return "above"
    return "below" if row.informed.high < buyer.grade.low else "unclear"


def _span(values: Sequence[float], form: str = FORM) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _evidence(bounds: Sequence[OracleRow], best: dict[str, Buyer]) -> tuple[str, ...]:
    lines = []
    for row in bounds:
        text = f"{short(row.task)}: {with_interval(row.informed, FORM)}, n = {row.n:,}"
        if row.task in best:
            buyer = best[row.task]
            text += (
                f"; {buyer_name(buyer.policy)} {with_interval(buyer.grade, FORM)}, n = {buyer.n:,}"
            )
        lines.append(text)
    return tuple(lines)


def bound_figure(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> go.Figure:
    """By task, the bound and the buyers that do not know their seller, each with its interval."""
    groups = {
        short(row.task): [
            WhiskerRow("bound: knows its seller", row.informed, "oracle"),
            *(WhiskerRow(_label(buyer), buyer.grade, _role(buyer)) for buyer in found[row.task]),
        ]
        for row in bounds
    }
    return whisker_rows(groups, "mean grade, 1 at best", FORM)


def _label(buyer: Buyer) -> str:
    known = buyer.policy in (BELIEF, PILOT, OURS)
    return buyer_name(buyer.policy) if known else f"best untuned script, {buyer_name(buyer.policy)}"


def _role(buyer: Buyer) -> str:
    return "buyer" if buyer.policy in (BELIEF, PILOT) else series_role(buyer.policy)


def measured(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> list[Measured]:
    """The figure's numbers."""
    return [
        line
        for row in bounds
        for line in (
            Measured(row.task, "bound: knows its seller", row.n, row.informed),
            *(Measured(row.task, _label(b), b.n, b.grade) for b in found[row.task]),
        )
    ]


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    artifact, missing = load_or_say("oracle.json")
    if artifact is None:
        gr.HTML(missing)
    else:
        _answer(artifact)
    with fold("Bounds, scripts and the search, task by task; which sellers yield most"):
        oracle.build()
    with fold("What the belief buyer believes, and what tells and words add"):
        belief.build()
    with fold("What the sellers give away"):
        sellers.build()


def _answer(artifact: Artifact) -> None:
    comparison, _ = load_or_say(COMPARISON)
    bounds = artifact.data.rows
    found = {row.task: buyers(row, comparison) for row in bounds}
    show_verdict(NAME, verdict(bounds, found))
    figure = bound_figure(bounds, found)
    gr.Plot(figure, show_label=False, elem_id=f"results-{NAME}-figure")
    show_caption(
        "The bound is the best response to a seller whose limit and type are known, which no"
        " contestant knows. Some games have no possible deal, so 1 is out of reach. Whiskers are"
        " 95 % bootstrap intervals over hold-out seeds."
    )
    sources = filter(None, (artifact, comparison))
    gr.HTML(Markup("").join(map(provenance, sources)))
    numbers(NAME, measured(bounds, found), FORM, "buyer")
    if comparison is not None:
        address = lay_out_address("results", NAME, (reproduce.AGAIN,))
        reproduce.build(NAME, [comparison], address, ORACLE)
