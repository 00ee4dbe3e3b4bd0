"""How far from the optimum, where is it lost, and what are words worth?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from env import TYPES
from panels import frames
from panels.frames import BOUND, Table
from panels.results.models import FILE as COMPARISON
from panels.results.models import (
    GAIN,
    PLANNERS,
    buyer_name,
    policy_label,
    rows_by_policy,
    series_role,
)
from panels.results.question import (
    HTML,
    Answer,
    Measured,
    Question,
    Verdict,
    clauses,
    grades_figure,
    side,
)
from panels.results.winners import ORACLE_FILE
from panels.ui.html import SAY
from panels.ui.look import table
from panels.ui.tables import whisker_rows, with_interval
from panels.ui.terms import list_names, short, task_title
from sauda.experiments.comparison import BAYESIAN, LEAVE, LISTENER, ORACLE, OURS, TUNED
from sauda.experiments.gap import FILE as GAP_FILE
from sauda.experiments.gap import Gap
from sauda.experiments.oracle import OracleRow
from sauda.experiments.worth import BOUND as TOLD
from sauda.experiments.worth import SPOKEN, Worth
from sauda.llm.registry import is_model
from sauda.records.store import Artifact

WORDS_FILE = "worth.json"
BEST = "best untuned script, "
SHOWN = (LISTENER, BAYESIAN, TUNED)  # of the players beside the bound, before Sauda


# How far from the optimum ------------------------------------------------------------------------


def buyers(row: OracleRow, comparison: Artifact) -> list[Measured]:
    """The buyers that do not know their seller, where each was played.

    The planners, the tuned script, Sauda and the best other script, in this order.
    """
    played = {cell.policy: cell for cell in row.policies}
    found = [(buyer_name(name), name, row.n, played[name]) for name in SHOWN if name in played]
    if ours := rows_by_policy(comparison, row.task).get(OURS):
        found.append((buyer_name(OURS), OURS, ours.n, ours.grade))
    scripts = [cell for name, cell in played.items() if name not in (*PLANNERS, TUNED, LEAVE)]
    if scripts:
        best = max(scripts, key=lambda cell: cell.mean)
        label = BEST + buyer_name(best.policy)
        found.append((label, best.policy, row.n, best))
    return [
        Measured(label, grade, series_role(policy), row.task, n)
        for label, policy, n, grade in found
    ]


def optimum_verdict(
    bounds: Sequence[OracleRow], found: Mapping[str, Sequence[Measured]]
) -> Verdict:
    """What knowing the seller would win, what share is won without, and where room is left.

    `found` has the buyers that do not know their seller, by task.
    """
    best = {
        task: max(buyers, key=lambda buyer: buyer.interval.mean)
        for task, buyers in found.items()
        if buyers
    }
    scores = [row.informed.mean for row in bounds]
    if not best:
        return Verdict(SAY.optimum(scores, (), ()))
    beside = {row.task: row for row in bounds if row.task in best}
    told = clauses(
        {task: side(row.informed, best[task].interval) for task, row in beside.items()},
        unclear="no room above it is shown in {}",
        below="it scores more than the bound, which therefore does not hold, in {}",
    )
    shares = [best[task].interval.mean / row.informed.mean for task, row in beside.items()]
    lines = []
    for row in bounds:
        buyer = best.get(row.task)
        lines.append(SAY.bound(row, buyer, buyer and buyer.label.removeprefix(BEST)))
    return Verdict(SAY.optimum(scores, shares, told), tuple(lines))


def exploits(bounds: Sequence[OracleRow]) -> Markup:
    """Whether any exploit beats the best honest script by more than noise."""
    paying, tried = [], 0
    for row in bounds:
        if row.search:
            cells = [*row.exploits, *row.search.best]
            tried += len(row.exploits) + row.search.tried
            paying += [
                f"“{cell.what}” in the {short(row.task)}"
                for cell in cells
                if side(cell.gain) == "above"
            ]
    return HTML.exploits(tried, list_names(paying))


def optimum_answer(oracle: Artifact, comparison: Artifact) -> Answer:
    """The bound, and the players beside it."""
    bounds = oracle.data.rows
    found = {row.task: buyers(row, comparison) for row in bounds}
    rows = [
        each
        for row in bounds
        for each in (Measured(BOUND, row.informed, "oracle", row.task, row.n), *found[row.task])
    ]
    return Answer(
        optimum_verdict(bounds, found),
        grades_figure(rows),
        HTML.bound_caption(),
        rows,
        "buyer",
        [oracle, comparison],
        replayed=([comparison], ORACLE),
        tables=[frames.players(bounds), frames.exploits(bounds, exploits(bounds))],
    )


OPTIMUM = Question(
    "optimum", "How far from the optimum?", (ORACLE_FILE, COMPARISON), optimum_answer
)


# Where it is lost --------------------------------------------------------------------------------

PARTS = {
    "inference": "inference: lost by what it believes of the seller",
    "control": "control: lost by what it makes of its belief",
}
DIFFICULTY = {  # of the games in a bin
    "no price serves both": "{0.no_zopa:.0%}",
    "between the limits": "{0.width:.0%} of the list",
    "bluffers": "{0.bluffers:.0%}",
    "another buyer waits": "{0.rivals:.0%}",
    "short of time": "{0.pressed:.0%}",
}
UNCERTAINTY = "uncertainty: lost by the planner, which does not know the seller"


def gap_verdict(data: Gap) -> Verdict:
    """What the planner itself loses, and where Sauda, or else the tuned script, loses the rest."""
    by_name = {row.player: row for row in data.rows}
    row = by_name.get(OURS, by_name.get(TUNED))
    if row is None:
        return Verdict(SAY.gap(data, "", None, ()))
    name, sides = buyer_name(row.player), (side(row.inference), side(row.control))
    whole = f"{name} scores {with_interval(row.grade)}, n = {data.n:,}."
    return Verdict(SAY.gap(data, name, row, sides), (whole,))


def games_by_difficulty(data: Gap) -> Markup:
    """What the games of each bin are like."""
    heads = ("games", *(part.name for part in data.bins))
    rows = [(what, *map(form.format, data.bins)) for what, form in DIFFICULTY.items()]
    return table(heads, rows)


def gap_answer(artifact: Artifact) -> Answer:
    """What is lost by part and player, and how hard the games are."""
    data = artifact.data
    shown = [row for row in data.rows if is_model(row.player)]
    shown += [row for row in data.rows if row.player in (TUNED, *PLANNERS)]
    anybody = Measured("every player", data.uncertainty, "oracle", data.task, data.n)
    groups, listed_rows = {UNCERTAINTY: [anybody]}, [replace(anybody, label=UNCERTAINTY)]
    for part, title in PARTS.items():
        lost = {row.player: getattr(row, part) for row in shown}
        groups[title] = [
            Measured(policy_label(name), loss, series_role(name), data.task, data.n)
            for name, loss in lost.items()
        ]
        listed_rows += [replace(row, label=f"{part}, {row.label}") for row in groups[title]]
    return Answer(
        gap_verdict(data),
        whisker_rows(groups, "grade lost", GAIN),
        HTML.gap_caption(),
        listed_rows,
        "part and player",
        [artifact],
        n=f"n = {data.n:,} games",
        tables=[
            frames.by_difficulty(data, games_by_difficulty(data)),
            Table("beliefs", [row for row in data.rows if row.beliefs]),
        ],
    )


GAP = Question("gap", "Where is it lost?", (GAP_FILE,), gap_answer, names=())


# What words are worth ----------------------------------------------------------------------------

PLAYERS: Mapping[str, tuple[str, str]] = {  # of the figure: in words, key of SERIES
    TOLD: (BOUND, "oracle"),
    "both": ("plans, reads and speaks", "buyer"),
    "reads": ("plans and reads, says nothing", "buyer"),
    "speaks": ("plans and speaks, reads nothing", "buyer"),
    "silent": ("plans on numbers alone", "buyer"),
    "conceder": ("script that says nothing", "scripted"),
}


def words_verdict(data: Worth) -> Verdict:
    """What reading and speaking add to a buyer that plans: in the open market, then elsewhere."""
    worth = {(row.market, row.what, row.value): row for row in data.worth}
    told = {key: with_interval(row.difference, GAIN) for key, row in worth.items()}
    first = worth[SPOKEN[0], "both", "all"]
    lines = [
        f"{task_title(f'bazaar/{at}')}: both {told[at, 'both', 'all']}, reading alone"
        f" {told[at, 'reading', 'all']}, speaking alone {told[at, 'speaking', 'all']};"
        f" both with a fifth of what is heard misread {told[at, 'both, 20 % misread', 'all']}."
        for at in SPOKEN
    ]
    types = (f"{name} {told[SPOKEN[0], 'both', name]}" for name in TYPES)
    return Verdict(
        SAY.words(side(first.difference), told[SPOKEN[0], "both", "all"], first.n),
        (*lines, f"By type of seller in the {short(f'bazaar/{SPOKEN[0]}')}: {'; '.join(types)}."),
    )


def words_rows(data: Worth) -> list[Measured]:
    """Mean grades where words count, market by market, the bound on top."""
    played = {(row.market, row.player): row for row in data.played}
    return [
        Measured(label, row.grade, role, f"bazaar/{at}", row.n)
        for at in SPOKEN
        for name, (label, role) in PLAYERS.items()
        for row in [played[at, name]]
    ]


def words_answer(worth: Artifact) -> Answer:
    """Mean grades of buyers that read, speak, do both or neither."""
    rows = words_rows(worth.data)
    return Answer(
        words_verdict(worth.data),
        grades_figure(rows),
        HTML.words_caption(),
        rows,
        "buyer",
        [worth],
        tables=[Table("worth", worth.data.worth)],
    )


WORDS = Question("words", "What are words worth?", (WORDS_FILE,), words_answer, names=())
