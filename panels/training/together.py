"""One metric of all training runs, laid over each other: a part of Training."""

from typing import Any

import gradio as gr
import plotly.graph_objects as go

from panels.training.dashboard import (
    draw_reference,
    evaluation_trace,
    last_point,
    readable,
    with_gaps,
    x_values,
)
from panels.training.logs import (
    ENTROPY,
    EVALUATION,
    GRAD_NORM,
    LEARNING_RATE,
    REWARD,
    TOKEN_ACCURACY,
    Log,
    Metric,
    Runs,
    recorded,
)
from panels.training.permalink import SCALES
from panels.training.references import Rows, references
from panels.ui.look import QUIET, line_style, styled

EACH_LOSS = Metric("loss", "loss", "as each stage defines it")
METRICS = (EVALUATION, EACH_LOSS, REWARD, TOKEN_ACCURACY, ENTROPY, LEARNING_RATE, GRAD_NORM)
SMOOTHING = 0.9  # of the moving average of what is noisy
HEIGHT = 340  # px; on a phone the legend takes a line for each run


def shared_metrics(logs: list[Log]) -> list[Metric]:
    """Those of METRICS that two runs or more hold."""
    return [metric for metric in METRICS if sum(log.holds(metric) for log in logs) > 1]


def together(logs: list[Log], metric: Metric, over: str, scripts: Rows | None = None) -> go.Figure:
    """A line a run that holds `metric`, named with its last value.

    One in the arena is dashed, a second training dotted, one after another stage than usual in dots
    and dashes. `scripts` are drawn as level lines where
    the bazaar's checkpoints are, which all play one task.
    """
    figure = go.Figure()
    held = [log for log in logs if log.holds(metric)]
    for log in held:
        _, last = last_point(log, metric, over, SMOOTHING)
        name = f"{log.name}: {readable(last)}"
        figure.add_trace(_line(log, metric, over) | {"name": name, "showlegend": True})
    bazaar = [log for log in held if log.game == "bazaar"]
    if metric is EVALUATION and bazaar:
        at = [x for log in bazaar for x in x_values(log.rows_of(metric), over)]
        for line in references(bazaar[0], metric, scripts or {}):
            draw_reference(figure, "y", line, at)
    figure.update_xaxes(title=SCALES[over], rangemode="tozero")
    short = metric.unit if metric is EVALUATION else metric.label  # the choice above says it whole
    return styled(figure, HEIGHT).update_yaxes(title=short)


def _line(log: Log, metric: Metric, over: str) -> dict[str, Any]:
    """The trace of a run: checkpoint evaluations with whiskers, all else as an averaged line."""
    rows = log.rows_of(metric)
    at, style = x_values(rows, over), line_style(log.role)
    if log.game == "arena":
        style["line"] |= {"dash": "dash"}
    elif log.seed or log.after:
        style["line"] |= {"dash": "dot" if log.seed else "dashdot"}
    if metric is EVALUATION:
        return evaluation_trace(rows, at, style)
    values = [row.get(metric.name) for row in rows]
    return {
        "type": "scatter", "x": at, "mode": "lines", "line": style["line"],
        "y": with_gaps(values, SMOOTHING) if metric.noisy else values,
        "hovertemplate": f"{log.name}: %{{y:.3g}}<extra></extra>",
    }  # fmt: skip


def build(runs: Runs, scripts: Rows) -> None:
    """Lay out the part. Called inside the Training tab."""
    logs = [recorded(run) for run in runs.values()]
    metrics = {metric.name: metric for metric in shared_metrics(logs)}
    if not metrics:
        return
    first = next(iter(metrics))
    with gr.Row():
        picked = gr.Dropdown(
            [(metric.label, name) for name, metric in metrics.items()], value=first,
            label="All runs laid over each other", filterable=False, min_width=240,
            elem_id="training-together-metric",
        )  # fmt: skip
        over = gr.Radio(list(SCALES), value="tokens", label="Over", min_width=240)
    figure = gr.Plot(
        together(logs, metrics[first], "tokens", scripts),
        show_label=False,
        elem_id="training-together",
    )

    def show(name: str, scale: str) -> go.Figure:
        return together(logs, metrics[name], scale, scripts)

    gr.on([picked.input, over.input], show, [picked, over], figure, **QUIET)
