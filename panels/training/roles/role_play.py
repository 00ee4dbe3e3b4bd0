"""Roles in games: how often the words of a model name the price that a script decided."""

from collections.abc import Sequence

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import folded, note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from sauda.experiments.role_play import FILE, SaidContrast, SaidRow, price_verdict

QUESTIONS = {
    "base": "specialist, compared with the untrained base",
    "specialist": "specialist, compared with the generalist",
    "off_role": "off role, compared with own role",
}
READ = (
    "A script decides each move and the model says it; the price that is read from its words is"
    " played. To accept and to leave are buttons. Words without a price forfeit the game. The other"
    " side is the same script with lines of its own. Brackets are 95 % intervals over games."
)


def said_table(rows: Sequence[SaidRow]) -> Markup:
    """One row a model and seat: offers said rightly, wrongly, not at all, and the share won."""
    cells = [
        (
            policy_label(row.model),
            f"{row.seat}, off role" if row.off_role else row.seat,
            f"{row.n}",
            with_interval(row.said, ".2f"),
            f"{row.wrong} of {row.offers}",
            f"{row.unsaid}",
            with_interval(row.share, "z.3f"),
            with_interval(row.difference, "+.3f"),
        )
        for row in rows
    ]
    columns = (
        "model", "says the moves of the", "n", "prices said as decided", "at another price",
        "games forfeited", "share won", "difference from the script’s own",
    )  # fmt: skip
    return table(columns, cells, "llrrrrrr", "Moves of a script in a model’s words")


def contrast_table(contrasts: Sequence[SaidContrast]) -> Markup:
    """How much more often one model says the decided price than another, paired by scenario."""
    cells = [
        (
            QUESTIONS[row.question],
            policy_label(row.model),
            policy_label(row.beside),
            row.seat,
            f"{row.n}",
            with_interval(row.difference, "+.2f"),
        )
        for row in contrasts
    ]
    columns = ("question", "model", "compared with", "seat", "n", "difference")
    return table(columns, cells, "llllrr", "Share of prices said as decided")


def build() -> None:
    """Lay out what roles say in games. Called inside the part on roles."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
        return
    data = artifact.data
    gr.HTML(
        Markup("{}{}{}").format(
            Markup("").join(Markup("<p>{}</p>").format(line) for line in price_verdict(data.rows)),
            folded(
                "Every model in both seats, and how they compare",
                said_table(data.rows) + contrast_table(data.contrasts) + note(READ),
            ),
            provenance(artifact, f"n = {data.rows[0].n} games a model and seat"),
        )
    )
