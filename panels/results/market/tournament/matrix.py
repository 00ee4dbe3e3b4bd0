"""The map of all pairs: buyers down, sellers across, one figure of the artifact in each cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.results.questions.verdict import capital
from panels.results.questions.winners import heat_cell, heat_heads, heat_row, heat_table
from panels.ui.tables import with_interval
from sauda.experiments.pairs import SEATS
from sauda.experiments.tournament import PairCell, Tournament
from sauda.records.schemas.base import Interval

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


def matrix(data: Tournament, name: str = FIRST) -> Markup:
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

    def drawn(pair: tuple[str, str]) -> Markup:
        (buyer, seller), cell = pair, cells[pair]
        interval = with_interval(figure.of(cell), "z.3f")
        title = f"{capital(pair_name(*pair))}: {interval}, n = {cell.n:,}"
        framed = pair in best and means[pair] >= LEAST
        return heat_cell(means[pair], most, figure.form, title, framed, buyer=buyer, seller=seller)

    rows = [
        heat_row(policy_label(buyer), [drawn((buyer, seller)) for seller in sellers], name=buyer)
        for buyer in buyers
    ]
    heads = heat_heads("buyer", (f"from {policy_label(seller)}" for seller in sellers))
    return heat_table(f"Mean of each pair: {figure.label}", heads, rows, "sauda-matrix")
