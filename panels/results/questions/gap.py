"""Where is it lost? The gap to the optimum split in three, and grades by difficulty."""

from collections.abc import Sequence

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import PLANNERS, policy_label, series_role
from panels.results.questions.layout import Measured, fold, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict, buyer_name
from panels.ui.look import table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.comparison import OURS, TUNED
from sauda.experiments.gap import FILE, Gap, GapRow
from sauda.llm.registry import is_model
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME, TITLE = "gap", "Where is it lost?"
FORM, GAIN = "z.3f", "+z.3f"  # of grades, of differences
PARTS = {
    "inference": "inference: lost by what it believes of the seller",
    "control": "control: lost by what it makes of its belief",
}
UNCERTAINTY = "uncertainty: lost by the planner, which does not know the seller"


def select_rows(data: Gap) -> list[GapRow]:
    """The rows of the figure: language models, the tuned script, the planners."""
    rows = [row for row in data.rows if is_model(row.player)]
    return rows + [row for row in data.rows if row.player in (TUNED, *PLANNERS)]


def verdict(data: Gap) -> Verdict:
    """What the planner itself loses, and where Sauda, or else the tuned script, loses the rest."""
    by_name = {row.player: row for row in data.rows}
    row = by_name.get(OURS, by_name.get(TUNED))
    sentence = (
        f"Of a bound of {data.oracle.mean:{FORM}}, {with_interval(data.uncertainty, FORM)} is lost"
        " even by the planner that reads and speaks, since it does not know the seller"
    )
    if row is None:
        return Verdict(f"{sentence}.")
    whole = f"{buyer_name(row.player)} wins {with_interval(row.grade, FORM)}, n = {data.n:,}"
    believed = _cost(row.inference, "what it believes of the seller")
    made = _cost(row.control, "what it makes of that")
    return Verdict(f"{sentence}; {buyer_name(row.player)} {believed}, and {made}.", (f"{whole}.",))


def _cost(lost: Interval, by: str) -> str:
    """What an interval says of a loss, as a phrase."""
    if lost.low > 0:
        return f"loses {with_interval(lost, FORM)} by {by}"
    if lost.high < 0:
        return f"beats the planner by {by} ({with_interval(lost, GAIN)} lost)"
    return f"shows no loss by {by} ({with_interval(lost, GAIN)})"


def split_figure(data: Gap) -> go.Figure:
    """What is lost by part and player, each with its interval."""
    groups = {UNCERTAINTY: [WhiskerRow("every player", data.uncertainty, "oracle")]}
    groups |= {
        title: [
            WhiskerRow(policy_label(row.player), getattr(row, part), series_role(row.player))
            for row in select_rows(data)
        ]
        for part, title in PARTS.items()
    }
    return whisker_rows(groups, "grade lost", GAIN)


def measured(data: Gap) -> list[Measured]:
    """The figure's numbers."""
    lines = [Measured(data.task, UNCERTAINTY, data.n, data.uncertainty)]
    return lines + [
        Measured(data.task, f"{part}, {policy_label(row.player)}", data.n, getattr(row, part))
        for part in PARTS
        for row in select_rows(data)
    ]


def bins_table(data: Gap) -> Markup:
    """Mean grade of every player by difficulty; the games of each bin in words below its name."""
    return table(
        ("player", *(f"{part.name}, n = {part.n}" for part in data.bins)),
        [
            ("bound: knows its seller", *(with_interval(b.oracle, FORM) for b in data.bins)),
            *(
                (policy_label(row.player), *(with_interval(cell, FORM) for cell in row.bins))
                for row in sorted(data.rows, key=lambda row: -row.grade.mean)
            ),
            ("no price serves both", *(f"{part.no_zopa:.0%}" for part in data.bins)),
            ("between the limits", *(f"{part.width:.0%} of the list" for part in data.bins)),
            ("bluffers", *(f"{part.bluffers:.0%}" for part in data.bins)),
            ("another buyer waits", *(f"{part.rivals:.0%}" for part in data.bins)),
            ("short of time", *(f"{part.pressed:.0%}" for part in data.bins)),
        ],
        caption="Mean grade by difficulty: fifths of the games by what the bound expects",
    )


def beliefs_table(rows: Sequence[GapRow]) -> Markup:
    """How good the stated beliefs are, beside those of the planner in the same positions."""
    return table(
        ("player", "positions", "stated", "limit inside its range", "planner’s", "width",
         "planner’s", "type right", "planner’s"),
        [
            (
                policy_label(row.player),
                f"{row.beliefs.n:,}",
                with_interval(row.beliefs.stated, ".0%"),
                *(_of(getattr(row.beliefs, name)) for name in (
                    "held", "own_held", "width", "own_width", "right", "own_right"
                )),
            )
            for row in rows
            if row.beliefs
        ],
        caption="Stated beliefs: a range meant to hold the limit with 80 %, its width by list"
        " price, and a pick of four types",
    )  # fmt: skip


def _of(share: Interval | None) -> str:
    return "–" if share is None else with_interval(share, ".0%")


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
    else:
        _answer(artifact)


def _answer(artifact: Artifact) -> None:
    data = artifact.data
    show_verdict(NAME, verdict(data))
    gr.Plot(split_figure(data), show_label=False, elem_id=f"results-{NAME}-figure")
    show_caption(
        "One planner splits the gap. Uncertainty is what it loses to the bound with the exact"
        " belief, inference what it loses more with the belief that a player states, control what"
        " the player loses to it then. Who states none counts with what is known before the first"
        " bid. Below 0: the player does better than that planner."
    )
    gr.HTML(provenance(artifact, f"n = {data.n:,} games"))
    numbers(NAME, measured(data), FORM, "part and player")
    with fold("How hard the games are, and who wins what in them"):
        gr.HTML(bins_table(data))
    with fold("How good the stated beliefs are"):
        gr.HTML(beliefs_table(data.rows))
