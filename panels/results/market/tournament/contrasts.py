"""Does training for a role win more? Nine contrasts, in the tournament and in role play."""

from collections.abc import Sequence

import gradio as gr
from markupsafe import Markup

from panels.results.market.tournament.names import off_role
from panels.results.model_labels import policy_label
from panels.ui.look import note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import could_be_won
from sauda.evaluation.language.contrasts import (
    DOING,
    Contrast,
    of_role_play,
    of_tournament,
    verdict,
)
from sauda.evaluation.language.role_play import FILE
from sauda.experiments.tournament import Tournament

READ = (
    "The nine contrasts do not depend on what the games show. Two players meet the same scenarios,"
    " and a difference is averaged over the opponents that both met. Brackets are 95 % intervals"
    " over scenarios; p is of the paired sign-flip permutation test with 10,000 draws, then"
    " corrected for all nine by Holm. A game forfeited counts 0."
)
COLUMNS = (
    "player",
    "compared with",
    "doing",
    "n",
    "opponents",
    "difference in share",
    "p",
    "p, Holm",
)


def contrast_table(rows: Sequence[Contrast], caption: str) -> Markup:
    """One row a contrast."""
    cells = [
        (
            policy_label(row.player) + off_role(row.seat, row.player),
            policy_label(row.beside) + off_role(row.seat, row.beside),
            DOING[row.seat],
            f"{row.n}",
            f"{row.opponents}",
            with_interval(row.difference, "+z.3f"),
            f"{row.p:.4f}",
            f"{row.adjusted:.4f}",
        )
        for row in rows
    ]
    return table(COLUMNS, cells, "lllrrrrr", caption)


def told(rows: Sequence[Contrast], where: str, caption: str) -> Markup:
    """The sentence and the table of one record; a line where a player is missing."""
    if not rows:
        return note(f"{where}, the base or a model of a role did not take both seats.")
    sentence = f"{where}: {verdict(rows, policy_label)}"
    return Markup("<p>{}</p>{}").format(sentence, contrast_table(rows, caption))


def build(data: Tournament) -> None:
    """Lay out the contrasts of both records. Called inside a fold of the tournament."""
    moves = told(
        of_tournament(data),
        "In the tournament, where a model writes its whole move",
        "Share won with whole moves",
    )
    gr.HTML(moves)
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
    else:
        words = told(
            of_role_play(artifact.data),
            "In role play, where a script decides and the model says it",
            "Share won with a script’s moves in a model’s words",
        )
        gr.HTML(words + provenance(artifact))
    gr.HTML(Markup('<p class="sauda-note">{} Shares are of {}.</p>').format(READ, could_be_won()))
