"""Who wins a task: contestants ranked by their hold-out grades, the lead paired by seed, a map."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from markupsafe import Markup

from panels.results import evaluation
from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_summary import tuned_sentence
from panels.results.questions.layout import Answer, Artifacts, Measured, Question
from panels.results.questions.training import MARKET
from panels.results.questions.verdict import (
    Verdict,
    buyer_name,
    capital,
    listed,
    no_row,
    short,
    tasks_listed,
)
from panels.ui.look import Cell, table, with_minus_signs
from panels.ui.tables import MISSING, with_interval
from sauda.experiments.comparison import LISTENER, ORACLE, OURS
from sauda.experiments.evaluate import ArenaRow, BazaarRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact
from sauda.statistics import paired_difference

FORM = "z.3f"  # of grades


@dataclass(frozen=True)
class Entry:
    """One policy on one task; `grades` has one grade a seed, from the first hold-out seed."""

    policy: str
    n: int
    grade: Interval
    grades: Sequence[float]
    rules: tuple[str, str]  # hashes of the task and of the opponents


Field = Mapping[str, Sequence[Entry]]  # the entries of each task, the best mean grade first
Name = Callable[[str], str]  # a policy in words


def entry_of(row: BazaarRow | ArenaRow, grades: Sequence[float]) -> Entry:
    """The entry of an evaluation's row."""
    return Entry(row.policy, row.n, row.grade, grades, (row.hashes.task, row.hashes.opponents))


def ranked(entries: Iterable[tuple[str, Entry]]) -> Field:
    """The entries, each given with its task; of a policy's entries on a task the first counts."""
    by_task: dict[str, dict[str, Entry]] = {}
    for task, entry in entries:
        by_task.setdefault(task, {}).setdefault(entry.policy, entry)
    return {
        task: sorted(rows.values(), key=lambda entry: -entry.grade.mean)
        for task, rows in by_task.items()
    }


@dataclass(frozen=True)
class Lead:
    """What one entry wins more than another on the seeds that both played."""

    n: int
    first: float  # mean grades on these seeds
    second: float
    gain: Interval


def lead(first: Entry, second: Entry) -> Lead | None:
    """What the first wins more than the second, paired by seed; None for different games."""
    if first.rules != second.rules:
        return None
    n = min(len(first.grades), len(second.grades))
    own, other = np.array(first.grades[:n]), np.array(second.grades[:n])
    mean, low, high = paired_difference(own, other)
    gain = Interval(mean=mean, low=low, high=high)
    return Lead(n, float(own.mean()), float(other.mean()), gain)


def winners_sentence(field: Field, name: Name) -> str:
    """Who wins which tasks; where the lead's interval does not lie above 0, between whom it is."""
    tasks_of: dict[tuple[str, ...], list[str]] = {}
    for task, entries in field.items():
        tasks_of.setdefault(_winners(entries), []).append(task)
    told = []
    for winners, tasks in sorted(tasks_of.items(), key=lambda item: len(item[0])):
        names, where = listed(list(map(name, winners))), tasks_listed(tasks)
        is_clear = len(winners) == 1
        told.append(
            f"{names} wins {where}" if is_clear else f"no clear winner between {names} in {where}"
        )
    return capital("; ".join(told))


def _winners(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The best policy, or the best two where the lead of the first is not shown."""
    ahead = lead(*entries[:2]) if len(entries) > 1 else None
    is_sure = len(entries) == 1 or (ahead is not None and ahead.gain.low > 0)
    return tuple(entry.policy for entry in entries[: 1 if is_sure else 2])


def leads(field: Field, name: Name, watched: Sequence[str] = ()) -> Iterator[str]:
    """For every task its best policy with its grade and its lead over the next, with n.

    Says who of `watched` did not play it.
    """
    for task, entries in field.items():
        best = entries[0]
        text = f"{short(task)}: {name(best.policy)} {with_interval(best.grade, FORM)}"
        text += f", n = {best.n:,}"
        if len(entries) > 1 and (ahead := lead(*entries[:2])):
            rival = name(entries[1].policy)
            own = "" if ahead.n == best.n else f" and {name(best.policy)} {ahead.first:{FORM}}"
            text += (
                f"; {with_interval(ahead.gain, '+.3f')} over {rival}, which scores"
                f" {ahead.second:{FORM}}{own} on the same {ahead.n:,} seeds"
            )
        absent = [each for each in watched if each not in {entry.policy for entry in entries}]
        if absent:
            text += f"; not played by {listed(list(map(name, absent)))}"
        yield text


def place_of(field: Field, policy: str, name: Name) -> str:
    """A policy's place and grade on each task that it played; "" where it played none."""
    places = []
    for task, entries in field.items():
        for place, entry in enumerate(entries, 1):
            if entry.policy == policy:
                grade = with_interval(entry.grade, FORM)
                places.append(f"{place} of {len(entries)} in the {short(task)} ({grade})")
    return f"{capital(name(policy))} takes place {listed(places)}." if places else ""


def counts_told(field: Field) -> str:
    """On how many seeds the rows were played, and why two means of one policy may differ."""
    counts = [entry.n for entries in field.values() for entry in entries]
    low, high = min(counts), max(counts)
    if low == high:
        return f"Every row has n = {low:,} hold-out seeds."
    return (
        f"Rows use {low:,} to {high:,} hold-out seeds (hover for n). The verdict compares policies"
        " on shared seeds only, so its means can differ."
    )


def measured(field: Field, name: Name) -> list[Measured]:
    """Every entry as a row of a table."""
    return [
        Measured(task, name(entry.policy), entry.n, entry.grade)
        for task, entries in field.items()
        for entry in entries
    ]


def heat_map(
    field: Field,
    name: Name,
    caption: str,
    ours: str,
    ceiling: tuple[str, Mapping[str, Interval]] = ("", {}),
) -> Markup:
    """Mean grades as a table, tasks across and policies down, coloured by their distance from 0.

    Each task's best is framed; `ours` is marked; `ceiling` is a label with bounds by task, no
    contestant. Policies stand in the order of the first task, then of the next that they played.
    """
    tasks = list(field)
    cells = {task: {entry.policy: entry for entry in field[task]} for task in tasks}
    policies = dict.fromkeys(entry.policy for task in tasks for entry in field[task])
    label, bounds = ceiling
    rows: list[list[object]] = []
    if bounds:
        means = [bounds[task].mean if task in bounds else None for task in tasks]
        told = [MISSING if mean is None else f"{mean:{FORM}}" for mean in means]
        rows.append([Cell(label, classes="sauda-ceiling"), *told])
    for policy in policies:
        marks = "sauda-ours" if policy == ours else ""
        line = [_cell(cells[task].get(policy), field[task], name) for task in tasks]
        # an address such as "?tab=results&part=market&row=linear" leads to the row
        rows.append([Cell(name(policy), {"data-row": policy}, marks), *line])
    heads = ("policy", *map(short, tasks))
    return table(heads, rows, caption=caption, classes="sauda-heat")


def _cell(entry: Entry | None, entries: Sequence[Entry], name: Name) -> Cell | str:
    """A cell whose shade is its distance from 0 as a share of the largest on the task."""
    if entry is None:
        return MISSING
    most = max(abs(other.grade.mean) for other in entries)
    title = f"{name(entry.policy)}: {with_interval(entry.grade, FORM)}, n = {entry.n:,}"
    return heat_cell(entry.grade.mean, most, FORM, title, is_best=entry is entries[0])


def heat_cell(
    value: float,
    most: float,
    form: str,
    title: str,
    is_best: bool = False,
    data: Mapping[str, str] | None = None,
) -> Cell:
    """A cell of a map whose shade is the distance of `value` from 0 as a share of `most`.

    The best is framed. `title` is shown under the pointer; `data` are attributes for scripts.
    """
    shade = f"--heat: {round(100 * abs(value) / (most or 1))}%"
    side = "sauda-cell-below" if value < 0 else "sauda-cell"
    return Cell(
        format(value, form),
        {"style": shade, "title": with_minus_signs(title), **(data or {})},
        f"{side} sauda-best" if is_best else side,
    )


HOLDOUT = "evaluation/market-holdout.json"
ORACLE_FILE = "oracle.json"
TUNED_ON = "bazaar/open"  # whose scripts are compared with a tuned one
WATCHED = (LISTENER, OURS)  # the verdict's lines say where they did not play


def market_contest(evaluations: Sequence[Artifact]) -> Field:
    """All that played the open market's tasks without hidden information, best first."""
    return ranked(
        (task, entry)
        for evaluation in evaluations
        for task, entry in _market_entries(evaluation)
        if entry.policy != ORACLE
    )


def _market_entries(evaluation: Artifact) -> Iterator[tuple[str, Entry]]:
    for row in evaluation.data.rows:
        if row.task.startswith(MARKET):
            grades = evaluation.data.episodes[row.task][row.policy].grade
            yield row.task, entry_of(row, grades)


def known_seller(oracle: Artifact | None) -> dict[str, Interval]:
    """What a buyer that knows its seller would win, by task."""
    return {} if oracle is None else {row.task: row.informed for row in oracle.data.rows}


def market_verdict(field: Field, comparison: Artifact | None) -> Verdict:
    """Who wins each task, by how much, and which place Sauda takes."""
    place = place_of(field, OURS, buyer_name)
    if not place and comparison is not None:
        place = no_row(comparison)
    lines = [*leads(field, buyer_name, WATCHED), *filter(None, [place])]
    return Verdict(f"{winners_sentence(field, buyer_name)}.", tuple(lines))


def market_answer(artifacts: Artifacts) -> Answer | None:
    """The map of all that played, and one task at a time."""
    evaluations = [artifacts[file] for file in (HOLDOUT, COMPARISON) if file in artifacts]
    if not evaluations:
        return None
    field, oracle = market_contest(evaluations), artifacts.get(ORACLE_FILE)
    comparison = artifacts.get(COMPARISON)
    caption = "Mean grade on hold-out seeds, 1 at best"
    bounds = "bound: knows its seller", known_seller(oracle)
    captions = [
        "Darker: closer to the best grade of the task, which is framed. – means not played. The"
        " bound knows its seller and does not compete."
        f" {counts_told(field)}"
    ]
    if comparison is not None:
        captions.append(tuned_sentence(comparison, TUNED_ON))
    return Answer(
        market_verdict(field, comparison),
        heat_map(field, buyer_name, caption, OURS, bounds),
        captions,
        measured(field, buyer_name),
        "policy",
        list(artifacts.values()),
        FORM,
        replayed=(evaluations, LISTENER),
        parts={
            "One task at a time, classic tasks too": partial(
                evaluation.build, evaluation.bazaar_game(oracle)
            )
        },
    )


MARKET_QUESTION = Question(
    "market", "Who wins the open market?", (HOLDOUT, COMPARISON, ORACLE_FILE), market_answer
)
