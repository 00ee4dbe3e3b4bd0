"""The tables below the map: ranks, contrasts, exploitability, profiles, figures of every pair."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup

from panels.results.market.tournament import contrasts
from panels.results.market.tournament.names import player_name, seller_name
from panels.results.questions.layout import fold
from panels.ui.look import note
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import Column, comparison, estimate, frame, number, offer_csv, sortable_table
from panels.ui.terms import could_be_won
from sauda.experiments.profiles import ProfileRow, Profiles
from sauda.experiments.tournament import Exploited, Tournament
from sauda.records.schemas.base import Record

PROFILES = "profiles.json"
FORM = "z.3f"
SEATS = {"buyer": "buys", "seller": "sells", "both": "in both seats"}
RANKED = (
    "Strengths by Bradley and Terry, from who gets the higher utility in the same seat of the same"
    " scenario against the same opponent. A rank is 1 and the number of players whose whole"
    " interval lies above the player’s: where intervals overlap, players may share a rank."
)
WON = Markup("Shares are of {}.").format(could_be_won())
PHASES = {
    "opening": "opening",
    "middle": "middle",
    "closing": "closing: a deal is due, or two moves are left",
    "walking": "walking away is best",
}


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


def profile_columns(rows: Sequence[ProfileRow]) -> tuple[Column, ...]:
    """The columns of the profiles, with the phases that the rows have."""
    there = dict.fromkeys(phase.phase for row in rows for phase in row.phases)
    return (
        Column("buyer", lambda row: player_name("buyer", row.player)),
        Column("n", lambda row: number(row.n, ",")),
        Column("share of the oracle’s surplus", lambda row: estimate(row.of_oracle, FORM)),
        *(
            Column(f"regret, {PHASES[phase]}", lambda row, phase=phase: _regret(row, phase))
            for phase in there
        ),
        Column("candid signals add", lambda row: estimate(row.cues.gained, FORM)),
        Column("misleading ones add", lambda row: estimate(row.cues.misled, FORM)),
        Column("ranges given", lambda row: number(row.belief and row.belief.answered, ",")),
        Column(
            "limit inside its 80 % range",
            lambda row: estimate(row.belief and row.belief.coverage, FORM),
        ),
        Column("interval score", lambda row: estimate(row.belief and row.belief.score, FORM)),
        Column("games without a fault", lambda row: estimate(row.compliance.clean, FORM)),
        Column("invalid", lambda row: number(row.compliance.invalid, ",")),
        Column("last words broken", lambda row: number(row.compliance.broken, ",")),
        Column("above its limit", lambda row: number(row.compliance.losses, ",")),
    )


def _regret(row: ProfileRow, phase: str) -> Any:
    found = next((one.regret for one in row.phases if one.phase == phase), None)
    return estimate(found, FORM)


def build(data: Tournament) -> None:
    """Lay out the folded tables of the tournament, then the profiles. Called inside the tab."""
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
    with fold("Why each buyer wins or loses"):
        _profiles()


def _profiles() -> None:
    artifact, missing = load_or_say(PROFILES)
    if artifact is None:
        gr.HTML(missing)
        return
    data = artifact.data
    columns, csv = profile_columns(data.rows), profiles_frame(data.rows)
    _table(columns, data.rows, "One row a buyer", "profiles", csv)
    gr.HTML(Markup("<p>{}</p>").format(profile_note(data)))
    gr.HTML(provenance(artifact))


def profile_note(data: Profiles) -> str:
    """What the columns of the profiles measure, with n and what a range without play scores."""
    row = data.rows[0]
    positions = sum(phase.n for phase in row.phases)
    prior = estimate(data.prior.score, FORM).text
    return (
        f"The oracle knows its seller and expects {estimate(data.informed, FORM).text} a game."
        f" Regret is the mean grade given away in {positions:,} fixed positions, judged by the"
        " values of the belief buyer, which therefore has none. Signals: grades against the same"
        f" {row.cues.n:,} sellers with true or false signals, minus those without. Interval score"
        " of the range for the seller’s limit, lower is better; a buyer that knows only how limits"
        f" are drawn scores {prior}, n = {data.prior.n:,}. A model’s answer that holds no range"
        " counts as the whole range from 0 to the ask. A dash: a script without a belief."
    )


def profiles_frame(rows: Sequence[ProfileRow]) -> pd.DataFrame:
    """One line a buyer, the figures of each phase in columns such as `opening_regret_mean`."""
    phases = pd.DataFrame(
        [
            {
                f"{phase.phase}_{column}": value
                for phase in row.phases
                for column, value in frame([phase]).drop(columns="phase").iloc[0].items()
            }
            for row in rows
        ]
    )
    return frame(rows).drop(columns="phases").join(phases)


def _table(
    columns: Sequence[Column], rows: Sequence[Record], label: str, name: str, csv: pd.DataFrame
) -> None:
    """A table to sort and search, and its rows with all that they hold as CSV."""
    sortable_table(comparison(columns, rows), label, f"results-tournament-{name}")
    offer_csv(csv, f"tournament-{name}.csv")
