"""Who beats whom? Every script that buys against every one that sells, and games of each pair."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from env import Episode
from panels.results.model_labels import policy_label
from panels.results.questions.layout import Answer, Artifacts, Measured, Question
from panels.results.questions.verdict import Verdict, capital, listed
from panels.results.questions.winners import heat_cell
from panels.transcripts.before_after import dealt
from panels.transcripts.view import outcome, talk
from panels.ui.look import QUEUED, QUIET, Cell, note, scrolled, table, trouble
from panels.ui.offers import SMALL, offer_chart, offers_of
from panels.ui.provenance import Beside, side_by_side
from panels.ui.tables import data_table, with_interval
from panels.ui.terms import could_be_won
from panels.ui.wiring import Address, Updates, event_value, in_address, on_address
from sauda.experiments.pairs import PAIR_TASK, SEATS, Pair, Payoffs, Scenarios, columns, play_pair
from sauda.experiments.tournament import PairCell, PlayerRank, ShownGame, Tournament, choose_shown
from sauda.records.schemas.base import Interval
from sauda.records.store import digest

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
    return shown + Markup(
        "<p>Frames mark the best against each opponent. Point at a cell for its 95 % interval;"
        " press it to replay three games.</p>{}"
    ).format(
        note(
            Markup(
                "n = {} hold-out scenarios per pair, about unseen listings. Both sides are scripts"
                " that see prices and their own limits: the last bid counts and no words do, so"
                " this is not the open market. Shares are of {}, else of the list price."
            ).format(len(data.scenarios.seed), could_be_won())
        )
    )


ASK = "Press a cell of the map, or pick a buyer and a seller, to see three of their games."


def replay_pair(data: Tournament, buyer: object, seller: object) -> Iterator[Markup]:
    """The games of a pair, after a word that they begin; a sentence for a pair that is none."""
    known = isinstance(buyer, str) and isinstance(seller, str)
    if not known or seller not in data.games.get(buyer, ()):
        yield trouble(ValueError(ASK))
        return
    yield note("Playing three games again …")
    yield games_of(data, Pair(buyer, seller))


def games_of(data: Tournament, pair: Pair) -> Markup:
    """Three games of the pair as cards, played again."""
    at = Scenarios.of_columns(data.scenarios)
    then = data.games[pair.buyer][pair.seller].as_json()
    games = choose_shown(then, at)
    again = play_pair(pair, [game.seed for game in games])
    cards = [card(game, episode) for game, episode in zip(games, again, strict=True)]
    return Markup('<h3>{}</h3>{}{}<div class="sauda-cards sauda-pair">{}</div>').format(
        capital(pair_name(*pair)),
        side_by_side(beside(then, at, games, again)),
        note(
            Markup(
                "Played again just now from their seeds. Chosen by the buyer’s utility among the {}"
                " scenarios in which {}; of equal ones the lower seed comes first."
            ).format(int(at.zopa.sum()), could_be_won("a deal serves both sides"))
        ),
        Markup("").join(cards),
    )


def beside(
    then: Mapping[str, Any], at: Scenarios, games: Sequence[ShownGame], again: Sequence[Episode]
) -> Beside:
    """The buyer's mean share of the games as recorded and as played again, and what differs."""
    places = [game.index for game in games]
    old = {name: [values[i] for i in places] for name, values in then.items()}
    new = {name: list(values) for name, values in columns(again).items()}
    some = Scenarios.of([at.seeds[i] for i in places])
    shares = [float(Payoffs.of(played, some).share["buyer"].mean()) for played in (old, new)]
    differing = [name for name in old if old[name] != new[name]]
    what = "the buyer’s mean share"
    return Beside(what, *shares, len(games), len(old), differing, (digest(old), digest(new)))


def card(game: ShownGame, episode: Episode) -> Markup:
    """One game: what it was about, its offers, its moves, its end."""
    return Markup(
        '<section class="sauda-card sauda-game"><h3>{}</h3><p>{}</p>{}{}{}</section>'
    ).format(
        capital(game.why),
        dealt(episode),
        offer_chart(offers_of(episode), SMALL),
        scrolled(
            f"Transcript of the game of seed {episode.seed}",
            talk(episode, len(episode.turns)),
            "sauda-script",
        ),
        outcome(episode, PAIR_TASK.grade(episode.final)),
    )


FORM = "z.3f"
DOES = {"buyer": "buys", "seller": "sells"}


def ranks_table(data: Tournament) -> Markup:
    """Ranks of buyers and sellers, the best first."""
    lines = [
        {
            "seat": DOES[row.seat],
            "rank": row.rank,
            "player": policy_label(row.player),
            "utility": row.utility,
            "share of what could be won": row.share,
        }
        for row in data.ranks
    ]
    return data_table(lines, "Ranks, the best first; 95 % intervals") + note(
        Markup(
            "A rank is 1 plus the number of players that score more: in the same scenarios against"
            " the same opponents, with the whole 95 % interval of the paired difference in utility"
            " above 0. Utility is the share of {} minus the buyer’s cost of time."
        ).format(could_be_won())
    )


def exploited_table(data: Tournament) -> Markup:
    """What the best opponent takes from each player."""
    lines = [
        {
            "seat": DOES[row.seat],
            "player": policy_label(row.player),
            "most is taken by": policy_label(row.by) if row.taken.mean else "nobody",
            "it takes": row.taken,
            "all opponents": row.usual,
            "difference": row.more,
            "n": row.n,
        }
        for row in data.exploitability
    ]
    return data_table(lines, "Utilities; 95 % intervals") + note(
        "Exploitability: the opponent that takes most is chosen on every other scenario and"
        " measured on the rest, n. The difference is paired by scenario."
    )


NAME = "players"
FILE = "tournament.json"
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


def players_answer(artifacts: Artifacts) -> Answer | None:
    """The map of all pairs with the games of one, and the ranks of all players."""
    if (artifact := artifacts.get(FILE)) is None:
        return None
    data = artifact.data
    return Answer(
        verdict(data),
        lambda address: _wire(data, _map_and_games(data, address)),
        rows=measured(data),
        what="pair",
        sources=[artifact],
        details={
            "Ranks of buyers and sellers": ranks_table(data),
            "What the best opponent takes from each player": exploited_table(data),
        },
    )


def _map_and_games(data: Tournament, address: Address) -> Page:
    buyers, sellers = seats(data)
    figure = gr.Dropdown(
        [(each.label, name) for name, each in FIGURES.items()], value=FIRST, label="Figure",
        filterable=False, elem_id=f"results-{NAME}-measure",
    )  # fmt: skip
    drawn = gr.HTML(elem_id=f"results-{NAME}-figure", js_on_load=PRESS_CELL)
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
    games = gr.HTML(elem_id=f"results-{NAME}-games")
    return Page(figure, drawn, buyer, seller, play, games, gr.State(), address)


def _wire(data: Tournament, page: Page) -> None:
    buyers, sellers = seats(data)

    def redraw(name: str, shown: Pair | None) -> Updates:
        address = in_address(named_in_address(name, shown))
        return {page.drawn: draw_map(data, name), page.address.shown: address}

    def show_games(name: str, bought_by: object, sold_by: object) -> Iterator[Updates]:
        pair = Pair(bought_by, sold_by) if bought_by in buyers and sold_by in sellers else None
        if pair is None:
            yield {page.games: trouble(ValueError(ASK))}
            return
        picked = {page.buyer: pair.buyer, page.seller: pair.seller, page.shown: pair}
        address = {page.address.shown: in_address(named_in_address(name, pair))}
        for part in replay_pair(data, *pair):
            yield picked | address | {page.games: part}

    def press_cell(event: gr.EventData, name: str) -> Iterator[Updates]:
        yield from show_games(name, *(event_value(event, seat) for seat in Pair._fields))

    def follow_pair(query: Mapping[str, str]) -> Updates:
        name, pair = map_named(data, query)
        if pair is None:
            first = {page.buyer: buyers[0], page.seller: sellers[0], page.shown: None}
            updates = first | {page.games: note(ASK)}
        else:
            *_, updates = show_games(name, *pair)
        return updates | redraw(name, pair) | {page.figure: name}

    page.figure.input(redraw, [page.figure, page.shown], [page.drawn, page.address.shown], **QUIET)
    page.play.click(show_games, [page.figure, page.buyer, page.seller], page.of_pair, **PLAYS)
    page.drawn.click(press_cell, page.figure, page.of_pair, **PLAYS)
    on_address(page.address, follow_pair, [page.drawn, page.figure, *page.of_pair])


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


PLAYERS = Question(
    NAME, "Who beats whom?", (FILE,), players_answer, names=("figure", *Pair._fields)
)
