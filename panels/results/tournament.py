"""Who beats whom? Every script that buys against every one that sells, and games of each pair."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import Episode
from panels.frames import Table
from panels.results.models import policy_label
from panels.results.question import HTML, Answer, Measured, Question, Verdict
from panels.results.winners import heat_cell
from panels.transcripts.view import dealt, outcome, talk
from panels.ui.html import SAY
from panels.ui.look import QUEUED, QUIET, Cell, note, scrolled, table, trouble
from panels.ui.offers import SMALL, offer_chart, offers_of
from panels.ui.provenance import side_by_side
from panels.ui.tables import with_interval
from panels.ui.terms import capital, could_be_won
from panels.ui.wiring import Address, Updates, event_value, in_address, on_address
from sauda.experiments.tournament import (
    PAIR_TASK,
    SEATS,
    Pair,
    PairCell,
    Scenarios,
    ShownGame,
    Tournament,
    choose_shown,
    columns,
    payoffs,
    play_pair,
)
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

NAME = "players"
FILE = "tournament.json"
ASK = "Press a cell of the map, or pick a buyer and a seller, to see three of their games."
DOING = {"buyer": "buying", "seller": "selling"}
PLAYS = {**QUEUED, "concurrency_id": "pair-games", "concurrency_limit": 2}

# A press on a cell names its pair; the games that it plays are shown below the map.
PRESS_CELL = """element.addEventListener("click", event => {
    const cell = event.target.closest("td[data-seller]");
    if (!cell) return;
    const {buyer, seller} = cell.dataset;
    trigger("click", {buyer, seller});
    document.getElementById("results-players-buyer").scrollIntoView({block: "nearest"});
});"""


@dataclass(frozen=True)
class Figure:
    """A figure that every pair has."""

    label: str
    of: Callable[[PairCell], Interval]
    best: str = ""  # the seat whose best player against each opponent is framed
    form: str = "z.2f"


FIGURES: Mapping[str, Figure] = {
    "share": Figure("the buyer’s share of what could be won", lambda c: c.share.buyer, "buyer"),
    "seller_share": Figure(
        "the seller’s share of what could be won", lambda c: c.share.seller, "seller"
    ),
    "utility": Figure(
        "the buyer’s utility: its share minus its cost of time", lambda c: c.utility.buyer, "buyer"
    ),
    "deal_rate": Figure("share of scenarios that end in a deal", lambda c: c.deal_rate),
    "rounds": Figure("rounds played", lambda c: c.rounds, form="z.1f"),
}
FIRST = "share"
LEAST = 0.005  # of a share or a utility that is not shown as 0.00


def seats(data: Tournament) -> tuple[list[str], list[str]]:
    """Buyers and sellers, the best first."""
    buyers, sellers = ([row.player for row in data.ranks if row.seat == seat] for seat in SEATS)
    return buyers, sellers


def pair_name(buyer: str, seller: str) -> str:
    """A pair in a sentence: "linear buys from boulware"."""
    return f"{policy_label(buyer)} buys from {policy_label(seller)}"


def draw_map(data: Tournament, name: str = FIRST) -> Markup:
    """The figure called `name` of every pair; the best are framed, cells name their pair."""
    figure, (buyers, sellers) = FIGURES[name], seats(data)
    cells = {(cell.buyer, cell.seller): cell for cell in data.cells}
    means = {pair: figure.of(cell).mean for pair, cell in cells.items()}
    lines = {
        "buyer": [[(buyer, seller) for buyer in buyers] for seller in sellers],
        "seller": [[(buyer, seller) for seller in sellers] for buyer in buyers],
    }.get(figure.best, ())
    best = {max(line, key=lambda pair: means[pair]) for line in lines}
    most = max(map(abs, means.values()))

    def drawn(pair: tuple[str, str]) -> Cell:
        (buyer, seller), cell = pair, cells[pair]
        interval = with_interval(figure.of(cell), "z.3f")
        title = f"{capital(pair_name(*pair))}: {interval}, n = {cell.n:,}"
        framed = pair in best and means[pair] >= LEAST
        data = {"data-buyer": buyer, "data-seller": seller}
        return heat_cell(means[pair], most, figure.form, title, framed, data)

    shown = table(
        ("buyer", *(f"from {policy_label(seller)}" for seller in sellers)),
        [[policy_label(buyer), *(drawn((buyer, each)) for each in sellers)] for buyer in buyers],
        caption=f"Mean of each pair: {figure.label}",
        classes="sauda-heat sauda-matrix",
    )
    return HTML.pairs_map(shown, len(data.scenarios.seed), could_be_won())


def pair_of(data: Tournament, buyer: object, seller: object) -> Pair | None:
    """The pair of that buyer and that seller; None where they are no pair of the tournament."""
    buyers, sellers = seats(data)
    return Pair(buyer, seller) if buyer in buyers and seller in sellers else None


def games_of(data: Tournament, pair: Pair) -> Markup:
    """Three games of the pair as cards, played again."""
    at = data.scenarios
    then = data.games[pair.buyer][pair.seller].as_json()
    games = choose_shown(then, at)
    again = play_pair(pair, [game.seed for game in games])
    cards = [card(game, episode) for game, episode in zip(games, again, strict=True)]
    record = beside(then, at, games, again)
    served = could_be_won("a deal serves both sides")
    return HTML.pair_games(capital(pair_name(*pair)), record, int(at.zopa.sum()), served, cards)


def beside(
    then: Mapping[str, Any], at: Scenarios, games: Sequence[ShownGame], again: Sequence[Episode]
) -> Markup:
    """The buyer's mean share of the games as recorded and as played again, and what differs."""
    places = [game.index for game in games]
    old = {name: [values[i] for i in places] for name, values in then.items()}
    new = {name: list(values) for name, values in columns(again).items()}
    some = Scenarios.of([at.seed[i] for i in places])
    shares = tuple(payoffs(played, some)["share"]["buyer"].tolist() for played in (old, new))
    return side_by_side("the buyer’s mean share", shares, old, new)


def card(game: ShownGame, episode: Episode) -> Markup:
    """One game: what it was about, its offers, its moves, its end."""
    title = f"Transcript of the game of seed {episode.seed}"
    moves = scrolled(title, talk(episode, len(episode.turns)), "sauda-script")
    parts = [dealt(episode), offer_chart(offers_of(episode), SMALL), moves]
    return HTML.pair_game(capital(game.why), *parts, outcome(episode, PAIR_TASK))


def verdict(data: Tournament) -> Verdict:
    """Who is first in each seat."""
    told, lines, n = [], [], len(data.scenarios.seed)
    for seat in SEATS:
        ranks = [row for row in data.ranks if row.seat == seat]
        first = {policy_label(row.player): row for row in ranks if row.rank == 1}
        told.append(SAY.first_of_seat(list(first), len(ranks), seat))
        lines += [SAY.first_rank(name, DOING[seat], row, n) for name, row in first.items()]
    return Verdict(f"{capital('; '.join(told))}.", tuple(lines))


def players_answer(artifact: Artifact) -> Answer:
    """The map of all pairs with the games of one, and the ranks of all players."""
    data = artifact.data
    rows = [
        Measured(pair_name(cell.buyer, cell.seller), cell.share.buyer, "", "scripts alone", cell.n)
        for cell in data.cells
    ]
    return Answer(
        verdict(data),
        lambda address: build_map(data, address),
        rows=rows,
        what="pair",
        sources=[artifact],
        tables=[
            Table("ranks", data.ranks, HTML.ranks(could_be_won())),
            Table("exploited", data.exploitability, HTML.exploited()),
        ],
    )


def build_map(data: Tournament, address: Address) -> None:
    """Lay out the map and the games of a pair, which a figure and a pair in `address` pick."""
    buyers, sellers = seats(data)
    labels = [(each.label, name) for name, each in FIGURES.items()]
    figure = _picker("Figure", labels, "measure", 160)
    drawn = gr.HTML(elem_id=f"results-{NAME}-figure", js_on_load=PRESS_CELL)
    with gr.Row(elem_classes="sauda-actions"):
        buyer, seller = (
            _picker(
                seat.capitalize(), [(capital(policy_label(name)), name) for name in names], seat
            )
            for seat, names in (("buyer", buyers), ("seller", sellers))
        )
        play = gr.Button("Show their games", variant="primary", scale=0, min_width=180)
    games = gr.HTML(elem_id=f"results-{NAME}-games")
    shown = gr.State()  # the Pair whose games are shown; None before the first
    of_pair = [buyer, seller, games, shown, address.shown]

    def redraw(name: str, pair: Pair | None) -> Updates:
        named = in_address(named_in_address(name, pair))
        return {drawn: draw_map(data, name), address.shown: named}

    def show_games(name: str, bought_by: object, sold_by: object) -> Iterator[Updates]:
        if (pair := pair_of(data, bought_by, sold_by)) is None:
            yield {games: trouble(ValueError(ASK))}
            return
        picked = {buyer: pair.buyer, seller: pair.seller, shown: pair}
        picked[address.shown] = in_address(named_in_address(name, pair))
        yield picked | {games: note("Playing three games again …")}
        yield picked | {games: games_of(data, pair)}

    def press_cell(event: gr.EventData, name: str) -> Iterator[Updates]:
        yield from show_games(name, *(event_value(event, seat) for seat in Pair._fields))

    def follow_pair(query: Mapping[str, str]) -> Updates:
        name, pair = find_map(data, query)
        if pair is None:
            updates = {buyer: buyers[0], seller: sellers[0], shown: None, games: note(ASK)}
        else:
            *_, updates = show_games(name, *pair)
        return updates | redraw(name, pair) | {figure: name}

    figure.input(redraw, [figure, shown], [drawn, address.shown], **QUIET)
    play.click(show_games, [figure, buyer, seller], of_pair, **PLAYS)
    drawn.click(press_cell, figure, of_pair, **PLAYS)
    on_address(address, follow_pair, [drawn, figure, *of_pair])


def _picker(label: str, choices: list[tuple[str, str]], name: str, width: int = 240) -> gr.Dropdown:
    return gr.Dropdown(
        choices, value=choices[0][1], label=label, filterable=False,
        elem_id=f"results-{NAME}-{name}", min_width=width,
    )  # fmt: skip


def named_in_address(figure: str, pair: Pair | None) -> dict[str, str]:
    """What the page's address says of the map and the pair; nothing of what it opens with."""
    named = {} if figure == FIRST else {"figure": figure}
    return named if pair is None else named | pair._asdict()


def find_map(data: Tournament, query: Mapping[str, str]) -> tuple[str, Pair | None]:
    """The figure and the pair that an address names; the first figure where it names none."""
    figure = query["figure"] if query.get("figure") in FIGURES else FIRST
    return figure, pair_of(data, *(query.get(seat) for seat in Pair._fields))


PLAYERS = Question(
    NAME, "Who beats whom?", (FILE,), players_answer, names=("figure", *Pair._fields)
)
