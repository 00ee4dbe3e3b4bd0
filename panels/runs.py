"""The training runs of language models, drawn from the logs they wrote: a part of Training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.look import QUIET, SERIES, heading, line_style, note, stat, strip, styled, table
from panels.provenance import load_or_say, provenance
from sauda.artifact import Artifact
from sauda.stats import averaged

RUNS = ("training/sft.json",)  # in the order of the stages
SMOOTHING = 0.8
SCALES = {"step": ("step", 1), "tokens": ("tokens", 1), "time": ("minutes", 60)}


@dataclass(frozen=True)
class Metric:
    """One curve of a log; a missing value is a gap in it."""

    name: str
    title: str
    log: bool = False  # may be drawn on a logarithmic axis


METRICS = (
    Metric("loss", "loss on learnt tokens, nats", log=True),
    Metric("mean_token_accuracy", "share of learnt tokens guessed right"),
    Metric("learning_rate", "learning rate"),
    Metric("grad_norm", "norm of the gradient", log=True),
)


def curve_figure(
    run: Artifact, metric: Metric, scale: str, smoothing: float, log: bool
) -> go.Figure:
    """A metric of every step: raw points, and their debiased average."""
    rows = run.data["log"]
    field, per = {"step": "step", "tokens": "tokens", "time": "seconds"}[scale], SCALES[scale][1]
    at = [row[field] / per for row in rows]
    values = [row.get(metric.name) for row in rows]
    stage = run.data["stage"]
    figure = go.Figure()
    raw = {"color": SERIES[stage].light, "size": 5, "opacity": 0.35}
    figure.add_scatter(
        x=at, y=values, mode="markers", marker=raw, showlegend=False,
        hovertemplate="%{y:.4g}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=at,
        y=with_gaps(values, smoothing),
        showlegend=False,
        connectgaps=False,
        hovertemplate="averaged: %{y:.4g}<extra></extra>",
        **(line_style(stage) | {"mode": "lines"}),
    )
    for step in run.data["resumed"]:
        x = next((place for place, row in zip(at, rows, strict=True) if row["step"] > step), None)
        if x is not None:
            figure.add_vline(x=x, line={"dash": "dot", "width": 1, "color": SERIES["oracle"].light})
    figure.update_xaxes(title=SCALES[scale][0])
    figure.update_yaxes(type="log" if log and metric.log else "linear")
    figure.update_layout(hovermode="x unified")
    return styled(figure, 250)


def with_gaps(values: Sequence[float | None], smoothing: float) -> list[float | None]:
    """The moving average of what is there; None where nothing is."""
    smoothed = iter(averaged([value for value in values if value is not None], smoothing))
    return [None if value is None else next(smoothed) for value in values]


def summary(run: Artifact) -> Markup:
    """What the run was, and what its gate said."""
    data, gate = run.data, run.data["gate"]
    last = data["log"][-1]
    return strip(
        stat(f"{last['step']}", "steps", note=f"{data['seconds'] / 60:.0f} min"),
        stat(f"{data['tokens']:,}", "tokens", note=data["hardware"]["device"]),
        stat(f"{data['rows']['learnt']:,}", "moves learnt", note=f"{data['rows']['rows']} deals"),
        stat(
            f"{gate['valid']:.0%}", "hold-out replies that are moves",
            note=f"n = {gate['n']}; prices {gate['price_off']} % off the teacher’s",
        ),
    )  # fmt: skip


def mix(run: Artifact) -> Markup:
    """Of what the rows were made."""
    rows = run.data["rows"]
    counted = [
        (what, name, number)
        for what, names in (("task", rows["task"]), ("move", rows["moves"]),
                            ("register", rows["register"]))
        for name, number in names.items()
    ]  # fmt: skip
    return table(("part", "", "count"), counted, align="llr", caption="What was learnt from")


def sample(run: Artifact) -> Markup:
    """One training conversation, what is learnt marked."""
    parts = [
        Markup('<mark class="sauda-learnt">{}</mark>').format(token["text"])
        if token["learnt"]
        else Markup.escape(token["text"])
        for token in run.data["sample"]
    ]
    return Markup('<pre class="sauda-sample">{}</pre>').format(Markup("").join(parts))


def resumed(run: Artifact) -> str:
    """Where the run was gone on with."""
    steps = run.data["resumed"]
    if not steps:
        return "The run was made in one piece."
    return f"Dotted lines: the run was stopped and gone on with after step {_listed(steps)}."


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(str(step) for step in steps)


def build() -> None:
    """Lay out the part. Called inside the Training tab."""
    gr.HTML(heading("Language models", "Every curve is read from the log that the run wrote."))
    found: dict[str, Artifact] = {}
    for file in RUNS:
        run, missing = load_or_say(file)
        if run is None:
            gr.HTML(missing)
        else:
            found[f"{run.data['stage'].upper()}, {run.data['base']['name']}"] = run
    if found:
        _runs(found)


def _runs(found: Mapping[str, Artifact]) -> None:
    names = list(found)
    first = found[names[0]]
    with gr.Row():
        picked = gr.Radio(names, value=names[0], label="Run")
        scale = gr.Radio(list(SCALES), value="step", label="Over")
        smoothing = gr.Slider(
            0, 0.98, value=SMOOTHING, step=0.02, label="Smoothing", elem_classes="sauda-steps"
        )
        log = gr.Checkbox(False, label="Logarithmic")
    told = gr.HTML(summary(first))
    plots = []
    for pair in (METRICS[:2], METRICS[2:]):
        with gr.Row():
            for metric in pair:
                with gr.Column(min_width=320):
                    gr.HTML(note(metric.title))
                    drawn = curve_figure(first, metric, "step", SMOOTHING, False)
                    plots.append(gr.Plot(drawn, show_label=False))
    said = gr.HTML(note(resumed(first)))
    with gr.Accordion("One training conversation, what is learnt marked", open=False):
        shown = gr.HTML(sample(first))
    with gr.Accordion("What was learnt from", open=False):
        made = gr.HTML(mix(first))
    origin = gr.HTML(provenance(first, f"n = {len(first.data['log'])} steps"))

    def redrawn(name: str, scale: str, smoothing: float, log: bool):
        run = found[name]
        return (
            summary(run),
            *(curve_figure(run, metric, scale, smoothing, log) for metric in METRICS),
            note(resumed(run)),
            sample(run),
            mix(run),
            provenance(run, f"n = {len(run.data['log'])} steps"),
        )

    gr.on(
        [picked.change, scale.change, smoothing.change, log.change],
        redrawn,
        [picked, scale, smoothing, log],
        [told, *plots, said, shown, made, origin],
        **QUIET,
    )
