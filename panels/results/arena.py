"""Who wins the GPU arena? All labs on every task; its reward, its actions, the published arena."""

from functools import partial

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels.results import evaluation
from panels.results.everything_else import PUBLISHED, in_words, published_figure
from panels.results.models import FORM, LAB_FILE, policy_label
from panels.results.question import (
    HTML,
    Answer,
    Part,
    Question,
    Verdict,
    clauses,
    no_row,
    side,
)
from panels.results.training import stages
from panels.results.winners import (
    Field,
    contest,
    counts_told,
    entries_of,
    heat_map,
    leads,
    winners_sentence,
)
from panels.ui.look import table
from panels.ui.provenance import provenance
from panels.ui.tables import with_interval
from panels.ui.terms import listed, short, task_choices
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.comparison import LAB
from sauda.experiments.evaluate import ArenaRow
from sauda.policies import LAB_LABELS, ZERO_GRADE
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME = "arena"
HOLDOUT = "evaluation/arena-holdout.json"
RULES = "arena_rules.json"


def verdict(field: Field, comparison: Artifact) -> Verdict:
    """Who wins each task, and whether the trained lab does better than one that trades nothing."""
    sides = {row.task: side(row.grade) for row in comparison.data.rows if row.policy == LAB}
    if sides:
        told = clauses(
            sides,
            above="scores more than it would alone in {}",
            below="scores less than it would alone in {}",
            unclear="shows no difference from working alone in {}",
        )
        trained, missing = f"model {listed(told)}", []
    else:
        trained, missing = "lab has not been played", [no_row(comparison, LAB)]
    sentence = f"{winners_sentence(field)}; the trained {trained}."
    return Verdict(sentence, (*leads(field), *missing, ZERO_GRADE))


# The reward and the actions ----------------------------------------------------------------------


def component_figure(row: ArenaRow) -> go.Figure:
    """The mean of each reward component over a policy's episodes, with its interval."""
    rows = [
        WhiskerRow(short_name(component.name), row.components[component.name], "scripted")
        for component in arena.COMPONENTS
    ]
    return whisker_rows({policy_label(row.policy): rows}, "mean, share of the stake", FORM)


def short_name(name: str) -> str:
    """A component's name as words, without its suffix "_score" or "_penalty"."""
    return name.removesuffix("_score").removesuffix("_penalty").replace("_", " ")


def component_table(evaluation: Artifact, row: ArenaRow) -> Markup:
    """Formula and mean of every component, with one measured step where it was not 0."""
    examples = {example.component: example for example in evaluation.data.examples}
    rows = [
        (part.name, part.formula, with_interval(row.components[part.name], FORM),
         HTML.example(examples.get(part.name)))
        for part in arena.COMPONENTS
    ]  # fmt: skip
    rows.append((arena.TOTAL.name, arena.TOTAL.formula, with_interval(row.reward, FORM), ""))
    heads = ("component", "formula", f"mean, {policy_label(row.policy)}",
             "one measured action, with all until the next one")  # fmt: skip
    return table(heads, rows, align="llrl", caption=f"The reward in the {row.task}")


def reward_design(evaluation: Artifact) -> Part:
    """The components of the reward, by task and policy."""
    others, played = evaluation.config["others"][0], evaluation.config["episodes"]
    rows = {(row.task, row.policy): row for row in evaluation.data.rows if row.others == others}
    source = provenance(evaluation, f"n = {played:,} per policy and task")
    tasks, policies = list(evaluation.config["tasks"]), list(evaluation.config["policies"])

    def draw(task: str, policy: str) -> tuple[go.Figure, Markup]:
        row = rows[task, policy]
        largest = sorted(row.components.items(), key=lambda item: -abs(item[1].mean))[:2]
        most = " and ".join(f"{short_name(name)} {cell.mean:+.3f}" for name, cell in largest)
        count, label = len(arena.COMPONENTS), policy_label(policy)
        told = HTML.reward(count, arena.PLAN_WEIGHT, row, label, most)
        return component_figure(row), told + component_table(evaluation, row) + source

    labels = [(f"{name}: {LAB_LABELS.get(name, '')}", name) for name in policies]
    pickers = [
        partial(
            gr.Radio, task_choices(tasks), value=tasks[-1], label="Reward on", min_width=300
        ),
        partial(
            gr.Dropdown, labels, value=policies[0], label="Reward of", filterable=False,
            min_width=300,
        ),
    ]  # fmt: skip
    return Part("arena-reward", draw, pickers)


# The published arena ------------------------------------------------------------------------------

TASK = "coalition_market"  # on which the table compares, as both games have all rules there


def rule_worth(published: Artifact, rules: Artifact, name: str) -> tuple[str, str]:
    """What a rule that both games have is worth: of reward and jobs there, of a grade here."""
    row = _published_row(published, "arena-reference-rules", "rule", name)
    reward, jobs = (
        with_interval(
            Interval(mean=row[what], low=row[f"{what}_low"], high=row[f"{what}_high"]), form
        )
        for what, form in (("reward", "z.3f"), ("job_value", "z.1f"))
    )
    worth = {row.rule: row.worth for row in rules.data.ablations if row.task == f"arena/{TASK}"}
    here = f"{with_interval(worth[name], FORM)} of the broker’s grade"
    return f"{reward} of reward, {jobs} credits of jobs", here


def player_worth(published: Artifact, rules: Artifact, policy: str, own: str) -> tuple[str, str]:
    """What a published policy, if any, earns there beside the expert; our player's grade here."""
    there = "not measured"
    if policy:
        row, expert = (
            _published_row(published, "arena-reference-job-value", "policy", name)
            for name in (policy, "rule_based_expert")
        )
        there = (
            f"{policy}: reward {row['reward']:.3f}, {row['completed_job_value']:.1f} credits"
            f" of jobs; the expert’s jobs: {expert['completed_job_value']:.1f}"
        )
    task = f"arena/{TASK}"
    row = next(r for r in rules.data.yardsticks if (r.task, r.player) == (task, own))
    return there, f"{in_words(row.player)}: grade {with_interval(row.grade, FORM)}"


def _published_row(published: Artifact, figure_id: str, column: str, value: str) -> dict:
    """The row of TASK in a published figure whose `column` holds `value`."""
    figure = next(figure for figure in published.data.figures if figure.id == figure_id)
    rows = [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
    return next(row for row in rows if (row[column], row["task"]) == (value, TASK))


def published_rewards(published: Artifact) -> go.Figure:
    """The published scripts and language models, with a standard deviation to either side."""
    figure = next(f for f in published.data.figures if f.id == "arena-trained-llm")
    rows = [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
    groups = {}
    for task in ("single_trade", "market_round", TASK):
        groups[short(f"arena/{task}")] = [
            WhiskerRow(
                f"{in_words(row['policy'])}, n {row['episodes_a_task']}",
                Interval(mean=mean, low=mean - deviation, high=mean + deviation),
                "sft" if row["policy"].endswith("_llm_sft") else "scripted",
            )
            for row in rows
            for mean, deviation in ((row[task], row[f"{task}_std"]),)
        ]
    return whisker_rows(groups, "cumulative reward, one standard deviation to a side", FORM)


def published_arena(published: Artifact, rules: Artifact) -> tuple[go.Figure, Markup]:
    """The published figures, and the differences of both arenas."""
    figures = ("arena-trained-llm", "arena-grpo-headlines", "arena-reference-rules")
    worth = partial(rule_worth, published, rules), partial(player_worth, published, rules)
    told = [published_figure(published, figure) for figure in figures]
    told += [
        provenance(published, "published figures, each with its n and caveat"),
        HTML.differences(f"arena/{TASK}", *worth),
        provenance(rules, f"n = {rules.config['worlds']:,} worlds on either side"),
    ]
    return published_rewards(published), Markup("").join(told)


# The question -------------------------------------------------------------------------------------


def arena_answer(
    holdout: Artifact, comparison: Artifact, published: Artifact, rules: Artifact
) -> Answer:
    """The map of all labs, one task at a time, the model as a lab, the reward and the actions."""
    sources = (holdout, comparison)
    field = contest(sources)
    caption = "Mean grade on hold-out seeds; below 0 a lab did better alone"
    differs = "The published arena: what it reports, and where ours differs"
    return Answer(
        verdict(field, comparison),
        heat_map(field, caption, {}),
        HTML.arena_caption(counts_told(field)),
        entries_of(field),
        sources=sources,
        replayed=(sources, "broker"),
        details={"The actions of a lab": HTML.action_space(arena.KINDS)},
        parts={
            "One task at a time: grade, utility, reward": evaluation.part(evaluation.ARENA),
            "The language model as a lab, stage by stage": stages(comparison),
            differs: Part("arena-published", partial(published_arena, published, rules)),
            "How the reward is made up": reward_design(holdout),
        },
    )


ARENA = Question(NAME, "Who wins the arena?", (HOLDOUT, LAB_FILE, PUBLISHED, RULES), arena_answer)
