"""Training runs: what each took and gained, its settings, its curves and their controls."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import TASKS
from panels.results.models import FILE, LAB_FILE
from panels.results.training import verdict, whole_gains
from panels.training.curves import Rows, build_together, scripted_rows, stack
from panels.training.logs import (
    EVALUATION,
    METRICS,
    REWARD,
    REWARD_STD,
    ROUGHEST,
    SCALES,
    SMOOTHEST,
    Log,
    Runs,
    View,
    from_query,
    metrics_of,
    recorded,
    to_query,
)
from panels.ui.look import QUIET, folded, heading, note, stat, strip, table, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, tasks_listed, with_tooltips
from panels.ui.wiring import Updates, fill_on_opening, queried, region
from sauda.experiments.comparison import StageGain
from sauda.records.kinds import training_runs
from sauda.records.store import ROOT, Artifact
from sauda.statistics import moving_average

NOTHING = Markup("")

# All runs -----------------------------------------------------------------------------------------

GAIN_TASKS = {
    "bazaar": "bazaar/open",
    "arena": "arena/market_round",
}  # where a gain is read, by game
STAGES = (
    "SFT copies a teacher, distillation learns a stronger teacher’s moves in the model’s own games,"
    " GRPO plays for the grade, DPO learns from pairs of replies."
)
NOT_RECORDED = "not recorded yet"
COLUMNS = ("run", "hold-out gain", "last checkpoint", "steps", "tokens", "minutes", "machine")


def overview(runs: Runs, comparisons: list[Artifact]) -> Markup:
    """A row a run: its hold-out gain, the grade of its last checkpoint, steps, tokens, minutes."""
    gains = list(all_gains(comparisons))
    rows = []
    for run in runs.values():
        log, data = recorded(run), run.data
        last = (data.checkpoint_evaluations or [None])[-1]
        rows.append(
            (
                log.name,
                gain_of(run.file.removeprefix("training/").removesuffix(".json"), log.game, gains),
                "–" if last is None else f"{last.reward:.3f} [{last.low:.3f}, {last.high:.3f}]",
                f"{len(data.log):,}",
                f"{data.num_tokens:,}",
                f"{data.seconds / 60:.0f}",
                machine(run),
            )
        )
    return table(COLUMNS, rows, "lrrrrrl", "Every run")


def machine(run: Artifact) -> str:
    """The hardware of a run: "2 CPU cores", or the GPU by its name."""
    hardware = run.data.hardware
    return f"{hardware.cores} CPU cores" if "CPU" in hardware.device else hardware.device


def all_gains(comparisons: list[Artifact]) -> Iterator[StageGain]:
    """The gains of all stages on all hold-out seeds, of both games."""
    for comparison in comparisons:
        yield from (gain for gain in comparison.data.stage_gains if gain.on == "all")


def gain_of(name: str, game: str, gains: list[StageGain]) -> str:
    """What the adapter called `name` gained over the stage before, on the game's first task."""
    for gain in gains:
        if (gain.after, gain.task) == (f"mini+{name}", GAIN_TASKS[game]):
            return f"{with_interval(gain.interval, '+.3f')}, n {gain.n}"
    return NOT_RECORDED


def headline(comparison: Artifact) -> str:
    """Whether training helps, with the gain on the first task that the served stage played."""
    sentence = verdict(comparison).sentence
    gain = next(iter(whole_gains(comparison).values()), None)
    if gain is None:
        return sentence
    figures = with_interval(gain.interval, "+.3f")
    return f"{sentence} In the {short(gain.task)}: {figures}, n = {gain.n:,}."


def overview_told(runs: Runs) -> Markup:
    """Whether training helps, the table of all runs, and how to read it."""
    bazaar, lab = (load_or_say(file)[0] for file in (FILE, LAB_FILE))
    helps = heading(headline(bazaar), "Gains by task are in Results.") if bazaar else Markup("")
    comparisons = [artifact for artifact in (bazaar, lab) if artifact is not None]
    table_of_runs = region("training-overview", overview(runs, comparisons))
    return (
        helps
        + table_of_runs
        + note(
            with_tooltips(
                "Hold-out gain: mean grade less that of the stage before, paired by seed, in"
                f" {tasks_listed(list(GAIN_TASKS.values()))}. Last checkpoint: mean grade on"
                f" training games. Brackets are 95 % intervals. {STAGES}"
            )
        )
    )


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
        '<p class="sauda-note">{}</p><pre class="sauda-sample" role="group" tabindex="0"'
        ' aria-label="{}">{}</pre>'
    ).format(told, told, Markup("").join(parts))


# What its curves show -----------------------------------------------------------------------------


def captions(log: Log, view: View) -> Markup:
    """What points, lines, bands and dotted lines are; what is not drawn, and why."""
    sentences = [
        f"Lines are smoothed ({view.smoothing:g}); hover for the smoothed value and, in brackets,"
        " the step’s own."
    ]
    if log.holds(REWARD) and log.holds(REWARD_STD):
        sentences.append("Band of the reward: its average ± the averaged std within groups.")
    if log.holds(EVALUATION):
        sentences.append("Whiskers of checkpoint evaluations: 95 % intervals over games.")
    if log.holds(EVALUATION) or (log.tasks and set(log.tasks) <= set(TASKS)):
        sentences.append("Dashed level lines: the best script and the tuned one on training seeds.")
    if view.log:
        sentences.append(left_out(log))
    sentences.append(resumed(log))
    absent = [metric.label for metric in METRICS[log.role] if not log.holds(metric)]
    if absent:
        sentences.append(f"Not in this log: {', '.join(absent)}.")
    return Markup("<p>{}</p>{}").format(" ".join(sentences), note(sentence(log, view.smoothing)))


def left_out(log: Log) -> str:
    """How many values a logarithmic axis cannot show."""
    values = [row.get(metric.name) for metric in metrics_of(log) if metric.log for row in log.rows]
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


def sentence(log: Log, smoothing: float) -> str:
    """The first and last value of each curve, as text for those who cannot see it."""
    ranges = []
    for metric in metrics_of(log):
        values = [row.get(metric.name) for row in log.rows_of(metric)]
        values = [value for value in values if value is not None]
        curve = moving_average(values, smoothing) if metric.noisy else values
        ranges.append(f"{metric.label} from {curve[0]:.3g} to {curve[-1]:.3g}")
    return f"{log.name}, first and last value of each line: {'; '.join(ranges)}."


# What a view shows --------------------------------------------------------------------------------

STACK = "training-curves"  # id of the stack of panels


def draw_view(view: View, runs: Runs, scripts: Rows | None = None) -> tuple[go.Figure, Markup]:
    """The curves of a view, and what stands in words below them."""
    run = runs[view.run]
    log = recorded(run)
    explained = folded("What points, lines and bands mean", captions(log, view))
    told = (
        Markup(
            '<div id="training-link"><a class="sauda-permalink" href="{}">Link to this view</a>'
            '</div><div id="training-captions">{}</div>'
        ).format(to_query(view), explained)
        + folded("Steps, tokens, data and acceptance check", summary(run))
        + folded("One training conversation, the tokens in the loss marked", sample(run))
        + folded("Training data", mix(run))
        + provenance(run, f"n = {len(run.data.log)} steps")
    )
    return stack(log, metrics_of(log), view, scripts), told


# Layout -------------------------------------------------------------------------------------------

# Both files are named after the run. The picture is on white, so that it reads on any page; the CSV
# file is the run's own log, a row per step.
SAVE = """(run, address) => {
  const link = document.createElement("a");
  link.href = address;
  link.download = `sauda-${run}`;
  link.click();
}"""
PNG = f"""async (run) => {{
  const plot = document.querySelector("#{STACK} .js-plotly-plot");
  const layout = {{ ...plot.layout, paper_bgcolor: "#FFFFFF", plot_bgcolor: "#FFFFFF" }};
  const size = {{ format: "png", width: 1000, height: plot.offsetHeight, scale: 2 }};
  ({SAVE})(`${{run}}.png`, await Plotly.toImage({{ data: plot.data, layout }}, size));
}}"""
CSV = f"""async (run) => {{
  const file = await fetch(`gradio_api/file={quote(str(ROOT))}/training/${{run}}.json`);
  const {{ data: {{ log }} }} = await file.json();
  const names = [...new Set(log.flatMap(Object.keys))];
  const rows = [names, ...log.map((row) => names.map((name) => row[name] ?? ""))];
  const text = rows.map((row) => row.join(",")).join("\\n");
  ({SAVE})(`${{run}}.csv`, URL.createObjectURL(new Blob([text], {{ type: "text/csv" }})));
}}"""


def build(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    loaded = {name: load_or_say(f"training/{name}.json") for name in training_runs()}
    runs = {name: run for name, (run, _) in loaded.items() if run is not None}
    if runs:
        scripts = scripted_rows()
        told = gr.HTML()
        fill_on_opening(tab, lambda _: {told: overview_told(runs)}, [told])
        build_together(runs, scripts, tab)
        build_curves(runs, scripts, tab)
    missing = [message for _, message in loaded.values() if message]
    if missing:
        gr.HTML(Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(missing)))


def build_curves(runs: Runs, scripts: Rows, tab: gr.Tab) -> None:
    """Lay out the curves of one run with the controls that choose them."""
    first = View(next(iter(runs)))
    controls = _controls(runs, first)
    fault, figure = gr.HTML(), gr.Plot(show_label=False, elem_id=STACK)
    with gr.Row(elem_classes="sauda-actions"):
        png = gr.Button("PNG", size="sm", scale=0)
        csv = gr.Button("CSV", size="sm", scale=0)
    png.click(None, controls["run"], None, js=PNG, **QUIET)
    csv.click(None, controls["run"], None, js=CSV, **QUIET)
    outputs = [gr.HTML(), figure, fault]

    def show(view: View, unread: Markup = NOTHING) -> Updates:
        drawn, told = draw_view(view, runs, scripts)
        return dict(zip(outputs, (told, drawn, unread), strict=True))

    def redraw(*values: Any) -> Updates:
        return show(View(*values))

    def restore(search: str) -> Updates:
        query = queried(search)
        named = query if query.get("tab") == "training" else {}
        view, unread = from_query(named, first, list(runs))
        picks = {control: getattr(view, name) for name, control in controls.items()}
        return picks | show(view, trouble(ValueError(unread)) if unread else NOTHING)

    inputs = list(controls.values())
    gr.on(
        [control.input for control in inputs], redraw, inputs, outputs,
        trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    fill_on_opening(tab, restore, [*outputs, *inputs])


def _controls(runs: Runs, first: View) -> dict[str, Any]:
    """One control per field of the view, in their order."""
    controls: dict[str, Any] = {}
    with gr.Row():
        controls["run"] = gr.Dropdown(
            [(recorded(run).name, name) for name, run in runs.items()], value=first.run,
            label="Run", filterable=False, elem_id="training-run", min_width=240,
        )  # fmt: skip
        controls["over"] = gr.Radio(
            list(SCALES), value=first.over, label="Over", elem_id="training-over", min_width=240
        )
        controls["smoothing"] = gr.Slider(
            ROUGHEST, SMOOTHEST, value=first.smoothing, step=0.01, label="Smoothing",
            elem_classes="sauda-steps", elem_id="training-smoothing", min_width=240,
        )  # fmt: skip
        controls["log"] = gr.Radio(
            [("linear", False), ("logarithmic", True)], value=first.log,
            label="Loss and gradient norm", min_width=240,
        )  # fmt: skip
    return controls
