"""Who wins the GPU arena? Scripted labs on every task, and the model as a lab."""

from collections.abc import Iterator, Sequence

import gradio as gr
from markupsafe import Markup

from panels.results import model_comparison
from panels.results.arena import design, differences, evaluations
from panels.results.evaluation import DRAWN
from panels.results.evaluation_section import load_evaluations, section
from panels.results.model_comparison import LAB_FILE
from panels.results.model_labels import policy_label
from panels.results.questions import reproduce
from panels.results.questions.layout import fold, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict, listed, no_row, short
from panels.results.questions.winners import (
    FORM,
    Entry,
    Field,
    counts_told,
    entry_of,
    heat_map,
    leads,
    measured,
    ranked,
    winners_sentence,
)
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.wiring import Address, lay_out_address
from sauda.experiments.comparison import LAB
from sauda.policies import ZERO_GRADE
from sauda.records.store import Artifact

NAME, TITLE = "arena", "Who wins the arena?"
HOLDOUT = "evaluation/arena-holdout.json"


def name(policy: str) -> str:
    """A lab in words."""
    return f"the {policy}" if policy == "broker" else policy_label(policy)


def contest(holdout: Artifact | None, comparison: Artifact | None) -> Field:
    """All that played the arena's tasks among the labs that each world draws, best first."""
    return ranked(
        [
            *(_scripted(holdout) if holdout is not None else ()),
            *(_models(comparison) if comparison is not None else ()),
        ]
    )


def _scripted(holdout: Artifact) -> Iterator[tuple[str, Entry]]:
    for row in holdout.data.rows:
        if row.others == DRAWN:
            grades = holdout.data.episodes[DRAWN][row.task][row.policy].grade
            yield row.task, entry_of(row, grades)


def _models(comparison: Artifact) -> Iterator[tuple[str, Entry]]:
    for row in comparison.data.rows:
        yield row.task, entry_of(row, comparison.data.episodes[row.task][row.policy].grade)


def verdict(field: Field, comparison: Artifact | None) -> Verdict:
    """Who wins each task, and whether the trained lab does better than one that trades nothing."""
    sentence, lines = winners_sentence(field, name), [*leads(field, name)]
    if comparison is not None:
        clause, grades = _trained(comparison)
        sentence, lines = f"{sentence}; {clause}", [*lines, *grades]
    return Verdict(f"{sentence}.", (*lines, ZERO_GRADE))


def _trained(comparison: Artifact) -> tuple[str, list[str]]:
    """Where the trained lab wins more than it would alone: a clause, and its grades by task."""
    rows = [row for row in comparison.data.rows if row.policy == LAB]
    if not rows:
        return "the trained lab has not been played", [no_row(comparison, LAB)]
    where = {
        "wins more than it would alone": [row for row in rows if row.grade.low > 0],
        "wins less than it would alone": [row for row in rows if row.grade.high < 0],
        "shows no difference from working alone": [
            row for row in rows if row.grade.low <= 0 <= row.grade.high
        ],
    }
    clauses = [
        f"{verb} in {listed([f'the {short(row.task)}' for row in some])}"
        for verb, some in where.items()
        if some
    ]
    return f"the trained model {listed(clauses)}", [
        f"{policy_label(LAB)} in the {short(row.task)}: {with_interval(row.grade, FORM)},"
        f" n = {row.n:,}."
        for row in rows
    ]


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    address = lay_out_address("results", NAME, ("task", reproduce.AGAIN))
    holdout, no_holdout = load_or_say(HOLDOUT)
    comparison, _ = load_or_say(LAB_FILE)  # the fold of the model says where it is missing
    if no_holdout:
        gr.HTML(no_holdout)
    if field := contest(holdout, comparison):
        show_verdict(NAME, verdict(field, comparison))
        ours = "" if comparison is None else LAB
        _show_map(field, ours)
        gr.HTML(Markup("").join(map(provenance, filter(None, (holdout, comparison)))))
        numbers(NAME, measured(field, name), FORM, "policy")
        reproduce.build(NAME, list(filter(None, (holdout, comparison))), address, "broker", ours)
    _details(address)


def _show_map(field: Field, ours: str) -> None:
    caption = "Mean grade on hold-out seeds; below 0 a lab would have done better alone"
    gr.HTML(heat_map(field, name, caption, ours), elem_id=f"results-{NAME}-figure")
    show_caption(
        "A stronger colour means farther from 0; losses have a minus sign and another colour. The"
        f" best grade of each task is framed. A dash means not played. {counts_told(field)}"
    )


def _details(address: Address) -> None:
    game = evaluations.game()
    played: Sequence[Artifact]
    played, missing = load_evaluations(game)
    with fold("One task at a time: utility, reward, CSV") as part:
        gr.HTML(evaluations.glance(played))
        for message in missing:
            gr.HTML(message)
        if played:
            section(game, list(played), address, part)
    with fold("The language model as a lab, stage by stage"):
        model_comparison.build(model_comparison.ARENA)
    with fold("The published arena: what it reports, and where ours differs"):
        differences.build()
    with fold("How the reward is made up"):
        if played:
            design.reward_design(played[0])
    with fold("The actions of a lab"):
        design.action_space()
