"""Logs of training runs, and their curves: of one run over one x axis, and of all runs together.

A value of a log may be missing.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from env import ARENA_TASKS
from panels.ui.look import (
    PALETTE,
    QUIET,
    SERIES,
    line_style,
    style_figure,
    whiskers,
    with_minus_signs,
)
from panels.ui.provenance import load_or_say
from sauda.players import METHODS, TUNED
from sauda.records import read_table
from sauda.records.schemas.base import Interval
from sauda.records.schemas.evaluation import BazaarRow
from sauda.records.schemas.training import TrainingRun
from sauda.records.store import Artifact
from sauda.statistics import moving_average
from sauda.train.checks import EVAL_TASKS

HEIGHT = 340  # px, of a figure that is no stack
Rows = Mapping[str, Sequence[BazaarRow]]  # of scripted policies, by task
Values = Sequence[float | None]
Trace = dict[str, Any]  # of Plotly
SCALES = {"step": "step", "tokens": "tokens", "time": "minutes"}  # what x may be, and its unit
SMOOTHEST = 0.98
TITLES = {  # of stages whose name in capitals is none
    "distill": "Distillation", "people": "SFT with people", "talks": "SFT with people and packages",
    "form": "Form of a move", "reward": "Reward alone", "candid": "SFT, plain lines",
    "listens": "SFT, fitting arguments", "heeds": "SFT, fitting words",
    "settles": "SFT, whole replies",
}  # fmt: skip

Row = Mapping[str, Any]
Runs = Mapping[str, Artifact]  # by file name: a stage's, or "sft-arena"


@dataclass(frozen=True)
class View:
    """What is shown: a run, the x axis, how the curves are drawn."""

    run: str
    over: str = "step"
    smoothing: float = 0.8  # weight of what came before in the moving average
    log: bool = False  # losses and gradient norms on a logarithmic axis

    def to_query(self) -> dict[str, str]:
        """What the page's address says of this view."""
        return asdict(self) | {"smoothing": f"{self.smoothing:g}", "log": f"{self.log:d}"}


# Logs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """One curve: its key in a log's rows, its label and its unit."""

    name: str
    label: str
    unit: str
    log: bool  # may be drawn on a logarithmic axis
    noisy: bool  # drawn as points with a moving average; otherwise as one line


METRICS = {  # of each stage in their order; "shared" are those by which runs are compared
    stage: [
        Metric(row["name"], row["label"], row["unit"], bool(row["log"]), bool(row["noisy"]))
        for row in rows
    ]
    for stage, rows in groupby(
        read_table(Path(__file__).with_name("metrics.csv")), itemgetter("stage")
    )
}
METRICS |= {stage: METRICS[METHODS[stage]] for stage in METHODS.keys() - METRICS.keys()}
REWARD, REWARD_STD = METRICS["grpo"][:2]
EVALUATION = METRICS["distill"][1]


@dataclass(frozen=True)
class Log:
    """A run's log with one row per step."""

    name: str
    stage: str
    rows: Sequence[Row]
    evaluations: Sequence[Row]  # games played by checkpoints; rows like those of the log
    resumed: Sequence[int]
    game: str  # bazaar or arena
    seed: int  # other than 0 for a further training of the same stage
    tasks: Mapping[str, int]  # groups of games learnt from, by task

    def rows_of(self, metric: Metric) -> Sequence[Row]:
        """The rows that may hold `metric`."""
        return self.evaluations if metric == EVALUATION else self.rows

    def values(self, metric: Metric) -> list[float | None]:
        """The values of `metric` in `rows_of` it; None where one is missing."""
        return [row.get(metric.name) for row in self.rows_of(metric)]

    def known(self, metric: Metric) -> list[float]:
        """The values of `metric` that are not missing."""
        return [value for value in self.values(metric) if value is not None]

    @property
    def metrics(self) -> list[Metric]:
        """What is drawn: the metrics of the stage that the log holds."""
        return [metric for metric in METRICS[self.stage] if self.known(metric)]

    @property
    def role(self) -> str:
        """Whose style of SERIES the curves have: that of the stage's method."""
        return METHODS.get(self.stage, self.stage)


def recorded(run: Artifact) -> Log:
    """The log of one of our runs."""
    data, seed = run.data, run.config.get("seed", 0)
    source = data.rows or data.games
    in_arena = source is not None and any(task in ARENA_TASKS for task in source.task)
    parent = Path(run.file).stem.partition("-from-")[2]  # where it is another than usual
    title, after = (TITLES.get(stage, stage.upper()) for stage in (data.stage, parent))
    place, again = " in the arena" if in_arena else "", f", seed {seed}" if seed else ""
    return Log(
        name=f"{title}{f' after {after}' if after else ''}{place}, {data.base.name}{again}",
        stage=data.stage,
        rows=[row.as_json() for row in data.log],
        evaluations=_evaluations(data),
        resumed=data.resumed,
        game="arena" if in_arena else "bazaar",
        seed=seed,
        tasks=data.games.task if data.games else {},
    )


def _evaluations(data: TrainingRun) -> list[Row]:
    """The checkpoint evaluations as rows, with the tokens and seconds of their step."""
    at = {row.step: (row.num_tokens, row.seconds) for row in data.log} | {0: (0, 0)}
    rows = []
    for each in data.checkpoint_evaluations or ():
        tokens, seconds = at.get(each.step, (None, None))
        interval = Interval(mean=each.reward, low=each.low, high=each.high)
        row = {"step": each.step, "num_tokens": tokens, "seconds": seconds}
        rows.append(row | {"grade": each.reward, "interval": interval, "n": each.n})
    return rows


# Traces -------------------------------------------------------------------------------------------


def curve(name: str, role: str, x: Sequence, y: Sequence, hover: str, **more: Any) -> Trace:
    """A line in the style of `role`; `more` are other properties of the trace, such as `mode`."""
    trace = {"type": "scatter", "name": name, "x": x, "y": y, "hovertemplate": hover}
    return trace | line_style(role) | {"mode": "lines"} | more


def line_chart(traces: Iterable[Trace], x_title: str, y_title: str, **y_axis: Any) -> go.Figure:
    """A figure of such curves; `y_axis` are other properties of the vertical axis."""
    figure = style_figure(go.Figure(list(traces)), HEIGHT)
    return figure.update_xaxes(title=x_title).update_yaxes(title=y_title, **y_axis)


# Scripted policies, drawn as level lines ----------------------------------------------------------


def scripted_rows() -> Rows:
    """The rows of scripted policies on training seeds, without those of missing files."""
    rows: dict[str, list[BazaarRow]] = {}
    for file in ("evaluation/market-train.json", "evaluation/arena-train.json"):
        evaluation, _ = load_or_say(file)
        for row in evaluation.data.rows if evaluation else ():
            rows.setdefault(row.task, []).append(row)
    return rows


def draw_scripts(
    figure: go.Figure,
    axis: str,
    at: Values,
    log: Log,
    metric: Metric,
    rows: Rows,
    across: str = "x",
) -> None:
    """Draw the grades of the best script and the tuned one as level lines along the x values `at`.

    They are on the tasks of `metric`, weighted as the run plays them: a checkpoint plays one task,
    the reward of a step is over all tasks of the run. Other metrics have no such line.
    """
    at = [x for x in at if x is not None]
    weights = {
        EVALUATION: {EVAL_TASKS.get(log.stage, EVAL_TASKS[log.game]): 1},
        REWARD: log.tasks,
    }.get(metric)
    if not (weights and at):
        return
    played: dict[str, list[BazaarRow]] = {}
    for task in weights:
        for row in rows.get(task, ()):
            played.setdefault(row.policy, []).append(row)
    grades = {
        policy: sum(row.grade.mean * weights[row.task] for row in cells) / sum(weights.values())
        for policy, cells in played.items()
        if len(cells) == len(weights)
    }
    scripts = [policy for policy in grades if policy != TUNED]
    best = max(scripts, key=grades.__getitem__, default="")
    named = [(policy, who) for policy, who in ((best, best), (TUNED, "tuned")) if policy in grades]
    highest = max((policy for policy, _ in named), key=grades.__getitem__, default="")
    for policy, who in named:
        name, n = f"{who} {grades[policy]:.0%}", min(row.n for row in played[policy])
        figure.add_scatter(
            x=[min(at), max(at)], y=[grades[policy]] * 2, xaxis=across, yaxis=axis, name=name,
            line=line_style("scripted")["line"] | {"width": 1, "dash": "dash"}, mode="lines",
            hovertemplate=f"{name}, n = {n:,} training seeds<extra></extra>", showlegend=False,
        )  # fmt: skip
        figure.add_annotation(
            text=name, xref=across, yref=axis, x=min(at), y=grades[policy], xanchor="left",
            yanchor="bottom" if policy == highest else "top", xshift=4, showarrow=False,
            font={"size": 11},
        )  # fmt: skip


# Numbers of a curve -------------------------------------------------------------------------------


def x_values(rows: Sequence[Row], over: str) -> Values:
    """The x of each row: step, tokens or minutes; None where its log holds none."""
    field, per = {"step": ("step", 1), "tokens": ("num_tokens", 1), "time": ("seconds", 60)}[over]
    return [None if (at := row.get(field)) is None else at / per for row in rows]


def average(log: Log, metric: Metric, smoothing: float) -> Values:
    """The moving average of a noisy metric, with its gaps; the values of others as they are."""
    values = log.values(metric)
    return with_gaps(values, smoothing) if metric.noisy else values


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


def readable(value: float) -> str:
    """A number with three digits; a small one as "5.4 × 10" with its exponent raised."""
    if not 0 < abs(value) < 1e-3:
        return with_minus_signs(f"{value:.3g}")
    digits, _, exponent = f"{value:.1e}".partition("e")
    return with_minus_signs(f"{digits} × 10<sup>{int(exponent):d}</sup>")


# Small multiples ----------------------------------------------------------------------------------

PANEL, TOP, BOTTOM = 190, 36, 48  # px of height per panel with its title, above and below all
COLUMNS = "x", "x2"  # of panels, each with its axis
X_FORMAT = {"step": ",d", "tokens": ",d", "time": ".1f"}  # of d3, in what a hover says


def stack(log: Log, view: View, scripts: Rows) -> go.Figure:
    """One panel per metric of a run, two in a row; a hover reads a whole column at one step.

    `scripts` are drawn as level lines where grades are.
    """
    figure = go.Figure()
    axes = ["y", *(f"y{i}" for i in range(2, len(log.metrics) + 1))]
    for i, (axis, metric) in enumerate(zip(axes, log.metrics, strict=True)):
        across, at = COLUMNS[i % 2], x_values(log.rows_of(metric), view.over)
        _panel(figure, (across, axis), log, metric, view)
        draw_scripts(figure, axis, at, log, metric, scripts, across)
    unit, places = SCALES[view.over], [f"{COLUMNS[i % 2]}{axis}" for i, axis in enumerate(axes)]
    rows = [[*places[i : i + 2], ""][:2] for i in range(0, len(axes), 2)]
    figure.update_layout(
        grid={"rows": len(rows), "columns": 2, "ygap": 0.35, "xgap": 0.18, "subplots": rows},
        hovermode="x unified",
        hoversubplots="axis",
        showlegend=False,
        **{f"xaxis{across.removeprefix('x')}": {
            "anchor": axes[i::2][-1], "rangemode": "tozero", "title": f"{unit} of {log.name}",
            "unifiedhovertitle": {"text": f"{unit} %{{x:{X_FORMAT[view.over]}}}"},
            "showspikes": True, "spikemode": "across", "spikesnap": "data", "spikedash": "solid",
            "spikethickness": 1,
        } for i, across in enumerate(COLUMNS[: len(axes)])},
    )  # fmt: skip
    figure = style_figure(figure, PANEL * len(rows) + TOP + BOTTOM)
    return figure.update_layout(margin={"l": 56, "r": 16, "t": TOP, "b": BOTTOM})


def _panel(figure: go.Figure, axes: tuple[str, str], log: Log, metric: Metric, view: View) -> None:
    """Draw one metric on its axes, its name above it, its last value at the end of its curve."""
    across, axis = axes
    log_axis = view.log and metric.log
    title = f"{metric.label}<br><sup>{metric.unit}</sup>" if metric.unit else metric.label
    figure.add_annotation(
        text=title, xref=f"{across} domain", yref=f"{axis} domain", x=0, y=1,
        xanchor="left", yanchor="bottom", yshift=3, showarrow=False,
    )  # fmt: skip
    layout = {"anchor": across, "nticks": 5, "exponentformat": "e"}
    values = set(log.known(metric))
    if log_axis:
        layout |= {"type": "log", "dtick": "D2"}  # 1, 2 and 5 of each power of ten
    elif metric == EVALUATION:
        layout |= {"tickformat": ".0%"}
    elif len(values) == 1 and (constant := values.pop()) > 0:
        layout |= {"range": [0, 2 * constant]}  # or Plotly gives it the axis from -1 to 1
    figure.update_layout({f"yaxis{axis.removeprefix('y')}": layout})
    at = x_values(log.rows_of(metric), view.over)
    drawn = drawable(average(log, metric, view.smoothing), log_axis)
    # An axis without a trace is not laid out, and what lies over it is not either.
    for trace in list(_traces(log, metric, view, at, drawn)) or [{"x": [None], "y": [None]}]:
        figure.add_trace(
            {"type": "scatter", "name": log.name} | trace | {"xaxis": across, "yaxis": axis}
        )
    for x in _resumes(log, view.over):
        figure.add_shape(
            type="line", xref=across, yref=f"{axis} domain", x0=x, x1=x, y0=0, y1=1,
            line={"dash": "dot", "width": 1, "color": SERIES["oracle"].light},
        )  # fmt: skip
    if points := [point for point in zip(at, drawn, strict=True) if None not in point]:
        x, y = points[-1]
        label = f"{y:.0%}" if metric == EVALUATION else readable(y)
        figure.add_annotation(
            text=f"<b>{label}</b>", xref=across, yref=axis, x=x,
            y=math.log10(y) if log_axis else y, xanchor="left", yanchor="middle", xshift=6,
            showarrow=False,
        )  # fmt: skip


def _resumes(log: Log, over: str) -> Iterator[float]:
    """Where the run was resumed: the x of the first step after each interruption."""
    at = x_values(log.rows, over)
    for step in log.resumed:
        later = (x for x, row in zip(at, log.rows, strict=True) if row["step"] > step)
        if (x := next(later, None)) is not None:
            yield x


def _traces(log: Log, metric: Metric, view: View, at: Values, drawn: Values) -> Iterator[Trace]:
    """Raw points with their average; the band of a reward; whiskers of checkpoint evaluations."""
    style, raw = line_style(log.role), log.values(metric)
    if all(x is None for x in at):
        return
    if metric == EVALUATION:
        yield evaluation_trace(log.evaluations, at, style)
        return
    line = {"x": at, "y": drawn, "mode": "lines", "line": style["line"]}
    if not metric.noisy:
        yield line | {"hovertemplate": f"{metric.label} %{{y:.2e}}<extra></extra>"}
        return
    if metric == REWARD and log.known(REWARD_STD):
        x, y = band(at, drawn, average(log, REWARD_STD, view.smoothing))
        yield {
            "x": x, "y": y, "mode": "lines", "fill": "toself", "line": {"width": 0},
            "fillcolor": f"rgba{(*hex_to_rgb(SERIES[log.role].light), 0.14)}",
            "hoverinfo": "skip", "name": "std",
        }  # fmt: skip
    yield {
        "x": at, "y": drawable(raw, view.log and metric.log), "mode": "markers",
        "name": f"{log.name}, raw", "marker": style["marker"] | {"size": 5, "opacity": 0.35},
        "hoverinfo": "skip",
    }  # fmt: skip
    hover = f"{metric.label} %{{y:.3g}} (%{{customdata:.3g}})<extra></extra>"
    yield line | {"connectgaps": False, "customdata": raw, "hovertemplate": hover}


def evaluation_trace(rows: Sequence[Row], at: Values, style: Mapping[str, Any]) -> Trace:
    """Means of checkpoint evaluations with their whiskers, as a scatter trace."""
    cells, counts = ([row[name] for row in rows] for name in ("interval", "n"))
    return {
        "type": "scatter", "x": at, "y": [cell.mean for cell in cells], "showlegend": False,
        **style, "error_y": whiskers(cells) | {"color": PALETTE["ink"][0]},
        "customdata": [(cell.low, cell.high, n) for cell, n in zip(cells, counts, strict=True)],
        "hovertemplate": "%{y:.0%} [%{customdata[0]:.0%}, %{customdata[1]:.0%}], "
        "%{customdata[2]} games<extra></extra>",
    }  # fmt: skip


# All runs -----------------------------------------------------------------------------------------

GRADES = (EVALUATION, REWARD)  # which differ in scale from game to game
SHARED_METRICS = METRICS["shared"]
SMOOTHING = 0.9  # of the moving average of what is noisy


def comparable(logs: list[Log], metric: Metric) -> list[Log]:
    """The runs that hold `metric`; of a grade only the bazaar's, for a lab's has its own scale."""
    return [
        log for log in logs if log.known(metric) and (metric not in GRADES or log.game == "bazaar")
    ]


def together(logs: list[Log], metric: Metric, over: str, scripts: Rows) -> go.Figure:
    """A line per comparable run, named with its last value.

    `scripts` are drawn as level lines where checkpoints are evaluated, which all play one task.
    """
    drawn = comparable(logs, metric)
    # The choice above the figure says the label of an evaluation.
    title = metric.unit if metric == EVALUATION else metric.label
    figure = line_chart((_line(log, metric, over) for log in drawn), SCALES[over], title)
    if metric == EVALUATION and drawn:
        at = [x for log in drawn for x in x_values(log.rows_of(metric), over)]
        draw_scripts(figure, "y", at, drawn[0], metric, scripts)
        figure.update_yaxes(tickformat=".0%")
    return figure.update_xaxes(rangemode="tozero")


def _line(log: Log, metric: Metric, over: str) -> Trace:
    """The trace of a run: checkpoint evaluations with whiskers, all else as an averaged line.

    It is dashed in the arena, dotted for a further training of the same stage.
    """
    at, style = x_values(log.rows_of(metric), over), line_style(log.role)
    style["line"] |= {"dash": "dash" if log.game == "arena" else "dot" if log.seed else "solid"}
    values = average(log, metric, SMOOTHING)
    *_, last = (y for x, y in zip(at, values, strict=True) if None not in (x, y))
    label = f"{last:.0%}" if metric == EVALUATION else readable(last)
    named = {"name": f"{log.name}: {label}", "showlegend": True}
    if metric == EVALUATION:
        trace = evaluation_trace(log.evaluations, at, style)
        # thin and in the run's colour: there are too many for the curves to be seen behind them
        trace["error_y"] |= {"color": style["line"]["color"], "thickness": 1, "width": 0}
        return trace | named
    hover = f"{log.name}: %{{y:.3g}}<extra></extra>"
    line = {"type": "scatter", "x": at, "y": values, "mode": "lines", "line": style["line"]}
    return line | {"hovertemplate": hover} | named


def build_together(runs: Runs, scripts: Rows) -> tuple[gr.Plot, go.Figure]:
    """Lay out the figure with its controls; returns it and what it shows at first."""
    logs = [recorded(run) for run in runs.values()]
    metrics = {each.name: each for each in SHARED_METRICS if comparable(logs, each)}
    first = next(iter(metrics))
    with gr.Row():
        picked = gr.Dropdown(
            [(metric.label, name) for name, metric in metrics.items()], value=first,
            label="Runs laid over each other", filterable=False, min_width=240,
            elem_id="training-together-metric",
        )  # fmt: skip
        over = gr.Radio(list(SCALES), value="tokens", label="Over", min_width=240)
    figure = gr.Plot(show_label=False, elem_id="training-together")

    def show(name: str, scale: str) -> go.Figure:
        return together(logs, metrics[name], scale, scripts)

    gr.on([picked.input, over.input], show, [picked, over], figure, **QUIET)
    return figure, show(first, "tokens")
