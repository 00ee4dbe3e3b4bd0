"""The map of all pairs: buyers down, sellers across, one figure of the artifact in each cell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from markupsafe import Markup

from panels.results.market.tournament.names import (
    pair_name,
    player_name,
    seller_group,
    seller_short,
)
from panels.results.questions.winners import heat_cell, heat_row, heat_table
from panels.ui.tables import MISSING, with_interval
from sauda.experiments.pairs import SEATS, Scenarios
from sauda.experiments.tournament import PairCell, Tournament
from sauda.records.schemas.base import Interval
from sauda.statistics import name_interval, wilson_interval

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
    of: Callable[[PairCell], Interval | None]
    best: str = ""  # "column": of the buyers against one seller; "row": of the sellers
    form: str = "z.2f"
    over: str = "scenarios"  # what its n counts: scenarios, those with a ZOPA, deals with a ZOPA


def _faults(of: str, seat: str) -> Callable[[PairCell], Interval]:
    """The share of scenarios in which the seat is at fault, from the counts called `of`."""
    return lambda cell: _rate(getattr(getattr(cell, of), seat), cell.n)


@lru_cache(maxsize=512)
def _rate(count: int, n: int) -> Interval:
    """A share with Wilson's interval; kept, because few counts differ and it takes a while."""
    return Interval(**name_interval(wilson_interval(count, n)))


FIGURES: Mapping[str, Figure] = {
    "share": Figure("the buyer’s share of what could be won", lambda c: c.share.buyer, "column"),
    "seller_share": Figure(
        "the seller’s share of what could be won", lambda c: c.share.seller, "row"
    ),
    "utility": Figure(
        "the buyer’s utility: its share minus its cost of time", lambda c: c.utility.buyer, "column"
    ),
    "deal_rate": Figure("share of scenarios that end in a deal", lambda c: c.deal_rate),
    "fairness": Figure(
        "fairness: 1 minus the distance of both shares", lambda c: c.fairness, over="deals"
    ),
    "pareto": Figure(
        "distance of both utilities from a deal in the first round",
        lambda c: c.pareto_distance,
        over="zopa",
    ),
    "rounds": Figure("rounds played", lambda c: c.rounds, form="z.1f"),
    **{
        f"{of}_{seat}": Figure(f"share of scenarios {what} the {seat}", _faults(of, seat))
        for of, what in (
            ("misstated", "with an agreement mis-stated by"),
            ("invalid", "forfeited by an invalid move of"),
        )
        for seat in SEATS
    },
}
FIRST = "share"
LEAST = 0.005  # of a share or a utility that is not shown as 0.00


def cells_of(data: Tournament) -> dict[tuple[str, str], PairCell]:
    """The cells by (buyer, seller)."""
    return {(cell.buyer, cell.seller): cell for cell in data.cells}


def seats(data: Tournament) -> tuple[list[str], list[str]]:
    """Buyers, the strongest first, and sellers by group, each group the strongest first."""
    by_seat = {
        seat: [row.player for row in data.ranks if row.seat == seat] for seat in ("buyer", "seller")
    }
    groups = dict.fromkeys(seller_group(cell.seller) for cell in data.cells)
    order = list(groups)
    sellers = sorted(by_seat["seller"], key=lambda seller: order.index(seller_group(seller)))
    return by_seat["buyer"], sellers


def matrix(data: Tournament, name: str = FIRST) -> Markup:
    """The figure called `name` of every pair; the best are framed, cells name their pair."""
    figure, cells = FIGURES[name], cells_of(data)
    buyers, sellers = seats(data)
    values = {pair: figure.of(cell) for pair, cell in cells.items()}
    most = max(abs(value.mean) for value in values.values() if value is not None)
    best = _best(figure, values, buyers, sellers)
    zopa = int(Scenarios.of_columns(data.scenarios).zopa.sum())

    def drawn(pair: tuple[str, str]) -> Markup:
        cell = cells[pair]
        n = {"scenarios": cell.n, "zopa": zopa, "deals": cell.fair_deals}[figure.over]
        return _cell(pair, figure, values[pair], n, most, pair in best)

    rows = [
        heat_row(
            player_name("buyer", buyer).removeprefix("the "),
            [drawn((buyer, seller)) for seller in sellers],
            name=buyer,
        )
        for buyer in buyers
    ]
    caption = f"Mean of each pair: {figure.label}"
    return heat_table(caption, _heads(sellers), rows, "sauda-matrix")


def _best(
    figure: Figure,
    values: Mapping[tuple[str, str], Interval | None],
    buyers: Sequence[str],
    sellers: Sequence[str],
) -> set[tuple[str, str]]:
    """The pairs that are framed: against each player of one seat, the best of the other.

    None where nobody wins anything that the map's digits show.
    """
    if figure.best == "column":
        lines = [[(buyer, seller) for buyer in buyers] for seller in sellers]
    elif figure.best == "row":
        lines = [[(buyer, seller) for seller in sellers] for buyer in buyers]
    else:
        return set()
    means = {pair: value.mean for pair, value in values.items() if value is not None}
    best = {max(line, key=lambda pair: means[pair]) for line in lines}
    return {pair for pair in best if means[pair] >= LEAST}


def _cell(
    pair: tuple[str, str],
    figure: Figure,
    value: Interval | None,
    n: int,
    most: float,
    is_best: bool,
) -> Markup:
    buyer, seller = pair
    names = pair_name(buyer, seller)
    if value is None:
        return Markup(
            '<td class="sauda-r" title="{}" data-buyer="{}" data-seller="{}">{}</td>'
        ).format(f"{names}: no deal where something could be won", buyer, seller, MISSING)
    title = f"{names}: {with_interval(value, 'z.3f')}, n = {n:,}"
    return heat_cell(value.mean, most, figure.form, title, is_best, buyer=buyer, seller=seller)


def _heads(sellers: Sequence[str]) -> Markup:
    """Two rows of heads: the groups of sellers, then the sellers."""
    groups = [(group, len(list(some))) for group, some in groupby(sellers, key=seller_group)]
    above = Markup("").join(
        Markup('<th scope="colgroup" colspan="{}">{}</th>').format(width, group)
        for group, width in groups
    )
    below = Markup("").join(
        Markup('<th scope="col" class="sauda-r">{}</th>').format(seller_short(seller))
        for seller in sellers
    )
    return Markup(
        '<tr><th scope="col" rowspan="2" class="sauda-l">buyer</th>{}</tr><tr>{}</tr>'
    ).format(above, below)
