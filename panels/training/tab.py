"""Training: the curves of all that learns, from their logs; the examples that roles learn from."""

from collections.abc import Iterator
from statistics import fmean

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.models import policy_label
from panels.training import data, roles, runs
from panels.training.curves import curve, line_chart
from panels.ui.html import SAY
from panels.ui.look import QUIET, SERIES, heading, note
from panels.ui.provenance import load_or_say, offer_again, one_by_one, provenance, side_by_side
from panels.ui.terms import task_choices
from panels.ui.wiring import Updates, bound, fill_on_opening
from sauda.records.store import Artifact
from sauda.statistics import moving_average
from sauda.train.selector import DIGITS, EXPERT, SelectorEpisode, episode_return

TITLE = "Training"
SMOOTHING = 0.9  # of the moving average, at first
SAMPLE = 20  # training episodes that are played again


def reward_figure(selector: Artifact, task: str, smoothing: float) -> go.Figure:
    """Reward per training episode of `task`: raw points, moving average, the expert's average."""
    rows = _rows(selector, task)
    x, rewards = [row.episode for row in rows], [row.reward for row in rows]
    raw = {"mode": "markers", "customdata": [row.policy for row in rows]}
    raw["marker"] = {"color": SERIES["buyer"].light, "size": 5, "opacity": 0.35}
    hover = "episode %{x}: %{y:.3f} by %{customdata}<extra></extra>"
    smooth = moving_average(rewards, smoothing)
    expert = moving_average([row.expert for row in rows], smoothing)
    traces = [
        curve("selector, each episode", "buyer", x, rewards, hover, **raw),
        curve("selector, averaged", "buyer", x, smooth, "averaged: %{y:.3f}<extra></extra>"),
        curve("rule based expert, averaged", "scripted", x, expert,
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
    return SAY.selected(final, policy_label(final.policy))


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
    then, now = recorded["reward"], fresh["reward"]
    means = fmean(then), fmean(now)
    told = side_by_side("mean reward of the selector", means, len(rows), recorded, fresh)
    yield told + one_by_one([row.seed for row in rows], then, now, "reward")


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    told = "Every curve is read from the log of a real run, every example from a shipped dialogue."
    gr.HTML(heading(TITLE, told))
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        for title, (name, build_part) in PARTS.items():
            with gr.Tab(title, id=name) as tab:
                build_part(tab)


def build_selector(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    selector, missing = load_or_say("training/selector.json")
    if selector is None:
        gr.HTML(missing)
        return
    told = "A softmax over scripted labs learns by REINFORCE which of them to play."
    above = gr.HTML()
    tasks = [row.task for row in selector.data.final]
    with gr.Row():
        task = gr.Radio(task_choices(tasks), value=tasks[-1], label="Task", min_width=320)
        smoothing = gr.Slider(
            0, 0.98, value=SMOOTHING, step=0.02, label="Smoothing", elem_classes="sauda-steps",
            min_width=320,
        )  # fmt: skip
    with gr.Row():
        figures = [gr.Plot(show_label=False, min_width=320) for _ in range(2)]
    outputs = [above, *figures]
    title = heading("A selector in the GPU arena", told)
    source = provenance(selector, f"n = {len(selector.data.curve)} training episodes")

    def show(name: str, smoothing: float) -> Updates:
        values = (
            Markup("{}<p>{}</p>{}").format(title, outcome(selector, name), source),
            reward_figure(selector, name, smoothing),
            choice_figure(selector, name),
        )
        return dict(zip(outputs, values, strict=True))

    label = f"play the first {SAMPLE} episodes again, now"
    offer_again(label, bound(played_again, selector), [task], "training-selector")
    gr.on([task.change, smoothing.change], show, [task, smoothing], outputs, **QUIET)
    fill_on_opening(tab, lambda _: show(tasks[-1], SMOOTHING), outputs)


PARTS = {  # of the tab, by title: a name in addresses, and what lays it out
    "Runs": ("runs", runs.build),
    "Selector": ("selector", build_selector),
    "Roles": ("roles", roles.build),
    "Data explorer": ("data", data.build),
}
