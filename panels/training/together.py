"""One metric of all training runs, laid over each other: a part of Training."""

from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

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
from panels.ui.look import QUIET, SERIES, line_style, note, styled

EACH_LOSS = Metric("loss", "loss", "as each stage defines it")
GRADES = (EVALUATION, REWARD)  # which differ in scale from game to game
METRICS = (EVALUATION, EACH_LOSS, REWARD, TOKEN_ACCURACY, ENTROPY, LEARNING_RATE, GRAD_NORM)
SMOOTHING = 0.9  # of the moving average of what is noisy
HEIGHT = 300  # px
# The dashes of a line as SVG has them, in px, by the names that plotly gives them.
DASHES = {"solid": "", "dot": "2 2", "dash": "7 4"}


def shared_metrics(logs: list[Log]) -> list[Metric]:
    """Those of METRICS that two runs or more hold and share a scale in."""
    return [metric for metric in METRICS if len(comparable(logs, metric)) > 1]


def comparable(logs: list[Log], metric: Metric) -> list[Log]:
    """The runs that hold `metric`; of a grade only the bazaar's, for a lab's has its own scale."""
    return [
        log for log in logs if log.holds(metric) and (metric not in GRADES or log.game == "bazaar")
    ]


def together(logs: list[Log], metric: Metric, over: str, scripts: Rows | None = None) -> go.Figure:
    """A line a comparable run, named with its last value; `key` says which is which.

    `scripts` are drawn as level lines where checkpoints are evaluated, which all play one task.
    """
    figure = go.Figure()
    drawn = comparable(logs, metric)
    for log in drawn:
        figure.add_trace(_line(log, metric, over) | {"name": _name(log, metric, over)})
    if metric is EVALUATION and drawn:
        at = [x for log in drawn for x in x_values(log.rows_of(metric), over)]
        for line in references(drawn[0], metric, scripts or {}):
            draw_reference(figure, "y", line, at)
    figure.update_xaxes(title=SCALES[over], rangemode="tozero")
    short = metric.unit if metric is EVALUATION else metric.label  # the choice above says it whole
    figure.update_layout(showlegend=False)
    return styled(figure, HEIGHT).update_yaxes(title=short)


def key(logs: list[Log], metric: Metric, over: str) -> Markup:
    """The lines of `together` with their names and last values.

    Outside the figure it wraps like text: on a phone a legend would take the room of the curves.
    """
    entry = Markup(
        '<li><svg viewBox="0 0 28 8" aria-hidden="true"><path d="M0 4h28" stroke-dasharray="{}"'
        ' style="--light: {}; --dark: {}"/></svg>{}</li>'
    )
    drawn = comparable(logs, metric)
    entries = [
        entry.format(
            DASHES[_dash(log)],
            SERIES[log.role].light,
            SERIES[log.role].dark,
            _name(log, metric, over),
        )
        for log in drawn
    ]
    legend = Markup('<ul class="sauda-key">{}</ul>').format(Markup("").join(entries))
    if len(drawn) < sum(log.holds(metric) for log in logs):
        legend += note("Runs in the bazaar; grades of the arena have their own scale.")
    return legend


def _name(log: Log, metric: Metric, over: str) -> str:
    _, last = last_point(log, metric, over, SMOOTHING)
    return f"{log.name}: {readable(last)}"


def _dash(log: Log) -> str:
    """Dashed in the arena, dotted for a further training of the same stage."""
    if log.game == "arena":
        return "dash"
    return "dot" if log.seed else "solid"


def _line(log: Log, metric: Metric, over: str) -> dict[str, Any]:
    """The trace of a run: checkpoint evaluations with whiskers, all else as an averaged line."""
    rows = log.rows_of(metric)
    at, style = x_values(rows, over), line_style(log.role)
    style["line"] |= {"dash": _dash(log)}
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
            label="Runs laid over each other", filterable=False, min_width=240,
            elem_id="training-together-metric",
        )  # fmt: skip
        over = gr.Radio(list(SCALES), value="tokens", label="Over", min_width=240)
    figure = gr.Plot(
        together(logs, metrics[first], "tokens", scripts),
        show_label=False,
        elem_id="training-together",
    )
    legend = gr.HTML(key(logs, metrics[first], "tokens"))

    def show(name: str, scale: str) -> tuple[go.Figure, Markup]:
        metric = metrics[name]
        return together(logs, metric, scale, scripts), key(logs, metric, scale)

    gr.on([picked.input, over.input], show, [picked, over], [figure, legend], **QUIET)
