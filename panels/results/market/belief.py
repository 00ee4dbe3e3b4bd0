"""How well the belief buyer's beliefs are calibrated, and what tells and words add to prices."""

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.look import QUIET, heading, line_style, styled, table, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, task_choices
from sauda.experiments.belief import CalibrationRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

STYLES = {"prices": "scripted", "prices, tells and words": "buyer"}


def calibration_figure(report: Artifact, task: str, played: int) -> go.Figure:
    """Coverage of the believed intervals against their nominal level, per kind of evidence."""
    figure = go.Figure()
    levels = [0.0, 1.0]
    figure.add_scatter(x=levels, y=levels, name="well calibrated", hoverinfo="skip",
                       **line_style("oracle"))  # fmt: skip
    for row in rows_of(report, task, played):
        if row.evidence in STYLES:
            cells = row.coverage
            figure.add_scatter(
                x=[cell.level for cell in cells],
                y=[cell.mean for cell in cells],
                error_y=whiskers(cells),
                name=row.evidence,
                hovertemplate="%{x:.0%} interval: %{y:.1%}<extra>" + row.evidence + "</extra>",
                **line_style(STYLES[row.evidence]),
            )
    figure.update_xaxes(title="believed interval", tickformat=".0%", range=[0.4, 1])
    return styled(figure, height=320).update_yaxes(
        title="reservation price inside", tickformat=".0%", range=[0.4, 1.02]
    )


def rows_of(report: Artifact, task: str, played: int) -> list[CalibrationRow]:
    """The calibration rows of `task` after `played` rounds, one per kind of evidence."""
    return [r for r in report.data.calibration if (r.task, r.round) == (task, played)]


def calibration_table(report: Artifact, task: str) -> Markup:
    """Coverage, width and error of the reservation price, scores of the seller type; all rows."""
    rows = [row for row in report.data.calibration if row.task == task]
    levels = [f"in {cell.level:.0%}" for cell in rows[0].coverage]
    return table(
        ("evidence", "after", "n", *levels, "80 % width", "price error", "type right", "Brier",
         "log loss", "ECE"),
        [
            (
                row.evidence,
                f"{row.round} rounds",
                f"{row.n:,}",
                *(f"{cell.mean:.1%}" for cell in row.coverage),
                f"{row.width.mean:.3f}",
                with_interval(row.error),
                f"{row.types.accuracy:.1%}",
                f"{row.types.brier:.3f}",
                f"{row.types.log_loss:.3f}",
                f"{row.types.calibration_error:.3f}",
            )
            for row in rows
        ],
        caption=f"Beliefs in the {short(task)} against the drawn sellers; reservation price by"
        " list price",
    )  # fmt: skip


def ablation_table(report: Artifact) -> Markup:
    """What tells and words change: beliefs and moves in the same states, then mean grades."""
    data = report.data
    return table(
        ("task", "moves", "beliefs that differ", "moves that differ", "n", "all evidence",
         "prices alone", "difference"),
        [
            (
                inputs.task,
                f"{inputs.n:,}",
                with_interval(inputs.beliefs, ".1%"),
                with_interval(inputs.moves, ".1%"),
                f"{won.n:,}",
                with_interval(won.belief),
                with_interval(won.belief_prices),
                with_interval(won.difference, "+.3f"),
            )
            for inputs, won in zip(data.inputs, data.outcomes, strict=True)
        ],
        caption="Beliefs in the same states, then mean grades on the same seeds; 95 % intervals",
    )  # fmt: skip


def verdict(report: Artifact) -> str:
    """Whether tells and words help or harm the buyer, or make no measurable difference."""
    outcomes = [
        f"in the {short(row.task)} {effect(row.difference)}"
        f" ({with_interval(row.difference, '+.3f')}, n = {row.n:,})"
        for row in report.data.outcomes
    ]
    changed = [row.beliefs.mean for row in report.data.inputs]
    return (
        f"Tells and words change {min(changed):.0%} to {max(changed):.0%} of the beliefs in the"
        f" same states. Effect on the grade: {'; '.join(outcomes)}."
    )


def effect(gain: Interval) -> str:
    """What the interval of a paired difference says."""
    if gain.low > 0:
        return "they help"
    return "they harm" if gain.high < 0 else "no difference is shown"


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the section. Called inside the Results tab."""
    gr.HTML(
        heading(
            "What the buyer believes about the seller",
            "Whether its beliefs are calibrated, and what tells and words add to prices.",
        )
    )
    report, missing = load_or_say("belief.json")
    if report is None:
        gr.HTML(missing)
        return
    _calibration_section(report)
    gr.HTML(Markup("<p>{}</p>").format(verdict(report)))
    gr.HTML(ablation_table(report))
    gr.HTML(provenance(report, f"n = {report.config['episodes']:,} games a task"))


def _calibration_section(report: Artifact) -> None:
    tasks = [row.task for row in report.data.outcomes]
    rounds = list(report.config["rounds"])

    def show(task: str, played: int) -> tuple[go.Figure, Markup]:
        return calibration_figure(report, task, played), calibration_table(report, task)

    figure, cells = show(tasks[0], rounds[-1])
    with gr.Row():
        task = gr.Radio(task_choices(tasks), value=tasks[0], label="Task")
        played = gr.Radio(rounds, value=rounds[-1], label="Rounds played")
    outputs = [gr.Plot(figure, show_label=False, elem_id="results-belief")]
    with gr.Accordion("Every figure of the calibration", open=False):
        outputs.append(gr.HTML(cells))
    gr.on([task.change, played.change], show, [task, played], outputs, **QUIET)
