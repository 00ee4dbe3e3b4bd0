"""The tables of what policies and models win in each game."""

from sauda.commands.readme.tables import markdown, part, spanned
from sauda.evaluation.models.config import BAZAAR, LEAVE, OURS, TUNED
from sauda.policies import ZERO_GRADE
from sauda.records.schemas.arena import ArenaRow
from sauda.records.schemas.comparison import PairedDifference
from sauda.records.store import load

COMPARISON = "evaluation/model-comparison.json"


def market() -> str:
    """Each task of the open market: its oracle, the belief buyer, the best script, `wait`."""
    rows = []
    for row in load("oracle.json").data.rows:
        scripts = {cell.policy: cell for cell in row.policies}
        best = max((c for name, c in scripts.items() if name != "leave"), key=lambda c: c.mean)
        rows.append(
            (
                f"`{row.task}`",
                f"{row.n}",
                spanned(row.informed),
                part(row.informed_play),
                part(row.belief),
                f"`{best.policy}` {part(best)}",
                part(row.search.holdout),
                part(scripts["wait"]),
            )
        )
    head = ("task", "n", "informed oracle", "in play", "belief buyer", "best script",
            "best of the search", "`wait`")  # fmt: skip
    return markdown(head, rows)


def tuned() -> str:
    """The tuned rule and who leaves at once, beside Sauda: grades and paired differences."""
    data = load(COMPARISON).data
    rows = {(row.task, row.policy): row for row in data.rows}
    gaps = {(row.task, row.rival): row for row in data.rivalries if row.policy == OURS}
    table = [
        (
            f"`{task}`", f"{rows[task, OURS].n}", spanned(rows[task, OURS].grade),
            spanned(rows[task, TUNED].grade), difference(gaps[task, TUNED]),
            spanned(rows[task, LEAVE].grade), difference(gaps[task, LEAVE]),
        )
        for task in BAZAAR
    ]  # fmt: skip
    heads = (f"`{OURS}`", f"`{TUNED}`", "model less rule", f"`{LEAVE}`", "model less leaving")
    return markdown(("task", "n", *heads), table)


def arena() -> str:
    """The arena's policies on hold-out worlds: utility in credits and grade.

    A sentence under the table says what a grade of 0 is.
    """
    data = load("evaluation/arena-holdout.json").data
    rows = {(r.task, r.policy): r for r in data.rows if r.others == "as drawn"}
    tasks = list(dict.fromkeys(task for task, _ in rows))
    names = list(dict.fromkeys(name for _, name in rows))

    def cell(row: ArenaRow) -> str:
        return f"{row.utility.mean:.0f}, {spanned(row.grade)}"

    table = [(f"`{name}`", *(cell(rows[task, name]) for task in tasks)) for name in names]
    n = rows[tasks[0], names[0]].n
    return (
        markdown((f"policy, n = {n}", *(f"`{task}`" for task in tasks)), table)
        + f"\n\n{ZERO_GRADE}"
    )


def models() -> str:
    """Each row of the model comparison in the open market: its grade and its forfeits."""
    rows = {(row.task, row.policy): row for row in load(COMPARISON).data.rows}
    table = []
    for name in dict.fromkeys(name for task, name in rows if task in BAZAAR):
        own = [rows.get((task, name)) for task in BAZAAR]
        played = [row for row in own if row is not None]
        forfeits = sum(row.ends["forfeit"] for row in played)
        grades = ("–" if row is None else spanned(row.grade) for row in own)
        ends = f"{forfeits} of {sum(row.n for row in played)}"
        table.append((f"`{name}`", f"{played[0].n}", *grades, ends))
    return markdown(("policy", "n", *(f"`{task}`" for task in BAZAAR), "forfeits"), table)


def stage_gains() -> str:
    """What each training stage adds to the one before, without a wrapper: a row a task."""
    gains = {
        (gain.task, gain.after): gain
        for gain in load(COMPARISON).data.stage_gains
        if gain.on == "all"
    }
    tasks = dict.fromkeys(task for task, _ in gains)
    stages = list(dict.fromkeys(after for _, after in gains))
    table = []
    for task in tasks:
        own = [gains.get((task, stage)) for stage in stages]
        cells = ("–" if gain is None else f"{difference(gain)}, n {gain.n}" for gain in own)
        table.append((f"`{task}`", *cells))
    before = {gain.after: gain.before for gain in gains.values()}
    heads = (f"`{stage}` less `{before[stage]}`" for stage in stages)
    return markdown(("task", *heads), table)


def rivalries() -> str:
    """What each trained stage wins more than other policies: a row a task and stage."""
    rows = load(COMPARISON).data.rivalries
    rivals = list(dict.fromkeys(row.rival for row in rows))
    differences = {(row.task, row.policy, row.rival): row for row in rows}
    table = []
    for task, policy in dict.fromkeys((row.task, row.policy) for row in rows):
        own = [differences.get((task, policy, rival)) for rival in rivals]
        cells = ("–" if row is None else f"{difference(row)}, n {row.n}" for row in own)
        table.append((f"`{task}`", f"`{policy}`", *cells))
    return markdown(("task", "stage", *(f"less `{rival}`" for rival in rivals)), table)


def difference(gain: PairedDifference) -> str:
    """`+0.168 [+0.132, +0.212]`: a paired difference with its interval."""
    return f"{gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"


def lab_models() -> str:
    """The language model as a lab: its grade after each training stage, beside scripts."""
    data = load("evaluation/arena-model-comparison.json").data
    gained = {gain.after: difference(gain) for gain in data.stage_gains}
    table = [
        (
            f"`{row.policy}`",
            f"{row.n}",
            spanned(row.grade),
            gained.get(row.policy, "–"),
            f"{row.jobs.mean:.2f} of {row.jobs_had:.2f}",
            f"{row.valid:.0%}",
        )
        for row in data.rows
    ]
    heads = ("policy", "n", "grade", "added by the stage", "jobs done", "actions taken")
    return markdown(heads, table)
