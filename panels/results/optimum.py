"""How far from the optimum, where is it lost, and what are words worth?"""

from collections.abc import Mapping
from dataclasses import replace

from markupsafe import Markup

from env import TYPES
from panels import frames
from panels.frames import BOUND, Table
from panels.measured import FORM, GAIN, series_role
from panels.results.question import HTML, Answer, Measured, Question, Verdict, grades_figure, side
from panels.ui.html import SAY
from panels.ui.look import table
from panels.ui.provenance import provenance
from panels.ui.tables import whisker_rows, with_interval
from panels.ui.terms import capital, list_names, short, task_title
from sauda.players import LEAVE, PLANNERS, TOLD, TUNED, buyer_name, policy_label
from sauda.policies.values import GAP
from sauda.records.schemas.open_market import OTHER_TYPE, SPOKEN, Exploit, Exploits, Gap, Worth
from sauda.records.store import Artifact

EXPLOITS_FILE, WORDS_FILE = "exploits.json", "worth.json"
LEAST_PAY = 0.01  # what words must gain over silence to count as an exploit


# How far from the optimum, and where it is lost ---------------------------------------------------

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
UNCERTAINTY = "lost by not knowing the seller (uncertainty)"


def gap_verdict(data: Gap) -> Verdict:
    """What the planner itself loses, and where the tuned script loses the rest."""
    row = next((row for row in data.rows if row.player == TUNED), None)
    best = max(data.rows, key=lambda row: row.grade.mean)
    lines = [
        f"In the {short(data.task)} a buyer that knows the seller can score"
        f" {with_interval(data.oracle, FORM)}, or {with_interval(data.silent, FORM)} if it says"
        f" nothing. Without that knowledge {buyer_name(best.player)} reaches"
        f" {best.grade.mean / data.oracle.mean:.0%} of the first figure (n = {data.n:,})."
    ]
    if side(best.grade, data.oracle) == "above":
        lines.append("It scores more than the bound, which therefore does not hold.")
    if row is None:
        return Verdict(SAY.gap(data, "", None, ()), tuple(lines))
    name, sides = buyer_name(row.player), (side(row.inference), side(row.control))
    lines.append(f"{capital(name)} scores {with_interval(row.grade, FORM)}, n = {data.n:,}.")
    return Verdict(SAY.gap(data, name, row, sides), tuple(lines))


def games_by_difficulty(data: Gap) -> Markup:
    """What the games of each bin are like."""
    heads = ("games", *(part.name for part in data.bins))
    rows = [(what, *map(form.format, data.bins)) for what, form in DIFFICULTY.items()]
    return table(heads, rows)


def exploits(data: Exploits) -> Markup:
    """Whether any exploit beats the planner, or gains by words that mean nothing."""
    beating = [name_exploit(row) for row in data.rows if side(row.gain) == "above"]
    spoken = [row for row in data.rows if row.words]
    paying = [
        name_exploit(row)
        for row in spoken
        if not row.means and side(row.words) == "above" and row.words.mean > LEAST_PAY
    ]
    most = max(spoken, key=lambda row: row.words.mean)
    gain = f"{with_interval(most.words, GAIN)}, by {name_exploit(most)}"
    ways = len({row.what for row in data.rows})
    return HTML.exploits(ways, data, list_names(beating), list_names(paying), LEAST_PAY, gain)


def name_exploit(row: Exploit) -> str:
    """A way to play and its task, within a sentence."""
    return f"“{row.what}” ({short(row.task)})"


def optimum_answer(gap: Artifact, tried: Artifact) -> Answer:
    """The bound and the players beside it, what is lost by part, and how hard the games are."""
    data = gap.data
    shown = [row for row in data.rows if row.player in (TUNED, *PLANNERS)]
    others = [row for row in data.rows if row not in shown and row.player != LEAVE]
    if others:
        shown.append(max(others, key=lambda row: row.grade.mean))

    def measured(part: str) -> list[Measured]:
        return [
            Measured(policy_label(row.player), getattr(row, part), series_role(row.player),
                     data.task, data.n)
            for row in shown
        ]  # fmt: skip

    bound = Measured(BOUND, data.oracle, "oracle", data.task, data.n)
    anybody = Measured("every player", data.uncertainty, "oracle", data.task, data.n)
    lost = {part: measured(part) for part in PARTS}
    groups = {"mean grade, 1 at best": [bound, *measured("grade")], UNCERTAINTY: [anybody]}
    groups |= {PARTS[part]: rows for part, rows in lost.items()}
    named = [replace(row, label=f"{part}, {row.label}") for part in lost for row in lost[part]]
    listed = [bound, *measured("grade"), replace(anybody, label=UNCERTAINTY), *named]
    return Answer(
        gap_verdict(data),
        whisker_rows(groups, "percent of what could be won, or lost of it", GAIN),
        HTML.bound_caption(),
        listed,
        "part and player",
        [gap],
        tables=[
            frames.players(data),
            frames.by_difficulty(data, games_by_difficulty(data)),
            frames.exploits(tried.data, exploits(tried.data) + provenance(tried)),
        ],
    )


OPTIMUM = Question("optimum", "How far from the optimum?", (GAP, EXPLOITS_FILE), optimum_answer)


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
    gains = {key: with_interval(row.difference, GAIN) for key, row in worth.items()}
    first = worth[SPOKEN[0], "both", "all"]
    lines = [
        f"{task_title(f'bazaar/{at}')}: both {gains[at, 'both', 'all']}, reading alone"
        f" {gains[at, 'reading', 'all']}, speaking alone {gains[at, 'speaking', 'all']};"
        f" both with a fifth of what is heard misread {gains[at, 'both, 20 % misread', 'all']},"
        f" with sellers that say what another type would {gains[at, OTHER_TYPE, 'all']}."
        for at in SPOKEN
    ]
    types = (f"{name} {gains[SPOKEN[0], 'both', name]}" for name in TYPES)
    return Verdict(
        SAY.words(side(first.difference), gains[SPOKEN[0], "both", "all"], first.n),
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
        tables=[Table("worth", worth.data.worth), frames.by_type(worth.data)],
    )


WORDS = Question("words", "What are words worth?", (WORDS_FILE,), words_answer)
