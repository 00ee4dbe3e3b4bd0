"""Who wins a task: contestants ranked by their hold-out grades, the lead paired by seed, a map."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from panels.results.questions.layout import Measured
from panels.results.questions.verdict import capital, listed, short, tasks_listed
from panels.ui.tables import MISSING, with_interval
from sauda.records.schemas.arena import ArenaRow
from sauda.records.schemas.base import Interval
from sauda.records.schemas.evaluation import Row
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


def entry_of(row: Row | ArenaRow, grades: Sequence[float]) -> Entry:
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


def lead(first: Entry, second: Entry) -> tuple[int, Interval] | None:
    """Seeds that both played, and what the first wins more on them; None for different games."""
    if first.rules != second.rules:
        return None
    n = min(len(first.grades), len(second.grades))
    own, other = np.array(first.grades[:n]), np.array(second.grades[:n])
    mean, low, high = paired_difference(own, other)
    return n, Interval(mean=mean, low=low, high=high)


def winners_sentence(field: Field, name: Name) -> str:
    """Who wins which tasks; where the lead's interval does not lie above 0, between whom it is."""
    sure: dict[str, list[str]] = {}
    open_: dict[tuple[str, str], list[str]] = {}
    for task, entries in field.items():
        ahead = lead(*entries[:2]) if len(entries) > 1 else None
        if len(entries) == 1 or (ahead and ahead[1].low > 0):
            sure.setdefault(entries[0].policy, []).append(task)
        else:
            pair = (entries[0].policy, entries[1].policy)
            open_.setdefault(pair, []).append(task)
    parts = [f"{name(policy)} wins in {tasks_listed(tasks)}" for policy, tasks in sure.items()]
    parts += [
        f"between {name(one)} and {name(other)} there is no clear winner in {tasks_listed(tasks)}"
        for (one, other), tasks in open_.items()
    ]
    return capital("; ".join(parts))


def leads(field: Field, name: Name) -> Iterator[str]:
    """For every task its best policy with its grade and its lead over the next, with n."""
    for task, entries in field.items():
        best = entries[0]
        text = f"{short(task)}: {name(best.policy)} {with_interval(best.grade, FORM)}"
        ahead = lead(*entries[:2]) if len(entries) > 1 else None
        if ahead:
            n, gain = ahead
            text += f", {with_interval(gain, '+.3f')} over {name(entries[1].policy)}, n = {n:,}"
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
    ceiling: tuple[str, Mapping[str, Interval]],
) -> Markup:
    """Mean grades as a table, tasks across and policies down, coloured by their distance from 0.

    Each task's best is framed; `ours` is marked; `ceiling` is a label with bounds by task, no
    contestant. Policies stand in the order of the first task, then of the next that they played.
    """
    tasks = list(field)
    cells = {task: {entry.policy: entry for entry in field[task]} for task in tasks}
    policies = dict.fromkeys(entry.policy for task in tasks for entry in field[task])
    label, bounds = ceiling
    rows = [_bound_row(label, [bounds.get(task) for task in tasks])] if bounds else []
    for policy in policies:
        line = [_cell(cells[task].get(policy), field[task], name) for task in tasks]
        rows.append(heat_row(name(policy), line, "sauda-ours" if policy == ours else "", policy))
    return heat_table(caption, heat_heads("policy", map(short, tasks)), rows)


def _bound_row(label: str, bounds: Sequence[Interval | None]) -> Markup:
    cells = [
        Markup('<td class="sauda-r">{}</td>').format(
            MISSING if bound is None else f"{bound.mean:{FORM}}"
        )
        for bound in bounds
    ]
    return heat_row(label, cells, "sauda-ceiling")


def _cell(entry: Entry | None, entries: Sequence[Entry], name: Name) -> Markup:
    """A cell whose shade is its distance from 0 as a share of the largest on the task."""
    if entry is None:
        return Markup('<td class="sauda-r">{}</td>').format(MISSING)
    most = max(abs(other.grade.mean) for other in entries)
    title = f"{name(entry.policy)}: {with_interval(entry.grade, FORM)}, n = {entry.n:,}"
    return heat_cell(entry.grade.mean, most, FORM, title, is_best=entry is entries[0])


def heat_table(caption: str, head: Markup, rows: Iterable[Markup], marks: str = "") -> Markup:
    """A map: `rows` of `heat_row` below the rows of `head`; `marks` are further classes."""
    return Markup(
        '<div class="sauda-scroll" role="region" tabindex="0" aria-label="{0}">'
        '<table class="{1}"><caption>{0}</caption><thead>{2}</thead>'
        "<tbody>{3}</tbody></table></div>"
    ).format(caption, f"sauda-table sauda-heat {marks}".strip(), head, Markup("").join(rows))


def heat_heads(corner: str, columns: Iterable[str]) -> Markup:
    """The head of a map: what its rows are, then its columns."""
    heads = Markup("").join(
        Markup('<th scope="col" class="sauda-r">{}</th>').format(column) for column in columns
    )
    return Markup('<tr><th scope="col" class="sauda-l">{}</th>{}</tr>').format(corner, heads)


def heat_row(label: str, cells: Iterable[Markup], marks: str = "", name: str = "") -> Markup:
    """A row of a map; an address such as "?tab=results&part=market&row=linear" leads to `name`."""
    return Markup(
        '<tr class="{}" data-row="{}"><th scope="row" class="sauda-l">{}</th>{}</tr>'
    ).format(marks, name, label, Markup("").join(cells))


def heat_cell(
    value: float, most: float, form: str, title: str, is_best: bool = False, **data: str
) -> Markup:
    """A cell of a map whose shade is the distance of `value` from 0 as a share of `most`.

    The best is framed. `title` is shown under the pointer; `data` are attributes for scripts.
    """
    side = "sauda-cell-below" if value < 0 else "sauda-cell"
    attributes = Markup("").join(
        Markup(' data-{}="{}"').format(key, text) for key, text in data.items()
    )
    return Markup('<td class="sauda-r {}{}" style="--heat: {}%" title="{}"{}>{}</td>').format(
        side,
        " sauda-best" if is_best else "",
        round(100 * abs(value) / (most or 1)),
        title,
        attributes,
        format(value, form),
    )
