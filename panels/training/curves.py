"""Curves of training logs: stacked over one x axis, and of all runs laid over each other."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import gradio as gr
import plotly.graph_objects as go

from panels.training.logs import (
    ENTROPY,
    EVALUATION,
    GRAD_NORM,
    LEARNING_RATE,
    REWARD,
    REWARD_STD,
    SCALES,
    TOKEN_ACCURACY,
    Log,
    Metric,
    Row,
    Runs,
    View,
    recorded,
)
from panels.ui.look import (
    PALETTE,
    QUIET,
    SERIES,
    line_style,
    note,
    styled,
    whiskers,
    with_minus_signs,
)
from panels.ui.provenance import load_or_say
from panels.ui.wiring import Updates, fill_on_opening
from sauda.experiments.comparison import TUNED
from sauda.experiments.evaluate import BazaarRow
from sauda.records.schemas.base import Interval
from sauda.statistics import moving_average
from sauda.train.checks import EVAL_TASKS

FILES = ("evaluation/market-train.json", "evaluation/arena-train.json")
Rows = Mapping[str, Sequence[BazaarRow]]  # of scripted policies, by task
Values = Sequence[float | None]


@dataclass(frozen=True)
class Reference:
    """The mean grade of a scripted policy on the games that a curve is about."""

    policy: str
    grade: float
    n: int  # training seeds per task

    @property
    def label(self) -> str:
        """The policy with its grade: "best script: linear 0.225"."""
        who = "tuned script" if self.policy == TUNED else f"best script: {self.policy}"
        return f"{who} {self.grade:.3f}"


def scripted_rows() -> Rows:
    """The rows of scripted policies on training seeds, without those of missing files."""
    rows: dict[str, list[BazaarRow]] = {}
    for file in FILES:
        evaluation, _ = load_or_say(file)
        for row in evaluation.data.rows if evaluation else ():
            rows.setdefault(row.task, []).append(row)
    return rows


def references(log: Log, metric: Metric, rows: Rows) -> list[Reference]:
    """The best script and the tuned one on the tasks of `metric`, weighted as the run plays them.

    A checkpoint plays one task; the reward of a step is over all tasks of the run.
    """
    if metric is EVALUATION:
        weights = {EVAL_TASKS[log.game]: 1}
    elif metric is REWARD and log.tasks:
        weights = dict(log.tasks)
    else:
        return []
    grades: dict[str, list[tuple[float, int, int]]] = {}
    for task, weight in weights.items():
        for row in rows.get(task, ()):
            grades.setdefault(row.policy, []).append((row.grade.mean, weight, row.n))
    means = [
        Reference(
            policy,
            sum(grade * weight for grade, weight, _ in cells) / sum(weights.values()),
            min(n for *_, n in cells),
        )
        for policy, cells in grades.items()
        if len(cells) == len(weights)
    ]
    scripts = [each for each in means if each.policy != TUNED]
    best = [max(scripts, key=lambda each: each.grade)] if scripts else []
    return best + [each for each in means if each.policy == TUNED]


# Numbers of a curve -------------------------------------------------------------------------------


def x_values(rows: Sequence[Row], over: str) -> Values:
    """The x of each row: step, tokens or minutes; None where its log holds none."""
    field, per = {"step": ("step", 1), "tokens": ("num_tokens", 1), "time": ("seconds", 60)}[over]
    return [None if (at := row.get(field)) is None else at / per for row in rows]


def with_gaps(values: Values, smoothing: float) -> Values:
    """The debiased moving average of the values; None where a value is missing."""
    smoothed = iter(moving_average([value for value in values if value is not None], smoothing))
    return [None if value is None else next(smoothed) for value in values]


def drawable(values: Values, log: bool) -> Values:
    """`values` that the axis can show: a logarithmic axis drops those of 0 and below."""
    return [None if log and value is not None and value <= 0 else value for value in values]


def band(at: Values, middle: Values, half: Values) -> tuple[list, list]:
    """x and y of the area `middle` ± `half`: one closed outline per stretch without a gap."""
    x: list[float | None] = []
    y: list[float | None] = []
    points = list(zip(at, middle, half, strict=True))
    for whole, stretch in groupby(points, key=lambda point: None not in point):
        if whole:
            stretch = list(stretch)
            x += [p[0] for p in stretch] + [p[0] for p in stretch[::-1]] + [None]
            y += [p[1] + p[2] for p in stretch] + [p[1] - p[2] for p in stretch[::-1]] + [None]
    return x, y


def last_point(
    log: Log, metric: Metric, over: str, smoothing: float, log_axis: bool = False
) -> tuple[float, float] | None:
    """Where a curve ends, averaged where the curve is; None where no point of it is known."""
    rows = log.rows_of(metric)
    values = [row.get(metric.name) for row in rows]
    if metric.noisy:
        values = with_gaps(values, smoothing)
    points = zip(x_values(rows, over), drawable(values, log_axis), strict=True)
    known = [point for point in points if None not in point]
    return known[-1] if known else None


def readable(value: float) -> str:
    """A number with three digits; a small one as "5.4 × 10" with its exponent raised."""
    if not 0 < abs(value) < SMALL:
        return with_minus_signs(f"{value:.3g}")
    digits, _, exponent = f"{value:.1e}".partition("e")
    return with_minus_signs(f"{digits} × 10<sup>{int(exponent):d}</sup>")


# A stack of panels --------------------------------------------------------------------------------

PANEL, TOP, BOTTOM = 148, 28, 48  # px of height per panel with its title, above and below all
GAP = 0.3  # of a panel, between two
SMALL = 1e-3  # numbers below it have an exponent
X_FORMAT = {"step": ",d", "tokens": ",d", "time": ".1f"}  # of d3, in what a hover says


def stack(
    log: Log, metrics: Sequence[Metric], view: View, scripts: Rows | None = None
) -> go.Figure:
    """One panel per metric of a run over one x axis, so that a hover reads all at one step.

    `scripts` are drawn as level lines where grades are.
    """
    figure = go.Figure()
    axes = ["y" if i == 0 else f"y{i + 1}" for i in range(len(metrics))]
    for axis, metric in zip(axes, metrics, strict=True):
        _panel(figure, axis, log, metric, view)
        for line in references(log, metric, scripts or {}):
            draw_reference(figure, axis, line, x_values(log.rows_of(metric), view.over))
    figure.update_layout(
        grid={"rows": len(axes), "columns": 1, "ygap": GAP, "subplots": [[f"x{y}"] for y in axes]},
        hovermode="x unified",
        hoversubplots="axis",
        showlegend=False,
        xaxis={
            "anchor": axes[-1], "rangemode": "tozero",
            "title": f"{SCALES[view.over]} of {log.name}",
            "unifiedhovertitle": {"text": f"{SCALES[view.over]} %{{x:{X_FORMAT[view.over]}}}"},
            "showspikes": True, "spikemode": "across", "spikesnap": "data", "spikedash": "solid",
            "spikethickness": 1,
        },
    )  # fmt: skip
    figure = styled(figure, PANEL * len(axes) + TOP + BOTTOM)
    return figure.update_layout(margin={"l": 56, "r": 16, "t": TOP, "b": BOTTOM})


def _panel(figure: go.Figure, axis: str, log: Log, metric: Metric, view: View) -> None:
    """Draw one metric on `axis`, its name above it, the last value beside the end of its curve."""
    log_axis = view.log and metric.log
    figure.add_annotation(
        text=metric.title, xref="paper", yref=f"{axis} domain", x=0, y=1,
        xanchor="left", yanchor="bottom", xshift=-44, yshift=3, showarrow=False,
    )  # fmt: skip
    layout = {"anchor": "x", "nticks": 5, "exponentformat": "e"}
    if log_axis:
        layout |= {"type": "log", "dtick": "D2"}  # 1, 2 and 5 of each power of ten
    values = {row.get(metric.name) for row in log.rows_of(metric)} - {None}
    if len(values) == 1 and not log_axis and (constant := values.pop()) > 0:
        layout |= {"range": [0, 2 * constant]}  # or Plotly gives it the axis from -1 to 1
    figure.update_layout({f"yaxis{axis.removeprefix('y')}": layout})
    # An axis without a trace is not laid out, and what lies over it is not either.
    for trace in list(_traces(log, metric, view, log_axis)) or [{"x": [None], "y": [None]}]:
        figure.add_trace({"type": "scatter", "name": log.name} | trace | {"yaxis": axis})
    _resumes(figure, log, view.over, axis)
    if last := last_point(log, metric, view.over, view.smoothing, log_axis):
        x, y = last
        figure.add_annotation(
            text=f"<b>{readable(y)}</b>", xref="x", yref=axis, x=x,
            y=math.log10(y) if log_axis else y, xanchor="left", yanchor="middle", xshift=6,
            showarrow=False,
        )  # fmt: skip


def draw_reference(figure: go.Figure, axis: str, line: Reference, at: Values) -> None:
    """Draw a level line at a script's grade, its name above its left end."""
    if not (known := [x for x in at if x is not None]):
        return
    style = line_style("scripted")["line"] | {"width": 1, "dash": "dash"}
    figure.add_trace(
        {
            "type": "scatter", "x": [min(known), max(known)], "y": [line.grade] * 2,
            "mode": "lines", "line": style, "name": line.label, "showlegend": False,
            "xaxis": "x", "yaxis": axis,
            "hovertemplate": f"{line.label}, n = {line.n:,} training seeds<extra></extra>",
        }
    )  # fmt: skip
    figure.add_annotation(
        text=line.label, xref="x", yref=axis, x=min(known), y=line.grade, xanchor="left",
        yanchor="bottom", yshift=1, showarrow=False, font={"size": 11},
    )  # fmt: skip


def _traces(log: Log, metric: Metric, view: View, log_axis: bool) -> Iterator[dict[str, Any]]:
    """Raw points with their average; the band of a reward; whiskers of checkpoint evaluations."""
    rows = log.rows_of(metric)
    at, style = x_values(rows, view.over), line_style(log.role)
    raw = [row.get(metric.name) for row in rows]
    if all(x is None for x in at):
        return
    if metric is EVALUATION:
        yield evaluation_trace(rows, at, style)
        return
    if not metric.noisy:
        told = f"{metric.label} %{{y:.2e}}<extra></extra>"
        yield {"x": at, "y": raw, "mode": "lines", "line": style["line"], "hovertemplate": told}
        return
    smooth = with_gaps(raw, view.smoothing)
    if metric is REWARD and log.holds(REWARD_STD):
        half = with_gaps([row.get("reward_group_std") for row in rows], view.smoothing)
        x, y = band(at, smooth, half)
        yield {
            "x": x, "y": y, "mode": "lines", "fill": "toself", "line": {"width": 0},
            "fillcolor": _faint(SERIES[log.role].light), "hoverinfo": "skip", "name": "std",
        }  # fmt: skip
    yield {
        "x": at, "y": drawable(raw, log_axis), "mode": "markers", "name": f"{log.name}, raw",
        "marker": style["marker"] | {"size": 5, "opacity": 0.35}, "hoverinfo": "skip",
    }  # fmt: skip
    yield {
        "x": at, "y": drawable(smooth, log_axis), "mode": "lines", "line": style["line"],
        "connectgaps": False, "customdata": raw,
        "hovertemplate": f"{metric.label} %{{y:.3g}} (%{{customdata:.3g}})<extra></extra>",
    }  # fmt: skip


def evaluation_trace(rows: Sequence[Row], at: Values, style: Mapping[str, Any]) -> dict[str, Any]:
    """Means of checkpoint evaluations with their whiskers, as a scatter trace."""
    means, lows, highs = (
        [row[key] for row in rows] for key in ("grade", "grade_low", "grade_high")
    )
    cells = [
        Interval(mean=mean, low=low, high=high)
        for mean, low, high in zip(means, lows, highs, strict=True)
    ]
    return {
        "type": "scatter", "x": at, "y": means, "showlegend": False, **style,
        "error_y": whiskers(cells) | {"color": PALETTE["ink"][0]},
        "customdata": list(zip(lows, highs, (row["grade_n"] for row in rows), strict=True)),
        "hovertemplate": "grade %{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}], "
        "%{customdata[2]} games<extra></extra>",
    }  # fmt: skip


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.14)"


def _resumes(figure: go.Figure, log: Log, over: str, axis: str) -> None:
    """A dotted line through the panel of `axis` where the run was resumed."""
    at = x_values(log.rows, over)
    for step in log.resumed:
        later = (x for x, row in zip(at, log.rows, strict=True) if row["step"] > step)
        if (x := next(later, None)) is not None:
            figure.add_shape(
                type="line", xref="x", yref=f"{axis} domain", x0=x, x1=x, y0=0, y1=1,
                line={"dash": "dot", "width": 1, "color": SERIES["oracle"].light},
            )  # fmt: skip


# All runs -----------------------------------------------------------------------------------------

EACH_LOSS = Metric("loss", "loss", "as each stage defines it")
GRADES = (EVALUATION, REWARD)  # which differ in scale from game to game
SHARED_METRICS = (EVALUATION, EACH_LOSS, REWARD, TOKEN_ACCURACY, ENTROPY, LEARNING_RATE, GRAD_NORM)
SMOOTHING = 0.9  # of the moving average of what is noisy
HEIGHT = 340  # px


def shared_metrics(logs: list[Log]) -> list[Metric]:
    """Those of SHARED_METRICS that two runs or more hold and share a scale in."""
    return [metric for metric in SHARED_METRICS if len(comparable(logs, metric)) > 1]


def comparable(logs: list[Log], metric: Metric) -> list[Log]:
    """The runs that hold `metric`; of a grade only the bazaar's, for a lab's has its own scale."""
    return [
        log for log in logs if log.holds(metric) and (metric not in GRADES or log.game == "bazaar")
    ]


def together(logs: list[Log], metric: Metric, over: str, scripts: Rows | None = None) -> go.Figure:
    """A line per comparable run, named with its last value.

    `scripts` are drawn as level lines where checkpoints are evaluated, which all play one task.
    """
    figure, drawn = go.Figure(), comparable(logs, metric)
    for log in drawn:
        _, last = last_point(log, metric, over, SMOOTHING)
        name = f"{log.name}: {readable(last)}"
        figure.add_trace(_line(log, metric, over) | {"name": name, "showlegend": True})
    if metric is EVALUATION and drawn:
        at = [x for log in drawn for x in x_values(log.rows_of(metric), over)]
        for line in references(drawn[0], metric, scripts or {}):
            draw_reference(figure, "y", line, at)
    figure.update_xaxes(title=SCALES[over], rangemode="tozero")
    short = metric.unit if metric is EVALUATION else metric.label  # the choice above says it whole
    return styled(figure, HEIGHT).update_yaxes(title=short)


def _line(log: Log, metric: Metric, over: str) -> dict[str, Any]:
    """The trace of a run: checkpoint evaluations with whiskers, all else as an averaged line.

    It is dashed in the arena, dotted for a further training of the same stage.
    """
    rows = log.rows_of(metric)
    at, style = x_values(rows, over), line_style(log.role)
    style["line"] |= {"dash": "dash" if log.game == "arena" else "dot" if log.seed else "solid"}
    if metric is EVALUATION:
        trace = evaluation_trace(rows, at, style)
        # thin and in the run's colour: there are too many for the curves to be seen behind them
        trace["error_y"] |= {"color": style["line"]["color"], "thickness": 1, "width": 0}
        return trace
    values = [row.get(metric.name) for row in rows]
    return {
        "type": "scatter", "x": at, "mode": "lines", "line": style["line"],
        "y": with_gaps(values, SMOOTHING) if metric.noisy else values,
        "hovertemplate": f"{log.name}: %{{y:.3g}}<extra></extra>",
    }  # fmt: skip


def build_together(runs: Runs, scripts: Rows, tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    logs = [recorded(run) for run in runs.values()]
    metrics = {metric.name: metric for metric in shared_metrics(logs)}
    if not metrics:
        return
    first = next(iter(metrics))

    with gr.Row():
        picked = gr.Dropdown(
            [(metric.label, name) for name, metric in metrics.items()], value=first,
            label="Runs laid over each other", filterable=False, min_width=240,
            elem_id="training-together-metric",
        )  # fmt: skip
        over = gr.Radio(list(SCALES), value="tokens", label="Over", min_width=240)
    figure, below = gr.Plot(show_label=False, elem_id="training-together"), gr.HTML()
    told = note("Grades and rewards of bazaar runs only: those of the arena use another scale.")

    def show(name: str, scale: str) -> Updates:
        return {below: told, figure: together(logs, metrics[name], scale, scripts)}

    gr.on([picked.input, over.input], show, [picked, over], [below, figure], **QUIET)
    fill_on_opening(tab, lambda _: show(first, "tokens"), [below, figure])
