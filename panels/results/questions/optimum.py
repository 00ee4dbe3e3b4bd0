"""How far from the optimum, where is it lost, and what are words worth?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_labels import PLANNERS, policy_label, series_role
from panels.results.model_summary import rows_by_policy
from panels.results.questions.layout import Answer, Artifacts, Measured, Question
from panels.results.questions.verdict import Verdict, buyer_name, listed, tasks_listed
from panels.ui.look import table
from panels.ui.provenance import provenance
from panels.ui.tables import data_table, with_interval
from panels.ui.terms import short
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.comparison import BAYESIAN, LEAVE, LISTENER, ORACLE, OURS, TUNED
from sauda.experiments.gap import FILE as GAP_FILE
from sauda.experiments.gap import Gap, GapRow
from sauda.experiments.hearing import FILE as HEARING
from sauda.experiments.hearing import OPEN, Hearing
from sauda.experiments.oracle import Exploit, OracleRow
from sauda.experiments.words import Played, Words, Worth
from sauda.llm.registry import is_model
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

FORM, GAIN = "z.3f", "+z.3f"  # of grades, of differences
ORACLE_FILE = "oracle.json"
BOUND = "bound: knows its seller"
SHOWN = (LISTENER, BAYESIAN, TUNED)  # of the players beside the bound, before Sauda


@dataclass(frozen=True)
class Buyer:
    """A buyer that does not know its seller, on one task."""

    policy: str
    n: int
    grade: Interval


def buyers(row: OracleRow, comparison: Artifact | None) -> list[Buyer]:
    """The planners, the tuned script, Sauda and the best other script, where each was played."""
    played = {cell.policy: cell for cell in row.policies}
    found = [Buyer(name, row.n, played[name]) for name in SHOWN if name in played]
    compared = {} if comparison is None else rows_by_policy(comparison, row.task)
    if OURS in compared:
        found.append(Buyer(OURS, compared[OURS].n, compared[OURS].grade))
    scripts = [cell for name, cell in played.items() if name not in (*PLANNERS, TUNED, LEAVE)]
    if scripts:
        best = max(scripts, key=lambda cell: cell.mean)
        found.append(Buyer(best.policy, row.n, best))
    return found


def optimum_verdict(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> Verdict:
    """What knowing the seller would win, what share is won without, and where room is left.

    `found` has the buyers that do not know their seller, by task.
    """
    best = {
        row.task: max(found[row.task], key=lambda buyer: buyer.grade.mean)
        for row in bounds
        if found[row.task]
    }
    sentence = (
        f"Knowing the seller, a buyer can score {_span([r.informed.mean for r in bounds])} of 1"
    )
    if not best:
        return Verdict(f"{sentence}; no buyer without that knowledge has been played.")
    shares = [best[row.task].grade.mean / row.informed.mean for row in bounds if row.task in best]
    sentence += f"; the best buyer that does not know it reaches {_span(shares, '.0%')} of that"
    room = {row.task: _room(row, best[row.task]) for row in bounds if row.task in best}
    for words, kind in (
        ("; no room above it is shown in", "unclear"),
        ("; it scores more than the bound, which therefore does not hold, in", "below"),
    ):
        if tasks := [task for task, sign in room.items() if sign == kind]:
            sentence += f"{words} {tasks_listed(tasks)}"
    return Verdict(f"{sentence}.", _bounds_told(bounds, best))


def _room(row: OracleRow, buyer: Buyer) -> str:
    """Whether the bound lies above the buyer's interval, beside it, or below."""
    if row.informed.low > buyer.grade.high:
        return "above"
    return "below" if row.informed.high < buyer.grade.low else "unclear"


def _span(values: Sequence[float], form: str = FORM) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _bounds_told(bounds: Sequence[OracleRow], best: dict[str, Buyer]) -> tuple[str, ...]:
    lines = []
    for row in bounds:
        text = f"{short(row.task)}: {with_interval(row.informed, FORM)}, n = {row.n:,}"
        if row.task in best:
            buyer = best[row.task]
            text += (
                f"; {buyer_name(buyer.policy)} {with_interval(buyer.grade, FORM)}, n = {buyer.n:,}"
            )
        lines.append(text)
    return tuple(lines)


def bound_figure(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> go.Figure:
    """By task, the bound and the buyers that do not know their seller, each with its interval."""
    groups = {
        short(row.task): [
            WhiskerRow(BOUND, row.informed, "oracle"),
            *(WhiskerRow(_buyer_label(b), b.grade, series_role(b.policy)) for b in found[row.task]),
        ]
        for row in bounds
    }
    return whisker_rows(groups, "mean grade, 1 at best", FORM)


def _buyer_label(buyer: Buyer) -> str:
    known = buyer.policy in (*SHOWN, OURS)
    return buyer_name(buyer.policy) if known else f"best untuned script, {buyer_name(buyer.policy)}"


def optimum_rows(bounds: Sequence[OracleRow], found: dict[str, list[Buyer]]) -> list[Measured]:
    """The figure's numbers."""
    return [
        line
        for row in bounds
        for line in (
            Measured(row.task, BOUND, row.n, row.informed),
            *(Measured(row.task, _buyer_label(b), b.n, b.grade) for b in found[row.task]),
        )
    ]


# Details ------------------------------------------------------------------------------------------


def players_table(row: OracleRow) -> Markup:
    """Mean grade of every player on a task, and its share of the informed oracle's; best first."""
    lines = [
        {"player": BOUND, "mean grade": row.informed, "of the bound": 1.0},
        {"player": "the same, saying nothing", "mean grade": row.silent, "of the bound": None},
    ]
    lines += [
        {"player": policy_label(cell.policy), "mean grade": cell, "of the bound": cell.share}
        for cell in sorted(row.policies, key=lambda cell: -cell.mean)
    ]
    caption = (
        f"The {short(row.task)}, n = {row.n:,} hold-out seeds; in {row.no_zopa:.0%} of them no"
        " price serves both sides"
    )
    return data_table(lines, caption, FORM, {"of the bound": ".0%"})


def exploits_sentence(bounds: Sequence[OracleRow]) -> str:
    """Whether any exploit beats the best honest script by more than noise, as text."""
    searched = [row for row in bounds if row.search is not None]
    paying = [f"“{cell.what}” in the {short(row.task)}" for row in searched for cell in pays(row)]
    tried = sum(len(row.exploits) + row.search.tried for row in searched)
    found = f"{listed(paying)} beat" if paying else "None beats"
    return (
        f"{tried:,} odd or dishonest ways to play and random scripts were tried. {found} the best"
        " honest script by more than noise."
    )


def pays(row: OracleRow) -> list[Exploit]:
    """The exploits of a task that beat its best honest script by more than noise."""
    return [cell for cell in _exploits(row) if cell.gain.low > 0]


def _exploits(row: OracleRow) -> list[Exploit]:
    return [*row.exploits, *(row.search.best if row.search else ())]


def exploits_table(row: OracleRow) -> Markup:
    """Every exploit of a task: its grade, and what it gains over the best honest script."""
    less = f"less {policy_label(row.honest)}"
    lines = [
        {"way to play": cell.what, "mean grade": cell, less: cell.gain}
        for cell in sorted(_exploits(row), key=lambda cell: -cell.mean)
    ]
    caption = (
        f"Exploits in the {short(row.task)}, paired by seed, n = {row.n:,}; random scripts are the"
        " best of the search"
    )
    return data_table(lines, caption, FORM, {less: GAIN})


def optimum_answer(artifacts: Artifacts) -> Answer | None:
    """The bound, and the players beside it."""
    if (artifact := artifacts.get(ORACLE_FILE)) is None:
        return None
    comparison, bounds = artifacts.get(COMPARISON), artifact.data.rows
    found = {row.task: buyers(row, comparison) for row in bounds}
    exploits = [exploits_table(row) for row in bounds if row.search]
    told = Markup("<p>{}</p>").format(exploits_sentence(bounds))
    return Answer(
        optimum_verdict(bounds, found),
        bound_figure(bounds, found),
        [
            "The bound is the best response to a seller whose limit and type are known, which no"
            " contestant knows. Some games have no possible deal, so 1 is out of reach. Whiskers"
            " are 95 % bootstrap intervals over hold-out seeds."
        ],
        optimum_rows(bounds, found),
        "buyer",
        list(filter(None, (artifact, comparison))),
        replayed=None if comparison is None else ([comparison], ORACLE),
        details={
            "Every player, task by task": Markup("").join(map(players_table, bounds)),
            "Do lies, spam or tricks pay?": told + Markup("").join(exploits),
        },
    )


OPTIMUM = Question(
    "optimum", "How far from the optimum?", (ORACLE_FILE, COMPARISON), optimum_answer
)

PARTS = {
    "inference": "inference: lost by what it believes of the seller",
    "control": "control: lost by what it makes of its belief",
}
UNCERTAINTY = "uncertainty: lost by the planner, which does not know the seller"


def split_players(data: Gap) -> list[GapRow]:
    """The rows of the figure: language models, the tuned script, the planners."""
    rows = [row for row in data.rows if is_model(row.player)]
    return rows + [row for row in data.rows if row.player in (TUNED, *PLANNERS)]


def gap_verdict(data: Gap) -> Verdict:
    """What the planner itself loses, and where Sauda, or else the tuned script, loses the rest."""
    by_name = {row.player: row for row in data.rows}
    row = by_name.get(OURS, by_name.get(TUNED))
    sentence = (
        f"Of a bound of {data.oracle.mean:{FORM}}, {with_interval(data.uncertainty, FORM)} is lost"
        " even by the planner that reads and speaks, since it does not know the seller"
    )
    if row is None:
        return Verdict(f"{sentence}.")
    whole = f"{buyer_name(row.player)} scores {with_interval(row.grade, FORM)}, n = {data.n:,}"
    believed = _cost(row.inference, "what it believes of the seller")
    made = _cost(row.control, "what it makes of that")
    return Verdict(f"{sentence}; {buyer_name(row.player)} {believed}, and {made}.", (f"{whole}.",))


def _cost(lost: Interval, by: str) -> str:
    """What an interval says of a loss, as a phrase."""
    if lost.low > 0:
        return f"loses {with_interval(lost, FORM)} by {by}"
    if lost.high < 0:
        return f"beats the planner by {by} ({with_interval(lost, GAIN)} lost)"
    return f"shows no loss by {by} ({with_interval(lost, GAIN)})"


def split_figure(data: Gap) -> go.Figure:
    """What is lost by part and player, each with its interval."""
    groups = {UNCERTAINTY: [WhiskerRow("every player", data.uncertainty, "oracle")]}
    groups |= {
        title: [
            WhiskerRow(policy_label(row.player), getattr(row, part), series_role(row.player))
            for row in split_players(data)
        ]
        for part, title in PARTS.items()
    }
    return whisker_rows(groups, "grade lost", GAIN)


def gap_rows(data: Gap) -> list[Measured]:
    """The figure's numbers."""
    lines = [Measured(data.task, UNCERTAINTY, data.n, data.uncertainty)]
    return lines + [
        Measured(data.task, f"{part}, {policy_label(row.player)}", data.n, getattr(row, part))
        for part in PARTS
        for row in split_players(data)
    ]


def bins_table(data: Gap) -> Markup:
    """Mean grade of every player by difficulty; the games of each bin in words below its name."""
    return table(
        ("player", *(f"{part.name}, n = {part.n}" for part in data.bins)),
        [
            ("bound: knows its seller", *(with_interval(b.oracle, FORM) for b in data.bins)),
            *(
                (policy_label(row.player), *(with_interval(cell, FORM) for cell in row.bins))
                for row in sorted(data.rows, key=lambda row: -row.grade.mean)
            ),
            ("no price serves both", *(f"{part.no_zopa:.0%}" for part in data.bins)),
            ("between the limits", *(f"{part.width:.0%} of the list" for part in data.bins)),
            ("bluffers", *(f"{part.bluffers:.0%}" for part in data.bins)),
            ("another buyer waits", *(f"{part.rivals:.0%}" for part in data.bins)),
            ("short of time", *(f"{part.pressed:.0%}" for part in data.bins)),
        ],
        caption="Mean grade by difficulty: fifths of the games by what the bound expects",
    )


def beliefs_table(rows: Sequence[GapRow]) -> Markup:
    """How good the stated beliefs are, beside those of the planner in the same positions."""
    lines = [
        {
            "player": policy_label(row.player), "positions": stated.n, "stated": stated.stated,
            "limit inside its range": stated.held, "inside the planner’s": stated.own_held,
            "width": stated.width, "planner’s width": stated.own_width,
            "type right": stated.right, "planner’s type right": stated.own_right,
        }
        for row in rows
        if (stated := row.beliefs)
    ]  # fmt: skip
    caption = (
        "Stated beliefs: a range meant to hold the limit with 80 %, its width by list price, and a"
        " pick of four types"
    )
    return data_table(lines, caption, ".0%")


def gap_answer(artifacts: Artifacts) -> Answer | None:
    """What is lost by part and player, and how hard the games are."""
    if (artifact := artifacts.get(GAP_FILE)) is None:
        return None
    data = artifact.data
    return Answer(
        gap_verdict(data),
        split_figure(data),
        [
            "One planner splits the gap. Uncertainty is what it loses to the bound with the exact"
            " belief, inference what it loses more with the belief that a player states, control"
            " what the player loses to it then. Who states none counts with what is known before"
            " the first bid. Below 0: the player does better than that planner."
        ],
        gap_rows(data),
        "part and player",
        [artifact],
        n=f"n = {data.n:,} games",
        details={
            "How hard the games are, and scores by difficulty": bins_table(data),
            "How good the stated beliefs are": beliefs_table(data.rows),
        },
    )


GAP = Question("gap", "Where is it lost?", (GAP_FILE,), gap_answer, names=())


WORDS_FILE = "words.json"
BOTH, READING = "reading and speaking", "reading"
SPEAKING = "speaking, for one that reads"
PLAYERS: Mapping[str, tuple[str, str]] = {  # of the figure: in words, key of SERIES
    "oracle": ("bound: knows its seller", "oracle"),
    "both": ("plans, reads and speaks", "buyer"),
    "reads": ("plans and reads, says nothing", "buyer"),
    "speaks": ("plans and speaks, reads nothing", "buyer"),
    "numbers": ("plans on numbers alone", "buyer"),
    "conceder, says the key": ("script that says the key it hears", "scripted"),
    "conceder": ("the same script, silent", "scripted"),
}
SELLER_TYPES = ("firm", "fair", "hasty", "bluffer")
LOST = {  # markets of hearing.json beside the open one, in words
    "unseen": "phrases of no training",
    "mute": "no words on either side",
    "words removed": "its ears shut",
    "words of another game": "words of another game",
    "words of another type": "words of another type",
}


def words_verdict(data: Words) -> Verdict:
    """What reading and speaking add to a buyer that plans, and what is worth nothing."""
    worth = {row.what: row for row in data.worth}
    n = len(data.types)
    both = worth[BOTH].all
    lead = "adds" if both.low > 0 else "adds nothing that is shown:" if both.high > 0 else "costs"
    sentence = (
        f"To a buyer that plans, reading and speaking {lead} {with_interval(both, GAIN)} of a grade"
        f" (n = {n:,}, on the same seeds)."
    )
    split = (
        f"Reading alone: {with_interval(worth[READING].all, GAIN)}; speaking on top of it:"
        f" {with_interval(worth[SPEAKING].all, GAIN)}."
    )
    types = "; ".join(
        f"{name} {with_interval(getattr(worth[BOTH], name), GAIN)}" for name in SELLER_TYPES
    )
    unseen = with_interval(worth["reading and speaking, unseen phrases"].all, GAIN)
    return Verdict(
        sentence,
        (
            split,
            f"By type of seller: {types}.",
            f"In phrases that its reader has never seen: {unseen}.",
        ),
    )


def played_in(data: Words, market: str) -> dict[str, Played]:
    """The rows of one market by player."""
    return {row.player: row for row in data.played if row.market == market}


def grades_figure(data: Words) -> go.Figure:
    """Mean grades in the market, the bound on top."""
    rows = played_in(data, "open")
    points = [WhiskerRow(label, rows[name].grade, role) for name, (label, role) in PLAYERS.items()]
    return whisker_rows({"open market": points}, "mean grade, 1 at best", FORM)


def worth_table(rows: Sequence[Worth]) -> Markup:
    """Differences of two players on the same seeds, over all games and by type of seller."""
    lines = [
        {"worth of": row.what, "all games": row.all}
        | {name: getattr(row, name) for name in SELLER_TYPES}
        for row in rows
    ]
    return data_table(lines, "Difference of the mean grade, paired by seed; 95 % intervals", GAIN)


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


def words_rows(data: Words) -> list[Measured]:
    """The figure's numbers."""
    rows = played_in(data, "open")
    n = len(data.types)
    return [
        Measured("bazaar/open", label, n, rows[name].grade) for name, (label, _) in PLAYERS.items()
    ]


def words_answer(artifacts: Artifacts) -> Answer | None:
    """Mean grades of buyers that read, speak, do both or neither."""
    if (artifact := artifacts.get(WORDS_FILE)) is None:
        return None
    data, hearing = artifact.data, artifacts.get(HEARING)
    details = {
        "What each thing is worth: questions, fixed phrases, lies, misreading": worth_table(
            data.worth
        )
    }
    if hearing is not None:
        heard = hearing_table(hearing.data) + provenance(hearing)
        details["Who loses what with other words in its ears"] = heard
    return Answer(
        words_verdict(data),
        grades_figure(data),
        [
            "In this market a buyer’s best bid stands, the seller’s words tell what its asks do"
            " not, and each type of seller is moved by something else that a buyer may say: tea,"
            " cash in hand, another shop’s price, a flaw."
        ],
        words_rows(data),
        "buyer",
        [artifact],
        details=details,
    )


WORDS = Question("words", "What are words worth?", (WORDS_FILE, HEARING), words_answer, names=())
