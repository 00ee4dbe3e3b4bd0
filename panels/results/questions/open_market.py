"""Who wins the open market? Scripts, planners and the model, task by task."""

from collections.abc import Iterator, Sequence

import gradio as gr
from markupsafe import Markup

from panels.results import bazaar
from panels.results.evaluation_section import load_evaluations, section
from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_summary import tuned_sentence
from panels.results.questions import reproduce
from panels.results.questions.layout import fold, numbers, show_caption, show_verdict
from panels.results.questions.training import MARKET
from panels.results.questions.verdict import Verdict, buyer_name, no_row
from panels.results.questions.winners import (
    FORM,
    Entry,
    Field,
    counts_told,
    entry_of,
    heat_map,
    leads,
    measured,
    place_of,
    ranked,
    winners_sentence,
)
from panels.ui.provenance import load_or_say, provenance
from panels.ui.wiring import Address, lay_out_address
from sauda.experiments.comparison import LISTENER, ORACLE, OURS
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME, TITLE = "market", "Who wins the open market?"
HOLDOUT = "evaluation/market-holdout.json"
ORACLE_FILE = "oracle.json"
GAME = "bazaar/open"  # whose scripts are compared with a tuned one
WATCHED = (LISTENER, OURS)  # the verdict says where they did not play


def contest(evaluations: Sequence[Artifact]) -> Field:
    """All that played the open market's tasks without hidden information, best first."""
    return ranked(
        (task, entry)
        for evaluation in evaluations
        for task, entry in _entries(evaluation)
        if entry.policy != ORACLE
    )


def _entries(evaluation: Artifact) -> Iterator[tuple[str, Entry]]:
    for row in evaluation.data.rows:
        if row.task.startswith(MARKET):
            grades = evaluation.data.episodes[row.task][row.policy].grade
            yield row.task, entry_of(row, grades)


def known_seller(oracle: Artifact | None) -> dict[str, Interval]:
    """What a buyer that knows its seller would win, by task."""
    return {} if oracle is None else {row.task: row.informed for row in oracle.data.rows}


def verdict(field: Field, comparison: Artifact | None) -> Verdict:
    """Who wins each task, by how much, and which place Sauda takes."""
    place = place_of(field, OURS, buyer_name)
    if not place and comparison is not None:
        place = no_row(comparison)
    lines = [*leads(field, buyer_name), *filter(None, [place])]
    return Verdict(f"{winners_sentence(field, buyer_name, WATCHED)}.", tuple(lines))


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    address = lay_out_address("results", NAME, ("task", reproduce.AGAIN))
    loaded = {file: load_or_say(file) for file in (HOLDOUT, COMPARISON, ORACLE_FILE)}
    artifacts = {file: artifact for file, (artifact, _) in loaded.items() if artifact is not None}
    for _, missing in loaded.values():
        if missing:
            gr.HTML(missing)
    evaluations = [artifacts[file] for file in (HOLDOUT, COMPARISON) if file in artifacts]
    if evaluations:
        field = contest(evaluations)
        show_verdict(NAME, verdict(field, artifacts.get(COMPARISON)))
        _show_map(field, known_seller(artifacts.get(ORACLE_FILE)))
        if COMPARISON in artifacts:
            show_caption(tuned_sentence(artifacts[COMPARISON], GAME))
        gr.HTML(Markup("").join(map(provenance, artifacts.values())))
        numbers(NAME, measured(field, buyer_name), FORM, "policy")
        reproduce.build(NAME, evaluations, address, LISTENER)
    with fold("One task at a time, classic tasks too: bars, table, CSV") as part:
        _task_by_task(artifacts.get(ORACLE_FILE), address, part)


def _show_map(field: Field, bounds: dict[str, Interval]) -> None:
    caption = "Mean grade on hold-out seeds, 1 at best"
    shown = heat_map(field, buyer_name, caption, OURS, ("bound: knows its seller", bounds))
    gr.HTML(shown, elem_id=f"results-{NAME}-figure")
    show_caption(
        "A stronger colour means closer to the best grade of the task, which is framed. A dash"
        " means not played. The bound knows its seller and does not compete."
        f" {counts_told(field)}"
    )


def _task_by_task(oracle: Artifact | None, address: Address, part: gr.Accordion) -> None:
    game = bazaar.game(oracle)
    evaluations, missing = load_evaluations(game)
    for message in missing:
        gr.HTML(message)
    if evaluations:
        section(game, evaluations, address, part)
