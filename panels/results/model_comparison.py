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

from panels.results.models import (
    AGAIN,
    FILE,
    GAIN,
    LAB_FILE,
    LAB_STAGES,
    STAGES,
    best_script,
    policy_label,
    rows_by_policy,
    standing,
    weights,
)
from panels.results.question import HTML
from panels.ui.look import QUIET, SERIES, folded, line_style, styled, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import data_table
from panels.ui.terms import task_choices, task_title
from panels.ui.wiring import Address, Updates, fill_on_opening, pick_in_address
from sauda.experiments.comparison import (
    BASE,
    BAYESIAN,
    LAB,
    LISTENER,
    ORACLE,
    OURS,
    ArenaModelRow,
    ModelRow,
    PairedDifference,
)
from sauda.llm.registry import is_model
from sauda.policies import ZERO_GRADE
from sauda.records.store import Artifact

ON = {"all": "all seeds", "unseen": "unseen listings or labs"}


@dataclass(frozen=True)
class Game:
    """What differs between the games in a model comparison."""

    name: str  # in element ids
    file: str
    stages: Sequence[str]  # of training, the untrained base first
    columns: Callable[[Any], dict[str, Any]]  # of the table, beside those of both games
    forms: Mapping[str, str]  # of these columns
    told: Callable[[Artifact, str], Markup]  # heading and summary of a task


# Sentences ---------------------------------------------------------------------------------------


def stages_told(comparison: Artifact, task: str) -> Markup:
    """What training brought on a task, and how much of the gap to the planner that closes."""
    place = standing(comparison, task)
    return HTML.stages(place, policy_label(OURS), policy_label(LISTENER))


def lab_told(comparison: Artifact, task: str) -> Markup:
    """The grade of the last stage as a lab, beside the base and the best script."""
    rows = rows_by_policy(comparison, task)
    script, grade = best_script(rows)
    held = rows.get(f"{BASE}+constrained")
    labels = [policy_label(name) for name in (LAB, BASE, script)]
    return HTML.lab_stages(rows[LAB], rows[BASE], grade, labels, held, ZERO_GRADE)


def references(artifact: Artifact, task: str) -> list[tuple[str, float]]:
    """Mean grades of the best script, the planners and the oracle, where they played."""
    rows = rows_by_policy(artifact, task)
    script, grade = best_script(rows)
    knows = "best script" if LAB in rows else "best untuned script"
    others = [name for name in (BAYESIAN, LISTENER, ORACLE) if name in rows]
    return [
        (f"{knows}, {policy_label(script)}", grade),
        *((policy_label(name), rows[name].grade.mean) for name in others),
    ]


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
    beside = references(artifact, task)
    for name, grade in beside:
        figure.add_hline(
            y=grade,
            line={"dash": "dot", "width": 1, "color": SERIES["scripted"].light},
            annotation={"text": f"{name}: {grade:.3f}", "font": {"size": 11}},
            annotation_position="top left",
        )
    ends = [getattr(grade, end) for grade in grades.values() for end in ("low", "high")]
    lowest, highest = min([0.0, *ends]), max(grade for _, grade in beside)
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
    forms = {"less the base": GAIN, **game.forms}
    told = f"{task_title(task)}: each row on the first n hold-out seeds; 95 % intervals"
    return data_table(lines, told, forms=forms)


def invalid_replies(row: ModelRow | ArenaModelRow) -> int | None:
    """How many replies of a model held no legal action; None for a script."""
    return row.invalid_replies if is_model(row.policy) else None


def gains_table(artifact: Artifact, task: str) -> Markup:
    """The gain of each stage over the one it trains further."""
    lines = [
        {"from": policy_label(gain.before), "to": policy_label(gain.after), "on": ON[gain.on]}
        | _paired(gain)
        for gain in artifact.data.stage_gains
        if gain.task == task
    ]
    told = f"{task_title(task)}: gain of each stage, bare, paired by seed; 95 % intervals"
    return data_table(lines, told, GAIN)


def rivals_table(artifact: Artifact, task: str) -> Markup:
    """Each stage compared with scripts and planners."""
    lines = [
        {"stage": policy_label(row.policy), "compared with": policy_label(row.rival)} | _paired(row)
        for row in artifact.data.rivalries
        if row.task == task
    ]
    told = f"{task_title(task)}: each stage, bare, compared with others by seed; 95 % intervals"
    return data_table(lines, told, GAIN)


def _paired(row: PairedDifference) -> dict[str, Any]:
    return {"n": row.n, "difference": row.interval}


def behaviour_table(artifact: Artifact, task: str) -> Markup:
    """How often each model of the bazaar breaks its own offers and limit, and leaves when due."""
    lines = [
        {
            "policy": policy_label(row.policy), "moves": row.moves,
            "bids below its own": row.retreats, "beyond its last word": row.broken,
            "over its limit": row.over_limit, "left when due": row.walked,
            "times due": row.walk_due,
        }
        for row in rows_of(artifact, task)
        if isinstance(row, ModelRow) and is_model(row.policy) and not row.policy.startswith("null")
    ]  # fmt: skip
    told = f"{task_title(task)}: moves as proposed; leaving is due where the planner leaves"
    return data_table(lines, told)


# The games ---------------------------------------------------------------------------------------

BAZAAR = Game(
    name="model",
    file=FILE,
    stages=tuple(STAGES),
    columns=lambda row: {
        "deals": row.deal_rate,
        "forfeits": row.ends["forfeit"],
        "moves": row.moves,
        "invalid replies": invalid_replies(row),
        "changed by the wrapper": row.changed if "+" in row.policy else None,
    },
    forms={"deals": ".0%"},
    told=stages_told,
)
ARENA = Game(
    name="lab",
    file=LAB_FILE,
    stages=(BASE, *LAB_STAGES),
    columns=lambda row: {
        "jobs done": row.jobs.mean,
        "jobs given": row.jobs_had,
        "actions": row.actions,
        "valid actions": row.valid,
        "invalid replies": invalid_replies(row),
    },
    forms={"jobs done": ".2f", "jobs given": ".2f", "valid actions": ".1%"},
    told=lab_told,
)


# Layout ------------------------------------------------------------------------------------------


def show(game: Game, artifact: Artifact, task: str) -> tuple[Markup, go.Figure, Markup]:
    """What stands above the stages of a task, their figure, and the tables below."""
    parts = {
        "Every policy as a table": policies_table(game, artifact, task),
        "Gain of each stage": gains_table(artifact, task),
        "Each stage compared with scripts and planners": rivals_table(artifact, task),
        "Moves that break an own offer or limit": behaviour_table(artifact, task),
    }
    tables = Markup("").join(folded(title, part) for title, part in parts.items() if part)
    tables += provenance(artifact, f"paired hold-out episodes; {weights(artifact)}")
    return game.told(artifact, task), stage_figure(game, artifact, task), tables


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
