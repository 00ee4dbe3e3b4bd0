"""Roles in games: how often the words of a model name the price that a script decided."""

from collections.abc import Sequence

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import folded, note, table, with_minus_signs
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from sauda.experiments.role_play import (
    DOING,
    FILE,
    Contrast,
    SaidContrast,
    SaidRow,
    contrasts_of,
    contrasts_verdict,
    is_off_role,
    price_verdict,
)

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
NINE = (
    "The nine contrasts do not depend on what the games show. Two players meet the same scenarios;"
    " p is of the paired sign-flip permutation test with 10,000 draws, then corrected for all nine"
    " by Holm. A game forfeited counts 0."
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


def share_table(rows: Sequence[Contrast]) -> Markup:
    """One row a contrast: the share of one player less that of another."""
    cells = [
        (
            _player(row.player, row.seat),
            _player(row.beside, row.seat),
            DOING[row.seat],
            f"{row.n}",
            with_interval(row.difference, "+z.3f"),
            f"{row.p:.4f}",
            f"{row.adjusted:.4f}",
        )
        for row in rows
    ]
    columns = ("player", "compared with", "doing", "n", "difference in share", "p", "p, Holm")
    return table(columns, cells, "lllrrrr", "Share won with a script’s moves in a model’s words")


def _player(name: str, seat: str) -> str:
    return policy_label(name) + " (off role)" * is_off_role(name, seat)


def shares_told(rows: Sequence[Contrast]) -> Markup:
    """What the nine contrasts say, and all of them folded; empty where a model was not played."""
    if not rows:
        return Markup("")
    told = f"Does training for a role win more? {contrasts_verdict(rows, policy_label)}"
    nine = folded("The nine contrasts", share_table(rows) + note(NINE))
    return Markup("<p>{}</p>{}").format(with_minus_signs(told), nine)


def build() -> None:
    """Lay out what roles say in games. Called inside the part on roles."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
        return
    data = artifact.data
    gr.HTML(
        Markup("{}{}{}{}").format(
            Markup("").join(Markup("<p>{}</p>").format(line) for line in price_verdict(data.rows)),
            folded(
                "Every model in both seats, and how they compare",
                said_table(data.rows) + contrast_table(data.contrasts) + note(READ),
            ),
            shares_told(contrasts_of(data)),
            provenance(artifact, f"n = {data.rows[0].n} games a model and seat"),
        )
    )
