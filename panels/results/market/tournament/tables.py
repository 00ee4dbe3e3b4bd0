"""The tables below the map: ranks and exploitability."""

from collections.abc import Sequence

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.results.questions.layout import fold
from panels.ui.look import note
from panels.ui.tables import Column, comparison, estimate, frame, number, offer_csv, sortable_table
from panels.ui.terms import could_be_won
from sauda.experiments.tournament import Tournament
from sauda.records.schemas.base import Record

FORM = "z.3f"
DOES = {"buyer": "buys", "seller": "sells"}
SEAT = Column("seat", lambda row: DOES[row.seat])
PLAYER = Column("player", lambda row: policy_label(row.player))
RANKS = (
    SEAT,
    Column("rank", lambda row: number(row.rank, "d")),
    PLAYER,
    Column("utility", lambda row: estimate(row.utility, FORM)),
    Column("share of what could be won", lambda row: estimate(row.share, FORM)),
)
EXPLOITED = (
    SEAT,
    PLAYER,
    Column("most is taken by", lambda row: policy_label(row.by) if row.taken.mean else "nobody"),
    Column("it takes", lambda row: estimate(row.taken, FORM)),
    Column("all opponents", lambda row: estimate(row.usual, FORM)),
    Column("difference", lambda row: estimate(row.more, FORM)),
    Column("n", lambda row: number(row.n, ",")),
)


def build(data: Tournament) -> None:
    """Lay out the folded tables of the tournament. Called inside the tab."""
    with fold("Ranks of buyers and sellers"):
        _table(RANKS, data.ranks, "The best first", "ranks")
        gr.HTML(
            note(
                Markup(
                    "A rank is 1 and the number of players that win more: in the same scenarios"
                    " against the same opponents, with the whole 95 % interval of the paired"
                    " difference in utility above 0. Utility is the share of {} minus the buyer’s"
                    " cost of time."
                ).format(could_be_won())
            )
        )
    with fold("What the best opponent takes from each player"):
        _table(EXPLOITED, data.exploitability, "Utilities", "exploited")
        gr.HTML(
            note(
                "Exploitability: the opponent that takes most is chosen on every other scenario and"
                " measured on the rest, n. The difference is paired by scenario."
            )
        )


def _table(columns: Sequence[Column], rows: Sequence[Record], label: str, name: str) -> None:
    """A table to sort and search, and its rows with all that they hold as CSV."""
    sortable_table(comparison(columns, rows), label, f"results-tournament-{name}")
    offer_csv(frame(rows), f"tournament-{name}.csv")
