"""Which labels teach a model better: students of two teachers, judged in the same positions."""

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from sauda.records.schemas.training import JudgedMoves, Teachers
from sauda.train.stages.teachers import BEFORE, FILE

QUESTION = "Which labels teach a model better: the pilot’s or the belief buyer’s?"
BRIEF = (
    "Regret: mean grade that a move gives away, in positions of training games; lower is better."
    " Each teacher’s own values judge both students, since a student plays as its teacher would."
    " Brackets are 95 % intervals."
)


def verdict(data: Teachers) -> str:
    """Whose student gives away less, by the values of each judge."""
    told = []
    for row in data.differences:
        first, other = policy_label(row.teacher), policy_label(row.other)
        gap = with_interval(row.difference, "+.4f")
        better = first if row.difference.high < 0 else other if row.difference.low > 0 else ""
        found = f"the student of the {better} gives away less" if better else "no clear difference"
        told.append(
            f"By the values of the {policy_label(row.judge)}: {found} ({first} less {other} {gap})."
        )
    return " ".join(told)


def student_table(data: Teachers) -> Markup:
    """One row a student, and one for the adapter that all began with."""
    judges = list(dict.fromkeys(row.judge for row in data.rows))
    tokens = {student.teacher: student.num_tokens for student in data.students}
    by_student: dict[str, dict[str, JudgedMoves]] = {}
    for row in data.rows:
        by_student.setdefault(row.teacher, {})[row.judge] = row
    return table(
        ("labels of", "tokens", *(f"regret by the {policy_label(j)}" for j in judges), "mistakes"),
        [
            (
                "before training" if teacher == BEFORE else policy_label(teacher),
                f"{tokens.get(teacher, 0):,}",
                *(with_interval(cells[judge].regret, ".4f") for judge in judges),
                f"{cells[judges[0]].mistakes:.0%}",
            )
            for teacher, cells in by_student.items()
        ],
        caption="Regret of each student’s moves by the values of each teacher",
    )


def build() -> None:
    """Lay out the part. Called inside the Training tab."""
    report, missing = load_or_say(FILE)
    if report is None:
        gr.HTML(missing)
        return
    gr.HTML(Markup("<p>{}</p>").format(verdict(report.data)))
    gr.HTML(student_table(report.data))
    gr.HTML(note(BRIEF))
    gr.HTML(provenance(report, f"n = {report.config['states']:,} positions"))
