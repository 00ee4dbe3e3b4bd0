"""`python -m sauda readme`: the tables of the READMEs, written from the artifacts.

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`; everything else is written by hand.
"""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sauda.commands.bench.games import ALONE, DRAWN, SEEDED
from sauda.commands.console import add_command
from sauda.commands.readme_artifacts import checks, differences, listing, published
from sauda.evaluation.comparison_config import BAZAAR
from sauda.policies import ZERO_GRADE
from sauda.records.kinds.fields import every_kind
from sauda.records.store import ROOT, load, write
from sauda.train import ARENA, STAGES

LADDER = "evaluation/ladder.json"
README = Path(__file__).resolve().parents[2] / "README.md"
READMES = (README, ROOT / "README.md")


def add(commands: Any) -> None:
    """Add `readme` to the commands of `python -m sauda`."""
    add_command(commands, "readme", readme, "write the READMEs' tables anew from the artifacts")


def readme(options: argparse.Namespace) -> int:
    """Write the tables anew and print whether anything changed."""
    print("wrote the READMEs" if fill() else "the READMEs are as the artifacts have it")
    return 0


def filled(text: str) -> str:
    """`text` with every marked table as the artifacts have it now.

    Raises ValueError on a mark of no known table, or one that is not closed.
    """
    names = re.findall(r"<!-- (\w+) -->", text)
    for name in names:
        if name not in TABLES:
            raise ValueError(f"no table {name!r} for the README; tables are {', '.join(TABLES)}")
        opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, found, rest = text.partition(opening)
        _, closed, after = rest.partition(closing)
        if not (found and closed):
            raise ValueError(f"the README opens the table {name!r} and never closes it")
        text = f"{before}{opening}{TABLES[name]()}\n{closing}{after}"
    return text


def fill() -> bool:
    """Write the READMEs anew; whether anything changed."""
    changed = False
    for path in READMES:
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        write(path, after)
        changed |= before != after
    return changed


def results() -> str:
    """What the evaluations and the bench show, one claim a row."""
    agreed = load("evaluation/reproduction.json").data["agreement"]
    sampled = agreed["figures"] - agreed["without_error"]
    rows = [
        (
            "our classic game gives the published game's figures",
            f"{agreed['within_two']} of {sampled} within two standard errors, "
            f"{agreed['without_error_equal']} of {agreed['without_error']} equal to four decimals "
            "where nothing varies",
            "1,000 seeds a task and policy",
            "evaluation/reproduction.json",
        )
    ]
    holdout = "evaluation/classic-holdout.json"
    for task in ("classic/deceptive_seller", "classic/amazon_realistic"):
        for policy in ("expert", "wait"):
            found = _row(holdout, task, policy)
            claim = f"`{policy}` on `{task}`, hold-out seeds: share of the ZOPA"
            rows.append((claim, spanned(found["share"]), f"{found['n']}", holdout))
    rows += _training()
    figures = {figure["name"]: figure for figure in load("bench.json").data["figures"]}
    rows += [
        (claim, *_speed(figures[name], form), "bench.json")
        for claim, name, form in SPEEDS
        if name in figures  # bench leaves out what a machine cannot measure
    ]
    told = [(*row[:3], f"`{row[3]}`") for row in rows]
    return markdown(("claim", "measured", "n", "in"), told)


def _training() -> list[tuple[str, str, str, str]]:
    """What each run of training took, and what its gate saw."""
    rows = []
    for stage in recorded():
        file = f"training/{stage}.json"
        run = load(file).data
        gate, on = run["gate"], run["hardware"]
        steps, minutes = run["log"][-1]["step"], f"{run['seconds'] / 60:.0f} min"
        of_lab = stage in ARENA
        teacher = "rule expert" if of_lab else "belief buyer"
        saw = f"{gate['valid']:.0%} are moves, {gate['same_kind']:.0%} of the {teacher}'s kind"
        if "accepted" in gate:
            saw += f", the rules take {gate['accepted']:.0%}"
        if gate["price_off"] is not None:
            saw += f", prices {gate['price_off']:.1f} % of the limit off its"
        if "pairs" in run:
            minutes = f"{run['pairs']['seconds'] / 60:.0f} min of looking for pairs, then {minutes}"
        threads = "one thread" if on["threads"] == 1 else f"{on['threads']} threads"
        where = f"{threads} of a shared {on['device']}"
        rows += [
            (
                f"{run['stage'].upper()} of {'the lab' if of_lab else '`sauda-mini`'} on {where}",
                f"{steps} steps, {run['tokens']:,} tokens, {minutes}",
                _learnt(run),
                file,
            ),
            ("its replies to hold-out prompts", saw, f"{gate['n']}", file),
        ]
    return rows


def recorded() -> list[str]:
    """The runs of training that are recorded, in their order."""
    return [name for name in (*STAGES, *ARENA) if (ROOT / f"training/{name}.json").exists()]


def _learnt(run: Mapping[str, Any]) -> str:
    """From how much a run learnt."""
    if "rows" in run:
        return f"{run['rows']['learnt']:,} moves"
    if "pairs" in run:
        return f"{run['pairs']['n']:,} pairs"
    return f"{sum(run['games']['task'].values()) * run['games']['group']:,} games"


def _a_second(figure: Mapping[str, Any]) -> str:
    return f"{figure['median']:,.0f}"


def _times(figure: Mapping[str, Any]) -> str:
    """A speed, and how many times the speed one by one it is, from the same run."""
    ratio = next(r for r in load("bench.json").data["ratios"] if r["of"] == figure["name"])
    return f"{_a_second(figure)}, {ratio['median']:,.3g} times one by one (n = {ratio['n']})"


def _seconds(figure: Mapping[str, Any]) -> str:
    return f"{figure['median']:.2f} s"


SPEEDS: Sequence[tuple[str, str, Callable[[Mapping[str, Any]], str]]] = (
    (
        "`rule_based` on `classic/single_deal`, episodes a second on one core, median",
        f"episodes a second, rule_based on classic/single_deal, {ALONE}",
        _a_second,
    ),
    (
        "the same games in a batch, drawn from their seeds",
        f"episodes a second, rule_based on classic/single_deal, {SEEDED}",
        _times,
    ),
    (
        "in a batch of games that are drawn at once",
        f"episodes a second, rule_based on classic/single_deal, {DRAWN}",
        _times,
    ),
    (
        "`linear` on `bazaar/open`, episodes a second on one core, median",
        f"episodes a second, linear on bazaar/open, {ALONE}",
        _a_second,
    ),
    (
        "the same games in a batch, drawn from their seeds",
        f"episodes a second, linear on bazaar/open, {SEEDED}",
        _times,
    ),
    (
        "in a batch of games that are drawn at once",
        f"episodes a second, linear on bazaar/open, {DRAWN}",
        _times,
    ),
    (
        "every scripted buyer on every `bazaar/` task, 1,000 seeds each, on two cores",
        "full table of scripted policies, all bazaar tasks",
        lambda f: f"{f['median']:.1f} s",
    ),
    (
        "`rule_based_expert` on `arena/coalition_market`, episodes a second on one core, median",
        "episodes a second, rule_based_expert, arena/coalition_market",
        _a_second,
    ),
    (
        "the same in steps a second",
        "steps a second, rule_based_expert, arena/coalition_market",
        _a_second,
    ),
    (
        "a scripted reply with 20 visitors playing, 95th percentile",
        "scripted reply",
        lambda f: f"{1000 * f['p95']:.0f} ms",
    ),
    (
        "first words of the small model's move, bf16, median",
        "first words, mini, bf16, prefix cache on",
        _seconds,
    ),
    ("its whole move, median", "whole move, mini, bf16, prefix cache on", _seconds),
    (
        "importing the page, without torch, median",
        "import of app",
        lambda f: f"{f['median']:.1f} s",
    ),
    (
        "first figure visible after opening, median",
        "first figure visible",
        lambda f: f"{f['median']:.1f} s",
    ),
)


def _speed(figure: Mapping[str, Any], form: Callable[[Mapping[str, Any]], str]) -> tuple[str, str]:
    n = f"{figure['n']} x {figure['episodes']:,}" if "episodes" in figure else f"{figure['n']}"
    return form(figure), n


def market() -> str:
    """Each task of the open market: its oracle, the belief buyer, the best script, `wait`."""
    rows = []
    for row in load("oracle.json").data["rows"]:
        scripts = {cell["policy"]: cell for cell in row["policies"]}
        best = max((c for name, c in scripts.items() if name != "leave"), key=lambda c: c["mean"])
        bound = "" if row["bound"] == "optimum" else ", upper bound"
        belief = "–" if row["belief"] is None else part(row["belief"])
        rows.append(
            (
                f"`{row['task']}`{bound}",
                f"{row['n']}",
                spanned(row["informed"]),
                part(row["informed_play"]),
                belief,
                f"`{best['policy']}` {part(best)}",
                part(row["search"]["holdout"]),
                part(scripts["wait"]),
            )
        )
    head = ("task", "n", "informed oracle", "in play", "belief buyer", "best script",
            "best of the search", "`wait`")  # fmt: skip
    return markdown(head, rows)


def arena() -> str:
    """The arena's policies on hold-out worlds: utility in credits and grade; the upper bound.

    A sentence under the table says what a grade of 0 is.
    """
    data = load("evaluation/arena-holdout.json").data
    rows = {(r["task"], r["policy"]): r for r in data["rows"] if r["others"] == "as drawn"}
    tasks = list(dict.fromkeys(task for task, _ in rows))
    names = list(dict.fromkeys(name for _, name in rows))

    def cell(row: Mapping[str, Any]) -> str:
        return f"{row['utility']['mean']:.0f}, {spanned(row['grade'])}"

    table = [(f"`{name}`", *(cell(rows[task, name]) for task in tasks)) for name in names]
    bounds = {row["task"]: row for row in data["bounds"]}
    table.append(("upper bound", *(cell(bounds[task]) for task in tasks)))
    n = rows[tasks[0], names[0]]["n"]
    return (
        markdown((f"policy, n = {n}", *(f"`{task}`" for task in tasks)), table)
        + f"\n\n{ZERO_GRADE}"
    )


def ladder() -> str:
    """Every rung of the ladder on the open market: its grade, and how many games it forfeited."""
    rows = {(row["task"], row["policy"]): row for row in load(LADDER).data["rows"]}
    table = []
    for name in dict.fromkeys(name for task, name in rows if task in BAZAAR):
        mine = [rows[task, name] for task in BAZAAR]
        n, forfeits = mine[0]["n"], sum(row["ends"]["forfeit"] for row in mine)
        grades = (spanned(row["grade"]) for row in mine)
        table.append((f"`{name}`", f"{n}", *grades, f"{forfeits} of {n * len(mine)}"))
    return markdown(("policy", "n", *(f"`{task}`" for task in BAZAAR), "forfeits"), table)


def story() -> str:
    """What each stage of training added to the one before, bare, on every task it was tried on."""
    climbs = {
        (climb["task"], climb["after"]): climb
        for climb in load(LADDER).data["climbs"]
        if climb["on"] == "all"
    }
    tasks = dict.fromkeys(task for task, _ in climbs)
    stages = list(dict.fromkeys(after for _, after in climbs))
    table = []
    for task in tasks:
        mine = [climbs[task, stage] for stage in stages]
        table.append((f"`{task}`", f"{mine[0]['n']}", *map(_gained, mine)))
    heads = (f"{stage.rpartition('+')[2].upper()} adds" for stage in stages)
    return markdown(("task", "n", *heads), table)


def _gained(climb: Mapping[str, Any]) -> str:
    return f"{climb['difference']:+.3f} [{climb['low']:+.3f}, {climb['high']:+.3f}]"


def lab() -> str:
    """The language model as a lab: its grade after each stage, bare, beside scripts."""
    data = load("evaluation/arena-ladder.json").data
    gained = {climb["after"]: _gained(climb) for climb in data["climbs"]}
    table = [
        (
            f"`{row['policy']}`",
            f"{row['n']}",
            spanned(row["grade"]),
            gained.get(row["policy"], "–"),
            f"{row['jobs']['mean']:.2f} of {row['jobs_had']:.2f}",
            f"{row['valid']:.0%}",
        )
        for row in data["rows"]
    ]
    (bound,) = data["bounds"]
    table.append(("upper bound", f"{bound['n']}", spanned(bound["grade"]), "–", "–", "–"))
    heads = ("policy", "n", "grade", "added by the stage", "jobs done", "actions taken")
    return markdown(heads, table)


TABLES: Mapping[str, Callable[[], str]] = {
    "results": results, "market": market, "ladder": ladder, "story": story, "arena": arena,
    "lab": lab, "checks": checks, "kinds": every_kind,
    "differences": lambda: markdown(*differences()),
    "published_speeds": lambda: markdown(*published()), "listing": lambda: markdown(*listing()),
}  # fmt: skip


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def spanned(figures: Mapping[str, float]) -> str:
    """A mean with its interval; what rounds to nothing bears no sign."""
    mean, low, high = (f"{round(figures[end], 3) + 0.0:.3f}" for end in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def part(figures: Mapping[str, float]) -> str:
    """A mean and its share of the informed oracle's."""
    return f"{figures['mean']:.3f} ({figures['share']:.0%})"


def _row(file: str, task: str, policy: str) -> Mapping[str, Any]:
    rows = load(file).data["rows"]
    return next(r for r in rows if (r["task"], r["policy"]) == (task, policy))
