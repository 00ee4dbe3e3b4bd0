"""Training: runs with their settings and curves, the selector's curves, roles, and examples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import TASKS
from panels.frames import Table, grid
from panels.measured import FILE, GAIN, LAB_FILE, rows_by_policy
from panels.results.training import verdict, whole_gains
from panels.training import data, roles
from panels.training.curves import (
    EVALUATION,
    METRICS,
    REWARD,
    REWARD_STD,
    SCALES,
    SMOOTHEST,
    SMOOTHING,
    Log,
    Rows,
    Runs,
    View,
    average,
    build_together,
    curve,
    line_chart,
    recorded,
    scripted_rows,
    stack,
)
from panels.ui.html import SAY, macros
from panels.ui.look import QUIET, SERIES, heading, note, table, trouble
from panels.ui.provenance import (
    lay_out_or_say,
    load_or_say,
    offer_again,
    provenance,
    side_by_side,
)
from panels.ui.tables import with_interval
from panels.ui.terms import capital, list_names, short, task_choices, with_tooltips
from panels.ui.wiring import (
    Updates,
    bound,
    fill_on_opening,
    in_address,
    lay_out_address,
    on_address,
)
from sauda.cloud.jobs import FLAVORS, PRICES_READ, Flavor
from sauda.players import BASE, MEASURED, buyer_name, policy_label
from sauda.records.kinds import training_runs
from sauda.records.schemas.training import SelectorEpisode
from sauda.records.store import Artifact, load
from sauda.statistics import moving_average
from sauda.train.selector import DIGITS, EXPERT, episode_return

HTML = macros("training")
TITLE = "Training"
RUNS = "runs"  # id of the sub-tab
LAB_TASK = "arena/market_round"  # on which gains of labs are told
RENTED = "cpu-basic"  # the Hub's machine with as many cores as ours
FORMER_RULES = "not measured: it learnt the rules of an earlier market"  # in place of a gain
SAMPLE = 20  # training episodes that are played again

# All runs -----------------------------------------------------------------------------------------


def overview(runs: Runs) -> tuple[Markup, Table]:
    """Whether training helps, and a row per run."""
    bazaar, _ = load_or_say(FILE)
    helps = heading(headline(bazaar), "Gains by task are in Results.") if bazaar else Markup("")
    like = {flavor.name: flavor for flavor in filter(None, map(rented, runs.values()))}
    hourly = [f"${flavor.price:.2f} for {flavor.name}" for flavor in like.values()]
    prices = HTML.prices(list_names(hourly), f"{PRICES_READ.day} {PRICES_READ:%B %Y}")
    tasks = dict.fromkeys([*(first for first, *_ in MEASURED.values()), LAB_TASK])
    caption = note(with_tooltips(SAY.overview(list(tasks)))) + (prices if hourly else "")
    return helps, Table("runs", list(map(describe_run, runs.values())), caption, form=".3f")


def describe_run(run: Artifact) -> dict[str, object]:
    """A run's gain in hold-out games, its last checkpoint, and what it took, by heading."""
    log, data = recorded(run), run.data
    stage = f"{BASE}+{Path(run.file).stem}"
    tasks = MEASURED.get(stage, () if log.game == "bazaar" else (LAB_TASK,))
    task, gain = next(iter(tasks), ""), "not recorded yet" if tasks else FORMER_RULES
    for artifact in filter(None, (load_or_say(file)[0] for file in (FILE, LAB_FILE))):
        row = rows_by_policy(artifact, task).get(stage)
        if row is not None and (paired := row.grade.paired()) is not None:
            gain = f"{with_interval(paired, GAIN)} over the base, n {row.n}"
        for each in artifact.data.stage_gains:
            if (each.after, each.task, each.on) == (stage, task, "all"):
                gain = f"{with_interval(each.interval, GAIN)}, n {each.n}"
    last = data.checkpoint_evaluations[-1] if data.checkpoint_evaluations else None
    return {
        "run": log.name,
        "hold-out gain": gain,
        "last checkpoint": last and f"{last.reward:.0%} [{last.low:.0%}, {last.high:.0%}]",
        "steps": len(data.log),
        "tokens": data.num_tokens,
        "minutes": round(data.seconds / 60),
        "machine": machine(run),
        "US dollars": cost(run),
    }


def machine(run: Artifact) -> str:
    """The hardware of a run: "2 CPU cores", or the GPU by its name."""
    hardware = run.data.hardware
    return f"{hardware.cores} CPU cores" if "CPU" in hardware.device else hardware.device


def rented(run: Artifact) -> Flavor | None:
    """The Hub's machine like the run's: RENTED, or that of its GPU; None where the Hub has none."""
    device = run.data.hardware.device
    name = RENTED if "CPU" in device else device.removeprefix("NVIDIA ").lower()
    return next((each for each in FLAVORS if each.name == name), None)


def cost(run: Artifact) -> float | None:
    """US dollars for the run's time at the list price of such a machine; None where it has none."""
    like = rented(run)
    return run.data.seconds / 3600 * like.price if like else None


def headline(comparison: Artifact) -> str:
    """What training brought, with the gain on the first task that the served stage played."""
    sentence = capital(verdict(comparison).sentence.removeprefix("Yes: "))
    gain = next(iter(whole_gains(comparison).values()), None)
    if gain is None:
        return sentence
    figures = with_interval(gain.interval, GAIN)
    return f"{sentence} In the {short(gain.task)}: {figures}, n = {gain.n:,}."


# One run ------------------------------------------------------------------------------------------


def mix(run: Artifact) -> Markup:
    """Counts of a run's training data by task and move."""
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
        parts = {"task": pairs.task, "move of the better reply": pairs.moves}
    rows = [
        (part, name, f"{number:,}")
        for part, counts in parts.items()
        for name, number in (counts or {}).items()
    ]
    return table(("part", "", "count"), rows, "llr", f"Training data of {recorded(run).name}")


def sample(run: Artifact) -> Markup:
    """One training conversation, the tokens in the loss marked."""
    sentence = f"{recorded(run).name}: marked tokens are in the loss, the others are context."
    return HTML.tokens(sentence, run.data.sample)


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
        absent=[each.label for each in METRICS[log.stage] if not log.known(each)],
        ends=[(label, values[0], values[-1]) for label, values in curves],
    )


def draw_view(view: View, runs: Runs, scripts: Rows) -> tuple[go.Figure, Markup]:
    """The curves of a view, and what stands in words below them."""
    run, log = runs[view.run], recorded(runs[view.run])
    below = HTML.below(
        view.run,
        f"artifacts/{quote(run.file)}",
        captions(log, view),
        HTML.summary(log.name, run.data, log.game),
        sample(run),
        mix(run),
        provenance(run, f"n = {len(run.data.log)} steps"),
    )
    return stack(log, view, scripts), below


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
    fault = f"Not all of the address could be read: {', '.join(unread)}." if unread else ""
    return replace(first, **read), fault


def _smoothing(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return round(value, 2) if 0 <= value <= SMOOTHEST else None


# Layout of the runs -------------------------------------------------------------------------------


def build_run_part(tab: gr.Tab) -> None:
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
    above, about = gr.HTML(elem_id="training-overview"), gr.HTML()
    rows = grid("Runs of training")
    together, drawn = build_together(runs, scripts)
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
    address = lay_out_address("training", RUNS, [each.name for each in fields(View)], tab)
    outputs = [below, figure, address.shown]

    def redraw(*values: Any) -> Updates:
        view = View(*values)
        named = in_address({} if view == first else view.to_query())
        shown = dict(zip((figure, below), draw_view(view, runs, scripts), strict=True))
        return shown | {address.shown: named}

    def follow_view(query: Mapping[str, str]) -> Updates:
        view, unread = from_query(query, first, list(runs))
        shown = redraw(*astuple(view)) | dict(zip(inputs, astuple(view), strict=True))
        fault = trouble(ValueError(unread)) if unread else ""
        return shown | {below: fault + shown[below]}

    gr.on(
        [control.input for control in inputs], redraw, inputs, outputs,
        trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    on_address(address, follow_view, [*outputs, *inputs])

    def fill(_: str) -> Updates:
        helps, table = overview(runs)
        return {above: helps, about: table.about, rows: table.shown, together: drawn}

    fill_on_opening(tab, fill, [above, about, rows, together])


# The selector -----------------------------------------------------------------------------------


def reward_figure(selector: Artifact, task: str) -> go.Figure:
    """Reward per training episode of `task`: raw points, moving average, the expert's average."""
    rows = _rows(selector, task)
    x, rewards = [row.episode for row in rows], [row.reward for row in rows]
    raw = {"mode": "markers", "customdata": [row.policy for row in rows]}
    raw["marker"] = {"color": SERIES["buyer"].light, "size": 5, "opacity": 0.35}
    hover = "episode %{x}: %{y:.3f} by %{customdata}<extra></extra>"
    smooth = moving_average(rewards, SMOOTHING)
    expert = moving_average([row.expert for row in rows], SMOOTHING)
    traces = [
        curve("selector, each episode", "buyer", x, rewards, hover, **raw),
        curve("selector, averaged", "buyer", x, smooth, "averaged: %{y:.3f}<extra></extra>"),
        curve("published expert, averaged", "scripted", x, expert,
              "expert: %{y:.3f}<extra></extra>"),
    ]  # fmt: skip
    return line_chart(traces, "training episode", "reward of the episode")


def choice_figure(selector: Artifact, task: str) -> go.Figure:
    """The selector's probability of each policy after every episode of `task`."""
    rows = _rows(selector, task)
    roles = {"broker": "buyer", "rule_based_expert": "seller"}
    traces = []
    for i, name in enumerate(selector.data.arms):
        x, y = [row.episode for row in rows], [row.after[i] for row in rows]
        label, role = policy_label(name), roles.get(name, "scripted")
        traces.append(curve(label, role, x, y, f"{label}: %{{y:.2f}}<extra></extra>"))
    return line_chart(traces, "training episode", "probability", range=[0, 1])


def _rows(selector: Artifact, task: str) -> list[SelectorEpisode]:
    return [row for row in selector.data.curve if row.task == task]


def outcome(selector: Artifact, task: str) -> str:
    """The policy that the selector ends on, and its gain over the expert, as text."""
    final = next(row for row in selector.data.final if row.task == task)
    return SAY.selected(final, buyer_name(final.policy))


def played_again(selector: Artifact, task: str) -> Iterator[Markup]:
    """The first training episodes of `task`, played again beside the record, after a word."""
    rows = _rows(selector, task)[:SAMPLE]
    yield note(f"Playing {len(rows)} training episodes, each by the selector’s choice and by the"
               " expert …")  # fmt: skip
    recorded = {"reward": [row.reward for row in rows], "expert": [row.expert for row in rows]}
    fresh = {
        "reward": [round(episode_return(task, row.policy, row.seed), DIGITS) for row in rows],
        "expert": [round(episode_return(task, EXPERT, row.seed), DIGITS) for row in rows],
    }
    figures, seeds = (recorded["reward"], fresh["reward"]), [row.seed for row in rows]
    what, forms = "mean reward of the selector", ("z.3f", "z.6f")
    yield side_by_side(what, figures, recorded, fresh, seeds=seeds, forms=forms)


def build_selector(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    selector = load("training/selector.json")
    lead = "A softmax over scripted labs learns by REINFORCE which of them to play."
    tasks = [row.task for row in selector.data.final]
    above = gr.HTML()
    task = gr.Radio(task_choices(tasks), value=tasks[-1], label="Task")
    with gr.Row():
        figures = [gr.Plot(show_label=False, min_width=320) for _ in range(2)]
    outputs = [above, *figures]
    title = heading("A selector in the GPU arena", lead)
    source = provenance(selector, f"n = {len(selector.data.curve)} training episodes")

    def show(name: str) -> Updates:
        words = Markup("{}<p>{}</p>{}").format(title, outcome(selector, name), source)
        drawn = reward_figure(selector, name), choice_figure(selector, name)
        return dict(zip(outputs, (words, *drawn), strict=True))

    label = f"play the first {SAMPLE} episodes again, now"
    offer_again(label, bound(played_again, selector), [task], "training-selector")
    task.change(show, task, outputs, **QUIET)
    fill_on_opening(tab, lambda _: show(tasks[-1]), outputs)


# The tab ----------------------------------------------------------------------------------------

PARTS = {  # of the tab, by title: a name in addresses, and what lays it out
    "Runs": (RUNS, build_run_part),
    "Selector": ("selector", build_selector),
    "Roles": ("roles", roles.build),
    "Data explorer": ("data", data.build),
}


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    lead = "Every curve is read from the log of a real run, every example from a shipped dialogue."
    gr.HTML(heading(TITLE, lead))
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        for title, (name, build_part) in PARTS.items():
            with gr.Tab(title, id=name) as tab:
                lay_out_or_say(build_part, tab)
