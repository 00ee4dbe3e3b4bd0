"""Does training help, and does the wrapper do the work? Gains are paired by hold-out seed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import plotly.graph_objects as go
from markupsafe import Markup

from panels.results import model_comparison
from panels.results.model_labels import AGAIN, BASE, policy_label, series_role
from panels.results.model_summary import (
    WrapperGain,
    gain_on_same_seeds,
    rows_by_policy,
    wrapper_gain,
)
from panels.results.questions.layout import Answer, Artifacts, Measured, Question
from panels.results.questions.verdict import (
    Signs,
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
from panels.ui.look import note, table
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.comparison import OURS
from sauda.llm.model import NULL
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

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
            (no_row(comparison),),
        )
    signs = by_sign({task: gain.interval for task, gain in gains.items()})
    if signs.above:
        opening = "Partly" if signs.unclear or signs.below else "Yes"
    else:
        opening = "No" if signs.below else "Not shown"
    told = in_words(
        signs,
        "scores more than the untrained base in {}",
        "shows no difference from the untrained base in {} (the interval holds 0)",
        "scores less than the untrained base in {}",
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
    """Paragraphs: what the figure shows, and which steps lost something."""
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


def _losses(gains: Sequence[Gain]) -> list[str]:
    """What was lost on each task whose interval lies below 0."""
    return [
        f"{-gain.interval.mean:.3f} in the {short(gain.task)}"
        for gain in gains
        if gain.interval.high < 0
    ]


def training_answer(artifacts: Artifacts) -> Answer | None:
    """The gain of every step, with every stage and policy task by task below it."""
    comparison = artifacts.get(model_comparison.FILE)
    if comparison is None:
        return None
    gains = steps(comparison)
    return Answer(
        verdict(comparison),
        gain_figure(comparison) if gains else None,
        caption(comparison) if gains else (),
        [Measured(gain.task, gain.step, gain.n, gain.interval) for gain in gains],
        "step",
        [comparison],
        FORM,
        "paired hold-out seeds",
        ([comparison], OURS),
        parts={
            "Every stage and policy, task by task": partial(
                model_comparison.build, model_comparison.BAZAAR
            )
        },
    )


TRAINING = Question("training", "Does training help?", (model_comparison.FILE,), training_answer)


GRADE = "z.3f"  # of grades
STEERING, HONEST = "steering", "honest"
AROUND = {NULL: "no model", BASE: policy_label(BASE), OURS: "Sauda"}  # short, for a phone


def wrapper_verdict(comparison: Artifact) -> Verdict:
    """Whether the published steering wins more around the served model than around no model."""
    gains = gains_by_task(comparison, OURS, STEERING)
    evidence = tuple(_added(comparison))
    if not gains:
        missing = no_row(comparison, f"{OURS}+{STEERING}")
        return Verdict(f"Not measured yet around {buyer_name(OURS)}.", (*evidence, missing))
    signs = by_sign({task: gain.interval for task, gain in gains.items()})
    told = in_words(
        signs,
        "it scores more than without a model in {}",
        "it shows no difference from no model in {} (the interval holds 0)",
        "it scores less than without a model in {}",
    )
    task, gain = next(iter(gains.items()))
    sentence = (
        f"The published wrapper {_work_of(signs)}: in the {short(task)} it scores"
        f" {gain.alone:{GRADE}} without any model and {gain.wrapped:{GRADE}} around Sauda"
        f" (n = {gain.n:,}). {_need(comparison, task)}."
    )
    return Verdict(sentence, (f"Around Sauda {told}.", *evidence))


def _work_of(signs: Signs) -> str:
    """How much of the work the wrapper does, by where the model inside it adds to it."""
    if not signs.above:
        return "does the work where it is used"
    if signs.unclear or signs.below:
        return "does part of the work"
    return "does not do the work alone"


def _need(comparison: Artifact, task: str) -> str:
    """Whether Sauda wins less without the published wrapper, and what it wins then."""
    bare = rows_by_policy(comparison, task)[OURS]
    scores = f"scores {bare.grade.mean:{GRADE}} (n = {bare.n:,})"
    found = gain_on_same_seeds(comparison, task, OURS, f"{OURS}+{STEERING}")
    if found is None:
        return f"Sauda alone {scores}"
    _, _, _, gain = found
    if gain.low > 0:
        return f"Sauda needs none: alone it {scores}"
    if gain.high < 0:
        return f"Sauda needs one: alone it {scores}"
    return f"Sauda alone {scores}, no clear difference"


def gains_by_task(comparison: Artifact, stage: str, wrapper: str) -> dict[str, WrapperGain]:
    """What a wrapper wins more around `stage` than around no model, on each task it played."""
    gains = {
        task: wrapper_gain(comparison, task, stage, wrapper) for task in market_tasks(comparison)
    }
    return {task: gain for task, gain in gains.items() if gain is not None}


def _added(comparison: Artifact) -> Iterator[str]:
    """What the served stage and the base add to the wrappers around them, by task."""
    for stage, wrapper in ((OURS, STEERING), (BASE, STEERING), (OURS, HONEST)):
        told = [
            f"{short(task)} {with_interval(gain.interval, '+.3f')}, n = {gain.n:,}"
            for task, gain in gains_by_task(comparison, stage, wrapper).items()
        ]
        if told:
            inside = AROUND[stage] if stage == OURS else f"the {AROUND[stage]}"
            yield f"{capital(wrapper)}, {inside} instead of no model: {'; '.join(told)}."


def wrapped_rows(comparison: Artifact, task: str) -> list[tuple[str, str]]:
    """(label, policy) of the base and the served stage bare, then of each wrapper around each."""
    rows = rows_by_policy(comparison, task)
    shown = [(f"{AROUND[model]}, bare", model) for model in (BASE, OURS)]
    shown += [
        (f"{wrapper}, {AROUND[model]}", f"{model}+{wrapper}")
        for wrapper in (STEERING, HONEST)
        for model in AROUND
    ]
    return [(label, policy) for label, policy in shown if policy in rows]


def wrapper_figure(comparison: Artifact) -> go.Figure:
    """Mean grades of the model bare and of the wrappers around it and around no model, by task."""
    groups = {}
    for task in market_tasks(comparison):
        rows = rows_by_policy(comparison, task)
        groups[short(task)] = [
            WhiskerRow(label, rows[policy].grade, series_role(policy))
            for label, policy in wrapped_rows(comparison, task)
        ]
    return whisker_rows(groups, "mean grade, 1 at best", GRADE)


def changed_table(comparison: Artifact) -> Markup:
    """How many moves each wrapper changed, and how many replies inside it held no legal move."""
    return table(
        ("task", "wrapper and model", "moves", "changed", "invalid replies"),
        [
            (task, label, f"{row.moves:,}", f"{row.changed:,}", f"{row.invalid_replies:,}")
            for task in market_tasks(comparison)
            for label, policy in wrapped_rows(comparison, task)
            for row in (rows_by_policy(comparison, task)[policy],)
        ],
        align="llrrr",
        caption="Moves on hold-out seeds that a wrapper changed",
    )


def wrapper_answer(artifacts: Artifacts) -> Answer | None:
    """The model bare, and the wrappers around it and around no model."""
    comparison = artifacts.get(model_comparison.FILE)
    if comparison is None:
        return None
    changed = note("All rows of the comparison are under “Does training help?”.")
    return Answer(
        wrapper_verdict(comparison),
        wrapper_figure(comparison),
        [
            "A wrapper checks or changes the moves of the model inside it; around no model it plays"
            " alone, and what it scores there is its own work. Steering is the published wrapper,"
            f" honest is ours, the model is {policy_label(OURS)}. Whiskers are 95 % bootstrap"
            " intervals. Rows have different n (see the numbers below), so a mean may differ from"
            " the verdict’s, which compares on the same seeds."
        ],
        [
            Measured(task, label, row.n, row.grade)
            for task in market_tasks(comparison)
            for label, policy in wrapped_rows(comparison, task)
            for row in (rows_by_policy(comparison, task)[policy],)
        ],
        "wrapper and model",
        [comparison],
        n="hold-out seeds",
        replayed=([comparison], f"{NULL}+{STEERING}"),
        details={
            "Moves that the wrapper changed, and invalid replies": changed_table(comparison)
            + changed
        },
    )


WRAPPER = Question(
    "wrapper", "Does the wrapper do the work?", (model_comparison.FILE,), wrapper_answer
)
