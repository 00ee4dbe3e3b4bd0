"""Does training help? The gain of every stage of training on the open market, by hold-out seed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import gradio as gr
import plotly.graph_objects as go

from panels.results import model_comparison
from panels.results.model_labels import AGAIN, BASE, policy_label, series_role
from panels.results.model_summary import rows_by_policy
from panels.results.questions import reproduce
from panels.results.questions.layout import (
    Measured,
    fold,
    numbers,
    show_caption,
    show_verdict,
)
from panels.results.questions.verdict import (
    Verdict,
    buyer_name,
    by_sign,
    capital,
    in_words,
    listed,
    no_row,
    short,
    tasks_listed,
)
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from panels.ui.wiring import lay_out_address
from sauda.experiments.comparison import OURS
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME, TITLE = "training", "Does training help?"
FORM = "+.3f"  # of differences of grades
MARKET = "bazaar/"  # how the open market's tasks begin
CLASSIC = "classic/"  # and those of the published games


@dataclass(frozen=True)
class Gain:
    """What the stage `after` wins more than `before` on one task, unwrapped, by seed."""

    task: str
    before: str
    after: str
    n: int
    interval: Interval
    over_steps: bool = False  # whether other stages lie between the two

    @property
    def added(self) -> str:
        """What `after` adds to `before`, in words: "DPO" of "SFT + GRPO + DPO"."""
        if self.over_steps:
            return "the whole training"
        return _last(self.after)

    @property
    def step(self) -> str:
        """Both stages in words: "SFT, then DPO" for "SFT + DPO"."""
        before, after = policy_label(self.before), policy_label(self.after)
        if self.over_steps:
            return f"All: {before} → {after}"
        rest = after.removeprefix(f"{before} + ")
        return f"{before} → {after}" if rest == after else f"{before}, then {rest}"


def market_tasks(comparison: Artifact) -> list[str]:
    """The open market's tasks of a comparison, in its order."""
    tasks = dict.fromkeys(row.task for row in comparison.data.rows)
    return [task for task in tasks if task.startswith(MARKET)]


def whole_gains(comparison: Artifact, stage: str = OURS) -> dict[str, Gain]:
    """What all training up to `stage` gained over the untrained base, by task it was played on."""
    gains = {}
    for task in market_tasks(comparison):
        row = rows_by_policy(comparison, task).get(stage)
        paired = None if row is None else row.grade.paired()
        if paired is not None:
            gains[task] = Gain(task, BASE, stage, row.n, paired)
    return gains


def verdict(comparison: Artifact) -> Verdict:
    """Whether the served stage wins more than the untrained base on the open market."""
    gains = whole_gains(comparison)
    if not gains:
        return Verdict(
            f"Not measured yet for {buyer_name(OURS)}, the stage that this page serves.",
            (*_best_other_stage(comparison), no_row(comparison)),
        )
    signs = by_sign({task: gain.interval for task, gain in gains.items()})
    if signs.above:
        opening = "Partly" if signs.unclear or signs.below else "Yes"
    else:
        opening = "No" if signs.below else "Not shown"
    told = in_words(
        signs,
        "wins more than the untrained base in {}",
        "shows no difference from the untrained base in {} (the interval holds 0)",
        "wins less than the untrained base in {}",
    )
    return Verdict(
        f"{opening}: {buyer_name(OURS)} {told}.",
        (
            *_grades(comparison, gains),
            "Mean grade, 1 at best; hold-out seeds, bare, paired by seed.",
        ),
    )


def _grades(comparison: Artifact, gains: Mapping[str, Gain]) -> Iterator[str]:
    """The grades before and after training on each task, with the gain's interval and n."""
    for task, gain in gains.items():
        rows = rows_by_policy(comparison, task)
        yield (
            f"{short(task)}: {rows[BASE].grade.mean:z.3f} to {rows[gain.after].grade.mean:z.3f},"
            f" gain {with_interval(gain.interval, FORM)}, n = {gain.n:,}"
        )


def _best_other_stage(comparison: Artifact) -> Iterator[str]:
    """The stage that gains most over the base on the first task, where one was played."""
    stages = dict.fromkeys(gain.after for gain in comparison.data.stage_gains)
    played = [gains for stage in stages if (gains := whole_gains(comparison, stage))]
    first = [next(iter(gains.values())) for gains in played]
    if first:
        gain = max(first, key=lambda gain: gain.interval.mean)
        yield (
            f"Of the stages played, {policy_label(gain.after)} gains most over the untrained base"
            f" in the {short(gain.task)}: {with_interval(gain.interval, FORM)}, n = {gain.n:,}."
        )


def steps(comparison: Artifact) -> list[Gain]:
    """The gain of all training, then that of each stage over the one it trains further."""
    single = _stage_gains(comparison, MARKET)
    known = {(gain.before, gain.after) for gain in single}
    if (BASE, OURS) in known:
        return single
    whole = [replace(gain, over_steps=True) for gain in whole_gains(comparison).values()]
    return [*whole, *single]


def _stage_gains(comparison: Artifact, game: str) -> list[Gain]:
    """The gain of each stage over the one it trains further, on the tasks of `game`."""
    return [
        Gain(gain.task, gain.before, gain.after, gain.n, gain.interval)
        for gain in comparison.data.stage_gains
        if gain.on == "all" and gain.task.startswith(game)
    ]


def gain_figure(comparison: Artifact) -> go.Figure:
    """The gain of every step of training on the first of the market's tasks, with its interval."""
    task = market_tasks(comparison)[0]
    rows = [
        WhiskerRow(capital(name), gain.interval, series_role(gain.after))
        for name, gains in _by_step(steps(comparison)).items()
        for gain in gains
        if gain.task == task
    ]
    return whisker_rows({capital(short(task)): rows}, "gain in mean grade", FORM)


def caption(comparison: Artifact) -> list[str]:
    """Paragraphs: what the figure shows, which steps lost something, and which may add nothing."""
    shown, classic = steps(comparison), _stage_gains(comparison, CLASSIC)
    first = "The first row shows Sauda’s whole training. " if shown and shown[0].over_steps else ""
    text = first + (
        "Each stage is compared with the stage that it trains further; right of 0 is a gain."
        " Whiskers are 95 % bootstrap intervals over hold-out seeds."
    )
    if others := market_tasks(comparison)[1:]:
        text += f" The table below also has the gains in {tasks_listed(others)}."
    paragraphs = [text]
    lost = {name: _losses(gains) for name, gains in _by_step([*shown, *classic]).items()}
    if told := [f"{name} ({listed(losses)})" for name, losses in lost.items() if losses]:
        paragraphs.append(f"Losses, classic games included: {'; '.join(told)}.")
    if unclear := [name for name, gains in _by_step(shown).items() if _unclear(gains)]:
        tasks = tasks_listed(market_tasks(comparison))
        paragraphs.append(f"No clear difference on at least one of {tasks}: {'; '.join(unclear)}.")
    return paragraphs


def _by_step(gains: Sequence[Gain]) -> dict[str, list[Gain]]:
    """The gains by what is added, which says after what where it is added to several stages."""
    added = {(gain.before, gain.after): gain.added.partition(AGAIN) for gain in gains}
    stages = Counter(what for what, _ in {(what, step[0]) for step, (what, *_) in added.items()})
    named = {
        step: what + (f" after {_last(step[0])}" if stages[what] > 1 else "") + again + seed
        for step, (what, again, seed) in added.items()
    }
    return {
        named[step]: [gain for gain in gains if (gain.before, gain.after) == step] for step in named
    }


def _last(stage: str) -> str:
    """What the training of a stage ended with: "DPO" for "SFT + GRPO + DPO"."""
    return policy_label(stage).rpartition(" + ")[2]


def _unclear(gains: Sequence[Gain]) -> bool:
    """Whether the interval of any gain holds 0."""
    return any(gain.interval.low <= 0 <= gain.interval.high for gain in gains)


def _losses(gains: Sequence[Gain]) -> list[str]:
    """What was lost on each task whose interval lies below 0."""
    return [
        f"{-gain.interval.mean:.3f} in the {short(gain.task)}"
        for gain in gains
        if gain.interval.high < 0
    ]


def _gains(comparison: Artifact) -> None:
    figure = gain_figure(comparison)
    gr.Plot(figure, show_label=False, elem_id=f"results-{NAME}-figure")
    for paragraph in caption(comparison):
        show_caption(paragraph)
    gr.HTML(provenance(comparison, "paired hold-out seeds"))
    rows = [Measured(gain.task, gain.step, gain.n, gain.interval) for gain in steps(comparison)]
    numbers(NAME, rows, FORM, "step")


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    comparison, missing = load_or_say(model_comparison.FILE)
    if comparison is None:
        gr.HTML(missing)
        return
    show_verdict(NAME, verdict(comparison))
    if steps(comparison):
        _gains(comparison)
    address = lay_out_address("results", NAME, ("task", reproduce.AGAIN))
    reproduce.build(NAME, [comparison], address, OURS)
    with fold("Every stage and policy, task by task") as part:
        model_comparison.build(model_comparison.BAZAAR, address, part)
