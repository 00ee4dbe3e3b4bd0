"""Who beats whom? Every buyer against every seller, the games behind each pair, ranks, profiles."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.results.market.tournament import pair_games, tables
from panels.results.market.tournament.matrix import FIGURES, FIRST, PRESS_CELL, matrix, seats
from panels.results.market.tournament.names import pair_name, player_name, seller_name
from panels.results.questions.layout import Measured, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict, capital, listed
from panels.ui.look import QUEUED, QUIET, note, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short
from panels.ui.wiring import event_value
from sauda.records.schemas.market.tournament import PlayerRank, Tournament
from sauda.records.store import Artifact

NAME, TITLE = "players", "Who beats whom?"
FILE = "tournament.json"
FORM = "z.3f"
PLAYS = {**QUEUED, "concurrency_id": "pair-games", "concurrency_limit": 2}


def verdict(data: Tournament) -> Verdict:
    """Who is first in each seat, and how much the seats explain."""
    ranks = {seat: [row for row in data.ranks if row.seat == seat] for seat in ("buyer", "seller")}
    told = [_first(seat, rows) for seat, rows in ranks.items()]
    n, parts = len(data.scenarios.seed), data.variance
    lines = [
        line
        for seat, rows in ranks.items()
        for line in _leaders(seat, rows, n, len(ranks["seller" if seat == "buyer" else "buyer"]))
    ]
    lines.append(
        f"Variance of the pairs’ mean shares: the buyer explains {parts.buyer:.0%}, the seller"
        f" {parts.seller:.0%}, the pairing {parts.interaction:.0%}."
    )
    return Verdict(f"{capital('; '.join(told))}.", tuple(lines))


def _first(seat: str, rows: Sequence[PlayerRank]) -> str:
    """Who is first in a seat, as a clause."""
    names = [player_name(seat, row.player) for row in rows if row.rank == 1]
    among = f"among {len(rows)} {seat}s"
    if len(names) == 1:
        return f"{names[0]} is first {among}"
    return f"{listed(names)} share the first rank {among}, as their intervals overlap"


def _leaders(seat: str, rows: Sequence[PlayerRank], n: int, opponents: int) -> Iterator[str]:
    """The figures of those that are first in a seat."""
    doing = {"buyer": "buying", "seller": "selling"}[seat]
    for row in rows:
        if row.rank == 1:
            share, strength = with_interval(row.share, FORM), with_interval(row.strength, FORM)
            yield (
                f"{capital(player_name(seat, row.player))}, {doing}: share of the ZOPA {share},"
                f" strength {strength}, n = {n} scenarios with each of {opponents} opponents."
            )


def measured(data: Tournament) -> list[Measured]:
    """The numbers of the map as it opens."""
    return [
        Measured(
            data.task,
            pair_name(cell.buyer, cell.seller),
            cell.n,
            cell.share.buyer,
        )
        for cell in data.cells
    ]


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
        return
    show_verdict(NAME, verdict(artifact.data))
    _map_and_games(artifact)
    gr.HTML(provenance(artifact))
    numbers(NAME, measured(artifact.data), FORM, "pair")
    tables.build(artifact.data)


def _map_and_games(artifact: Artifact) -> None:
    data: Tournament = artifact.data
    buyers, sellers = seats(data)
    figure = gr.Dropdown(
        [(each.label, name) for name, each in FIGURES.items()], value=FIRST, label="Figure",
        filterable=False, elem_id=f"results-{NAME}-measure",
    )  # fmt: skip
    drawn = gr.HTML(matrix(data), elem_id=f"results-{NAME}-figure", js_on_load=PRESS_CELL)
    show_caption(
        "Frames mark the best against each opponent. Point at a cell for its 95 % interval, or"
        f" press it to replay three games. Each pair played n = {len(data.scenarios.seed)}"
        f" hold-out games of the {short(data.task)}, with listings that no training game has. No"
        " deal counts 0; without a ZOPA a share is of the list price."
    )
    with gr.Row(elem_classes="sauda-actions"):
        buyer = gr.Dropdown(
            [(capital(player_name("buyer", name)), name) for name in buyers], value=buyers[0],
            label="Buyer", filterable=False, elem_id=f"results-{NAME}-buyer", min_width=240,
        )  # fmt: skip
        seller = gr.Dropdown(
            [(capital(seller_name(name)), name) for name in sellers], value=sellers[0],
            label="Seller", filterable=False, elem_id=f"results-{NAME}-seller", min_width=240,
        )  # fmt: skip
        play = gr.Button("Show their games", variant="primary", scale=0, min_width=180)
    games = gr.HTML(note(pair_games.ASK), elem_id=f"results-{NAME}-games")

    def redraw(name: str) -> Markup:
        return matrix(data, name)

    def show_games(bought_by: str, sold_by: str) -> Iterator[Markup]:
        yield from pair_games.shown(data, bought_by, sold_by)

    def press_cell(event: gr.EventData) -> Iterator[dict[Any, Any]]:
        pair = [event_value(event, seat) for seat in ("buyer", "seller")]
        if pair[0] not in buyers or pair[1] not in sellers:
            yield {games: trouble(ValueError(pair_games.ASK))}
            return
        for part in pair_games.shown(data, *pair):
            yield {buyer: pair[0], seller: pair[1], games: part}

    figure.input(redraw, figure, drawn, **QUIET)
    play.click(show_games, [buyer, seller], games, **PLAYS)
    drawn.click(press_cell, None, [buyer, seller, games], **PLAYS)
