"""What pays against sellers that answer as people do, and are free words understood?"""

from markupsafe import Markup

from panels.results.models import policy_label
from panels.results.question import Answer, Measured, Question, Verdict, grades_figure
from panels.ui.html import SAY
from panels.ui.provenance import provenance
from panels.ui.tables import data_table, with_interval
from panels.ui.terms import task_title
from sauda.experiments.ear import Ear
from sauda.experiments.likeness import Likeness
from sauda.experiments.manners import Manners
from sauda.experiments.people import BOUND, TASK, People
from sauda.llm.registry import is_model
from sauda.records.store import Artifact

SHOWN = {  # players of the figure: in words, key of SERIES
    BOUND: ("bound: is told the seller", "oracle"),
    "listener": ("plans, reads and speaks", "buyer"),
    "reader": ("plans and reads, says nothing", "buyer"),
    "speaker": ("plans and speaks, reads nothing", "buyer"),
    "bayesian": ("plans on numbers alone", "buyer"),
    "best rule": ("best script that a search found", "scripted"),
}
HEARD = {  # columns of the table of the ear
    "seat": "seat", "by": "part", "value": "value", "n": "n",
    "right": lambda row: getattr(row, "right", None),
    "wrong": lambda row: getattr(row, "wrong", None),
    "taken for a meaning": lambda row: getattr(row, "taken", None),
}  # fmt: skip
DISTANCES = {  # and of that of the likeness
    "of": "of", "n": "n", "people": "people", "simulated": "simulated", "distance": "distance",
    "between halves": "between_halves",
}  # fmt: skip
WORTH = {  # of what words are worth
    "market": lambda row: task_title(f"bazaar/{row.market}"), "what": "what",
    "sentences": "value", "n": "n", "difference": "difference",
}  # fmt: skip
MANNERS = {  # and of how buyers behave
    "buyer": lambda row: policy_label(row.player), "seller": "habit", "n": "n",
    "deals of possible": "deals", "share": "share", "no price over twice": "steady",
    "falls answered": "answered", "faults in 1,000 lines": "per_thousand",
}  # fmt: skip
SELLERS = {
    "player": "player", "n": "n", "grade": "grade", "less the silent planner": "less_silent",
    "moves towards the buyer": "raises",
}  # fmt: skip
RULES = {"player": "player", "n": "n", "grade": "grade", "less the rule": "less_rule"}
WALL = "best wall: one price in every round"
GAIN = "+z.3f"


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
            f" and scores {rows['best rule'].grade.mean:.3f}; the best wall scores"
            f" {best_wall(people).grade.mean:.3f}.",
            f"Sauda, in its own words, closes {sauda.deals.mean:.0%} of the possible deals with"
            f" sellers of twelve habits that no training met, and answers {sauda.answered.mean:.0%}"
            f" of the falls of an ask by coming closer; {sauda.per_thousand:.0f} of 1,000 lines"
            f" have a fault, most a sentence said before (n = {sauda.lines:,}).",
        ),
    )


def best_wall(people: People):
    """The row of the wall with the highest grade."""
    walls = (row for row in people.rows if row.player.startswith("wall"))
    return max(walls, key=lambda row: row.grade.mean)


def people_answer(
    people: Artifact, ear: Artifact, likeness: Artifact, worth: Artifact, manners: Artifact,
    simplest: Artifact, customers: Artifact,
) -> Answer:  # fmt: skip
    """Grades of buyers; below them, what words are worth, how buyers behave, what the ear hears."""
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
        details=tables_of(ear, likeness, worth, manners, simplest, customers),
    )


def tables_of(
    ear: Artifact, likeness: Artifact, worth: Artifact, manners: Artifact, simplest: Artifact,
    customers: Artifact,
) -> dict[str, Markup]:  # fmt: skip
    """The folded tables by their headings."""
    parts = [row for row in ear.data.heard if row.part in ("all", "language", "kind")]
    return {
        "What are words worth, market by market?": data_table(
            [row for row in worth.data.worth if row.part in ("all", "kind")],
            "What the planner wins by words, on the same seeds",
            columns=WORTH,
        )
        + provenance(worth),
        "How does a buyer behave towards a visitor?": data_table(
            [row for row in manners.data.rows if row.habit == "all" or is_model(row.player)],
            "Buyers and sellers of twelve habits that no training met",
            columns=MANNERS,
        )
        + provenance(manners),
        "How small a rule does as well?": data_table(
            simplest.data.rows,
            f"A rule of {len(simplest.data.numbers)} numbers, and the smallest with"
            f" {len(simplest.data.kept)}: {', '.join(simplest.data.kept)}",
            columns=RULES,
        )
        + provenance(simplest),
        "And who sells to people?": data_table(
            [row for row in customers.data.rows if not row.player.startswith("wall")]
            + [best_wall(customers.data)],
            "Sellers among buyers that answer as people do",
            columns=SELLERS,
        )
        + provenance(customers),
        "How well are free sentences understood?": data_table(
            parts + ear.data.taken,
            "Evaluation sentences heard right, and as another meaning; nothing taken for something",
            columns=HEARD,
        )
        + provenance(ear),
        "How like people are these sellers?": data_table(
            likeness.data.distances,
            "Distance of simulated games from people’s, beside that of two halves of theirs",
            columns=DISTANCES,
        )
        + provenance(likeness),
    }


PEOPLE = Question(
    "people",
    "Do free words count?",
    (
        "people.json",
        "ear.json",
        "likeness.json",
        "worth.json",
        "manners.json",
        "simplest.json",
        "customers.json",
    ),
    people_answer,
    names=(),
)
