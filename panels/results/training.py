"""Does training help, and does the wrapper do the work? Gains are paired by hold-out seed.

The stages of one model, bare and wrapped, are laid out alike for the bazaar and for the arena.
"""

from collections.abc import Container, Iterator
from functools import partial

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels import frames
from panels.measured import (
    FILE,
    FORM,
    GAIN,
    LAB_FILE,
    MARKET,
    Lead,
    best_script,
    gain_on_same_seeds,
    rows_by_policy,
    series_role,
    weights,
)
from panels.results.question import (
    HTML,
    OF_BEST,
    Answer,
    Measured,
    Part,
    Question,
    Verdict,
    clauses,
    grades_figure,
    no_row,
    side,
)
from panels.ui.html import SAY
from panels.ui.provenance import provenance
from panels.ui.tables import WhiskerRow, whisker_rows
from panels.ui.terms import capital, list_names, list_tasks, short, task_choices
from sauda.llm.model import NULL
from sauda.players import (
    BASE,
    BAYESIAN,
    LAB,
    LAB_STAGES,
    LISTENER,
    ORACLE,
    SERVED,
    STAGES,
    buyer_name,
    policy_label,
)
from sauda.policies import ZERO_GRADE
from sauda.records.schemas.base import Interval
from sauda.records.schemas.evaluation import PairedDifference
from sauda.records.store import Artifact

STEERING, HONEST = "steering", "honest"
AROUND = {NULL: "no model", BASE: policy_label(BASE), SERVED: "Sauda"}  # short, for a phone


# The gains ---------------------------------------------------------------------------------------


def market_tasks(comparison: Artifact) -> list[str]:
    """The tasks of the bazaar in a comparison."""
    tasks = dict.fromkeys(row.task for row in comparison.data.rows)
    return [task for task in tasks if task.startswith(MARKET)]


def whole_gains(comparison: Artifact) -> dict[str, Measured]:
    """What all training gained over the untrained base, by task that Sauda played."""
    gains = {}
    for task in market_tasks(comparison):
        row = rows_by_policy(comparison, task).get(SERVED)
        if row is not None and (paired := row.grade.paired()) is not None:
            gains[task] = Measured(policy_label(SERVED), paired, series_role(SERVED), task, row.n)
    return gains


def verdict(comparison: Artifact) -> Verdict:
    """Whether Sauda wins more than the untrained base."""
    gains = whole_gains(comparison)
    if not gains:
        return Verdict(
            "Not measured yet for Sauda, the model that this page serves.", (no_row(comparison),)
        )
    sides = {task: side(gain.interval) for task, gain in gains.items()}
    opening = "No" if "below" in sides.values() else "Not shown"
    if "above" in sides.values():
        opening = "Yes" if set(sides.values()) == {"above"} else "Partly"
    phrases = clauses(
        sides,
        above="scores more than the untrained base in {}",
        below="scores less than the untrained base in {}",
        unclear="shows no difference from the untrained base in {} (the interval holds 0)",
    )
    lines = []
    for task, gain in gains.items():
        rows = rows_by_policy(comparison, task)
        before, after = rows[BASE].grade.mean, rows[SERVED].grade.mean
        lines.append(SAY.gained(task, before, after, gain.interval, gain.n))
    lines.append("Mean share of what could be won, less the cost of time; hold-out seeds, bare.")
    return Verdict(f"{opening}: Sauda {', and '.join(phrases)}.", tuple(lines))


def gains_by_step(comparison: Artifact) -> dict[str, list[PairedDifference]]:
    """The gains of each stage over the one it trains further, by what is added: "DPO"."""
    gains: dict[str, list[PairedDifference]] = {}
    for gain in comparison.data.stage_gains:
        if gain.on == "all":
            added = {**STAGES, **LAB_STAGES}[gain.after].label.rpartition(" + ")[2]
            gains.setdefault(added, []).append(gain)
    return gains


def gain_figure(comparison: Artifact) -> go.Figure:
    """All gains on the first of the market's tasks: over the base, and of each step of training."""
    task, whole = market_tasks(comparison)[0], whole_gains(comparison)
    rows = [
        WhiskerRow("Sauda, over the base", gain.interval, gain.role)
        for gain in filter(None, [whole.get(task)])
    ] + [
        WhiskerRow(capital(name), gain.interval, series_role(gain.after))
        for name, gains in gains_by_step(comparison).items()
        for gain in gains
        if gain.task == task
    ]
    axis = "gain, percentage points of what could be won"
    return whisker_rows({capital(short(task)): rows}, axis, GAIN)


def caption(comparison: Artifact) -> Markup:
    """What the figure shows, and which steps lost something, classic games included."""
    lost = []
    for name, gains in gains_by_step(comparison).items():
        losses = [
            f"{-gain.interval.mean:.1%} in the {short(gain.task)}"
            for gain in gains
            if side(gain.interval) == "below"
        ]
        lost += [f"{name} ({list_names(losses)})"] if losses else []
    return HTML.gains_caption(list_tasks(market_tasks(comparison)[1:]), "; ".join(lost))


def step_label(gain: PairedDifference) -> str:
    """Both stages in words: "SFT, then DPO" for "SFT + DPO"."""
    before, after = policy_label(gain.before), policy_label(gain.after)
    rest = after.removeprefix(f"{before} + ")
    return f"{before} → {after}" if rest == after else f"{before}, then {rest}"


def training_answer(comparison: Artifact) -> Answer:
    """The gain of every step, with every stage and policy task by task below it."""
    rows = [
        Measured(step_label(gain), gain.interval, series_role(gain.after), gain.task, gain.n)
        for gain in comparison.data.stage_gains
        if gain.on == "all" and gain.task.startswith(MARKET)
    ]
    return Answer(
        verdict(comparison),
        gain_figure(comparison),
        caption(comparison),
        rows,
        "step",
        [comparison],
        GAIN,
        "paired hold-out seeds",
        ([comparison], SERVED),
        tables=frames.stages(comparison),
        parts={"Every stage and policy, task by task": stages(comparison)},
    )


TRAINING = Question("training", "Does training help?", (FILE,), training_answer)


# Every stage, task by task -----------------------------------------------------------------------


def summary(comparison: Artifact, task: str) -> Markup:
    """What training brought on a task, beside the base and the best script."""
    rows = rows_by_policy(comparison, task)
    if LAB not in rows:
        return HTML.stages(progress(comparison, task))
    script, grade = best_script(rows)
    held = rows.get(f"{BASE}+constrained")
    labels = [policy_label(name) for name in (LAB, BASE, script)]
    return HTML.lab_stages(rows[LAB], rows[BASE], grade, labels, held, ZERO_GRADE)


def progress(comparison: Artifact, task: str) -> str:
    """How far training brought Sauda on a task; "" where it did not play."""
    rows = rows_by_policy(comparison, task)
    if SERVED not in rows:
        return ""
    closed = comparison.data.gap_closed
    shares = [
        Interval(mean=row.share, low=row.low, high=row.high)
        for row in closed
        if (row.task, row.policy) == (task, SERVED)
    ]
    return SAY.progress(rows[BASE].grade.mean, rows[SERVED], shares, buyer_name(LISTENER))


def stage_figure(artifact: Artifact, task: str) -> go.Figure:
    """The bare model at every stage, the best script, the planners and the oracle, best first."""
    script, _ = best_script(rows_by_policy(artifact, task))
    names = (*STAGES, *LAB_STAGES, script, BAYESIAN, LISTENER, ORACLE)
    return players_figure(artifact, task, names, OF_BEST, FORM)


def players_figure(
    comparison: Artifact, task: str, names: Container[str], axis: str, form: str
) -> go.Figure:
    """Mean grades of those of `names` that played a task, the best first; Sauda's is bold.

    A row says its games where they are not as many as Sauda's.
    """
    rows = sorted(rows_by_policy(comparison, task).values(), key=lambda row: -row.grade.mean)
    usual = next((row.n for row in rows if row.policy == SERVED), None)
    lines = []
    for row in rows:
        if row.policy in names:
            label = buyer_name(row.policy)
            if usual and row.n != usual:
                label += f", n = {row.n:,}"
            label = f"<b>{label}</b>" if row.policy == SERVED else label
            lines.append(WhiskerRow(label, row.grade, series_role(row.policy)))
    return whisker_rows({capital(f"the {short(task)}"): lines}, axis, form)


def stages(artifact: Artifact) -> Part:
    """Every stage and policy, one task at a time; the address names those of the bazaar."""
    is_lab = artifact.file == LAB_FILE
    tasks = list(dict.fromkeys(row.task for row in artifact.data.rows))

    def draw(task: str) -> tuple[go.Figure, Markup]:
        source = provenance(artifact, f"paired hold-out episodes; {weights(artifact)}")
        return stage_figure(artifact, task), Markup(summary(artifact, task)) + source

    picker = partial(
        gr.Radio, task_choices(tasks), value=tasks[0], label="Task", visible=len(tasks) > 1
    )
    return Part("lab" if is_lab else "model", draw, [picker], () if is_lab else tasks)


# The wrappers ------------------------------------------------------------------------------------


def wrapper_verdict(comparison: Artifact) -> Verdict:
    """Whether the published steering wins more around the served model than around no model."""
    gains = wrapper_gains(comparison, SERVED, STEERING)
    evidence = tuple(_tell_added(comparison))
    if not gains:
        missing = no_row(comparison, f"{SERVED}+{STEERING}")
        return Verdict(f"Not measured yet around {buyer_name(SERVED)}.", (*evidence, missing))
    sides = {task: side(lead.gain) for task, lead in gains.items()}
    work = "does the work where it is used"
    if "above" in sides.values():
        is_all = set(sides.values()) == {"above"}
        work = "does not do the work alone" if is_all else "does part of the work"
    phrases = clauses(
        sides,
        above="it scores more than without a model in {}",
        below="it scores less than without a model in {}",
        unclear="it shows no difference from no model in {} (the interval holds 0)",
    )
    task, lead = next(iter(gains.items()))
    bare = rows_by_policy(comparison, task)[SERVED]
    alone = gain_on_same_seeds(comparison, task, SERVED, f"{SERVED}+{STEERING}")
    sentence = SAY.wrapper(work, task, lead, alone and side(alone.gain), bare)
    return Verdict(sentence, (f"Around Sauda {', and '.join(phrases)}.", *evidence))


def wrapper_gains(comparison: Artifact, stage: str, wrapper: str) -> dict[str, Lead]:
    """What a wrapper wins more around `stage` than around no model, on each task it played."""
    wrapped, alone = f"{stage}+{wrapper}", f"{NULL}+{wrapper}"
    leads = {
        task: gain_on_same_seeds(comparison, task, wrapped, alone)
        for task in market_tasks(comparison)
    }
    return {task: lead for task, lead in leads.items() if lead is not None}


def _tell_added(comparison: Artifact) -> Iterator[str]:
    """What the served stage and the base add to the wrappers around them, by task."""
    for stage, wrapper in ((SERVED, STEERING), (BASE, STEERING), (SERVED, HONEST)):
        if leads := wrapper_gains(comparison, stage, wrapper):
            inside = AROUND[stage] if stage == SERVED else f"the {AROUND[stage]}"
            yield SAY.added(wrapper, inside, leads)


def wrapper_answer(comparison: Artifact) -> Answer:
    """The base and the served stage bare, then each wrapper around each and around no model."""
    shown = {model: f"{AROUND[model]}, bare" for model in (BASE, SERVED)} | {
        f"{model}+{wrapper}": f"{wrapper}, {AROUND[model]}"
        for wrapper in (STEERING, HONEST)
        for model in AROUND
    }
    rows = []
    for task in market_tasks(comparison):
        played = rows_by_policy(comparison, task)
        if f"{NULL}+{STEERING}" in played:
            rows += [
                Measured(label, played[name].grade, series_role(name), task, played[name].n)
                for name, label in shown.items()
                if name in played
            ]
    return Answer(
        wrapper_verdict(comparison),
        grades_figure(rows),
        HTML.wrapper_caption(policy_label(SERVED)),
        rows,
        "wrapper and model",
        [comparison],
        n="hold-out seeds",
        replayed=([comparison], f"{NULL}+{STEERING}"),
    )


WRAPPER = Question("wrapper", "Does the wrapper do the work?", (FILE,), wrapper_answer)
