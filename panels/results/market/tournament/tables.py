"""The tables below the map: ranks, contrasts, exploitability, figures of every pair."""

from collections.abc import Sequence

import gradio as gr
import pandas as pd
from markupsafe import Markup

from panels.results.market.tournament import contrasts
from panels.results.market.tournament.names import player_name, seller_name
from panels.results.questions.layout import fold
from panels.ui.look import note
from panels.ui.tables import Column, comparison, estimate, frame, number, offer_csv, sortable_table
from panels.ui.terms import could_be_won
from sauda.experiments.tournament import Exploited, Tournament
from sauda.records.schemas.base import Record

FORM = "z.3f"
SEATS = {"buyer": "buys", "seller": "sells", "both": "in both seats"}
RANKED = (
    "Strengths by Bradley and Terry, from who gets the higher utility in the same seat of the same"
    " scenario against the same opponent. A rank is 1 and the number of players whose whole"
    " interval lies above the player’s: where intervals overlap, players may share a rank."
)
WON = Markup("Shares are of {}.").format(could_be_won())


def other(row: Exploited) -> str:
    """The seat across from the player's."""
    return "seller" if row.seat == "buyer" else "buyer"


def taker(row: Exploited) -> str:
    """Who takes most from a player; nobody where nobody takes anything."""
    return player_name(other(row), row.by) if row.taken.mean else "nobody"


RANKS = (
    Column("seat", lambda row: SEATS[row.seat]),
    Column("rank", lambda row: number(row.rank, "d")),
    Column("player", lambda row: player_name(row.seat, row.player)),
    Column("strength, log-odds", lambda row: estimate(row.strength, FORM)),
    Column("share of what could be won", lambda row: estimate(row.share, FORM)),
    Column("utility", lambda row: estimate(row.utility, FORM)),
)
EXPLOITED = (
    Column("seat", lambda row: SEATS[row.seat]),
    Column("player", lambda row: player_name(row.seat, row.player)),
    Column("most is taken by", taker),
    Column("it takes", lambda row: estimate(row.taken, FORM)),
    Column("all opponents", lambda row: estimate(row.usual, FORM)),
    Column("difference", lambda row: estimate(row.more, FORM)),
    Column("the player keeps", lambda row: estimate(row.left, FORM)),
    Column("n", lambda row: number(row.n, ",")),
)
PAIRS = (
    Column("buyer", lambda row: player_name("buyer", row.buyer)),
    Column("seller", lambda row: seller_name(row.seller)),
    Column("n", lambda row: number(row.n, ",")),
    Column("buyer’s share", lambda row: estimate(row.share.buyer, FORM)),
    Column("seller’s share", lambda row: estimate(row.share.seller, FORM)),
    Column("buyer’s utility", lambda row: estimate(row.utility.buyer, FORM)),
    Column("deals", lambda row: estimate(row.deal_rate, FORM)),
    Column("fairness", lambda row: estimate(row.fairness, FORM)),
    Column("Pareto distance", lambda row: estimate(row.pareto_distance, FORM)),
    Column("rounds", lambda row: estimate(row.rounds, "z.1f")),
    Column("buyer’s losses", lambda row: number(row.losses.buyer, ",")),
    Column("seller’s losses", lambda row: number(row.losses.seller, ",")),
    Column("mis-stated by buyer", lambda row: number(row.misstated.buyer, ",")),
    Column("mis-stated by seller", lambda row: number(row.misstated.seller, ",")),
    Column("invalid by buyer", lambda row: number(row.invalid.buyer, ",")),
    Column("invalid by seller", lambda row: number(row.invalid.seller, ",")),
)


def _explained(data: Tournament) -> str:
    """How much of the differences between pairs each seat explains."""
    parts = data.variance
    return (
        f"Variance of the pairs’ mean shares: the buyer explains {parts.buyer:.0%}, the seller"
        f" {parts.seller:.0%}, the pairing {parts.interaction:.0%}."
    )


def build(data: Tournament) -> None:
    """Lay out the folded tables of the tournament. Called inside the tab."""
    with fold("Ranks of buyers, sellers, and of those that play both"):
        _table(RANKS, data.ranks, "Strongest first", "ranks", frame(data.ranks))
        gr.HTML(note(RANKED))
        gr.HTML(Markup('<p class="sauda-note">{} {}</p>').format(_explained(data), WON))
    with fold("Does training for a role win more?"):
        contrasts.build(data)
    with fold("What the best opponent takes from each player"):
        rows = data.exploitability
        _table(EXPLOITED, rows, "Utilities, shares of what could be won", "exploited", frame(rows))
        gr.HTML(
            note(
                "Exploitability: the opponent that takes most is chosen on every other scenario and"
                " measured on the rest, n. The difference is paired by scenario."
            )
        )
    with fold("Every figure of every pair"):
        _table(PAIRS, data.cells, "One row a pair", "pairs", frame(data.cells))
        gr.HTML(
            note(
                Markup(
                    "Fairness counts deals in scenarios where {}, Pareto distance all such"
                    " scenarios. A loss is a deal beyond the own limit. An agreement is mis-stated"
                    " where a seat’s words name another price than was agreed. An invalid move"
                    " forfeits its game."
                ).format(could_be_won("some price serves both"))
            )
        )


def _table(
    columns: Sequence[Column], rows: Sequence[Record], label: str, name: str, csv: pd.DataFrame
) -> None:
    """A table to sort and search, and its rows with all that they hold as CSV."""
    sortable_table(comparison(columns, rows), label, f"results-tournament-{name}")
    offer_csv(csv, f"tournament-{name}.csv")
