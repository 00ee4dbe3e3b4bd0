"""Training runs: their settings in words, their curves, and the controls that choose them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import TASKS
from panels.training import overview
from panels.training.curves import Rows, build_together, inner_height, scripted_rows, stack
from panels.training.logs import (
    ALL_SIX,
    EVALUATION,
    METRICS,
    REWARD,
    REWARD_STD,
    ROUGHEST,
    SCALES,
    SIX,
    SMOOTHEST,
    Log,
    Metric,
    Runs,
    View,
    from_query,
    log_table,
    panels_of,
    published_logs,
    recorded,
    to_query,
)
from panels.ui.downloads import offered, text_file
from panels.ui.look import QUIET, badge, folded, note, stat, strip, table, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import to_csv
from sauda.records.kinds import training_runs
from sauda.records.store import Artifact
from sauda.statistics import moving_average

Stacks = Sequence[tuple[Log, Sequence[Metric]]]  # the metrics drawn of each log

# What a run was -----------------------------------------------------------------------------------


def summary(run: Artifact) -> Markup:
    """Steps, tokens, data and acceptance check of a run, and the adapter it started from."""
    data, acceptance = run.data, run.data.acceptance
    deviation = acceptance.price_off
    extra = "" if deviation is None else f"; prices {deviation:.1f} % off the teacher’s"
    if acceptance.accepted is not None:
        extra += f"; the rules accept {acceptance.accepted:.0%} of them"
    verdict = "passed" if acceptance.passed else "failed"
    return Markup('<p class="sauda-run-name"><b>{}</b>{}</p>{}').format(
        recorded(run).name,
        initial_adapter(run),
        strip(
            stat(
                f"{len(data.log):,}", "steps",
                note=f"{data.seconds / 60:.0f} min on {data.hardware.device}",
            ),
            stat(f"{data.num_tokens:,}", "tokens", note=f"weights in {data.base.precision}"),
            _training_data(run),
            stat(
                f"{acceptance.valid:.0%}", "hold-out replies with a legal action",
                note=f"acceptance check {verdict}, n = {acceptance.n}{extra}",
            ),
        ),
    )  # fmt: skip


def initial_adapter(run: Artifact) -> str:
    """The adapter that training started from; "" where it started from the base model."""
    adapter = run.data.init_adapter
    if not adapter:
        return ""
    return f", starting from the adapter {adapter.name} ({adapter.sha256[:12]})"


def _training_data(run: Artifact) -> Markup:
    data = run.data
    if rows := data.rows:
        source = "one a state" if recorded(run).game == "arena" else f"of {rows.rows:,} deals"
        return stat(f"{rows.completions:,}", "moves trained on", note=source)
    if games := data.games:
        groups = sum(games.task.values())
        seeds = f"seeds {games.first_seed:,} to {games.last_seed:,}"
        note = f"{groups:,} groups of {games.num_generations}; {seeds}"
        return stat(f"{groups * games.num_generations:,}", "games played", note=note)
    if rounds := data.rounds:
        deals, own = sum(r.rows for r in rounds), sum(r.own for r in rounds)
        states = sum(r.completions for r in rounds)
        note = f"of {deals:,} deals in {len(rounds)} rounds; in {own / states:.0%} it moved itself"
        return stat(f"{states:,}", "labelled states", note=note)
    if pairs := data.pairs:
        source = f"searched for {pairs.seconds / 60:.0f} min; grades {pairs.gap:.3f} apart"
        return stat(f"{pairs.n:,}", "pairs of replies", note=source)
    return stat("–", "training data", note="not in the log")


def mix(run: Artifact) -> Markup:
    """Counts of a run's training data by task, move and judge."""
    parts: dict[str, Mapping[str, float] | None] = {}
    if rows := run.data.rows:
        parts = {"task": rows.task, "move": rows.moves}
    elif games := run.data.games:
        parts = {"task, groups": games.task}
    elif rounds := run.data.rounds:
        parts = {
            f"round {number}, {each.teacher_turns:.0%} of the turns the teacher's": each.task
            for number, each in enumerate(rounds, 1)
        }
    elif pairs := run.data.pairs:
        parts = {"task": pairs.task, "move of the better reply": pairs.moves}
        parts |= {"judge": pairs.judge}
    counted = [
        (part, name, f"{number:,}")
        for part, names in parts.items()
        for name, number in (names or {}).items()
    ]
    return table(
        ("part", "", "count"),
        counted,
        align="llr",
        caption=f"Training data of {recorded(run).name}",
    )


def sample(run: Artifact) -> Markup:
    """One training conversation, the tokens in the loss marked."""
    told = f"{recorded(run).name}: marked tokens are in the loss, the others are context."
    return marked(told, run.data.sample)


def marked(told: str, tokens: Iterable[Any]) -> Markup:
    """A training sequence below a sentence; those of `tokens` that are `in_loss` are marked."""
    parts = [
        Markup('<mark class="sauda-learnt">{}</mark>').format(token.text)
        if token.in_loss
        else Markup.escape(token.text)
        for token in tokens
    ]
    return Markup(
        '<p class="sauda-note">{}</p><pre class="sauda-sample" role="region" tabindex="0"'
        ' aria-label="{}">{}</pre>'
    ).format(told, told, Markup("").join(parts))


# What its curves show -----------------------------------------------------------------------------


def captions(stacks: Stacks, view: View, beside: Sequence[Log]) -> Markup:
    """What points, lines, bands and dotted lines are; what is not drawn, and why."""
    drawn = merged(stacks)
    sentences = [
        "Points: each step. Lines: their debiased exponential average, smoothing"
        f" {view.smoothing:g}; hovering shows the average, and the step’s value in brackets."
    ]
    if any({REWARD, REWARD_STD} <= set(filter(log.holds, METRICS[log.role])) for log, _ in drawn):
        sentences.append("Band of the reward: its average ± the averaged std within groups.")
    if any(log.holds(EVALUATION) for log, _ in drawn):
        sentences.append("Whiskers of checkpoint evaluations: 95 % intervals over games.")
    played = (log for log, _ in drawn if log.tasks)  # no script has rows of a task that is gone
    if any(log.holds(EVALUATION) for log, _ in drawn) or any(
        set(log.tasks) <= set(TASKS) for log in played
    ):
        sentences.append("Dashed level lines: the best script and the tuned one on training seeds.")
    if view.log:
        sentences.append(left_out(drawn, beside))
    for log, _ in drawn:
        sentences.append(resumed(log))
        absent = [metric.label for metric in METRICS[log.role] if not log.holds(metric)]
        if absent and view.run != ALL_SIX:
            sentences.append(f"Not in this log: {', '.join(absent)}.")
    return Markup("<p>{}</p>{}").format(
        " ".join(sentences),
        Markup("").join(note(sentence(log, metrics, view.smoothing)) for log, metrics in drawn),
    )


def merged(stacks: Stacks) -> list[tuple[Log, list[Metric]]]:
    """Every recorded log once, with all metrics drawn of it."""
    logs = {log.name: log for log, _ in stacks if log.rows}
    return [
        (log, [metric for other, metrics in stacks if other.name == name for metric in metrics])
        for name, log in logs.items()
    ]


def left_out(drawn: Stacks, beside: Sequence[Log]) -> str:
    """How many values a logarithmic axis cannot show."""
    values = [
        row.get(metric.name)
        for log, metrics in drawn
        for metric in metrics
        if metric.log
        for source in (log, *(beside if log.beside_published else ()))
        for row in source.rows
    ]
    dropped = sum(value is not None and value <= 0 for value in values)
    return (
        "Loss and gradient norm have a logarithmic axis, which cannot show 0 and below:"
        f" {dropped} {'value is' if dropped == 1 else 'values are'} left out there."
    )


def resumed(log: Log) -> str:
    """After which steps the run was resumed."""
    if not log.resumed:
        return f"{log.name} ran without interruption."
    steps = ", ".join(str(step) for step in log.resumed)
    return f"Dotted lines: {log.name} was interrupted and resumed after step {steps}."


def sentence(log: Log, metrics: Sequence[Metric], smoothing: float) -> str:
    """The first and last value of each curve, as text for those who cannot see it."""
    ranges = []
    for metric in metrics:
        values = [row.get(metric.name) for row in log.rows_of(metric)]
        values = [value for value in values if value is not None]
        if values:
            curve = moving_average(values, smoothing) if metric.noisy else values
            ranges.append(f"{metric.label} from {curve[0]:.3g} to {curve[-1]:.3g}")
    return f"{log.name}, first and last value of each line: {'; '.join(ranges)}."


def overlaid(stacks: Stacks, view: View, logs: Sequence[Log]) -> Markup:
    """The badge and caveat of every chosen published log; or why it is not drawn."""
    if not logs:
        return Markup("")
    if not any(log.beside_published for log, _ in stacks):
        return note("The published logs are of GRPO in a bazaar: pick that run to see them.")
    if view.over == "tokens":
        return note("The published logs hold no tokens, so they are not drawn over tokens.")
    rows = Markup("").join(
        Markup("<p>{} <b>{}</b>, dashed. {}</p>").format(
            badge("published"), log.name.removeprefix("published "), log.caveat
        )
        for log in logs
    )
    return rows + Markup("<p>{}</p>").format(
        "Their reward is a bell curve on the first bid and has its own axis on the right; ours is"
        " the grade of whole games. The two are different measures and do not compare."
    )


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
    inner = inner_height(max(len(metrics) for _, metrics in stacks))
    left, right = (
        stack(log, metrics, view, inner, beside if log.beside_published else (), scripts)
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


def describe(parts: Mapping[str, Any]) -> Markup:
    """What stands in words below the curves: the parts of `shown` that are HTML."""
    return Markup(
        '<div id="training-link">{}</div><div id="training-captions">{}</div>{}{}{}{}'
    ).format(
        parts["link"],
        parts["captions"],
        parts["summary"],
        folded("One training conversation, the tokens in the loss marked", parts["sample"]),
        folded("Training data", parts["mix"]),
        parts["origin"],
    )


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
        build_together(runs, scripts)
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
            parts["told"] = describe(parts)
            return {part: parts[name] for name, part in outputs.items()}

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
        png.click(None, run, None, js=PNG, **QUIET)
        outputs["told"] = gr.HTML(describe(parts))
        return outputs
