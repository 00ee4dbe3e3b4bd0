"""Who wins the open market? Scripts, the pilot, the belief buyer and the model, task by task."""

from collections.abc import Iterator, Sequence

import gradio as gr

from panels.results import bazaar
from panels.results.evaluation_section import load_evaluations, section
from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_labels import policy_label
from panels.results.questions.layout import fold, numbers, show_caption, show_verdict
from panels.results.questions.training import MARKET
from panels.results.questions.verdict import Verdict, no_row
from panels.results.questions.winners import (
    FORM,
    Entry,
    Field,
    entry_of,
    heat_map,
    leads,
    measured,
    place_of,
    ranked,
    winners_sentence,
)
from panels.ui.provenance import load_or_say, provenance
from sauda.evaluation.comparison_config import BELIEF, ORACLE, OURS, PILOT
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME, TITLE = "market", "Who wins the open market?"
HOLDOUT = "evaluation/market-holdout.json"
KNOWING = {ORACLE}  # these know the seller's limit, so they are no contestants


def name(policy: str) -> str:
    """A contestant in words, the model that the page serves with its name."""
    if policy == OURS:
        return f"Sauda ({policy_label(policy)})"
    return f"the {policy_label(policy)}" if policy in (PILOT, BELIEF) else policy_label(policy)


def contest(evaluations: Sequence[Artifact]) -> Field:
    """All that played the open market's tasks without hidden information, best first."""
    return ranked(
        (task, entry)
        for evaluation in evaluations
        for task, entry in _entries(evaluation)
        if entry.policy not in KNOWING
    )


def _entries(evaluation: Artifact) -> Iterator[tuple[str, Entry]]:
    for row in evaluation.data.rows:
        if row.task.startswith(MARKET):
            grades = evaluation.data.episodes[row.task][row.policy].grade
            yield row.task, entry_of(row, grades)


def known_seller(evaluations: Sequence[Artifact]) -> dict[str, Interval]:
    """What a buyer that knows its seller wins, by task, where it played."""
    return {
        row.task: row.grade
        for evaluation in evaluations
        for row in evaluation.data.rows
        if row.policy in KNOWING and row.task.startswith(MARKET)
    }


def verdict(field: Field, comparison: Artifact | None) -> Verdict:
    """Who wins each task, by how much, and which place Sauda takes."""
    place = place_of(field, OURS, name)
    if not place and comparison is not None:
        place = no_row(comparison)
    lines = [*leads(field, name), *filter(None, [place])]
    return Verdict(f"{winners_sentence(field, name)}.", tuple(lines))


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    loaded = {file: load_or_say(file) for file in (HOLDOUT, COMPARISON)}
    evaluations = [artifact for artifact, _ in loaded.values() if artifact is not None]
    for _, missing in loaded.values():
        if missing:
            gr.HTML(missing)
    if evaluations:
        field = contest(evaluations)
        show_verdict(NAME, verdict(field, loaded[COMPARISON][0]))
        _show_map(field, evaluations)
        for evaluation in evaluations:
            gr.HTML(provenance(evaluation))
        numbers(NAME, measured(field, name), FORM, "policy")
    with fold("One task at a time, classic tasks too: bars, table, CSV"):
        _task_by_task()


def _show_map(field: Field, evaluations: Sequence[Artifact]) -> None:
    ceiling = ("bound: knows its seller", known_seller(evaluations))
    caption = "Mean grade on hold-out seeds, 1 at best"
    shown = heat_map(field, name, caption, OURS, ceiling)
    gr.HTML(shown, elem_id=f"results-{NAME}-figure")
    counts = [entry.n for entries in field.values() for entry in entries]
    show_caption(
        "The darker a cell, the nearer the best of its task, which has a frame. A dash: not"
        f" played. n = {min(counts):,} to {max(counts):,} hold-out seeds; intervals are in the"
        " table below. The bound knows the seller’s limit and is no contestant."
    )


def _task_by_task() -> None:
    oracle, _ = load_or_say("oracle.json")
    game = bazaar.game(oracle)
    evaluations, missing = load_evaluations(game)
    for message in missing:
        gr.HTML(message)
    if evaluations:
        section(game, evaluations)
