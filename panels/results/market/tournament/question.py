"""Who beats whom? Every script that buys against every one that sells, and games of each pair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from panels.results.market.tournament import pair_games, tables
from panels.results.market.tournament.matrix import (
    FIGURES,
    FIRST,
    PRESS_CELL,
    matrix,
    pair_name,
    seats,
)
from panels.results.model_labels import policy_label
from panels.results.questions.layout import Measured, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict, capital, listed
from panels.ui.look import QUEUED, QUIET, note, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import could_be_won
from panels.ui.wiring import (
    Address,
    Updates,
    event_value,
    in_address,
    lay_out_address,
    on_address,
)
from sauda.experiments.pairs import SEATS, Pair
from sauda.experiments.tournament import PlayerRank, Tournament

NAME, TITLE = "players", "Who beats whom?"
FILE = "tournament.json"
FORM = "z.3f"
DOING = {"buyer": "buying", "seller": "selling"}
PLAYS = {**QUEUED, "concurrency_id": "pair-games", "concurrency_limit": 2}


def verdict(data: Tournament) -> Verdict:
    """Who is first in each seat."""
    ranks = {seat: [row for row in data.ranks if row.seat == seat] for seat in SEATS}
    n = len(data.scenarios.seed)
    lines = [
        f"{capital(policy_label(row.player))}, {DOING[seat]}: share of what could be won"
        f" {with_interval(row.share, FORM)}, with the cost of time"
        f" {with_interval(row.utility, FORM)}, n = {n} scenarios with each opponent."
        for seat, rows in ranks.items()
        for row in rows
        if row.rank == 1
    ]
    told = "; ".join(_first(seat, rows) for seat, rows in ranks.items())
    return Verdict(f"{capital(told)}.", tuple(lines))


def _first(seat: str, rows: Sequence[PlayerRank]) -> str:
    """Who is first in a seat, as a clause."""
    names = [policy_label(row.player) for row in rows if row.rank == 1]
    among = f"among {len(rows)} scripted {seat}s"
    if len(names) == 1:
        return f"{names[0]} is first {among}"
    return f"{listed(names)} share the first rank {among}, as their difference may be chance"


def measured(data: Tournament) -> list[Measured]:
    """The numbers of the map as it opens."""
    return [
        Measured("scripts alone", pair_name(cell.buyer, cell.seller), cell.n, cell.share.buyer)
        for cell in data.cells
    ]


@dataclass(frozen=True, eq=False)
class Page:
    """The map and what picks a figure and a pair."""

    figure: gr.Dropdown
    drawn: gr.HTML
    buyer: gr.Dropdown
    seller: gr.Dropdown
    play: gr.Button
    games: gr.HTML
    shown: gr.State  # the Pair whose games are shown; None before the first
    address: Address

    @property
    def of_pair(self) -> list[Any]:
        """The components that showing a pair's games fills."""
        return [self.buyer, self.seller, self.games, self.shown, self.address.shown]


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
        return
    show_verdict(NAME, verdict(artifact.data))
    _wire(artifact.data, _map_and_games(artifact.data))
    gr.HTML(provenance(artifact))
    numbers(NAME, measured(artifact.data), FORM, "pair")
    tables.build(artifact.data)


def _map_and_games(data: Tournament) -> Page:
    buyers, sellers = seats(data)
    figure = gr.Dropdown(
        [(each.label, name) for name, each in FIGURES.items()], value=FIRST, label="Figure",
        filterable=False, elem_id=f"results-{NAME}-measure",
    )  # fmt: skip
    drawn = gr.HTML(matrix(data), elem_id=f"results-{NAME}-figure", js_on_load=PRESS_CELL)
    show_caption(
        "Frames mark the best against each opponent. Point at a cell for its 95 % interval; press"
        " it to replay three games.",
        Markup(
            "n = {} hold-out scenarios a pair, about unseen listings. Both sides are scripts that"
            " see prices and their own limits: the last bid counts and no words do, so this is not"
            " the open market. Shares are of {}, else of the list price."
        ).format(len(data.scenarios.seed), could_be_won()),
    )
    with gr.Row(elem_classes="sauda-actions"):
        buyer = gr.Dropdown(
            [(capital(policy_label(name)), name) for name in buyers], value=buyers[0],
            label="Buyer", filterable=False, elem_id=f"results-{NAME}-buyer", min_width=240,
        )  # fmt: skip
        seller = gr.Dropdown(
            [(capital(policy_label(name)), name) for name in sellers], value=sellers[0],
            label="Seller", filterable=False, elem_id=f"results-{NAME}-seller", min_width=240,
        )  # fmt: skip
        play = gr.Button("Show their games", variant="primary", scale=0, min_width=180)
    games = gr.HTML(note(pair_games.ASK), elem_id=f"results-{NAME}-games")
    address = lay_out_address("results", NAME, ("figure", *Pair._fields))
    return Page(figure, drawn, buyer, seller, play, games, gr.State(), address)


def _wire(data: Tournament, page: Page) -> None:
    buyers, sellers = seats(data)

    def redraw(name: str, shown: Pair | None) -> Updates:
        address = in_address(named_in_address(name, shown))
        return {page.drawn: matrix(data, name), page.address.shown: address}

    def show_games(name: str, bought_by: object, sold_by: object) -> Iterator[Updates]:
        pair = Pair(bought_by, sold_by) if bought_by in buyers and sold_by in sellers else None
        if pair is None:
            yield {page.games: trouble(ValueError(pair_games.ASK))}
            return
        picked = {page.buyer: pair.buyer, page.seller: pair.seller, page.shown: pair}
        address = {page.address.shown: in_address(named_in_address(name, pair))}
        for part in pair_games.shown(data, *pair):
            yield picked | address | {page.games: part}

    def press_cell(event: gr.EventData, name: str) -> Iterator[Updates]:
        yield from show_games(name, *(event_value(event, seat) for seat in Pair._fields))

    def follow_pair(query: Mapping[str, str]) -> Updates:
        name, pair = map_named(data, query)
        if pair is None:
            first = {page.buyer: buyers[0], page.seller: sellers[0], page.shown: None}
            updates = first | {page.games: note(pair_games.ASK)}
        else:
            *_, updates = show_games(name, *pair)
        return updates | redraw(name, pair) | {page.figure: name}

    page.figure.input(redraw, [page.figure, page.shown], [page.drawn, page.address.shown], **QUIET)
    page.play.click(show_games, [page.figure, page.buyer, page.seller], page.of_pair, **PLAYS)
    page.drawn.click(press_cell, page.figure, page.of_pair, **PLAYS)
    on_address(page.address, follow_pair, [*page.of_pair, page.drawn, page.figure])


def named_in_address(figure: str, pair: Pair | None) -> dict[str, str]:
    """What the page's address says of the map and the pair; nothing of what it opens with."""
    named = {} if figure == FIRST else {"figure": figure}
    return named if pair is None else named | pair._asdict()


def link_to(pair: Pair, words: str) -> Markup:
    """A link to the games of a pair, which are played again there."""
    query = urlencode({"tab": "results", "part": NAME, **named_in_address(FIRST, pair)})
    return Markup('<a class="sauda-inpage" href="?{}">{}</a>').format(query, words)


def map_named(data: Tournament, query: Mapping[str, str]) -> tuple[str, Pair | None]:
    """The figure and the pair that an address names; the first figure where it names none."""
    figure = query["figure"] if query.get("figure") in FIGURES else FIRST
    buyer, seller = (query.get(seat, "") for seat in Pair._fields)
    return figure, Pair(buyer, seller) if seller in data.games.get(buyer, ()) else None
