"""One metric of all training runs, laid over each other: a part of Training."""

from typing import Any

import gradio as gr
import plotly.graph_objects as go

from panels.training.dashboard import evaluation_trace, with_gaps, x_values
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
from panels.ui.look import QUIET, line_style, styled

EACH_LOSS = Metric("loss", "loss", "as each stage defines it")
METRICS = (EVALUATION, EACH_LOSS, REWARD, TOKEN_ACCURACY, ENTROPY, LEARNING_RATE, GRAD_NORM)
SMOOTHING = 0.9  # of the moving average of what is noisy
HEIGHT = 400  # px; on a phone the legend takes a line for each run


def shared_metrics(logs: list[Log]) -> list[Metric]:
    """Those of METRICS that two runs or more hold."""
    return [metric for metric in METRICS if sum(log.holds(metric) for log in logs) > 1]


def together(logs: list[Log], metric: Metric, over: str) -> go.Figure:
    """A line a run that holds `metric`; one in the arena is dashed, a second training dotted."""
    figure = go.Figure()
    for log in logs:
        if log.holds(metric):
            figure.add_trace(_line(log, metric, over) | {"name": log.name, "showlegend": True})
    figure.update_xaxes(title=SCALES[over], rangemode="tozero")
    return styled(figure, HEIGHT).update_yaxes(title=metric.title)


def _line(log: Log, metric: Metric, over: str) -> dict[str, Any]:
    """The trace of a run: checkpoint evaluations with whiskers, all else as an averaged line."""
    rows = log.rows_of(metric)
    at, style = x_values(rows, over), line_style(log.role)
    if log.game == "arena":
        style["line"] |= {"dash": "dash"}
    elif log.seed:
        style["line"] |= {"dash": "dot"}
    if metric is EVALUATION:
        return evaluation_trace(rows, at, style)
    values = [row.get(metric.name) for row in rows]
    return {
        "type": "scatter", "x": at, "mode": "lines", "line": style["line"],
        "y": with_gaps(values, SMOOTHING) if metric.noisy else values,
        "hovertemplate": f"{log.name}: %{{y:.3g}}<extra></extra>",
    }  # fmt: skip


def build(runs: Runs) -> None:
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
        together(logs, metrics[first], "tokens"), show_label=False, elem_id="training-together"
    )

    def show(name: str, scale: str) -> go.Figure:
        return together(logs, metrics[name], scale)

    gr.on([picked.input, over.input], show, [picked, over], figure, **QUIET)
