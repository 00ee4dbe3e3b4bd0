"""The pilot's training: its grades while it learns, from its log, and what its labels teach."""

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.questions import reproduce
from panels.results.questions.layout import fold
from panels.ui.look import QUIET, heading, line_style, note, styled, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, task_choices
from sauda.experiments.comparison import PILOT
from sauda.records.schemas.pilot import PilotEvaluation
from sauda.records.store import Artifact

HOLDOUT = "evaluation/market-holdout.json"  # holds the pilot's games on hold-out seeds
ROLES = {0.0: "buyer", 3.0: "seller"}  # the line of each price error, percent of the limit


def tasks_of(run: Artifact) -> list[str]:
    """The tasks that the pilot learnt, in the order of its evaluations."""
    return list(dict.fromkeys(row.task for row in run.data.final))


def grade_figure(run: Artifact, task: str) -> go.Figure:
    """Grades on `task` over CPU minutes: of every round's games, and of each checkpoint."""
    figure, minutes, spent = go.Figure(), [], 0.0
    for row in run.data.log:
        spent += row.seconds / 60
        minutes.append(spent)
    figure.add_scatter(
        x=minutes, y=[row.reward[task] for row in run.data.log], name="games of each round",
        hovertemplate="%{x:.1f} min: %{y:.3f}<extra></extra>",
        **(line_style("scripted") | {"mode": "lines"}),
    )  # fmt: skip
    for error, role in ROLES.items():
        at = [
            (minute, cell)
            for minute, row in zip(minutes, run.data.log, strict=True)
            for cell in _evaluated(row.evaluations or [], task, error)
        ]
        figure.add_scatter(
            x=[minute for minute, _ in at],
            y=[cell.mean for _, cell in at],
            error_y=whiskers([cell for _, cell in at]) | {"thickness": 1.25, "width": 4},
            name=f"checkpoint, {error:.0f} % price error",
            hovertemplate="%{x:.1f} min: %{y:.3f}<extra></extra>",
            **line_style(role),
        )
    figure.update_xaxes(title="CPU minutes of training")
    return styled(figure, 340).update_yaxes(title="mean grade")


def outcome(run: Artifact, task: str) -> str:
    """The grades of the last weights on `task`, as text."""
    cells = [(error, *_evaluated(run.data.final, task, error)) for error in ROLES]
    parts = [f"{with_interval(cell)} with a price error of {error:.0f} %" for error, cell in cells]
    return (
        f"After {run.data.seconds / 60:.0f} CPU minutes the pilot wins {' and '.join(parts)} in"
        f" the {short(task)}, n = {cells[0][1].n:,} games without the unseen sellers and listings"
        f" ({run.data.parameters:,} parameters; 95 % bootstrap intervals)."
    )


def _evaluated(cells: list[PilotEvaluation], task: str, error: float) -> list[PilotEvaluation]:
    return [cell for cell in cells if cell.task == task and cell.error == error]


def build() -> None:
    """Lay out the section. Called inside the Training tab."""
    gr.HTML(
        heading(
            "The pilot",
            "A small network learns the open market by PPO from the numbers of the prompt alone,"
            " with price errors of 3 % of the limit.",
        )
    )
    run, missing = load_or_say("training/pilot.json")
    if run is None:
        gr.HTML(missing)
    else:
        _grades(run)
    _reproduce()


def _grades(run: Artifact) -> None:
    """The curve of each task, with the choice of it."""
    tasks = tasks_of(run)

    def show(task: str) -> tuple[go.Figure, Markup]:
        return grade_figure(run, task), Markup("<p>{}</p>").format(outcome(run, task))

    figure, sentence = show(tasks[0])
    task = gr.Radio(
        task_choices(tasks), value=tasks[0], label="Task", elem_id="training-pilot-task"
    )
    outputs = [
        gr.Plot(figure, show_label=False, elem_id="training-pilot"),
        gr.HTML(sentence),
    ]
    gr.HTML(provenance(run, f"n = {len(run.data.log)} rounds"))
    task.change(show, task, outputs, **QUIET)


def _reproduce() -> None:
    """The pilot's hold-out games, to be played again."""
    holdout, missing = load_or_say(HOLDOUT)
    if holdout is None:
        gr.HTML(missing)
        return
    with fold("Reproduce: play some of the pilot’s hold-out games again, now"):
        gr.HTML(note(f"Its last weights on hold-out seeds, as recorded in {HOLDOUT}."))
        reproduce.controls("pilot", own_rows(holdout))


def own_rows(holdout: Artifact) -> reproduce.Rows:
    """The rows of an evaluation that the pilot played."""
    rows = reproduce.rows_of([holdout], PILOT)
    return {name: row for name, row in rows.items() if row[1].policy == PILOT}
