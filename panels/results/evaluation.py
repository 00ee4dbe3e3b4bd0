"""The evaluations of either game in Results: figure, sentences, table, one task at a time.

What differs between the games is a `Game` value. Shares, grades and rewards have no unit; a utility
is in credits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup
from pandas.io.formats.style import Styler

from env import ARENA_TASKS, TASKS, arena
from panels.frames import Table
from panels.measured import bounds
from panels.results.question import HTML, Part
from panels.ui.html import SAY
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import WhiskerRow, whisker_rows
from panels.ui.terms import short, task_about, task_choices, task_title, with_tooltips
from sauda.players import policy_label
from sauda.policies import LABS, ZERO_GRADE
from sauda.records.schemas.evaluation import ArenaRow, BazaarRow
from sauda.records.store import Artifact

Row = BazaarRow | ArenaRow

SPLITS = {"train": "Training seeds", "holdout": "Hold-out seeds"}
DRAWN = "as drawn"  # the other seats hold whom each world draws


class Metric(NamedTuple):
    """A metric of an evaluation's rows."""

    label: str
    axis: str  # axis title, with the unit
    form: str = "z.3f"


class View(NamedTuple):
    """What the visitor chose; values, not labels."""

    task: str
    split: str
    metric: str


@dataclass(frozen=True)
class Game:
    """What Results needs to know of a game to show its evaluations."""

    name: str  # in element ids
    files: Sequence[str]  # evaluation artifacts, of both splits
    tasks: Sequence[str]  # that which is shown first, first
    metrics: Mapping[str, Metric]  # by key in a row
    bounds: Mapping[str, BazaarRow]  # by task: the oracle's row


def rows_of(evaluation: Artifact, view: View) -> list[Row]:
    """The rows of the chosen task, the best first; in the arena as the worlds draw the labs."""
    rows = [
        row
        for row in evaluation.data.rows
        if (row.task, getattr(row, "others", DRAWN)) == (view.task, DRAWN)
    ]
    return sorted(rows, key=lambda row: -getattr(row, view.metric).mean)


def figure(game: Game, evaluation: Artifact, view: View) -> go.Figure:
    """Mean of the metric per policy with its interval; the bound of a grade on top."""
    metric = game.metrics[view.metric]
    bound = game.bounds.get(view.task) if view.metric == "grade" else None
    lines = [WhiskerRow("informed oracle", bound.grade, "oracle")] if bound else []
    lines += [
        WhiskerRow(policy_label(row.policy), getattr(row, view.metric), "scripted")
        for row in rows_of(evaluation, view)
    ]
    return whisker_rows({task_title(view.task): lines}, metric.axis, metric.form)


def caption(game: Game, evaluation: Artifact, view: View) -> str:
    """The best and the worst policy, n, and what the bound is."""
    rows, form = rows_of(evaluation, view), game.metrics[view.metric].form
    best, worst = (getattr(row, view.metric) for row in (rows[0], rows[-1]))
    leaders = [
        policy_label(row.policy) for row in rows if getattr(row, view.metric).mean == best.mean
    ]
    bound = game.bounds.get(view.task) if view.metric == "grade" else None
    last = policy_label(rows[-1].policy)
    return SAY.evaluation(leaders, best, last, worst, form, rows[0].n, bound)


def details(game: Game, evaluation: Artifact, view: View, other: Artifact) -> Table:
    """The figure's numbers with every other measured column; `other` has the other seeds."""
    metric = game.metrics[view.metric]
    (elsewhere,) = (title.lower() for split, title in SPLITS.items() if split != view.split)
    less = f"less {policy_label(evaluation.config['baseline'])}"
    moved = f"change on {elsewhere}"
    lines = []
    for row in rows_of(evaluation, view):
        figures = getattr(row, view.metric)
        line = {"policy": policy_label(row.policy), "n": row.n, metric.label: figures}
        line |= {"sd": figures.sd, "IQM": figures.iqm, less: figures.paired()}
        line |= {moved: change(row, other, view.metric), **list_measured(row)}
        ends = ", ".join(f"{end} {n:,}" for end, n in row.ends.items() if n)
        lines.append(line | {"how it ended": ends})
    forms = {less: f"+{metric.form}", moved: f"+{metric.form}"} | FORMS
    name = f"{metric.label}, {short(view.task)}, {SPLITS[view.split].lower()}"
    caption = f"{name}; 95% intervals"
    return Table("numbers", lines, "", metric.form, forms, caption)


def change(row: Row, other: Artifact, metric: str) -> float | None:
    """By how much the mean moves on the other seeds; None where they hold another game."""
    rows = {
        (each.task, each.policy, getattr(each, "others", None)): each for each in other.data.rows
    }
    match = rows.get((row.task, row.policy, getattr(row, "others", None)))
    if match is None or any(
        getattr(row.hashes, part) != getattr(match.hashes, part) for part in ("task", "opponents")
    ):
        return None
    return getattr(match, metric).mean - getattr(row, metric).mean


# The games ---------------------------------------------------------------------------------------

FORMS = {
    "rounds": ".2f", "utility, credits": "z.1f", "reward per episode": "z.3f",
    "reward ~ utility, r": "z.3f", "valid actions": ".1%", "jobs done": ".2f", "jobs given": ".2f",
}  # fmt: skip
ARENA = Game(
    "arena-tasks",
    ("evaluation/arena-holdout.json", "evaluation/arena-train.json"),
    list(ARENA_TASKS)[::-1],
    {
        "grade": Metric("Grade", "percent of the stake", "z.1%"),
        "utility": Metric("Utility", "utility, credits", "z.1f"),
        "reward": Metric("Reward", "reward of an episode"),
    },
    {},
)


def bazaar_game(comparison: Artifact) -> Game:
    """The bazaar, the open market first, with the oracle's grades in a comparison."""
    kinds = [(tasks, split) for split in ("holdout", "train") for tasks in ("market", "classic")]
    return Game(
        "bazaar",
        [f"evaluation/{tasks}-{split}.json" for tasks, split in kinds],
        sorted(TASKS, key=lambda task: task.startswith("classic/")),
        {
            "grade": Metric("What was won", "percent of what could be won", "z.1%"),
            "share": Metric("Share of deals", "percent of what lay between the limits", "z.1%"),
        },
        bounds(comparison),
    )


def list_measured(row: Row) -> dict[str, Any]:
    """What a row measures beside the metrics that can be chosen, for the table."""
    if isinstance(row, BazaarRow):
        return {"success": row.success_rate, "deals": row.deal_rate, "rounds": row.rounds}
    return {
        "utility, credits": row.utility, "reward per episode": row.reward,
        "reward ~ utility, r": row.correlation, "valid actions": row.valid,
        "actions": row.actions, "jobs done": row.jobs.mean, "jobs given": row.jobs_had,
    }  # fmt: skip


# The part of a question --------------------------------------------------------------------------


def part(game: Game) -> Part | Markup:
    """The game's evaluations, one task at a time; or which of them are missing."""
    loaded = [load_or_say(file) for file in game.files]
    if missing := Markup("").join(message for _, message in loaded):
        return missing
    evaluations = [evaluation for evaluation, _ in loaded]
    played = {  # of every task on the seeds of every split
        (task, evaluation.config["split"]): evaluation
        for evaluation in evaluations
        for task in evaluation.config["tasks"]
    }
    tasks = [task for task in game.tasks if (task, "holdout") in played]
    lead = Markup("")
    if game is ARENA:  # what it is made of, and how many episodes were played
        codes = {code for kind in arena.KINDS.values() for code in (*kind.success, *kind.failures)}
        count = sum(row.n for evaluation in evaluations for row in evaluation.data.rows)
        lead = HTML.arena_in_short(arena, len(ARENA_TASKS), len(codes), len(LABS), count)

    def draw(*chosen: str) -> tuple[go.Figure, Markup, Styler]:
        view = View(*chosen)
        evaluation = played[view.task, view.split]
        (other,) = (played[view.task, split] for split in SPLITS if split != view.split)
        table = details(game, evaluation, view, other)
        words = below(game, evaluation, view) + lead + table.about
        return figure(game, evaluation, view), words, table.shown

    splits = [(label, name) for name, label in SPLITS.items()]
    metrics = [(metric.label, name) for name, metric in game.metrics.items()]
    pickers = [
        partial(
            gr.Dropdown, task_choices(tasks), value=tasks[0], label="Task",
            filterable=False, min_width=260,
        ),
        partial(gr.Radio, splits, value="holdout", label="Seeds"),
        partial(gr.Radio, metrics, value=next(iter(game.metrics)), label="Metric"),
    ]  # fmt: skip
    return Part(game.name, draw, pickers, tasks, has_table=True)


def below(game: Game, evaluation: Artifact, view: View) -> Markup:
    """What stands below the figure: the task, sentences, and where both come from."""
    sentences = [caption(game, evaluation, view)]
    if game is ARENA:
        rows = {(row.task, row.others): row for row in evaluation.data.correlations}
        zero = ZERO_GRADE if view.metric == "grade" else ""
        sentences.append(SAY.reward_agreement(rows[view.task, DRAWN], zero))
    n = evaluation.config["episodes"]
    paragraphs = HTML.about_task(view.task, task_about(view.task))
    for sentence in sentences:
        paragraphs += Markup("<p>{}</p>").format(with_tooltips(sentence))
    return paragraphs + provenance(evaluation, f"n = {n:,} per policy and task")
