"""Who wins the GPU arena? Scripted labs on every task, and the model as a lab."""

from collections.abc import Iterator

import gradio as gr

from panels.results import evaluation_section, model_comparison
from panels.results.arena import design, differences, evaluations
from panels.results.evaluation import DRAWN
from panels.results.evaluation_section import load_evaluations
from panels.results.model_comparison import LAB_FILE
from panels.results.model_labels import policy_label
from panels.results.questions.layout import Answer, Artifacts, Question
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
from panels.ui.tables import with_interval
from panels.ui.wiring import Address
from sauda.experiments.comparison import LAB
from sauda.policies import ZERO_GRADE
from sauda.records.store import Artifact

NAME = "arena"
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


def arena_answer(artifacts: Artifacts) -> Answer | None:
    """The map of all labs, one task at a time, the model as a lab, the reward and the actions."""
    holdout, comparison = artifacts.get(HOLDOUT), artifacts.get(LAB_FILE)
    field = contest(holdout, comparison)
    if not field:
        return None
    ours = "" if comparison is None else LAB
    sources = list(filter(None, (holdout, comparison)))
    caption = "Mean grade on hold-out seeds; below 0 a lab would have done better alone"
    return Answer(
        verdict(field, comparison),
        heat_map(field, name, caption, ours),
        [
            "A stronger colour means farther from 0; losses have a minus sign and another colour."
            " The best grade of each task is framed. A dash means not played."
            f" {counts_told(field)}"
        ],
        measured(field, name),
        "policy",
        sources,
        FORM,
        replayed=(sources, "broker"),
        ours=ours,
        details={
            "One task at a time: other labs, utility, reward, CSV": _one_by_one,
            "The language model as a lab, stage by stage": lambda address, part: (
                model_comparison.build(model_comparison.ARENA)
            ),
            "The published arena: what it reports, and where ours differs": (
                lambda address, part: differences.build()
            ),
            "How the reward is made up": _reward,
            "The actions of a lab": lambda address, part: design.action_space(),
        },
    )


def _one_by_one(address: Address, part: gr.Accordion) -> None:
    game = evaluations.game()
    played, _ = load_evaluations(game)
    gr.HTML(evaluations.glance(played))
    evaluation_section.build(game, address, part)


def _reward(address: Address, part: gr.Accordion) -> None:
    played, _ = load_evaluations(evaluations.game())
    if played:
        design.reward_design(played[0])


ARENA = Question(NAME, "Who wins the arena?", (HOLDOUT, LAB_FILE), arena_answer)
