"""One language model after each stage of training, bare and wrapped, beside scripts and a bound.

A part of Results, laid out alike for the bazaar and for the GPU arena.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import (
    AGAIN,
    BASE,
    LAB_STAGES,
    STAGES,
    policy_label,
    series_role,
    weights,
)
from panels.results.model_summary import (
    lab_references,
    lab_summary,
    model_summary,
    references,
    rows_by_policy,
)
from panels.ui.look import QUIET, SERIES, bar_style, heading, line_style, styled, table, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import (
    MISSING,
    Cell,
    Column,
    comparison,
    estimate,
    number,
    sortable_table,
    with_interval,
)
from panels.ui.terms import task_choices, task_title
from panels.ui.whisker_rows import labels_above
from panels.ui.wiring import Address, pick_in_address
from sauda.experiments.comparison import ArenaModelRow, ModelComparison, ModelRow
from sauda.llm.registry import is_model
from sauda.records.store import Artifact

FORM = "z.3f"  # of grades
FILE = "evaluation/model-comparison.json"
LAB_FILE = "evaluation/arena-model-comparison.json"
ON = {"all": "all seeds", "unseen": "unseen listings or labs"}


@dataclass(frozen=True)
class Game:
    """What differs between the games in a model comparison."""

    name: str  # in element ids
    file: str
    heading: tuple[str, str]  # title and sentence
    stages: Sequence[str]  # of training, the untrained base first
    columns: Sequence[Column]  # of the table, beside those of both games
    summary: Callable[[Artifact, str], str]
    references: Callable[[Artifact, str], list[tuple[str, float]]]  # lines beside the stages


# Figures -----------------------------------------------------------------------------------------


SHIFT = 0.16  # of the room of a stage, from its first training to its second


def rows_of(artifact: Artifact, task: str) -> list[ModelRow | ArenaModelRow]:
    """The rows of one task, the best grade first."""
    rows = rows_by_policy(artifact, task).values()
    return sorted(rows, key=lambda row: -row.grade.mean)


def bars(artifact: Artifact, task: str) -> go.Figure:
    """Mean grade of every policy with its interval, one colour per stage of training."""
    rows = rows_of(artifact, task)[::-1]
    figure = go.Figure()
    for role in dict.fromkeys(series_role(row.policy) for row in rows):
        group = [row for row in rows if series_role(row.policy) == role]
        figure.add_bar(
            y=[policy_label(row.policy) for row in group],
            x=[row.grade.mean for row in group],
            error_x=whiskers([row.grade for row in group]),
            orientation="h",
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
            **bar_style(role),
        )
    labels = [policy_label(row.policy) for row in rows]
    figure = labels_above(figure, labels)
    figure.update_yaxes(categoryorder="array", categoryarray=labels)
    figure.update_xaxes(title="grade, 1 at best", showgrid=True, zeroline=True)
    return figure.update_layout(showlegend=False)


def stage_figure(game: Game, artifact: Artifact, task: str) -> go.Figure:
    """Mean grades of the bare model, a line from each stage to those that train it further.

    A second training of a stage is a hollow point beside that of the first.
    """
    rows = rows_by_policy(artifact, task)
    grades = {name: rows[name].grade for name in game.stages if name in rows}
    first = {name: policy_label(name).partition(AGAIN)[0] for name in grades}
    labels = list(dict.fromkeys(first.values()))
    again = {name: first[name] != policy_label(name) for name in grades}
    at = {name: labels.index(first[name]) + SHIFT * again[name] for name in grades}
    figure = go.Figure()
    gains = [gain for gain in artifact.data.stage_gains if (gain.task, gain.on) == (task, "all")]
    for gain in gains:
        ends = [name for name in (gain.before, gain.after) if name in grades]
        x, y = [at[name] for name in ends], [grades[name].mean for name in ends]
        figure.add_scatter(x=x, y=y, **line_style("sft") | {"mode": "lines", "hoverinfo": "skip"})
    for hollow in (False, True):
        names = [name for name in grades if again[name] is hollow]
        figure.add_scatter(
            x=[at[name] for name in names],
            y=[grades[name].mean for name in names],
            error_y=whiskers([grades[name] for name in names]),
            text=[policy_label(name) for name in names],
            hovertemplate="%{text}: %{y:.3f}<extra></extra>",
            **(line_style("sft", published=hollow) | {"mode": "markers"}),
        )
    references = game.references(artifact, task)
    for name, grade in references:
        figure.add_hline(
            y=grade,
            line={"dash": "dot", "width": 1, "color": SERIES["scripted"].light},
            annotation={"text": f"{name}: {grade:.3f}", "font": {"size": 11}},
            annotation_position="top left",
        )
    ends = [getattr(grade, end) for grade in grades.values() for end in ("low", "high")]
    lowest, highest = min([0.0, *ends]), max(grade for _, grade in references)
    room = 0.1 * (max([highest, *ends]) - lowest)  # a line's label stands above it
    span = [lowest - room / 2, max([highest + room, *ends])]
    figure.update_layout(showlegend=False, yaxis={"title": "grade, 1 at best", "range": span})
    broken = [label.replace(" + ", "<br>+ ") for label in labels]  # upright on a phone, too
    figure.update_xaxes(tickvals=list(range(len(labels))), ticktext=broken, tickangle=0)
    return styled(figure, 340)


# Tables ------------------------------------------------------------------------------------------


def details(game: Game, artifact: Artifact, task: str) -> dict[str, Any]:
    """Every policy's grade, its difference to the base, and counts, as a sortable table's value."""
    baseline = artifact.config["baseline"]
    columns = (
        Column("policy", lambda row: policy_label(row.policy)),
        Column("n", lambda row: number(row.n, ",")),
        Column("grade [95 %]", lambda row: estimate(row.grade, FORM)),
        Column(
            f"against {policy_label(baseline)} [95 %]",
            lambda row: estimate(
                None if row.policy == baseline else row.grade.paired(), f"+{FORM}"
            ),
        ),
        *game.columns,
    )
    return comparison(columns, rows_of(artifact, task))


def count_of(part: int, whole: int) -> Cell:
    """A count out of a number of trials; a dash where there was none."""
    return Cell(f"{part:,} of {whole:,}" if whole else MISSING, part / whole if whole else None)


def invalid_replies(row: ModelRow | ArenaModelRow) -> Cell:
    """How many replies of a model held no legal action; a dash for a script."""
    requests = row.moves if isinstance(row, ModelRow) else row.actions
    return count_of(row.invalid_replies, requests) if is_model(row.policy) else number(None)


def stage_gains(artifact: Artifact, task: str) -> Markup:
    """The gain of each training stage over the stage before, also on unseen games."""
    return table(
        ("from", "to", "on", "n", "difference [95 %]"),
        [
            (
                policy_label(gain.before),
                policy_label(gain.after),
                ON[gain.on],
                gain.n,
                with_interval(gain.interval, "+.3f"),
            )
            for gain in artifact.data.stage_gains
            if gain.task == task
        ],
        align="lllrr",
        caption=f"{task_title(task)}: gain of each stage, bare, paired by seed",
    )


def rivalries(artifact: Artifact, task: str) -> Markup:
    """What each trained stage scores more than scripts and planners."""
    return table(
        ("stage", "compared with", "n", "difference [95 %]"),
        [
            (
                policy_label(row.policy),
                policy_label(row.rival),
                row.n,
                with_interval(row.interval, "+.3f"),
            )
            for row in artifact.data.rivalries
            if row.task == task
        ],
        align="llrr",
        caption=f"{task_title(task)}: grade of each stage, bare, compared with others, by seed",
    )


def behaviour_table(artifact: Artifact, task: str) -> Markup:
    """How often each model breaks its own offers and limit, and leaves when it is due."""
    return table(
        ("policy", "moves", "bids below its own", "beyond its last word", "over its limit",
         "left when due"),
        [
            (
                policy_label(row.policy),
                row.moves,
                row.retreats,
                row.broken,
                row.over_limit,
                count_of(row.walked, row.walk_due).text,
            )
            for row in rows_of(artifact, task)
            if is_model(row.policy) and not row.policy.startswith("null")
        ],
        caption=f"{task_title(task)}: moves as proposed; due where the planner does so",
    )  # fmt: skip


# The games ---------------------------------------------------------------------------------------

BAZAAR = Game(
    name="model",
    file=FILE,
    heading=(
        "The language model after each stage of training",
        "One small model, bare and under two wrappers; the wrappers around no model; scripts;"
        " planners; and an oracle.",
    ),
    stages=tuple(STAGES),
    columns=(
        Column("deals", lambda row: number(row.deal_rate, ".0%")),
        Column("forfeits", lambda row: number(row.ends["forfeit"], ",")),
        Column("invalid replies", invalid_replies),
        Column(
            "changed by the wrapper",
            lambda row: number(row.changed if "+" in row.policy else None, ","),
        ),
    ),
    summary=model_summary,
    references=references,
)
ARENA = Game(
    name="lab",
    file=LAB_FILE,
    heading=(
        "A language model as a lab",
        "The same small model, untrained and trained on the broker’s choices; the broker computes"
        " the options in its prompt.",
    ),
    stages=(BASE, *LAB_STAGES),
    columns=(
        Column("jobs done", lambda row: number(row.jobs.mean, ".2f")),
        Column("jobs given", lambda row: number(row.jobs_had, ".2f")),
        Column(
            "valid actions",
            lambda row: Cell(f"{row.valid:.1%} of {row.actions:,}", row.valid),
        ),
        Column("invalid replies", invalid_replies),
    ),
    summary=lab_summary,
    references=lab_references,
)


# Layout ------------------------------------------------------------------------------------------


def show(game: Game, artifact: Artifact, task: str) -> dict[str, Any]:
    """What the part shows of a task, by the name of the component."""
    label = f"{task_title(task)}: each row on the first n hold-out seeds"
    parts = {
        "summary": Markup("<p>{}</p>").format(game.summary(artifact, task)),
        "stages": stage_figure(game, artifact, task),
        "gains": stage_gains(artifact, task),
        "rivalries": rivalries(artifact, task),
        "bars": bars(artifact, task),
        "details": gr.update(value=details(game, artifact, task), label=label),
    }
    if isinstance(artifact.data, ModelComparison):  # the arena's rows count no broken offers
        parts["behaviour"] = behaviour_table(artifact, task)
    return parts


def build(game: Game, address: Address | None = None, around: gr.Accordion | None = None) -> None:
    """Lay out the part. Called inside the Results tab; `address`, if any, holds the task."""
    gr.HTML(heading(*game.heading))
    artifact, missing = load_or_say(game.file)
    if artifact is None:
        gr.HTML(missing)
        return
    tasks = list(dict.fromkeys(row.task for row in artifact.data.rows))
    task = gr.Radio(task_choices(tasks), value=tasks[0], label="Task", visible=len(tasks) > 1)
    outputs = _outputs(game, show(game, artifact, tasks[0]))

    def redraw(name: str) -> dict[Any, Any]:
        return {outputs[part]: value for part, value in show(game, artifact, name).items()}

    filled = list(outputs.values())
    if address is not None:
        pick_in_address(address, "task", task, tasks, redraw, filled, around)
    else:
        task.change(redraw, task, filled, **QUIET)
    gr.HTML(provenance(artifact, f"paired hold-out episodes; {weights(artifact)}"))


def _outputs(game: Game, parts: Mapping[str, Any]) -> dict[str, Any]:
    """The components that a redraw fills, by the name of the part; one sub-tab is seen a time."""
    prefix = f"results-{game.name}"
    outputs = {"summary": gr.HTML(parts["summary"])}
    with gr.Tabs():
        with gr.Tab("By stage"):
            outputs["stages"] = gr.Plot(
                parts["stages"], show_label=False, elem_id=f"{prefix}-stages"
            )
        with gr.Tab("Gains"):
            outputs["gains"] = gr.HTML(parts["gains"])
            outputs["rivalries"] = gr.HTML(parts["rivalries"])
        with gr.Tab("Every policy"):
            outputs["bars"] = gr.Plot(parts["bars"], show_label=False, elem_id=f"{prefix}-bars")
        with gr.Tab("Table"):
            outputs["details"] = sortable_table(
                parts["details"]["value"], parts["details"]["label"], f"{prefix}-table"
            )
        if "behaviour" in parts:
            with gr.Tab("Moves"):
                outputs["behaviour"] = gr.HTML(parts["behaviour"])
    return outputs
