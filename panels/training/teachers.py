"""Which teacher teaches a model better: students of two teachers, judged in the same positions."""

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from sauda.evaluation.market.regret import BIG
from sauda.records.schemas.training import Teachers
from sauda.train.stages.teachers import FILE

QUESTION = "Which teacher teaches a model better: the pilot or the belief buyer?"
BRIEF = (
    "Regret: mean grade that a move gives away; lower is better. The values of both teachers judge"
    " the students, because a teacher’s values favour its own. The positions are states of the"
    " pilot’s training games with price errors. The pilot labels with its distribution over moves,"
    " the belief buyer with a normal around its one move. Brackets are 95 % intervals."
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
    judges = [policy_label(gap.judge) for gap in data.differences]
    tokens = {student.teacher: f"{student.num_tokens:,}" for student in data.students}
    return table(
        (
            "labels of", "tokens",
            *(f"regret, values of the {judge}" for judge in judges),
            *(f"over {BIG}, values of the {judge}" for judge in judges),
        ),
        [
            (
                policy_label(teacher) if teacher in tokens else "before training",
                tokens.get(teacher, "–"),
                *(with_interval(row.regret, ".4f") for row in rows),
                *(f"{row.mistakes:.0%}" for row in rows),
            )
            for teacher, rows in data.by_teacher().items()
        ],
        caption="Regret of each student’s moves, and the share of moves with a regret over"
        f" {BIG}, by the values of each teacher",
    )  # fmt: skip


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
