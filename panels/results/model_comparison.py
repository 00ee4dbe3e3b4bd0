"""One language model after each stage of training, bare and wrapped, beside scripts and a bound.

A part of Results, laid out alike for the bazaar and for the GPU arena.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
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
    weights,
)
from panels.results.model_summary import (
    lab_references,
    lab_summary,
    model_summary,
    references,
    rows_by_policy,
)
from panels.ui.look import QUIET, SERIES, folded, heading, line_style, styled, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import data_table
from panels.ui.terms import task_choices, task_title
from panels.ui.wiring import Address, Updates, fill_on_opening, pick_in_address
from sauda.experiments.comparison import (
    ArenaModelRow,
    ModelComparison,
    ModelRow,
    PairedDifference,
)
from sauda.llm.registry import is_model
from sauda.records.store import Artifact

GRADE, DIFFERENCE = "z.3f", "+.3f"  # formats
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
    columns: Callable[[Any], dict[str, Any]]  # of the table, beside those of both games
    forms: Mapping[str, str]  # of these columns
    summary: Callable[[Artifact, str], str]
    references: Callable[[Artifact, str], list[tuple[str, float]]]  # lines beside the stages


Heads = Mapping[str, Callable[[Any], str]]
PAIRED: Mapping[str, tuple[str, Heads, str]] = {  # by title: the rows, their columns, about them
    "Gain of each stage": (
        "stage_gains",
        {
            "from": lambda gain: policy_label(gain.before),
            "to": lambda gain: policy_label(gain.after),
            "on": lambda gain: ON[gain.on],
        },
        "gain of each stage, bare, paired by seed",
    ),
    "Each stage compared with scripts and planners": (
        "rivalries",
        {
            "stage": lambda row: policy_label(row.policy),
            "compared with": lambda row: policy_label(row.rival),
        },
        "each stage, bare, compared with others by seed",
    ),
}


# Figures -----------------------------------------------------------------------------------------


SHIFT = 0.16  # of the room of a stage, from its first training to its second


def rows_of(artifact: Artifact, task: str) -> list[ModelRow | ArenaModelRow]:
    """The rows of one task, the best grade first."""
    rows = rows_by_policy(artifact, task).values()
    return sorted(rows, key=lambda row: -row.grade.mean)


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


def policies_table(game: Game, artifact: Artifact, task: str) -> Markup:
    """Every policy's grade, its difference to the base, and counts."""
    baseline = artifact.config["baseline"]
    lines = [
        {
            "policy": policy_label(row.policy),
            "n": row.n,
            "grade": row.grade,
            "less the base": None if row.policy == baseline else row.grade.paired(),
            **game.columns(row),
        }
        for row in rows_of(artifact, task)
    ]
    forms = {"less the base": DIFFERENCE, **game.forms}
    told = f"{task_title(task)}: each row on the first n hold-out seeds; 95 % intervals"
    return data_table(lines, told, forms=forms)


def invalid_replies(row: ModelRow | ArenaModelRow) -> int | None:
    """How many replies of a model held no legal action; None for a script."""
    return row.invalid_replies if is_model(row.policy) else None


def paired(rows: Sequence[PairedDifference], task: str, heads: Heads, about: str) -> Markup:
    """The rows of a task that compare two policies by seed; `heads` are the columns before n."""
    lines = [
        {head: of(row) for head, of in heads.items()} | {"n": row.n, "difference": row.interval}
        for row in rows
        if row.task == task
    ]
    told = f"{task_title(task)}: {about}; 95 % intervals"
    return data_table(lines, told, DIFFERENCE)


def behaviour_table(artifact: Artifact, task: str) -> Markup:
    """How often each model breaks its own offers and limit, and leaves when it is due."""
    lines = [
        {
            "policy": policy_label(row.policy),
            "moves": row.moves,
            "bids below its own": row.retreats,
            "beyond its last word": row.broken,
            "over its limit": row.over_limit,
            "left when due": row.walked,
            "times due": row.walk_due,
        }
        for row in rows_of(artifact, task)
        if is_model(row.policy) and not row.policy.startswith("null")
    ]
    told = f"{task_title(task)}: moves as proposed; leaving is due where the planner leaves"
    return data_table(lines, told)


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
    columns=lambda row: {
        "deals": row.deal_rate,
        "forfeits": row.ends["forfeit"],
        "moves": row.moves,
        "invalid replies": invalid_replies(row),
        "changed by the wrapper": row.changed if "+" in row.policy else None,
    },
    forms={"deals": ".0%"},
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
    columns=lambda row: {
        "jobs done": row.jobs.mean,
        "jobs given": row.jobs_had,
        "actions": row.actions,
        "valid actions": row.valid,
        "invalid replies": invalid_replies(row),
    },
    forms={"jobs done": ".2f", "jobs given": ".2f", "valid actions": ".1%"},
    summary=lab_summary,
    references=lab_references,
)


# Layout ------------------------------------------------------------------------------------------


def show(game: Game, artifact: Artifact, task: str) -> tuple[Markup, go.Figure, Markup]:
    """What stands above the stages of a task, their figure, and the tables below."""
    parts = {"Every policy as a table": policies_table(game, artifact, task)}
    for title, (rows, *told) in PAIRED.items():
        parts[title] = paired(getattr(artifact.data, rows), task, *told)
    if isinstance(artifact.data, ModelComparison):  # the arena's rows count no broken offers
        parts["Moves that break an own offer or limit"] = behaviour_table(artifact, task)
    tables = Markup("").join(folded(title, part) for title, part in parts.items() if part)
    summary = heading(*game.heading) + Markup("<p>{}</p>").format(game.summary(artifact, task))
    tables += provenance(artifact, f"paired hold-out episodes; {weights(artifact)}")
    return summary, stage_figure(game, artifact, task), tables


def build(game: Game, address: Address, around: gr.Accordion) -> None:
    """Lay out the part, inside `around`; `address` holds the task of the bazaar."""
    artifact, missing = load_or_say(game.file)
    if artifact is None:
        gr.HTML(missing)
        return
    tasks = list(dict.fromkeys(row.task for row in artifact.data.rows))
    task = gr.Radio(task_choices(tasks), value=tasks[0], label="Task", visible=len(tasks) > 1)
    prefix = f"results-{game.name}"
    outputs = [
        gr.HTML(),
        gr.Plot(show_label=False, elem_id=f"{prefix}-stages"),
        gr.HTML(elem_id=f"{prefix}-tables"),
    ]
    drawn = cache(partial(show, game, artifact))

    def redraw(name: str) -> Updates:
        return dict(zip(outputs, drawn(name), strict=True))

    if game is BAZAAR:
        pick_in_address(address, "task", task, tasks, redraw, outputs, around)
        return
    task.change(redraw, task, outputs, **QUIET)
    fill_on_opening(around, lambda _: redraw(tasks[0]), outputs)
