"""Does the wrapper do the work? The same wrappers around the model and around no model."""

from collections.abc import Iterator

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results import model_comparison
from panels.results.model_labels import BASE, policy_label, series_role
from panels.results.model_summary import (
    WrapperGain,
    gain_on_same_seeds,
    rows_by_policy,
    wrapper_gain,
)
from panels.results.questions import reproduce
from panels.results.questions.layout import Measured, fold, numbers, show_caption, show_verdict
from panels.results.questions.training import market_tasks
from panels.results.questions.verdict import (
    Signs,
    Verdict,
    buyer_name,
    by_sign,
    capital,
    in_words,
    no_row,
    short,
)
from panels.ui.look import note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from panels.ui.wiring import lay_out_address
from sauda.experiments.comparison import OURS
from sauda.llm.model import NULL
from sauda.records.store import Artifact

NAME, TITLE = "wrapper", "Does the wrapper do the work?"
FORM = "z.3f"  # of grades
STEERING, HONEST = "steering", "honest"
AROUND = {NULL: "no model", BASE: policy_label(BASE), OURS: "Sauda"}  # short, for a phone


def verdict(comparison: Artifact) -> Verdict:
    """Whether the published steering wins more around the served model than around no model."""
    gains = gains_by_task(comparison, OURS, STEERING)
    evidence = (*_evidence(comparison), *_bare(comparison))
    if not gains:
        missing = no_row(comparison, f"{OURS}+{STEERING}")
        return Verdict(f"Not measured yet around {buyer_name(OURS)}.", (*evidence, missing))
    signs = by_sign({task: gain.interval for task, gain in gains.items()})
    told = in_words(
        signs,
        "it wins more than without a model in {}",
        "it shows no difference from no model in {} (the interval holds 0)",
        "it wins less than without a model in {}",
    )
    task, gain = next(iter(gains.items()))
    sentence = (
        f"The published wrapper {_work_of(signs)}: in the {short(task)} it wins"
        f" {gain.alone:{FORM}} without any model and {gain.wrapped:{FORM}} around Sauda"
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
    wins = f"wins {bare.grade.mean:{FORM}} (n = {bare.n:,})"
    found = gain_on_same_seeds(comparison, task, OURS, f"{OURS}+{STEERING}")
    if found is None:
        return f"Sauda alone {wins}"
    _, _, _, gain = found
    if gain.low > 0:
        return f"Sauda needs none: alone it {wins}"
    if gain.high < 0:
        return f"Sauda needs one: alone it {wins}"
    return f"Sauda alone {wins}, no clear difference"


def gains_by_task(comparison: Artifact, stage: str, wrapper: str) -> dict[str, WrapperGain]:
    """What a wrapper wins more around `stage` than around no model, on each task it played."""
    gains = {
        task: wrapper_gain(comparison, task, stage, wrapper) for task in market_tasks(comparison)
    }
    return {task: gain for task, gain in gains.items() if gain is not None}


def _evidence(comparison: Artifact) -> Iterator[str]:
    """What the served stage and the base add to the wrappers around them, by task."""
    for stage, wrapper in ((OURS, STEERING), (BASE, STEERING), (OURS, HONEST)):
        told = [
            f"{short(task)} {with_interval(gain.interval, '+.3f')}, n = {gain.n:,}"
            for task, gain in gains_by_task(comparison, stage, wrapper).items()
        ]
        if told:
            inside = AROUND[stage] if stage == OURS else f"the {AROUND[stage]}"
            yield f"{capital(wrapper)}, gain from having {inside} inside: {'; '.join(told)}."


def _bare(comparison: Artifact) -> Iterator[str]:
    """The served stage without a wrapper beside the wrapper without a model, by task."""
    found = {
        task: gain_on_same_seeds(comparison, task, OURS, f"{NULL}+{STEERING}")
        for task in market_tasks(comparison)
    }
    told = [
        f"{short(task)} {with_interval(gain[3], '+z.3f')}, n = {gain[0]:,}"
        for task, gain in found.items()
        if gain is not None
    ]
    if told:
        yield f"Sauda alone, gain over steering without a model: {'; '.join(told)}."


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
    return whisker_rows(groups, "mean grade, 1 at best", FORM)


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


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    comparison, missing = load_or_say(model_comparison.FILE)
    if comparison is None:
        gr.HTML(missing)
        return
    show_verdict(NAME, verdict(comparison))
    figure = wrapper_figure(comparison)
    gr.Plot(figure, show_label=False, elem_id=f"results-{NAME}-figure")
    show_caption(
        "A wrapper checks or changes the moves of the model inside it; around no model it plays"
        " alone, and what it wins there is its own work. Steering is the published wrapper, honest"
        f" is ours, the model is {policy_label(OURS)}. Whiskers are 95 % bootstrap intervals. Rows"
        " have different n (see the numbers below), so a mean may differ from the verdict’s, which"
        " compares on the same seeds."
    )
    gr.HTML(provenance(comparison, "hold-out seeds"))
    rows = [
        Measured(task, label, row.n, row.grade)
        for task in market_tasks(comparison)
        for label, policy in wrapped_rows(comparison, task)
        for row in (rows_by_policy(comparison, task)[policy],)
    ]
    numbers(NAME, rows, FORM, "wrapper and model")
    address = lay_out_address("results", NAME, (reproduce.AGAIN,))
    reproduce.build(NAME, [comparison], address, "null+steering")
    with fold("Moves that the wrapper changed, and invalid replies"):
        gr.HTML(changed_table(comparison))
        gr.HTML(note("All rows of the comparison are under “Does training help?”."))
