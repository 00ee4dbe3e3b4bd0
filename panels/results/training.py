"""Does training help, and does the wrapper do the work? Gains are paired by hold-out seed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import plotly.graph_objects as go
from markupsafe import Markup

from panels.results import model_comparison
from panels.results.models import (
    AGAIN,
    FILE,
    FORM,
    GAIN,
    Lead,
    buyer_name,
    gain_on_same_seeds,
    policy_label,
    rows_by_policy,
    series_role,
)
from panels.results.question import (
    ABOVE,
    BELOW,
    HTML,
    UNCLEAR,
    Answer,
    Artifacts,
    Measured,
    Question,
    Verdict,
    clauses,
    grades_figure,
    no_row,
    side,
)
from panels.results.winners import CLASSIC, MARKET
from panels.ui.look import table
from panels.ui.tables import with_interval
from panels.ui.terms import capital, listed, short, tasks_listed
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.comparison import BASE, OURS
from sauda.llm.model import NULL
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

STEERING, HONEST = "steering", "honest"
AROUND = {NULL: "no model", BASE: policy_label(BASE), OURS: "Sauda"}  # short, for a phone


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
        return "the whole training" if self.over_steps else _last(self.after)

    @property
    def step(self) -> str:
        """Both stages in words: "SFT, then DPO" for "SFT + DPO"."""
        before, after = policy_label(self.before), policy_label(self.after)
        if self.over_steps:
            return f"All: {before} → {after}"
        rest = after.removeprefix(f"{before} + ")
        return f"{before} → {after}" if rest == after else f"{before}, then {rest}"


def _last(stage: str) -> str:
    """What the training of a stage ended with: "DPO" for "SFT + GRPO + DPO"."""
    return policy_label(stage).rpartition(" + ")[2]


def market_tasks(comparison: Artifact) -> list[str]:
    """The open market's tasks of a comparison, in its order."""
    tasks = dict.fromkeys(row.task for row in comparison.data.rows)
    return [task for task in tasks if task.startswith(MARKET)]


def whole_gains(comparison: Artifact) -> dict[str, Gain]:
    """What all training gained over the untrained base, by task that the served stage played."""
    gains = {}
    for task in market_tasks(comparison):
        row = rows_by_policy(comparison, task).get(OURS)
        if row is not None and (paired := row.grade.paired()) is not None:
            gains[task] = Gain(task, BASE, OURS, row.n, paired)
    return gains


def verdict(comparison: Artifact) -> Verdict:
    """Whether the served stage wins more than the untrained base on the open market."""
    gains = whole_gains(comparison)
    if not gains:
        return Verdict(
            f"Not measured yet for {buyer_name(OURS)}, the stage that this page serves.",
            (no_row(comparison),),
        )
    sides = {side(gain.interval) for gain in gains.values()}
    opening = "No" if BELOW in sides else "Not shown"
    if ABOVE in sides:
        opening = "Yes" if sides == {ABOVE} else "Partly"
    phrases = {
        ABOVE: "scores more than the untrained base in {}",
        BELOW: "scores less than the untrained base in {}",
        UNCLEAR: "shows no difference from the untrained base in {} (the interval holds 0)",
    }
    told = clauses({task: gain.interval for task, gain in gains.items()}, phrases)
    lines = []
    for task, gain in gains.items():
        rows = rows_by_policy(comparison, task)
        lines.append(
            f"{short(task)}: {rows[BASE].grade.mean:{FORM}} to {rows[OURS].grade.mean:{FORM}},"
            f" gain {with_interval(gain.interval, GAIN)}, n = {gain.n:,}"
        )
    lines.append("Mean grade, 1 at best; hold-out seeds, bare, paired by seed.")
    return Verdict(f"{opening}: {buyer_name(OURS)} {', and '.join(told)}.", tuple(lines))


def steps(comparison: Artifact) -> list[Gain]:
    """The gain of all training, then that of each stage over the one it trains further."""
    single = _stage_gains(comparison, MARKET)
    if (BASE, OURS) in {(gain.before, gain.after) for gain in single}:
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
    return whisker_rows({capital(short(task)): rows}, "gain in mean grade", GAIN)


def caption(comparison: Artifact) -> Markup:
    """What the figure shows, and which steps lost something, classic games included."""
    shown = steps(comparison)
    lost = []
    for name, gains in _by_step([*shown, *_stage_gains(comparison, CLASSIC)]).items():
        losses = [
            f"{-gain.interval.mean:.3f} in the {short(gain.task)}"
            for gain in gains
            if side(gain.interval) == BELOW
        ]
        lost += [f"{name} ({listed(losses)})"] if losses else []
    others = tasks_listed(market_tasks(comparison)[1:])
    return HTML.gains_caption(shown[0].over_steps, others, "; ".join(lost))


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


def training_answer(artifacts: Artifacts) -> Answer | None:
    """The gain of every step, with every stage and policy task by task below it."""
    comparison = artifacts.get(FILE)
    if comparison is None:
        return None
    gains = steps(comparison)
    rows = [
        Measured(gain.step, gain.interval, series_role(gain.after), gain.task, gain.n)
        for gain in gains
    ]
    build = partial(model_comparison.build, model_comparison.BAZAAR)
    return Answer(
        verdict(comparison),
        gain_figure(comparison) if gains else None,
        caption(comparison) if gains else "",
        rows,
        "step",
        [comparison],
        GAIN,
        "paired hold-out seeds",
        ([comparison], OURS),
        parts={"Every stage and policy, task by task": build},
    )


TRAINING = Question("training", "Does training help?", (FILE,), training_answer)


# The wrappers ------------------------------------------------------------------------------------


def wrapper_verdict(comparison: Artifact) -> Verdict:
    """Whether the published steering wins more around the served model than around no model."""
    gains = wrapper_gains(comparison, OURS, STEERING)
    evidence = tuple(_added(comparison))
    if not gains:
        missing = no_row(comparison, f"{OURS}+{STEERING}")
        return Verdict(f"Not measured yet around {buyer_name(OURS)}.", (*evidence, missing))
    sides = {side(lead.gain) for lead in gains.values()}
    work = "does part of the work" if ABOVE in sides else "does the work where it is used"
    if sides == {ABOVE}:
        work = "does not do the work alone"
    phrases = {
        ABOVE: "it scores more than without a model in {}",
        BELOW: "it scores less than without a model in {}",
        UNCLEAR: "it shows no difference from no model in {} (the interval holds 0)",
    }
    told = clauses({task: lead.gain for task, lead in gains.items()}, phrases)
    task, lead = next(iter(gains.items()))
    sentence = (
        f"The published wrapper {work}: in the {short(task)} it scores {lead.second:{FORM}} without"
        f" any model and {lead.first:{FORM}} around Sauda (n = {lead.n:,})."
        f" {_need(comparison, task)}."
    )
    return Verdict(sentence, (f"Around Sauda {', and '.join(told)}.", *evidence))


def _need(comparison: Artifact, task: str) -> str:
    """Whether Sauda wins less without the published wrapper, and what it wins then."""
    bare = rows_by_policy(comparison, task)[OURS]
    scores = f"scores {bare.grade.mean:{FORM}} (n = {bare.n:,})"
    lead = gain_on_same_seeds(comparison, task, OURS, f"{OURS}+{STEERING}")
    if lead is None:
        return f"Sauda alone {scores}"
    return {
        ABOVE: f"Sauda needs none: alone it {scores}",
        BELOW: f"Sauda needs one: alone it {scores}",
        UNCLEAR: f"Sauda alone {scores}, no clear difference",
    }[side(lead.gain)]


def wrapper_gains(comparison: Artifact, stage: str, wrapper: str) -> dict[str, Lead]:
    """What a wrapper wins more around `stage` than around no model, on each task it played."""
    wrapped, alone = f"{stage}+{wrapper}", f"{NULL}+{wrapper}"
    leads = {
        task: gain_on_same_seeds(comparison, task, wrapped, alone)
        for task in market_tasks(comparison)
    }
    return {task: lead for task, lead in leads.items() if lead is not None}


def _added(comparison: Artifact) -> Iterator[str]:
    """What the served stage and the base add to the wrappers around them, by task."""
    for stage, wrapper in ((OURS, STEERING), (BASE, STEERING), (OURS, HONEST)):
        told = [
            f"{short(task)} {with_interval(lead.gain, GAIN)}, n = {lead.n:,}"
            for task, lead in wrapper_gains(comparison, stage, wrapper).items()
        ]
        if told:
            inside = AROUND[stage] if stage == OURS else f"the {AROUND[stage]}"
            yield f"{capital(wrapper)}, {inside} instead of no model: {'; '.join(told)}."


def wrapper_answer(artifacts: Artifacts) -> Answer | None:
    """The base and the served stage bare, then each wrapper around each and around no model."""
    comparison = artifacts.get(FILE)
    if comparison is None:
        return None
    shown = {model: f"{AROUND[model]}, bare" for model in (BASE, OURS)} | {
        f"{model}+{wrapper}": f"{wrapper}, {AROUND[model]}"
        for wrapper in (STEERING, HONEST)
        for model in AROUND
    }
    found = []
    for task in market_tasks(comparison):
        rows = rows_by_policy(comparison, task)
        found += [(label, rows[policy]) for policy, label in shown.items() if policy in rows]
    rows = [
        Measured(label, row.grade, series_role(row.policy), row.task, row.n) for label, row in found
    ]
    changed = table(
        ("task", "wrapper and model", "moves", "changed", "invalid replies"),
        [
            (row.task, label, f"{row.moves:,}", f"{row.changed:,}", f"{row.invalid_replies:,}")
            for label, row in found
        ],
        align="llrrr",
        caption="Moves on hold-out seeds that a wrapper changed",
    )
    return Answer(
        wrapper_verdict(comparison),
        grades_figure(rows),
        HTML.wrapper_caption(policy_label(OURS)),
        rows,
        "wrapper and model",
        [comparison],
        n="hold-out seeds",
        replayed=([comparison], f"{NULL}+{STEERING}"),
        details={"Moves that the wrapper changed, and invalid replies": HTML.changed(changed)},
    )


WRAPPER = Question("wrapper", "Does the wrapper do the work?", (FILE,), wrapper_answer)
