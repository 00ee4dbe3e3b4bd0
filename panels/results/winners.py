"""Who wins a task: contestants ranked by their hold-out grades, the lead paired by seed, a map."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from panels.results import evaluation
from panels.results.evaluation import DRAWN
from panels.results.models import FILE as COMPARISON
from panels.results.models import (
    FORM,
    GAIN,
    TRAINED,
    Lead,
    buyer_name,
    gain_on_same_seeds,
    lead_of,
    series_role,
)
from panels.results.question import (
    HTML,
    Answer,
    Measured,
    Question,
    Verdict,
    no_row,
    side,
)
from panels.ui.look import Cell, table, with_minus_signs
from panels.ui.tables import MISSING, with_interval
from panels.ui.terms import capital, listed, short, tasks_listed
from sauda.experiments.comparison import LISTENER, ORACLE, OURS, TUNED
from sauda.records.schemas.base import Hashes, Interval
from sauda.records.store import Artifact

MARKET = "bazaar/"  # how the open market's tasks begin
CLASSIC = "classic/"  # and those of the published games
HOLDOUT = "evaluation/market-holdout.json"
ORACLE_FILE = "oracle.json"
TUNED_ON = "bazaar/open"  # whose scripts are compared with a tuned one
WATCHED = (LISTENER, OURS)  # the verdict's lines say where they did not play


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
    return ranked(
        entry
        for evaluation in evaluations
        if evaluation is not None
        for entry in _entries(evaluation)
    )


def _entries(evaluation: Artifact) -> Iterator[Entry]:
    episodes = evaluation.data.episodes.get(DRAWN, evaluation.data.episodes)
    for row in evaluation.data.rows:
        is_drawn = getattr(row, "others", DRAWN) == DRAWN
        if is_drawn and row.policy != ORACLE and not row.task.startswith(CLASSIC):
            grades = episodes[row.task][row.policy].grade
            yield entry_of(row.task, row.policy, row.grade, grades, row.hashes)


def entry_of(
    task: str, policy: str, grade: Interval, grades: Sequence[float], hashes: Hashes
) -> Entry:
    """The entry of a policy that has played a task."""
    label, role = buyer_name(policy), series_role(policy)
    rules = hashes.task, hashes.opponents
    return Entry(label, grade, role, task, len(grades), policy, grades, rules)


def ranked(entries: Iterable[Entry]) -> Field:
    """The entries by task; of a policy's entries on a task the first counts."""
    by_task: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_task.setdefault(entry.task, {}).setdefault(entry.policy, entry)
    return {
        task: sorted(rows.values(), key=lambda entry: -entry.interval.mean)
        for task, rows in by_task.items()
    }


def lead(first: Entry, second: Entry) -> Lead | None:
    """What the first wins more than the second, paired by seed; None for different games."""
    return lead_of(first.grades, second.grades) if first.rules == second.rules else None


# Sentences ---------------------------------------------------------------------------------------


def winners_sentence(field: Field) -> str:
    """Who wins which tasks; where the lead's interval does not lie above 0, between whom it is."""
    tasks_of: dict[tuple[str, ...], list[str]] = {}
    for task, entries in field.items():
        tasks_of.setdefault(_winners(entries), []).append(task)
    told = []
    for winners, tasks in sorted(tasks_of.items(), key=lambda item: len(item[0])):
        names, where = listed(winners), tasks_listed(tasks)
        is_clear = len(winners) == 1
        told.append(
            f"{names} wins {where}" if is_clear else f"no clear winner between {names} in {where}"
        )
    return capital("; ".join(told))


def _winners(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The best, or the best two where the lead of the first is not shown, by their labels."""
    ahead = lead(*entries[:2]) if len(entries) > 1 else None
    is_sure = len(entries) == 1 or (ahead is not None and side(ahead.gain) == "above")
    return tuple(entry.label for entry in entries[: 1 if is_sure else 2])


def leads(field: Field, watched: Sequence[str] = ()) -> Iterator[str]:
    """For every task its best policy with its grade and its lead over the next, with n.

    Says who of `watched` did not play it.
    """
    for task, entries in field.items():
        best = entries[0]
        text = f"{short(task)}: {best.label} {with_interval(best.interval, FORM)}"
        text += f", n = {best.n:,}"
        if len(entries) > 1 and (ahead := lead(*entries[:2])):
            own = f" and {best.label} {ahead.first:{FORM}}"
            text += (
                f"; {with_interval(ahead.gain, GAIN)} over {entries[1].label}, which scores"
                f" {ahead.second:{FORM}}{'' if ahead.n == best.n else own} on the same"
                f" {ahead.n:,} seeds"
            )
        absent = [each for each in watched if each not in {entry.policy for entry in entries}]
        if absent:
            text += f"; not played by {listed(list(map(buyer_name, absent)))}"
        yield text


def place_of(field: Field, policy: str) -> str:
    """A policy's place and grade on each task that it played; "" where it played none."""
    places = [
        f"{place} of {len(entries)} in the {short(task)} ({with_interval(entry.interval, FORM)})"
        for task, entries in field.items()
        for place, entry in enumerate(entries, 1)
        if entry.policy == policy
    ]
    return f"{capital(buyer_name(policy))} takes place {listed(places)}." if places else ""


def counts_told(field: Field) -> str:
    """On how many seeds the rows were played, and why two means of one policy may differ."""
    counts = [entry.n for entry in entries_of(field)]
    low, high = min(counts), max(counts)
    if low == high:
        return f"Every row has n = {low:,} hold-out seeds."
    return (
        f"Rows use {low:,} to {high:,} hold-out seeds (hover for n). The verdict compares policies"
        " on shared seeds only, so its means can differ."
    )


# The map -----------------------------------------------------------------------------------------


def entries_of(field: Field) -> list[Entry]:
    """Every entry, task by task."""
    return [entry for entries in field.values() for entry in entries]


def heat_map(field: Field, caption: str, bounds: Mapping[str, Interval]) -> Markup:
    """Mean grades as a table, tasks across and policies down, coloured by their distance from 0.

    Each task's best is framed; TRAINED are marked; `bounds` are by task and of no contestant.
    Policies stand in the order of the first task, then of the next that they played.
    """
    cells = {task: {entry.policy: entry for entry in field[task]} for task in field}
    rows: list[list[object]] = []
    if bounds:
        told = [f"{bounds[task].mean:{FORM}}" if task in bounds else MISSING for task in field]
        rows.append([Cell("bound: knows its seller", classes="sauda-ceiling"), *told])
    for policy, label in {entry.policy: entry.label for entry in entries_of(field)}.items():
        marks = "sauda-ours" if policy in TRAINED else ""
        line = [_cell(cells[task].get(policy), field[task]) for task in field]
        # an address such as "?tab=results&part=market&row=linear" leads to the row
        rows.append([Cell(label, {"data-row": policy}, marks), *line])
    heads = ("policy", *map(short, field))
    return table(heads, rows, caption=caption, classes="sauda-heat")


def _cell(entry: Entry | None, entries: Sequence[Entry]) -> Cell | str:
    """A cell whose shade is its distance from 0 as a share of the largest on the task."""
    if entry is None:
        return MISSING
    most = max(abs(other.interval.mean) for other in entries)
    title = f"{entry.label}: {with_interval(entry.interval, FORM)}, n = {entry.n:,}"
    return heat_cell(entry.interval.mean, most, FORM, title, is_best=entry is entries[0])


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
    marks = "sauda-cell-below" if value < 0 else "sauda-cell"
    return Cell(
        format(value, form),
        {"style": shade, "title": with_minus_signs(title), **(data or {})},
        f"{marks} sauda-best" if is_best else marks,
    )


# The open market ---------------------------------------------------------------------------------


def market_verdict(field: Field, comparison: Artifact) -> Verdict:
    """Who wins each task, by how much, and which place Sauda takes."""
    place = place_of(field, OURS) or no_row(comparison)
    return Verdict(f"{winners_sentence(field)}.", (*leads(field, WATCHED), place))


def tuned_sentence(comparison: Artifact, task: str) -> str:
    """What the tuned script scores beside Sauda; "" where it did not play."""
    lead = gain_on_same_seeds(comparison, task, OURS, TUNED)
    if lead is None:
        return ""
    place = {"above": "less than", "unclear": "level with", "below": "more than"}[side(lead.gain)]
    return (
        f"The script whose numbers did best in a search on training games scores"
        f" {lead.second:{FORM}}, {place} Sauda (Sauda less the script:"
        f" {with_interval(lead.gain, GAIN)}, n = {lead.n})."
    )


def market_answer(holdout: Artifact, comparison: Artifact, oracle: Artifact) -> Answer:
    """The map of all that played, and one task at a time."""
    field = contest((holdout, comparison))
    bounds = {row.task: row.informed for row in oracle.data.rows}
    tasks = evaluation.part(evaluation.bazaar_game(oracle))
    return Answer(
        market_verdict(field, comparison),
        heat_map(field, "Mean grade on hold-out seeds, 1 at best", bounds),
        HTML.market_caption(counts_told(field), tuned_sentence(comparison, TUNED_ON)),
        entries_of(field),
        sources=(holdout, comparison, oracle),
        replayed=((holdout, comparison), LISTENER),
        parts={"One task at a time, classic tasks too": tasks},
    )


MARKET_QUESTION = Question(
    "market", "Who wins the open market?", (HOLDOUT, COMPARISON, ORACLE_FILE), market_answer
)
