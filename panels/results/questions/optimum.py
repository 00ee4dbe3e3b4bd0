"""How far from the optimum? The bound of a buyer that knows its seller, players, and exploits."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_labels import PLANNERS, policy_label, series_role
from panels.results.model_summary import rows_by_policy
from panels.results.questions import reproduce
from panels.results.questions.layout import Measured, fold, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict, buyer_name, listed, tasks_listed
from panels.ui.look import table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from panels.ui.wiring import lay_out_address
from sauda.experiments.comparison import BAYESIAN, LEAVE, LISTENER, ORACLE, OURS, TUNED
from sauda.experiments.oracle import Exploit, OracleRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME, TITLE = "optimum", "How far from the optimum?"
FORM, GAIN = "z.3f", "+z.3f"  # of grades, of differences
BOUND = "bound: knows its seller"
SHOWN = (LISTENER, BAYESIAN, TUNED)  # of the players beside the bound, before Sauda


@dataclass(frozen=True)
class Buyer:
    """A buyer that does not know its seller, on one task."""

    policy: str
    n: int
    grade: Interval


def buyers(row: OracleRow, comparison: Artifact | None) -> list[Buyer]:
    """The planners, the tuned script, Sauda and the best other script, where each was played."""
    played = {cell.policy: cell for cell in row.policies}
    found = [Buyer(name, row.n, played[name]) for name in SHOWN if name in played]
    compared = {} if comparison is None else rows_by_policy(comparison, row.task)
    if OURS in compared:
        found.append(Buyer(OURS, compared[OURS].n, compared[OURS].grade))
    scripts = [cell for name, cell in played.items() if name not in (*PLANNERS, TUNED, LEAVE)]
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
            WhiskerRow(BOUND, row.informed, "oracle"),
            *(WhiskerRow(_label(b), b.grade, series_role(b.policy)) for b in found[row.task]),
        ]
        for row in bounds
    }
    return whisker_rows(groups, "mean grade, 1 at best", FORM)


def _label(buyer: Buyer) -> str:
    known = buyer.policy in (*SHOWN, OURS)
    return buyer_name(buyer.policy) if known else f"best untuned script, {buyer_name(buyer.policy)}"


def measured(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> list[Measured]:
    """The figure's numbers."""
    return [
        line
        for row in bounds
        for line in (
            Measured(row.task, BOUND, row.n, row.informed),
            *(Measured(row.task, _label(b), b.n, b.grade) for b in found[row.task]),
        )
    ]


# Details ------------------------------------------------------------------------------------------


def players_table(row: OracleRow) -> Markup:
    """Mean grade of every player on a task, and its share of the informed oracle's; best first."""
    lines = sorted(row.policies, key=lambda cell: -cell.mean)
    return table(
        ("player", "mean grade", "of the bound"),
        [
            (BOUND, with_interval(row.informed, FORM), "100%"),
            ("the same, saying nothing", with_interval(row.silent, FORM), ""),
            *((policy_label(p.policy), with_interval(p, FORM), f"{p.share:.0%}") for p in lines),
        ],
        caption=f"The {short(row.task)}, n = {row.n:,} hold-out seeds; in {row.no_zopa:.0%} of"
        " them no price serves both sides",
    )


def exploits_sentence(bounds: Sequence[OracleRow]) -> str:
    """Whether any exploit beats the best honest script by more than noise, as text."""
    searched = [row for row in bounds if row.search is not None]
    paying = [f"“{cell.what}” in the {short(row.task)}" for row in searched for cell in pays(row)]
    tried = sum(len(row.exploits) + row.search.tried for row in searched)
    found = f"{listed(paying)} beat" if paying else "None beats"
    return (
        f"{tried:,} odd or dishonest ways to play and random scripts were tried. {found} the best"
        " honest script by more than noise."
    )


def pays(row: OracleRow) -> list[Exploit]:
    """The exploits of a task that beat its best honest script by more than noise."""
    return [cell for cell in _exploits(row) if cell.gain.low > 0]


def _exploits(row: OracleRow) -> list[Exploit]:
    return [*row.exploits, *(row.search.best if row.search else ())]


def exploits_table(row: OracleRow) -> Markup:
    """Every exploit of a task: its grade, and what it gains over the best honest script."""
    return table(
        ("way to play", "mean grade", f"less {policy_label(row.honest)}"),
        [
            (cell.what, with_interval(cell, FORM), with_interval(cell.gain, GAIN))
            for cell in sorted(_exploits(row), key=lambda cell: -cell.mean)
        ],
        caption=f"Exploits in the {short(row.task)}, paired by seed, n = {row.n:,}; random scripts"
        " are the best of the search",
    )


# Layout -------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    artifact, missing = load_or_say("oracle.json")
    if artifact is None:
        gr.HTML(missing)
    else:
        _answer(artifact)


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
    with fold("Every player, task by task"):
        for row in bounds:
            gr.HTML(players_table(row))
    with fold("Do lies, spam or tricks pay?"):
        show_caption(exploits_sentence(bounds))
        for row in bounds:
            if row.search:
                gr.HTML(exploits_table(row))
    if comparison is not None:
        address = lay_out_address("results", NAME, (reproduce.AGAIN,))
        reproduce.build(NAME, [comparison], address, ORACLE)
