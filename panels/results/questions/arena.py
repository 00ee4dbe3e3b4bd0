"""Who wins the GPU arena? All labs on every task; its reward, its actions, the published arena."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels.results import evaluation, model_comparison
from panels.results.evaluation import DRAWN
from panels.results.model_comparison import LAB_FILE
from panels.results.model_labels import policy_label
from panels.results.questions.everything_else import in_words, published_figure
from panels.results.questions.layout import Answer, Artifacts, LaysOut, Question
from panels.results.questions.verdict import Verdict, listed, no_row, short, tasks_listed
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
from panels.ui.look import QUIET, heading, table
from panels.ui.provenance import provenance
from panels.ui.tables import with_interval
from panels.ui.terms import shown_round, task_choices
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from panels.ui.wiring import Address, Updates, fill_on_opening
from sauda.experiments.comparison import LAB, ArenaModelRow
from sauda.experiments.evaluate import ArenaExample, ArenaRow
from sauda.policies import LAB_LABELS, ZERO_GRADE
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME = "arena"
HOLDOUT = "evaluation/arena-holdout.json"
PUBLISHED, RULES = "published.json", "arena_rules.json"


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
        rows = [row for row in comparison.data.rows if row.policy == LAB]
        lines += [] if rows else [no_row(comparison, LAB)]
        sentence = f"{sentence}; {_trained(rows)}"
    return Verdict(f"{sentence}.", (*lines, ZERO_GRADE))


def _trained(rows: Sequence[ArenaModelRow]) -> str:
    """Where the trained lab scores more than it would alone, as a clause."""
    if not rows:
        return "the trained lab has not been played"
    where = {
        "scores more than it would alone": [row for row in rows if row.grade.low > 0],
        "scores less than it would alone": [row for row in rows if row.grade.high < 0],
        "shows no difference from working alone": [
            row for row in rows if row.grade.low <= 0 <= row.grade.high
        ],
    }
    clauses = [
        f"{verb} in {tasks_listed([row.task for row in some])}"
        for verb, some in where.items()
        if some
    ]
    return f"the trained model {listed(clauses)}"


# The reward and the actions ----------------------------------------------------------------------


def component_figure(evaluation: Artifact, task: str, policy: str) -> go.Figure:
    """The mean of each reward component over a policy's episodes, with its interval."""
    components = _drawn_row(evaluation, task, policy).components
    rows = [
        WhiskerRow(short_name(component.name), components[component.name], "scripted")
        for component in arena.COMPONENTS
    ]
    return whisker_rows({policy_label(policy): rows}, "mean, share of the stake", FORM)


def short_name(name: str) -> str:
    """A component's name as words, without its suffix "_score" or "_penalty"."""
    return name.removesuffix("_score").removesuffix("_penalty").replace("_", " ")


def component_sentence(evaluation: Artifact, task: str, policy: str) -> str:
    """The mean reward of a policy and its two largest components, as text."""
    row = _drawn_row(evaluation, task, policy)
    ranked = sorted(row.components.items(), key=lambda item: -abs(item[1].mean))
    most = " and ".join(f"{short_name(name)} {cell.mean:+.3f}" for name, cell in ranked[:2])
    return (
        f"In the {short(task)} the {policy_label(policy)} gathers"
        f" {with_interval(row.reward, FORM)}, most of it {most}; n = {row.n:,} episodes,"
        " whiskers are 95 % bootstrap intervals of the mean."
    )


def component_table(evaluation: Artifact, task: str, policy: str) -> Markup:
    """Formula and mean of every component, with one measured step where it was not 0."""
    row = _drawn_row(evaluation, task, policy)
    examples = {example.component: example for example in evaluation.data.examples}
    rows = [
        (
            c.name,
            c.formula,
            with_interval(row.components[c.name], FORM),
            example_text(examples.get(c.name)),
        )
        for c in arena.COMPONENTS
    ]
    total = (arena.TOTAL.name, arena.TOTAL.formula, with_interval(row.reward, FORM), "")
    return table(
        (
            "component",
            "formula",
            f"mean, {policy_label(policy)}",
            "one measured action, with all until the next one",
        ),
        [*rows, total],
        align="llrl",
        caption=f"The reward in the {task}",
    )


def example_text(example: ArenaExample | None) -> Markup:
    """A measured step with its reward, result code and seed; None where the component is 0."""
    if example is None:
        return Markup("always 0 in these tasks: none has a judge")
    return Markup("{}: {} → <code>{}</code> ({}, {}, seed {}, round {})").format(
        f"{example.amount:+.3f}",
        example.words,
        example.code,
        example.task,
        example.policy,
        example.seed,
        shown_round(example.round),
    )


def _drawn_row(evaluation: Artifact, task: str, policy: str) -> ArenaRow:
    others = evaluation.config["others"][0]
    cell = (others, task, policy)
    rows = evaluation.data.rows
    return next(r for r in rows if (r.others, r.task, r.policy) == cell)


def action_cards() -> Markup:
    """One card per type of action: its purpose, its fields, its result codes."""
    cards = [action_card(name, kind) for name, kind in arena.KINDS.items()]
    return Markup('<div class="sauda-cards sauda-actions-list">{}</div>').format(
        Markup("").join(cards)
    )


def action_card(name: str, kind: arena.Kind) -> Markup:
    """The card of one type of action; its failure codes are folded away."""
    fields = [Markup("<code>{}</code>").format(field) for field in kind.required]
    fields += [Markup('<code class="sauda-open">{}?</code>').format(f) for f in kind.optional]
    failures = Markup("")
    if kind.failures:
        failures = Markup("<details><summary>{} way{} to fail</summary>{}</details>").format(
            len(kind.failures), "s" * (len(kind.failures) > 1), _marked(kind.failures, "bad")
        )
    return Markup(
        '<section class="sauda-card"><h3><code>{}</code></h3><p>{}</p>'
        "<p>{}</p><p>{}</p>{}</section>"
    ).format(
        name,
        kind.purpose,
        Markup(" ").join(fields) or "No fields.",
        _marked(kind.success, "good"),
        failures,
    )


def _marked(codes: Sequence[str], tone: str) -> Markup:
    mark = {"good": "✓", "bad": "✕"}[tone]
    each = Markup('<span class="sauda-{}">{}\u00a0<code>{}</code></span>')
    return Markup(" ").join(each.format(tone, mark, code) for code in codes)


def action_space() -> Markup:
    """The cards of the actions below what an action is."""
    told = (
        "An action is one flat record; fields with a question mark are optional. An action that"
        " the rules refuse is answered with a code and changes nothing, but is used up."
    )
    return heading("Action space", told) + action_cards()


def reward_design(evaluation: Artifact, _: Address, part: gr.Accordion) -> None:
    """Lay out the components of the reward. Called inside a question of Results."""
    told = heading(
        "Reward design",
        f"{len(arena.COMPONENTS)} named components add up to the reward of a step. They follow"
        f" the true utility: {arena.PLAN_WEIGHT:.0%} of what a lab’s best plan promises"
        " counts at once, the rest when it is earned. Over an episode they add up to the"
        f" utility less {arena.PLAN_WEIGHT:.0%} of the BATNA, as a share of the stake, less"
        " the penalties.",
    )
    source = provenance(evaluation, f"n = {evaluation.config['episodes']:,} per policy and task")
    tasks, policies = list(evaluation.config["tasks"]), list(evaluation.config["policies"])
    with gr.Row():
        task = gr.Radio(task_choices(tasks), value=tasks[-1], label="Reward on", min_width=300)
        policy = gr.Dropdown(
            [(f"{name}: {LAB_LABELS.get(name, '')}", name) for name in policies],
            value=policies[0],
            label="Reward of",
            filterable=False,
            min_width=300,
        )

    outputs = [
        gr.HTML(), gr.Plot(show_label=False, elem_id="results-arena-reward"), gr.HTML()
    ]  # fmt: skip

    @cache
    def show(task: str, policy: str) -> Updates:
        sentence = component_sentence(evaluation, task, policy)
        values = (
            told + Markup("<p>{}</p>").format(sentence),
            component_figure(evaluation, task, policy),
            component_table(evaluation, task, policy) + source,
        )
        return dict(zip(outputs, values, strict=True))

    gr.on([task.change, policy.change], show, [task, policy], outputs, **QUIET)
    fill_on_opening(part, lambda _: show(tasks[-1], policies[0]), outputs)


# The published arena ------------------------------------------------------------------------------

TASK = "coalition_market"  # on which the table compares, as both games have all rules there


class Difference(NamedTuple):
    """One rule of the published arena, ours, and why; with what was measured of it."""

    published: str
    ours: str
    why: str
    rule: str = ""  # of the ablations, measured in both games
    jobs: str = ""  # a published policy whose reward and jobs show it
    player: str = ""  # of our yardsticks


DIFFERENCES = (
    Difference(
        "A partner counts what it gives away as a gain: asked for all its blocks, it agrees.",
        "A partner takes what its own best plan gains by, above what it holds out for.",
        "Looting must not pay, and a fair offer must have a chance.",
        jobs="loot exploit",
        player="broker",
    ),
    Difference(
        "Each step is paid, a coalition too, and nothing for what the jobs earn in the end.",
        "The rewards add up to the utility, whatever a lab does in between.",
        "The reward was highest for a lab that does no job at all.",
        jobs="coalition spam",
        player="rule_based_expert",
    ),
    Difference(
        "Labs own what their own jobs need, and the rounds of a block are never used.",
        "Two kinds of lab own what the other kind needs, on a calendar of rounds.",
        "There must be something to trade.",
        player="all_seeing",
    ),
    Difference(
        "Nothing reads a message.",
        "What a lab hears moves what it holds out for; a made-up rival bid is found out.",
        "It is a game of words.",
        "words",
    ),
    Difference(
        "A coalition stands at once, without consent, and pools nothing.",
        "It needs consent, each may use the other’s pooled blocks for a share of the gain, and one"
        " job of each lab needs a partner.",
        "A partner must be of use.",
        "coalitions",
    ),
    Difference(
        "Reputation opens one branch, of an archetype that no world draws.",
        "It moves what every lab holds out for.",
        "To keep one’s word must pay.",
        "reputation",
    ),
    Difference(
        "A poor name costs nothing.",
        "A lab that starts with a poor name pays more for everything.",
        "The same.",
        "standing",
    ),
    Difference(
        "Shocks come unannounced, from the one stream of chance that each action shifts.",
        "They are drawn at the start and announced a round ahead.",
        "Two policies must meet the same world, and a plan can hedge.",
        "shocks",
    ),
)


def rules_table(published: Artifact, rules: Artifact) -> Markup:
    """Each difference, what it is worth in the published arena, and in ours."""
    heads = ("published arena", "ours", "why", "worth there", "worth here")
    rows = [(*d[:3], worth_there(published, d), worth_here(rules, d)) for d in DIFFERENCES]
    return table(heads, rows, align="lllll")


def worth_there(published: Artifact, difference: Difference) -> str:
    """What the rule, or a policy that shows it, wins in the published arena."""
    figures = {figure.id: figure for figure in published.data.figures}
    if not (difference.rule or difference.jobs):
        return "not measured"
    figure = figures["arena-reference-rules" if difference.rule else "arena-reference-job-value"]
    rows = [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
    if difference.rule:
        row = next(r for r in rows if (r["rule"], r["task"]) == (difference.rule, TASK))
        reward, jobs = (
            with_interval(
                Interval(mean=row[name], low=row[f"{name}_low"], high=row[f"{name}_high"]), form
            )
            for name, form in (("reward", "z.3f"), ("job_value", "z.1f"))
        )
        return f"{reward} of reward, {jobs} credits of jobs"
    row, expert = (
        next(r for r in rows if (r["policy"], r["task"]) == (policy, TASK))
        for policy in (difference.jobs, "rule_based_expert")
    )
    return (
        f"{difference.jobs}: reward {row['reward']:.3f}, {row['completed_job_value']:.1f} credits"
        f" of jobs; the expert’s jobs: {expert['completed_job_value']:.1f}"
    )


def worth_here(rules: Artifact, difference: Difference) -> str:
    """What the rule is worth to the broker, or a player’s grade, in ours."""
    task = f"arena/{TASK}"
    if difference.rule:
        worth = {row.rule: row.worth for row in rules.data.ablations if row.task == task}
        return f"{with_interval(worth[difference.rule], 'z.3f')} of the broker’s grade"
    row = next(r for r in rules.data.yardsticks if (r.task, r.player) == (task, difference.player))
    return f"{in_words(row.player)}: grade {with_interval(row.grade, 'z.3f')}"


def published_rewards(published: Artifact) -> go.Figure:
    """The published scripts and language models, with a standard deviation to either side."""
    figure = next(f for f in published.data.figures if f.id == "arena-trained-llm")
    rows = [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
    groups = {}
    for task in ("single_trade", "market_round", TASK):
        groups[short(f"arena/{task}")] = [
            WhiskerRow(
                f"{in_words(row['policy'])}, n {row['episodes_a_task']}",
                Interval(
                    mean=row[task],
                    low=row[task] - row[f"{task}_std"],
                    high=row[task] + row[f"{task}_std"],
                ),
                "sft" if row["policy"].endswith("_llm_sft") else "scripted",
            )
            for row in rows
        ]
    return whisker_rows(groups, "cumulative reward, one standard deviation to a side", "z.3f")


def published_arena(published: Artifact, rules: Artifact, _: Address, part: gr.Accordion) -> None:
    """Lay out the differences and the published figures. Called inside a question of Results."""
    told = (
        f"On the {short(f'arena/{TASK}')}: there to the published expert, here to the broker;"
        " 95 % intervals of the difference with the rule less without, paired by world. A shock"
        " is no help, so its worth is below 0 here."
    )
    figures = ("arena-trained-llm", "arena-grpo-headlines", "arena-reference-rules")
    values = {
        gr.HTML(): heading("Where our arena differs from the published one", told)
        + rules_table(published, rules)
        + provenance(rules, f"n = {rules.config['worlds']:,} worlds on either side")
        + heading("What the published arena reports"),
        gr.Plot(show_label=False): published_rewards(published),
        gr.HTML(): Markup("").join(published_figure(published, figure) for figure in figures)
        + provenance(published, "published figures, each with its n and caveat"),
    }
    fill_on_opening(part, lambda _: values, list(values))


# The question -------------------------------------------------------------------------------------


def arena_answer(artifacts: Artifacts) -> Answer | None:
    """The map of all labs, one task at a time, the model as a lab, the reward and the actions."""
    holdout, comparison = artifacts.get(HOLDOUT), artifacts.get(LAB_FILE)
    field = contest(holdout, comparison)
    if not field:
        return None
    ours = "" if comparison is None else LAB
    sources = list(filter(None, (holdout, comparison)))
    parts: dict[str, LaysOut] = {
        "One task at a time: grade, utility, reward": partial(evaluation.build, evaluation.ARENA),
        "The language model as a lab, stage by stage": partial(
            model_comparison.build, model_comparison.ARENA
        ),
    }
    if PUBLISHED in artifacts and RULES in artifacts:
        parts["The published arena: what it reports, and where ours differs"] = partial(
            published_arena, artifacts[PUBLISHED], artifacts[RULES]
        )
    if holdout is not None:
        parts["How the reward is made up"] = partial(reward_design, holdout)
    return Answer(
        verdict(field, comparison),
        heat_map(field, name, "Mean grade on hold-out seeds; below 0 a lab did better alone", ours),
        [
            "Darker: further from 0; losses have a minus sign and another colour. The best grade of"
            f" each task is framed. – means not played. {counts_told(field)}"
        ],
        measured(field, name),
        sources=sources,
        replayed=(sources, "broker"),
        ours=ours,
        details={"The actions of a lab": action_space()},
        parts=parts,
    )


ARENA = Question(NAME, "Who wins the arena?", (HOLDOUT, LAB_FILE, PUBLISHED, RULES), arena_answer)
