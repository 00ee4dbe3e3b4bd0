"""Where our arena differs from the published one, what it is worth, and what that one reports."""

from typing import NamedTuple

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.questions.everything_else import in_words, published_figure
from panels.ui.look import heading, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

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


def differences_table(published: Artifact, rules: Artifact) -> Markup:
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


def build() -> None:
    """Lay out the differences and the published figures. Called inside a question of Results."""
    published, no_published = load_or_say("published.json")
    rules, no_rules = load_or_say("arena_rules.json")
    for missing in filter(None, (no_published, no_rules)):
        gr.HTML(missing)
    if published is None:
        return
    if rules is not None:
        told = (
            f"On the {short(f'arena/{TASK}')}: there to the published expert, here to the broker;"
            " 95 % intervals of the difference with the rule less without, paired by world. A shock"
            " is no help, so its worth is below 0 here."
        )
        gr.HTML(heading("Where our arena differs from the published one", told))
        gr.HTML(differences_table(published, rules))
        gr.HTML(provenance(rules, f"n = {rules.config['worlds']:,} worlds on either side"))
    gr.HTML(heading("What the published arena reports"))
    gr.Plot(published_rewards(published), show_label=False)
    for figure in ("arena-trained-llm", "arena-grpo-headlines", "arena-reference-rules"):
        gr.HTML(published_figure(published, figure))
    gr.HTML(provenance(published, "published figures, each with its n and caveat"))
