"""Training runs: what each took and gained, its settings, its curves and their controls."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any
from urllib.parse import quote

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import TASKS
from panels.results.models import FILE, LAB_FILE
from panels.results.training import verdict, whole_gains
from panels.training.curves import (
    EVALUATION,
    METRICS,
    REWARD,
    REWARD_STD,
    SCALES,
    SMOOTHEST,
    Log,
    Rows,
    Runs,
    View,
    average,
    build_together,
    recorded,
    scripted_rows,
    stack,
)
from panels.ui.html import SAY, macros
from panels.ui.look import QUIET, heading, note, table, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, with_tooltips
from panels.ui.wiring import Updates, fill_on_opening, read_query, region
from sauda.records.kinds import training_runs
from sauda.records.store import ROOT, Artifact

HTML = macros("training")
GAIN_TASKS = {"bazaar": "bazaar/open", "arena": "arena/market_round"}  # of a gain, by game
COLUMNS = ("run", "hold-out gain", "last checkpoint", "steps", "tokens", "minutes", "machine")

# All runs -----------------------------------------------------------------------------------------


def overview(runs: Runs) -> Markup:
    """Whether training helps; a row per run with its gain, last checkpoint and costs."""
    comparisons = [artifact for file in (FILE, LAB_FILE) if (artifact := load_or_say(file)[0])]
    gains = {
        (gain.after, gain.task): f"{with_interval(gain.interval, '+.3f')}, n {gain.n}"
        for comparison in comparisons
        for gain in comparison.data.stage_gains
        if gain.on == "all"
    }
    rows = []
    for name, run in runs.items():
        log, data = recorded(run), run.data
        last = data.checkpoint_evaluations[-1] if data.checkpoint_evaluations else None
        rows.append(
            (
                log.name,
                gains.get((f"mini+{name}", GAIN_TASKS[log.game]), "not recorded yet"),
                "–" if last is None else f"{last.reward:.3f} [{last.low:.3f}, {last.high:.3f}]",
                f"{len(data.log):,}",
                f"{data.num_tokens:,}",
                f"{data.seconds / 60:.0f}",
                machine(run),
            )
        )
    bazaar, _ = load_or_say(FILE)
    helps = heading(headline(bazaar), "Gains by task are in Results.") if bazaar else ""
    how = SAY.overview(list(GAIN_TASKS.values()))
    shown = region("training-overview", table(COLUMNS, rows, "lrrrrrl", "Every run"))
    return Markup("{}{}{}").format(helps, shown, note(with_tooltips(how)))


def machine(run: Artifact) -> str:
    """The hardware of a run: "2 CPU cores", or the GPU by its name."""
    hardware = run.data.hardware
    return f"{hardware.cores} CPU cores" if "CPU" in hardware.device else hardware.device


def headline(comparison: Artifact) -> str:
    """Whether training helps, with the gain on the first task that the served stage played."""
    sentence = verdict(comparison).sentence
    gain = next(iter(whole_gains(comparison).values()), None)
    if gain is None:
        return sentence
    figures = with_interval(gain.interval, "+.3f")
    return f"{sentence} In the {short(gain.task)}: {figures}, n = {gain.n:,}."


# One run ------------------------------------------------------------------------------------------


def mix(run: Artifact) -> Markup:
    """Counts of a run's training data by task, move and judge."""
    data, parts = run.data, {}
    if data.rows:
        parts = {"task": data.rows.task, "move": data.rows.moves}
    elif data.games:
        parts = {"task, groups": data.games.task}
    elif data.rounds:
        parts = {
            f"round {number}, {each.teacher_turns:.0%} of the turns the teacher's": each.task
            for number, each in enumerate(data.rounds, 1)
        }
    elif pairs := data.pairs:
        parts = {"task": pairs.task, "move of the better reply": pairs.moves, "judge": pairs.judge}
    rows = [
        (part, name, f"{number:,}")
        for part, counts in parts.items()
        for name, number in (counts or {}).items()
    ]
    return table(("part", "", "count"), rows, "llr", f"Training data of {recorded(run).name}")


def sample(run: Artifact) -> Markup:
    """One training conversation, the tokens in the loss marked."""
    told = f"{recorded(run).name}: marked tokens are in the loss, the others are context."
    return HTML.tokens(told, run.data.sample)


def captions(log: Log, view: View) -> Markup:
    """How the curves are to be read, and their first and last values for who cannot see them."""
    evaluated, on_log_axis = log.known(EVALUATION), [each for each in log.metrics if each.log]
    curves = [
        (each.label, [y for y in average(log, each, view.smoothing) if y is not None])
        for each in log.metrics
    ]
    return HTML.captions(
        log,
        view,
        bands=log.known(REWARD) and log.known(REWARD_STD),
        whiskers=evaluated,
        levels=evaluated or (log.tasks and set(log.tasks) <= set(TASKS)),
        dropped=sum(value <= 0 for each in on_log_axis for value in log.known(each)),
        absent=[each.label for each in METRICS[log.role] if not log.known(each)],
        ends=[(label, values[0], values[-1]) for label, values in curves],
    )


def draw_view(view: View, runs: Runs, scripts: Rows) -> tuple[go.Figure, Markup]:
    """The curves of a view, and what stands in words below them."""
    run, log = runs[view.run], recorded(runs[view.run])
    told = HTML.below(
        view.to_query(),
        view.run,
        f"gradio_api/file={quote(str(ROOT / run.file))}",
        captions(log, view),
        HTML.summary(log.name, run.data, log.game),
        sample(run),
        mix(run),
        provenance(run, f"n = {len(run.data.log)} steps"),
    )
    return stack(log, view, scripts), told


# The view that an address names -------------------------------------------------------------------


def from_query(query: Mapping[str, str], first: View, runs: Sequence[str]) -> tuple[View, str]:
    """The view `first` updated from `query`, and a sentence that names unreadable parts, or ""."""
    known = {"run": runs, "over": list(SCALES), "log": ["0", "1"]}
    read: dict[str, Any] = {
        name: query[name] for name, values in known.items() if query.get(name) in values
    }
    if "log" in read:
        read["log"] = read["log"] == "1"
    smoothing = _smoothing(query.get("smoothing", ""))
    if smoothing is not None:
        read["smoothing"] = smoothing
    unread = sorted({*known, "smoothing"} & query.keys() - read.keys())
    fault = f"Not all of the link could be read: {', '.join(unread)}." if unread else ""
    return replace(first, **read), fault


def _smoothing(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return round(value, 2) if 0 <= value <= SMOOTHEST else None


# Layout -------------------------------------------------------------------------------------------


def build(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    loaded = {name: load_or_say(f"training/{name}.json") for name in training_runs()}
    runs = {name: run for name, (run, _) in loaded.items() if run is not None}
    if runs:
        build_runs(runs, tab)
    if missing := Markup("").join(message for _, message in loaded.values()):
        gr.HTML(Markup('<div class="sauda-cards">{}</div>').format(missing))


def build_runs(runs: Runs, tab: gr.Tab) -> None:
    """Lay out all runs, and the curves of one with the controls that choose them."""
    scripts, first = scripted_rows(), View(next(iter(runs)))
    above = gr.HTML()
    compared = build_together(runs, scripts)
    with gr.Row():
        run = gr.Dropdown(
            [(recorded(run).name, name) for name, run in runs.items()], value=first.run,
            label="Run", filterable=False, elem_id="training-run", min_width=240,
        )  # fmt: skip
        over = gr.Radio(
            list(SCALES), value=first.over, label="Over", elem_id="training-over", min_width=240
        )
        smoothing = gr.Slider(
            0, SMOOTHEST, value=first.smoothing, step=0.01, label="Smoothing",
            elem_classes="sauda-steps", elem_id="training-smoothing", min_width=240,
        )  # fmt: skip
        log = gr.Radio(
            [("linear", False), ("logarithmic", True)], value=first.log,
            label="Loss and gradient norm", min_width=240,
        )  # fmt: skip
    inputs = [run, over, smoothing, log]  # the fields of a view
    figure, below = gr.Plot(show_label=False, elem_id="training-curves"), gr.HTML()

    def redraw(*values: Any) -> Updates:
        return dict(zip((figure, below), draw_view(View(*values), runs, scripts), strict=True))

    def restore(search: str) -> Updates:
        query = read_query(search)
        named = query if query.get("tab") == "training" else {}
        view, unread = from_query(named, first, list(runs))
        picks = dict(zip(inputs, astuple(view), strict=True))
        fault = trouble(ValueError(unread)) if unread else ""
        shown = {above: fault + overview(runs)} | dict([compared] if compared else [])
        return shown | picks | redraw(*picks.values())

    gr.on(
        [control.input for control in inputs], redraw, inputs, [figure, below],
        trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    outputs = [above, *([compared[0]] if compared else []), figure, below, *inputs]
    fill_on_opening(tab, restore, outputs)
