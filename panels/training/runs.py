"""The training runs of language models, drawn from the logs they wrote: a part of Training."""

from collections.abc import Mapping
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.training import dashboard
from panels.training.logs import (
    ALL_SIX,
    SIX,
    Log,
    Runs,
    panels_of,
    published_logs,
    recorded,
    to_csv,
)
from panels.training.permalink import ROUGHEST, SCALES, SMOOTHEST, View, from_query, to_query
from panels.training.run_text import captions, mix, overlaid, sample, summary
from panels.ui.look import QUIET, downloads, heading, trouble
from panels.ui.provenance import load_or_say, provenance
from sauda.records.store import Artifact
from sauda.train import ARENA, STAGES

STACKS = ("training-left", "training-right")  # ids of the two stacks of panels

# What is on the page at a view --------------------------------------------------------------------


def shown(view: View, runs: Runs, published: Mapping[str, Log]) -> tuple:
    """All that follows the view: two stacks, link, captions, summary, sample, mix, origin."""
    mine = runs_of(view.run, runs)
    stacks = panels_of(view, runs)
    asked = [published[name] for name in view.overlay]
    beside = [] if view.over == "tokens" else asked  # the published logs tell no tokens
    inner = dashboard.inner_height(max(len(metrics) for _, metrics in stacks))
    figures = [
        dashboard.stack(log, metrics, view, inner, beside if log.beside_published else ())
        for log, metrics in stacks
    ]
    return (
        *figures,
        link(view),
        overlaid(stacks, view, asked) + captions(stacks, view, beside),
        Markup("").join(summary(run) for run in mine),
        Markup("").join(sample(run) for run in mine),
        Markup("").join(mix(run) for run in mine),
        Markup("").join(provenance(run, f"n = {len(run.data['log'])} steps") for run in mine),
    )


def runs_of(name: str, runs: Runs) -> list[Artifact]:
    """The run called `name`, or those of the six panels."""
    return [runs[one] for one in (SIX if name == ALL_SIX else (name,)) if one in runs]


def csv_file(name: str, runs: Runs) -> str:
    """The path of a fresh CSV file of what is called `name`, for the download button."""
    path = downloads() / f"sauda-{name}.csv"
    path.write_text(to_csv(runs_of(name, runs)), encoding="utf-8")
    return str(path)


def link(view: View) -> Markup:
    """The way back to this view."""
    return Markup('<a class="sauda-permalink" href="{}">Link to this view</a>').format(
        to_query(view)
    )


# Layout -------------------------------------------------------------------------------------------

# Both stacks side by side in one picture, on white so that it reads on any page. The file is named
# after what is shown.
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
    gr.HTML(
        heading(
            "Language models",
            "SFT copies a teacher, GRPO plays for the grade, DPO picks the better of two replies.",
        )
    )
    loaded = {name: load_or_say(f"training/{name}.json") for name in (*STAGES, *ARENA)}
    runs = {name: run for name, (run, _) in loaded.items() if run is not None}
    published, no_published = load_or_say("published.json")
    if runs:
        _runs(runs, published_logs(published) if published else {})
    missing = [said for said in (*(said for _, said in loaded.values()), no_published) if said]
    if missing:
        gr.HTML(Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(missing)))


def _runs(runs: Runs, published: Mapping[str, Log]) -> None:
    names = [("Six panels", ALL_SIX), *((recorded(run).name, name) for name, run in runs.items())]
    first = View(ALL_SIX if set(SIX) <= set(runs) else next(iter(runs)))
    run = gr.Radio(names, value=first.run, label="Run")
    with gr.Row():
        over = gr.Radio(list(SCALES), value=first.over, label="Over", min_width=240)
        smoothing = gr.Slider(
            ROUGHEST, SMOOTHEST, value=first.smoothing, step=0.01, label="Smoothing",
            elem_classes="sauda-steps", elem_id="training-smoothing", min_width=240,
        )  # fmt: skip
        overlay = gr.CheckboxGroup(
            list(published), label="Published GRPO logs beside", min_width=240
        )
        log = gr.Radio(
            [("linear", False), ("logarithmic", True)], value=first.log,
            label="Loss and gradient norm", min_width=240,
        )  # fmt: skip
    controls = [run, over, smoothing, log, overlay]

    files = {name: csv_file(name, runs) for _, name in names}

    def parts(view: View) -> tuple:
        return files[view.run], *shown(view, runs, published)

    file, left, right, to_here, told, *facts = parts(first)
    fault = gr.HTML("")
    with gr.Row(elem_classes="sauda-together"):
        stacks = []
        for name, figure in zip(STACKS, (left, right), strict=True):
            with gr.Column(min_width=320):
                stacks.append(gr.Plot(figure, show_label=False, elem_id=name))
    with gr.Row(elem_classes="sauda-actions"):
        png = gr.Button("PNG", size="sm", scale=0)
        download = gr.DownloadButton("CSV", value=file, size="sm", scale=0)
        linked = gr.HTML(to_here, elem_id="training-link")
    said = gr.HTML(told, elem_id="training-said")
    summed = gr.HTML(facts[0])
    with gr.Accordion("One training conversation, what is learnt marked", open=False):
        conversation = gr.HTML(facts[1])
    with gr.Accordion("What was learnt from", open=False):
        made = gr.HTML(facts[2])
    origin = gr.HTML(facts[3])
    outputs = [fault, download, *stacks, linked, said, summed, conversation, made, origin]

    def redrawn(*picked: Any) -> tuple:
        *plain, overlays = picked
        return "", *parts(View(*plain, tuple(overlays)))

    gr.on(
        [control.input for control in controls], redrawn, controls, outputs,
        trigger_mode="always_last", **QUIET,
    )  # fmt: skip

    def restored(request: gr.Request) -> tuple:
        query = request.query_params
        view, wrong = from_query(query, first, list(files), list(published))
        if view == first and not wrong:
            return (gr.skip(),) * (len(controls) + len(outputs))
        picks = (view.run, view.over, view.smoothing, view.log, list(view.overlay))
        return *picks, trouble(ValueError(wrong)) if wrong else "", *parts(view)

    gr.on(None, restored, None, [*controls, *outputs], **QUIET)
    png.click(None, run, None, js=PNG, **QUIET)
