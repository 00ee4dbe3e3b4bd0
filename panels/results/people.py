"""What pays against sellers that answer as people do, and are free words understood?"""

from panels import frames
from panels.frames import best_wall
from panels.measured import GAIN
from panels.results.question import Answer, Measured, Question, Verdict, grades_figure
from panels.ui.html import SAY
from panels.ui.tables import with_interval
from sauda.language.faults import count_in_words
from sauda.players import PEOPLE as TASK
from sauda.players import TOLD, is_model
from sauda.records.schemas.people import Ear, Likeness, Manners, People
from sauda.records.store import Artifact

SHOWN = {  # players of the figure: in words, key of SERIES
    TOLD: ("bound: is told the seller", "oracle"),
    "listener": ("plans, reads and speaks", "buyer"),
    "reader": ("plans and reads, says nothing", "buyer"),
    "speaker": ("plans and speaks, reads nothing", "buyer"),
    "bayesian": ("plans on numbers alone", "buyer"),
    "best rule": ("best script that a search found", "scripted"),
}
WALL = "best wall: one price in every round"


def verdict(people: People, ear: Ear, likeness: Likeness, manners: Manners) -> Verdict:
    """What words and rises are worth, and how many free sentences are understood."""
    rows = {row.player: row for row in people.rows}
    heard = {row.seat: row for row in ear.heard if row.part == "all"}
    real = {row.seat: row for row in likeness.heard}
    odd = [row for row in ear.taken if row.part == "odd texts" and not row.value]
    both = rows["listener"]
    sauda = next(row for row in manners.rows if row.habit == "all" and is_model(row.player))
    lines = [
        f"Of {whose} sentences that the ear never saw it reads {heard[seat].right.mean:.0%} rightly"
        f" and {heard[seat].wrong.mean:.1%} wrongly (n = {heard[seat].n:,}); of real lines of an"
        f" online market {real[seat].right.mean:.0%} and {real[seat].wrong.mean:.0%}"
        f" (n = {real[seat].n:,}), and it hears something in {real[seat].taken.mean:.0%} of those"
        f" that were labelled as nothing (n = {real[seat].none:,})."
        for seat, whose in (("buyer", "buyers’"), ("seller", "sellers’"))
    ]
    return Verdict(
        SAY.people(both.less_silent.low > 0, with_interval(both.less_silent, GAIN), both.n),
        (
            *lines,
            f"Of {odd[0].n} odd texts, such as orders to the program, code and links, it takes"
            f" {max(row.taken.mean for row in odd):.1%} for something said in a deal.",
            f"The best script raises in {rows['best rule'].raises.mean:.0%} of its later bids"
            f" and scores {rows['best rule'].grade.mean:.1%}; the best wall scores"
            f" {best_wall(people).grade.mean:.1%}.",
            f"Sauda, in its own words, closes {sauda.deals.mean:.0%} of the possible deals with"
            f" sellers of twelve habits that no training met, and answers {sauda.answered.mean:.0%}"
            f" of the falls of an ask by coming closer; {sauda.per_thousand:.1f} of 1,000 lines"
            f" have a fault: {count_in_words(sauda.faults)} (n = {sauda.lines:,}).",
        ),
    )


def people_answer(
    people: Artifact, ear: Artifact, likeness: Artifact, manners: Artifact, simplest: Artifact,
    customers: Artifact,
) -> Answer:  # fmt: skip
    """Grades of buyers; below them, how buyers behave and what the ear hears."""
    rows = {row.player: row for row in people.data.rows}
    shown = [
        Measured(label, rows[name].grade, role, TASK, rows[name].n)
        for name, (label, role) in SHOWN.items()
    ]
    wall = best_wall(people.data)
    shown.append(Measured(WALL, wall.grade, "scripted", TASK, wall.n))
    return Answer(
        verdict(people.data, ear.data, likeness.data, manners.data),
        grades_figure(shown),
        "",
        shown,
        "buyer",
        [people],
        tables=frames.people(ear, likeness, manners, simplest, customers),
    )


FILES = (
    "people.json", "ear.json", "likeness.json", "manners.json", "simplest.json", "customers.json",
)  # fmt: skip
PEOPLE = Question("people", "Do free words count?", FILES, people_answer)
