"""How far from the optimum, where is it lost, and what are words worth?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from markupsafe import Markup

from panels.results.models import FILE as COMPARISON
from panels.results.models import (
    FORM,
    PLANNERS,
    buyer_name,
    lead_of,
    named,
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
from panels.ui.provenance import provenance
from panels.ui.tables import data_table, whisker_rows, with_interval
from panels.ui.terms import list_names, short
from sauda.experiments.comparison import BAYESIAN, LEAVE, LISTENER, ORACLE, OURS, TUNED
from sauda.experiments.gap import FILE as GAP_FILE
from sauda.experiments.gap import Gap, GapRow
from sauda.experiments.oracle import OracleRow
from sauda.experiments.words import HEARING, OPEN, Hearing, Words
from sauda.llm.registry import is_model
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact
from sauda.statistics import name_interval, share_of_gap

GAIN = "+z.3f"  # of differences of grades
BOUND = "bound: knows its seller"
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


def players_table(row: OracleRow) -> Markup:
    """Mean grade of every player on a task, and its share of the informed oracle's; best first."""
    players = [(BOUND, row.informed, 1.0), ("the same, saying nothing", row.silent, None)]
    cells = sorted(row.policies, key=lambda cell: -cell.mean)
    players += [(policy_label(cell.policy), cell, cell.share) for cell in cells]
    heads = ("player", "mean grade", "of the bound")
    caption = (
        f"The {short(row.task)}, n = {row.n:,} hold-out seeds; in {row.no_zopa:.0%} of them no"
        " price serves both sides"
    )
    lines = [dict(zip(heads, player, strict=True)) for player in players]
    return data_table(lines, caption, FORM, {"of the bound": ".0%"})


def exploits(bounds: Sequence[OracleRow]) -> Markup:
    """Whether any exploit beats the best honest script by more than noise, and all exploits."""
    paying, tables, tried = [], [], 0
    for row in bounds:
        if not row.search:
            continue
        cells, task = [*row.exploits, *row.search.best], short(row.task)
        paying += [f"“{c.what}” in the {task}" for c in cells if side(c.gain) == "above"]
        tried += len(row.exploits) + row.search.tried
        less = f"less {policy_label(row.honest)}"
        caption = (
            f"Exploits in the {task}, paired by seed, n = {row.n:,}; random scripts are the best"
            " of the search"
        )
        cells.sort(key=lambda cell: -cell.mean)
        columns = {"way to play": "what", "mean grade": lambda cell: cell, less: "gain"}
        tables.append(data_table(cells, caption, FORM, {less: GAIN}, columns))
    return HTML.exploits(tried, list_names(paying), Markup("").join(tables))


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
        details={
            "Every player, task by task": Markup("").join(map(players_table, bounds)),
            "Do lies, spam or tricks pay?": exploits(bounds),
        },
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
BELIEFS = {
    "positions": "n", "stated": "stated", "limit inside its range": "held",
    "inside the planner’s": "own_held", "width": "width", "planner’s width": "own_width",
    "type right": "right", "planner’s type right": "own_right",
}  # fmt: skip
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


def bins_table(data: Gap) -> Markup:
    """Mean grade of every player by difficulty; the games of each bin in words below its name."""
    players = [(BOUND, [part.oracle for part in data.bins])]
    players += [
        (policy_label(row.player), row.bins)
        for row in sorted(data.rows, key=lambda row: -row.grade.mean)
    ]
    rows = [(name, *(with_interval(cell) for cell in cells)) for name, cells in players]
    rows += [(what, *map(form.format, data.bins)) for what, form in DIFFICULTY.items()]
    return table(
        ("player", *(f"{part.name}, n = {part.n}" for part in data.bins)),
        rows,
        caption="Mean grade by difficulty: fifths of the games by what the bound expects",
    )


def beliefs_table(rows: Sequence[GapRow]) -> Markup:
    """How good the stated beliefs are, beside those of the planner in the same positions."""
    columns = {"player": named("player")} | {
        head: f"beliefs.{field}" for head, field in BELIEFS.items()
    }
    caption = (
        "Stated beliefs: a range meant to hold the limit with 80 %, its width by list price, and a"
        " pick of four types"
    )
    return data_table((row for row in rows if row.beliefs), caption, ".0%", columns=columns)


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
        details={
            "How hard the games are, and scores by difficulty": bins_table(data),
            "How good the stated beliefs are": beliefs_table(data.rows),
        },
    )


GAP = Question("gap", "Where is it lost?", (GAP_FILE,), gap_answer, names=())


# What words are worth ----------------------------------------------------------------------------

WORDS_FILE = "words.json"
BOTH, READING = "reading and speaking", "reading"
SPEAKING = "speaking, for one that reads"
PLAYERS: Mapping[str, tuple[str, str]] = {  # of the figure: in words, key of SERIES
    "oracle": (BOUND, "oracle"),
    "both": ("plans, reads and speaks", "buyer"),
    "reads": ("plans and reads, says nothing", "buyer"),
    "speaks": ("plans and speaks, reads nothing", "buyer"),
    "numbers": ("plans on numbers alone", "buyer"),
    "conceder, says the key": ("script that says the key it hears", "scripted"),
    "conceder": ("the same script, silent", "scripted"),
}
SELLER_TYPES = ("firm", "fair", "hasty", "bluffer")
UNSEEN, REMOVED = "unseen", "words removed"
LOST = {  # markets of hearing.json beside the open one, in words
    UNSEEN: "phrases of no training",
    "mute": "no words on either side",
    REMOVED: "its ears shut",
    "words of another game": "words of another game",
    "words of another type": "words of another type",
}


def words_verdict(data: Words, hearing: Hearing) -> Verdict:
    """What reading and speaking add to a buyer that plans, and what words are worth to Sauda."""
    worth = {row.what: row for row in data.worth}
    told = {what: with_interval(row.all, GAIN) for what, row in worth.items()}
    types = "; ".join(
        f"{name} {with_interval(getattr(worth[BOTH], name), GAIN)}" for name in SELLER_TYPES
    )
    unseen = told["reading and speaking, unseen phrases"]
    return Verdict(
        SAY.words(side(worth[BOTH].all), told[BOTH], len(data.types)),
        (
            f"Reading alone: {told[READING]}; speaking on top of it: {told[SPEAKING]}.",
            f"By type of seller: {types}.",
            f"In phrases that its reader has never seen: {unseen}.",
            words_to_sauda(hearing),
            on_unseen_phrases(hearing),
        ),
    )


def words_to_sauda(data: Hearing) -> str:
    """What the served model loses without words, and what is left of that in unseen phrases."""
    rows = {row.market: row for row in data.rows if row.player == OURS}
    grades = {name: np.array(row.grades) for name, row in rows.items()}
    kept = share_of_gap(grades[UNSEEN], grades[REMOVED], grades[OPEN])
    told = with_interval(Interval(**name_interval(kept)), "z.0%") if kept else "no sure share"
    worth = with_interval(rows[REMOVED].less, GAIN)
    return SAY.words_to_sauda(buyer_name(OURS), worth, told, data.n)


def on_unseen_phrases(data: Hearing) -> str:
    """How the served model and the planner that taught it fare where neither knows the phrases."""
    grades = {row.player: row.grades for row in data.rows if row.market == UNSEEN}
    lead = lead_of(grades[OURS], grades[LISTENER])
    return SAY.on_unseen_phrases(buyer_name(OURS), buyer_name(LISTENER), side(lead.gain), lead)


def words_rows(data: Words) -> list[Measured]:
    """Mean grades in the open market, the bound on top."""
    played = {row.player: row for row in data.played if row.market == "open"}
    return [
        Measured(label, played[name].grade, role, "bazaar/open", len(data.types))
        for name, (label, role) in PLAYERS.items()
    ]


def hearing_table(data: Hearing) -> Markup:
    """What each player scores in the open market, and what it loses where its words are others."""
    rows = {(row.player, row.market): row for row in data.rows}
    grade = "grade in the open market"
    lines = [
        {"player": policy_label(player), grade: rows[player, OPEN].grade}
        | {f"loses: {told}": rows[player, name].less for name, told in LOST.items()}
        for player in dict.fromkeys(row.player for row in data.rows)
    ]
    caption = f"Mean grade, and what is lost on the same {data.n:,} seeds; 95 % intervals"
    return data_table(lines, caption, GAIN, {grade: FORM})


def words_answer(words: Artifact, hearing: Artifact) -> Answer:
    """Mean grades of buyers that read, speak, do both or neither."""
    data, rows = words.data, words_rows(words.data)
    columns = {"worth of": "what", "all games": "all"} | {name: name for name in SELLER_TYPES}
    worth = "Difference of the mean grade, paired by seed; 95 % intervals"
    heard = hearing_table(hearing.data) + provenance(hearing)
    return Answer(
        words_verdict(data, hearing.data),
        grades_figure(rows),
        HTML.words_caption(),
        rows,
        "buyer",
        [words],
        details={
            "What each thing is worth: questions, fixed phrases, lies, misreading": data_table(
                data.worth, worth, GAIN, columns=columns
            ),
            "Who loses what with other words in its ears": heard,
        },
    )


WORDS = Question("words", "What are words worth?", (WORDS_FILE, HEARING), words_answer, names=())
