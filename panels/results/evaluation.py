"""One evaluation as a figure, a sentence, a sortable table and a CSV file, for either game.

Functions take rows of an evaluation artifact; what differs between the games is a `Game` value.
Shares, grades and rewards have no unit; a utility is in credits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from env import Task
from panels.results.model_labels import policy_label
from panels.ui.look import SERIES, bar_style, whiskers
from panels.ui.tables import Column, comparison, estimate, frame, number, with_interval
from panels.ui.terms import short
from panels.ui.whisker_rows import labels_above
from sauda.experiments.evaluate import ArenaRow, BazaarRow, compare_rows
from sauda.records.schemas.base import Interval
from sauda.records.schemas.base import Metric as SampleMetric
from sauda.records.store import Artifact

Row = BazaarRow | ArenaRow

SPLITS = {"train": "Training seeds", "holdout": "Hold-out seeds"}
WHISKERS = {"interval": "95 % interval", "sd": "Standard deviation"}
WHISKER_TEXT = {
    "interval": "whiskers are 95 % bootstrap intervals of the mean",
    "sd": "whiskers are one standard deviation over episodes",
}
ORDERS = {"best": "Best first", "name": "By name"}
DRAWN = "as drawn"  # the other seats hold whom each world draws


@dataclass(frozen=True)
class Metric:
    """A metric of an evaluation's rows."""

    name: str  # key in a row
    label: str
    axis: str  # axis title, with the unit
    digits: int
    axis_includes: tuple[float, ...] = (0.0,)


@dataclass(frozen=True)
class View:
    """What the visitor chose; values, not labels."""

    task: str
    split: str
    metric: str
    whisker: str = "interval"
    order: str = "best"


@dataclass(frozen=True)
class Bound:
    """A reference line that bounds or nearly bounds what any policy reaches."""

    value: float
    label: str
    sentence: str


@dataclass(frozen=True)
class Game:
    """What Results needs to know of a game to show its evaluations."""

    name: str  # prefix of element ids
    title: str  # prefix of labels, "" for none
    csv_label: str  # of the download button
    files: Sequence[str]  # evaluation artifacts; the first is shown first
    tasks: Mapping[str, Task]
    metrics: Sequence[Metric]
    columns: Sequence[Column]  # of the table, beside those of every game
    first_task: str
    bound: Callable[[Artifact, View], Bound | None]
    about: Callable[[str], str]  # a task in words
    remarks: Callable[[Artifact, View], str]  # sentences below the figure

    def metric(self, name: str) -> Metric:
        """The metric of that name."""
        return next(metric for metric in self.metrics if metric.name == name)


def rows_of(evaluation: Artifact, view: View) -> list[Row]:
    """The rows of the chosen task in the chosen order, in the arena as the worlds draw the labs."""
    rows = [
        row
        for row in evaluation.data.rows
        if (row.task, getattr(row, "others", DRAWN)) == (view.task, DRAWN)
    ]
    if view.order == "name":
        return sorted(rows, key=lambda row: row.policy)
    return sorted(rows, key=lambda row: -getattr(row, view.metric).mean)


# Figure ------------------------------------------------------------------------------------------


def bars(game: Game, evaluation: Artifact, view: View) -> go.Figure:
    """Mean of the metric per policy with its whisker, the first row on top; the bound as a line."""
    rows, metric = rows_of(evaluation, view)[::-1], game.metric(view.metric)  # drawn bottom up
    spans = [span(getattr(row, metric.name), view.whisker) for row in rows]
    bar = go.Bar(
        y=[policy_label(row.policy) for row in rows],
        x=[cell.mean for cell in spans],
        orientation="h",
        error_x=whiskers(spans),
        hovertemplate=f"%{{y}}: %{{x:.{metric.digits}f}}<extra></extra>",
        **bar_style("scripted"),
    )
    bound = game.bound(evaluation, view)
    names = [policy_label(row.policy) for row in rows]
    figure = labels_above(go.Figure(bar), names, top=20 if bound else 0)
    reach = [*metric.axis_includes, *(end for cell in spans for end in (cell.low, cell.high))]
    if bound:
        reach.append(bound.value)
        ink = SERIES["oracle"]
        figure.add_vline(
            x=bound.value,
            line={"color": ink.light, "width": ink.width, "dash": ink.dash},
            annotation_text=bound.label,
            annotation_position="top left",
            annotation_yshift=18,  # above the label of the first row
        )
    room = 0.03 * (max(reach) - min(reach))
    ends = [min(reach) - room * (min(reach) < 0), max(reach) + room]
    return figure.update_xaxes(title=metric.axis, range=ends, showgrid=True, zeroline=True)


def span(figures: SampleMetric, whisker: str) -> Interval:
    """The mean with a whisker: the 95 % interval, or one standard deviation."""
    if whisker == "sd":
        mean, sd = figures.mean, figures.sd
        return Interval(mean=mean, low=mean - sd, high=mean + sd)
    return figures


def caption(game: Game, evaluation: Artifact, view: View) -> str:
    """The best and the worst policy, n, what the whiskers are, and what the line is."""
    rows = sorted(rows_of(evaluation, view), key=lambda row: -getattr(row, view.metric).mean)
    form = f"z.{game.metric(view.metric).digits}f"
    best, last = getattr(rows[0], view.metric), rows[-1]
    leaders = [
        policy_label(row.policy) for row in rows if getattr(row, view.metric).mean == best.mean
    ]
    if leaders[1:]:
        lead = f"{', '.join(leaders[:-1])} and {leaders[-1]} share the lead"
    else:
        lead = f"{leaders[0]} leads"
    bound = game.bound(evaluation, view)
    return (
        f"{lead} with {with_interval(best, form)}, {policy_label(last.policy)} is last with"
        f" {with_interval(getattr(last, view.metric), form)}; n = {rows[0].n:,} episodes a policy,"
        f" {WHISKER_TEXT[view.whisker]}." + (f" {bound.sentence}" if bound else "")
    )


# Table and CSV -----------------------------------------------------------------------------------


def details(
    game: Game, evaluation: Artifact, view: View, other_split: Artifact | None = None
) -> dict[str, Any]:
    """The figure's numbers with every other measured column, as a sortable table's value."""
    columns = (*_shared_columns(game, evaluation, view, other_split), *game.columns, ENDS)
    return comparison(columns, rows_of(evaluation, view))


def details_label(game: Game, view: View) -> str:
    """What the table shows, for its label."""
    metric = game.metric(view.metric).label
    return f"{metric}, {short(view.task)}, {SPLITS[view.split].lower()}"


def _shared_columns(
    game: Game, evaluation: Artifact, view: View, other_split: Artifact | None
) -> tuple[Column, ...]:
    metric = game.metric(view.metric)
    name, form = metric.name, f"z.{metric.digits}f"
    elsewhere = next(label for split, label in SPLITS.items() if split != view.split).lower()
    return (
        Column("policy", lambda row: policy_label(row.policy)),
        Column("n", lambda row: number(row.n, ",")),
        Column("mean [95 % interval]", lambda row: estimate(getattr(row, name), form)),
        Column("sd", lambda row: number(getattr(row, name).sd, form)),
        Column("IQM", lambda row: number(getattr(row, name).iqm, form)),
        Column(
            f"against {policy_label(evaluation.config['baseline'])} [95 %]",
            lambda row: estimate(getattr(row, name).paired(), f"+{form}"),
        ),
        Column(
            f"change on {elsewhere}",
            lambda row: number(change(row, other_split, name), f"+{form}"),
        ),
    )


ENDS = Column(
    "how it ended",
    lambda row: ", ".join(f"{end} {count:,}" for end, count in row.ends.items() if count),
)


def change(row: Row, other_split: Artifact | None, metric: str) -> float | None:
    """By how much the mean moves on the other seeds; None where they hold another game."""
    key = (row.task, row.policy, getattr(row, "others", None))
    for match in other_split.data.rows if other_split else ():
        if (match.task, match.policy, getattr(match, "others", None)) == key:
            try:
                return compare_rows(match, row, metric)
            except ValueError:  # the task or its opponents were changed between the evaluations
                return None
    return None


def download(evaluation: Artifact, view: View) -> pd.DataFrame:
    """The chosen rows with every figure in full precision, for a CSV file."""
    table = frame(rows_of(evaluation, view)).assign(split=view.split)
    first = [key for key in ("task", "split", "others", "policy", "n") if key in table]
    rest = [key for key in table if key not in first and not key.startswith("hashes_")]
    return table[first + rest]
