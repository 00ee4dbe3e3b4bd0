"""Who wins the open market, who the arena: contestants by their hold-out grades, and the lead.

The lead is paired by seed. Of the arena also its reward, its actions, and the published arena.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels import frames
from panels.measured import FILE as COMPARISON
from panels.measured import (
    FORM,
    LAB_FILE,
    MARKET,
    TRAINED,
    Lead,
    bounds,
    gain_on_same_seeds,
    lead_of,
    series_role,
)
from panels.results import evaluation
from panels.results.evaluation import DRAWN
from panels.results.everything_else import PUBLISHED, published_figure
from panels.results.question import (
    HTML,
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
from panels.results.training import stages
from panels.ui.html import SAY
from panels.ui.look import table
from panels.ui.provenance import provenance
from panels.ui.tables import WhiskerRow, whisker_rows, with_interval
from panels.ui.terms import capital, in_words, list_names, list_tasks, task_choices
from sauda.players import (
    AUTARKY,
    BASE,
    BROKER,
    CONSTRAINED,
    LAB,
    LEAVE,
    LISTENER,
    ORACLE,
    PLANNERS,
    SERVED,
    TUNED,
    buyer_name,
    is_model,
    policy_label,
)
from sauda.policies import LAB_LABELS, ZERO_GRADE
from sauda.records.schemas.base import Hashes, Interval
from sauda.records.schemas.evaluation import ArenaRow, BazaarRow
from sauda.records.schemas.speeds import published_rows
from sauda.records.store import Artifact

CLASSIC = "classic/"  # how the tasks of the published games begin
ARENA_HOLDOUT = "evaluation/arena-holdout.json"
RULES = "arena_rules.json"
HOLDOUT = "evaluation/market-holdout.json"
COMPARED_ON = "bazaar/people"  # on which Sauda is set beside the tuned script
PUBLISHED_EXPERT = "rule_based_expert"


# Contestants -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry(Measured):
    """One policy on one task, as a row of figures and tables, too."""

    policy: str
    grades: Sequence[float] = ()  # one a seed, from the first hold-out seed
    rules: tuple[str, str] = ("", "")  # hashes of the task and of the opponents


Field = Mapping[str, Sequence[Entry]]  # the entries of each task, the best mean grade first


def contest(evaluations: Iterable[Artifact | None]) -> Field:
    """All that played the open market or the arena without hidden information, best first.

    The arena's other labs are those that each world draws.
    """
    entries = []
    for artifact in filter(None, evaluations):
        episodes = artifact.data.episodes.get(DRAWN, artifact.data.episodes)
        for row in artifact.data.rows:
            is_drawn = getattr(row, "others", DRAWN) == DRAWN
            if is_drawn and row.policy != ORACLE and not row.task.startswith(CLASSIC):
                grades = episodes[row.task][row.policy].grade
                entries.append(entry_of(row.task, row.policy, row.grade, grades, row.hashes))
    return rank(entries)


def entry_of(
    task: str, policy: str, grade: Interval, grades: Sequence[float], hashes: Hashes
) -> Entry:
    """The entry of a policy that has played a task."""
    label, role = buyer_name(policy), series_role(policy)
    rules = hashes.task, hashes.opponents
    return Entry(label, grade, role, task, len(grades), policy, grades, rules)


def rank(entries: Iterable[Entry]) -> Field:
    """The entries by task; of a policy's on a task the first counts."""
    by_task: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_task.setdefault(entry.task, {}).setdefault(entry.policy, entry)
    return {
        task: sorted(by_task[task].values(), key=lambda entry: -entry.interval.mean)
        for task in by_task
    }


def lead(first: Entry, second: Entry) -> Lead | None:
    """What the first wins more than the second, paired by seed; None for different games."""
    return lead_of(first.grades, second.grades) if first.rules == second.rules else None


# Sentences ---------------------------------------------------------------------------------------


def winners_sentence(field: Field) -> str:
    """Who wins which tasks; where the lead's interval does not lie above 0, between whom it is."""
    tasks_of: dict[tuple[str, ...], list[str]] = {}
    for task, entries in field.items():
        ahead = lead(*entries[:2]) if len(entries) > 1 else None
        is_sure = len(entries) == 1 or (ahead is not None and side(ahead.gain) == "above")
        best = tuple(entry.label for entry in entries[: 1 if is_sure else 2])
        tasks_of.setdefault(best, []).append(task)
    phrases = []
    for winners, tasks in sorted(tasks_of.items(), key=lambda item: len(item[0])):
        names, where = list_names(winners), list_tasks(tasks)
        is_clear = len(winners) == 1
        phrases.append(
            f"{names} wins {where}" if is_clear else f"no clear winner between {names} in {where}"
        )
    return capital("; ".join(phrases))


def leads(field: Field) -> Iterator[str]:
    """For every task its best policy with its grade and its lead over the next, with n.

    In the open market it says where the planner or Sauda did not play.
    """
    for task, entries in field.items():
        second = entries[1] if len(entries) > 1 else None
        played = {entry.policy for entry in entries}
        watched = (LISTENER, SERVED) if task.startswith(MARKET) else ()
        absent = [buyer_name(each) for each in watched if each not in played]
        yield SAY.leads(task, entries[0], second, second and lead(entries[0], second), absent)


def sauda_places(field: Field) -> str:
    """Sauda's place and grade on each task that it played; "" where it played none."""
    places = [
        (place, len(entries), entry)
        for task, entries in field.items()
        for place, entry in enumerate(entries, 1)
        if entry.policy == SERVED
    ]
    return SAY.places("Sauda", places) if places else ""


# The figure --------------------------------------------------------------------------------------


def entries_of(field: Field) -> list[Entry]:
    """Every entry, task by task."""
    return [entry for entries in field.values() for entry in entries]


def tell_counts(field: Field) -> str:
    """On how many seeds the rows were played, and why two means of one policy may differ."""
    counts = [entry.n for entry in entries_of(field)]
    return SAY.counts(min(counts), max(counts))


def kind_of(policy: str) -> str:
    """What a policy is, for the figure: each kind is drawn by its best; "" for what is left out."""
    if policy in (*TRAINED, TUNED, BASE, PUBLISHED_EXPERT):
        return policy
    if policy in (LEAVE, AUTARKY):
        return LEAVE
    if policy in (*PLANNERS, BROKER):
        return "planner"
    if not is_model(policy):
        return "script"
    has_adapter = policy.startswith(f"{BASE}+") and policy.count("+") == 1
    return "stage" if has_adapter and CONSTRAINED not in policy else ""


def shown_rows(field: Field, known: Mapping[str, BazaarRow] = MappingProxyType({})) -> Field:
    """The best of each kind of player by task, below the bound where one is `known`."""
    shown: dict[str, list[Measured]] = {}
    for task, entries in field.items():
        best: dict[str, Entry] = {}
        for entry in entries:
            best.setdefault(kind_of(entry.policy), entry)
        rows = [entry for entry in entries if entry in best.values() and kind_of(entry.policy)]
        bound = known.get(task)
        above = [Measured(frames.BOUND, bound.grade, "oracle", task, bound.n)] if bound else []
        shown[task] = [*above, *rows]
    return shown


# The open market ---------------------------------------------------------------------------------


def market_verdict(field: Field, comparison: Artifact) -> Verdict:
    """Who wins each task, by how much, and which place Sauda takes."""
    place = sauda_places(field) or no_row(comparison)
    return Verdict(f"{winners_sentence(field)}.", (*leads(field), place))


def tuned_sentence(comparison: Artifact, task: str) -> str:
    """What the tuned script scores beside Sauda; "" where it did not play."""
    lead = gain_on_same_seeds(comparison, task, SERVED, TUNED)
    if lead is None:
        return ""
    return SAY.tuned(lead, side(lead.gain))


def market_answer(holdout: Artifact, comparison: Artifact) -> Answer:
    """The players side by side, and one task at a time."""
    field = contest((holdout, comparison))
    tasks = evaluation.part(evaluation.bazaar_game(comparison))
    return Answer(
        market_verdict(field, comparison),
        grades_figure(entries_of(shown_rows(field, bounds(comparison)))),
        HTML.market_caption(tell_counts(field), tuned_sentence(comparison, COMPARED_ON)),
        entries_of(field),
        sources=(holdout, comparison),
        replayed=((holdout, comparison), LISTENER),
        parts={"One task at a time, classic tasks too": tasks},
    )


MARKET_QUESTION = Question(
    "market", "Who wins the open market?", (HOLDOUT, COMPARISON), market_answer
)


# The arena ----------------------------------------------------------------------------------------


def arena_verdict(field: Field, comparison: Artifact) -> Verdict:
    """Who wins each task, and whether the trained lab does better than one that trades nothing."""
    sides = {row.task: side(row.grade) for row in comparison.data.rows if row.policy == LAB}
    if sides:
        phrases = clauses(
            sides,
            above="scores more than it would alone in {}",
            below="scores less than it would alone in {}",
            unclear="shows no difference from working alone in {}",
        )
        trained, missing = f"model {list_names(phrases)}", []
    else:
        trained, missing = "lab has not been played", [no_row(comparison, LAB)]
    sentence = f"{winners_sentence(field)}; the trained {trained}."
    return Verdict(sentence, (*leads(field), *missing, ZERO_GRADE))


# The reward and the actions ----------------------------------------------------------------------


def short_name(name: str) -> str:
    """A component's name as words, without its suffix "_score" or "_penalty"."""
    return name.removesuffix("_score").removesuffix("_penalty").replace("_", " ")


def component_table(evaluation: Artifact, row: ArenaRow) -> Markup:
    """Formula and mean of every component, with one measured step where it was not 0."""
    examples = {example.component: example for example in evaluation.data.examples}
    rows = [
        (part.name, part.formula, with_interval(row.components[part.name]),
         HTML.example(examples.get(part.name)))
        for part in arena.COMPONENTS
    ]  # fmt: skip
    rows.append((arena.TOTAL.name, arena.TOTAL.formula, with_interval(row.reward), ""))
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
        summary = HTML.reward(count, arena.PLAN_WEIGHT, row, label, most)
        bars = [
            WhiskerRow(short_name(part.name), row.components[part.name], "scripted")
            for part in arena.COMPONENTS
        ]
        figure = whisker_rows({label: bars}, "mean, share of the stake", "z.3f")
        return figure, summary + component_table(evaluation, row) + source

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
    whole = worth["no_shocks" if name == "shocks" else name]  # as there: with the rule, and without
    here = f"{with_interval(whole, FORM)} of what could be won, to the planner lab"
    if name == "shocks":
        here += f"; heeding what is announced {with_interval(worth[name], FORM)}"
    return f"{reward} of reward, {jobs} credits of jobs", here


def player_worth(published: Artifact, rules: Artifact, policy: str, player: str) -> tuple[str, str]:
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
    row = next(r for r in rules.data.yardsticks if (r.task, r.player) == (task, player))
    return there, f"{in_words(row.player)}: {with_interval(row.grade, FORM)} of what could be won"


def _published_row(published: Artifact, figure_id: str, column: str, value: str) -> dict:
    """The row of TASK in a published figure whose `column` holds `value`."""
    rows = published_rows(published, figure_id)
    return next(row for row in rows if (row[column], row["task"]) == (value, TASK))


def published_arena(published: Artifact, rules: Artifact) -> tuple[None, Markup]:
    """The published figures, and the differences of both arenas."""
    figures = ("arena-trained-llm", "arena-grpo-headlines", "arena-reference-rules")
    worth = partial(rule_worth, published, rules), partial(player_worth, published, rules)
    parts = [published_figure(published, figure) for figure in figures]
    parts += [
        provenance(published, "published figures, each with its n and caveat"),
        HTML.differences(f"arena/{TASK}", *worth),
        provenance(rules, f"n = {rules.config['worlds']:,} worlds on either side"),
    ]
    return None, Markup("").join(parts)


# The question of the arena ------------------------------------------------------------------------


def arena_answer(
    holdout: Artifact, comparison: Artifact, published: Artifact, rules: Artifact
) -> Answer:
    """The labs side by side, one task at a time, the model as a lab, the reward and the actions."""
    sources = (holdout, comparison)
    field = contest(sources)
    differs = "The published arena: what it reports, and where ours differs"
    return Answer(
        arena_verdict(field, comparison),
        grades_figure(entries_of(shown_rows(field))),
        HTML.arena_caption(tell_counts(field)),
        entries_of(field),
        sources=sources,
        replayed=(sources, "broker"),
        details={"The actions of a lab": HTML.action_space(arena.KINDS)},
        tables=frames.stages(comparison),
        parts={
            "One task at a time: grade, utility, reward": evaluation.part(evaluation.ARENA),
            "The language model as a lab, stage by stage": stages(comparison),
            differs: Part(
                "arena-published", partial(published_arena, published, rules), has_figure=False
            ),
            "How the reward is made up": reward_design(holdout),
        },
    )


ARENA_QUESTION = Question(
    "arena", "Who wins the arena?", (ARENA_HOLDOUT, LAB_FILE, PUBLISHED, RULES), arena_answer
)
