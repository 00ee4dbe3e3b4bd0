"""The training runs of language models, drawn from their logs: a part of Training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.training import dashboard, overview, together
from panels.training.logs import (
    ALL_SIX,
    SIX,
    Log,
    Runs,
    log_table,
    panels_of,
    published_logs,
    recorded,
)
from panels.training.permalink import ROUGHEST, SCALES, SMOOTHEST, View, from_query, to_query
from panels.training.references import Rows, scripted_rows
from panels.training.run_text import captions, mix, overlaid, sample, summary
from panels.ui.downloads import offered, text_file
from panels.ui.look import QUIET, folded, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import to_csv
from sauda.records.kinds import training_runs
from sauda.records.store import Artifact

NOTHING = Markup("")
STACKS = ("training-left", "training-right")  # ids of the two stacks of panels

# What a view shows -------------------------------------------------------------------------------


def shown(
    view: View, runs: Runs, published: Mapping[str, Log], scripts: Rows | None = None
) -> dict[str, Any]:
    """What the page shows at a view, by the name of the part."""
    artifacts = runs_of(view.run, runs)
    stacks = panels_of(view, runs)
    overlays = [published[name] for name in view.overlay]
    beside = [] if view.over == "tokens" else overlays  # the published logs hold no tokens
    inner = dashboard.inner_height(max(len(metrics) for _, metrics in stacks))
    left, right = (
        dashboard.stack(log, metrics, view, inner, beside if log.beside_published else (), scripts)
        for log, metrics in stacks
    )
    return {
        "left": left,
        "right": right,
        "link": link(view),
        "captions": overlaid(stacks, view, overlays)
        + folded("What points, lines and bands mean", captions(stacks, view, beside)),
        "summary": folded(
            "Steps, tokens, data and acceptance check",
            Markup("").join(summary(run) for run in artifacts),
        ),
        "sample": Markup("").join(sample(run) for run in artifacts),
        "mix": Markup("").join(mix(run) for run in artifacts),
        "origin": Markup("").join(
            provenance(run, f"n = {len(run.data.log)} steps") for run in artifacts
        ),
    }


def runs_of(name: str, runs: Runs) -> list[Artifact]:
    """The run of that name, or those of the two beside each other."""
    return [runs[one] for one in (SIX if name == ALL_SIX else (name,)) if one in runs]


def csv_file(run: str, text: str) -> tuple[str | None, Markup]:
    """The path of the CSV file with `text`; or None and the sentence on why it was not written."""
    return offered(lambda: text_file(f"sauda-{run}.csv", text))


def link(view: View) -> Markup:
    """A link that opens the page at this view."""
    return Markup('<a class="sauda-permalink" href="{}">Link to this view</a>').format(
        to_query(view)
    )


# Layout -------------------------------------------------------------------------------------------

# Draws both stacks side by side in one picture, on white so that it reads on any page; the file is
# named after the run.
PNG = """async (run) => {
  const plots = ["training-left", "training-right"]
    .map((id) => document.querySelector(`#${id} .js-plotly-plot`)).filter(Boolean);
  const width = 640;
  const pictures = await Promise.all(plots.map(async (plot) => {
    const picture = new Image();
    const layout = { ...plot.layout, paper_bgcolor: "#FFFFFF", plot_bgcolor: "#FFFFFF" };
    const size = { format: "png", width, height: plot.offsetHeight, scale: 2 };
    picture.src = await Plotly.toImage({ data: plot.data, layout }, size);
    await picture.decode();
    return picture;
  }));
  const canvas = document.createElement("canvas");
  canvas.width = 2 * width * pictures.length;
  canvas.height = Math.max(...pictures.map((picture) => picture.height));
  const paper = canvas.getContext("2d");
  paper.fillStyle = "#FFFFFF";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  pictures.forEach((picture, i) => paper.drawImage(picture, 2 * width * i, 0));
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = `sauda-${run}.png`;
  link.click();
}"""


def build() -> None:
    """Lay out the part. Called inside the Training tab."""
    loaded = {name: load_or_say(f"training/{name}.json") for name in training_runs()}
    runs = {name: run for name, (run, _) in loaded.items() if run is not None}
    published, no_published = load_or_say("published.json")
    if runs:
        overview.build(runs)
        scripts = scripted_rows()
        together.build(runs, scripts)
        is_comparable = any(recorded(run).beside_published for run in runs.values())
        logs = published_logs(published) if published and is_comparable else {}
        _Dashboard(runs, logs, scripts).build()
    missing = [message for _, message in loaded.values() if message]
    missing += [no_published] if no_published else []
    if missing:
        gr.HTML(Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(missing)))


@dataclass(frozen=True)
class _Dashboard:
    """The runs with their controls: layout, callbacks and wiring."""

    runs: Runs
    published: Mapping[str, Log]
    scripts: Rows

    @property
    def names(self) -> tuple[str, ...]:
        """The views by name: two runs beside each other where both are here, then each run."""
        return (*((ALL_SIX,) if set(SIX) <= set(self.runs) else ()), *self.runs)

    @property
    def first(self) -> View:
        """The view that the page opens with."""
        return View(self.names[0])

    def build(self) -> None:
        """Lay out controls and outputs, and wire them."""
        logs = {name: to_csv(log_table(runs_of(name, self.runs))) for name in self.names}
        controls = self._controls()
        outputs = self._outputs(logs[self.first.run], controls["run"])

        def show(view: View, fault: Markup = NOTHING) -> dict[Any, Any]:
            path, problem = csv_file(view.run, logs[view.run])
            parts = {"csv": path, "fault": fault + problem}
            parts |= shown(view, self.runs, self.published, self.scripts)
            return {outputs[name]: part for name, part in parts.items()}

        def redraw(values: dict[Any, Any]) -> dict[Any, Any]:
            settings = {name: values[control] for name, control in controls.items()}
            settings["overlay"] = tuple(settings["overlay"])
            return show(View(**settings))

        def restore(request: gr.Request) -> dict[Any, Any]:
            view, fault = from_query(
                request.query_params, self.first, list(logs), list(self.published)
            )
            if view == self.first and not fault:
                return {outputs["fault"]: NOTHING}
            picks = {control: getattr(view, name) for name, control in controls.items()}
            picks[controls["overlay"]] = list(view.overlay)
            return {**picks, **show(view, trouble(ValueError(fault)) if fault else NOTHING)}

        filled = list(outputs.values())
        gr.on(
            [control.input for control in controls.values()],
            redraw,
            set(controls.values()),
            filled,
            trigger_mode="always_last",
            **QUIET,
        )
        gr.on(None, restore, None, [*controls.values(), *filled], **QUIET)

    def _controls(self) -> dict[str, Any]:
        """One control per field of the view."""
        first = self.first
        titles = {ALL_SIX: "GRPO and SFT, three curves each"}
        titles |= {name: recorded(run).name for name, run in self.runs.items()}
        controls: dict[str, Any] = {}
        with gr.Row():
            controls["run"] = gr.Dropdown(
                [(titles[name], name) for name in self.names], value=first.run, label="Run",
                filterable=False, elem_id="training-run", min_width=240,
            )  # fmt: skip
            controls["over"] = gr.Radio(
                list(SCALES), value=first.over, label="Over", elem_id="training-over", min_width=240
            )
        with gr.Row():
            controls["smoothing"] = gr.Slider(
                ROUGHEST, SMOOTHEST, value=first.smoothing, step=0.01, label="Smoothing",
                elem_classes="sauda-steps", elem_id="training-smoothing", min_width=240,
            )  # fmt: skip
            controls["overlay"] = gr.CheckboxGroup(
                list(self.published), label="Published GRPO logs beside", min_width=240,
                visible=bool(self.published),
            )  # fmt: skip
            controls["log"] = gr.Radio(
                [("linear", False), ("logarithmic", True)], value=first.log,
                label="Loss and gradient norm", min_width=240,
            )  # fmt: skip
        return controls

    def _outputs(self, log: str, run: gr.Dropdown) -> dict[str, Any]:
        """The components that a redraw fills, by the name of the part."""
        parts = shown(self.first, self.runs, self.published, self.scripts)
        path, problem = csv_file(self.first.run, log)
        outputs: dict[str, Any] = {"fault": gr.HTML(problem)}
        with gr.Row(elem_classes="sauda-together"):
            for side, elem_id in zip(("left", "right"), STACKS, strict=True):
                with gr.Column(min_width=320):
                    outputs[side] = gr.Plot(parts[side], show_label=False, elem_id=elem_id)
        with gr.Row(elem_classes="sauda-actions"):
            png = gr.Button("PNG", size="sm", scale=0)
            outputs["csv"] = gr.DownloadButton("CSV", value=path, size="sm", scale=0)
            outputs["link"] = gr.HTML(parts["link"], elem_id="training-link")
        png.click(None, run, None, js=PNG, **QUIET)
        outputs["captions"] = gr.HTML(parts["captions"], elem_id="training-captions")
        outputs["summary"] = gr.HTML(parts["summary"])
        with gr.Accordion("One training conversation, the tokens in the loss marked", open=False):
            outputs["sample"] = gr.HTML(parts["sample"])
        with gr.Accordion("Training data", open=False):
            outputs["mix"] = gr.HTML(parts["mix"])
        outputs["origin"] = gr.HTML(parts["origin"])
        return outputs
