"""The utility plane of one game: both utilities, the ZOPA, the Nash point, the path of offers.

Utilities are the artifact's: shares of the ZOPA with the buyer's cost of time. An offer stands
where the deal would be if it were accepted at once. Drawn as SVG in the page's own colours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from env import Episode
from panels.ui.terms import could_be_won, nothing_to_win, term
from sauda.experiments.pairs import SEATS, Scenarios
from sauda.experiments.tournament import Payoffs

WIDTH, HEIGHT = 300, 280  # of the viewBox
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 12, 42
LOW, HIGH = -0.5, 1.5  # of both axes; what lies beyond stands on the edge
NASH = (0.5, 0.5)  # the largest product of both utilities: half the ZOPA each, in the first round
Point = tuple[float, float]  # the buyer's and the seller's utility


@dataclass(frozen=True)
class Plane:
    """What the plane of one finished game shows."""

    asks: tuple[Point, ...]
    bids: tuple[Point, ...]
    deal: Point | None  # None where the game ended without one
    zopa: bool  # whether some price serves both; without it utilities are shares of the list price

    @property
    def beyond(self) -> int:
        """How many offers lie beyond the edge."""
        points = (*self.asks, *self.bids)
        return sum(not all(LOW <= utility <= HIGH for utility in point) for point in points)


def plane_of(episode: Episode) -> Plane:
    """The plane of a finished game of the tournament."""
    offers = [turn for turn in episode.turns if hasattr(turn.action, "price")]
    points = _utilities(
        episode.seed,
        [turn.action.price for turn in offers],
        [turn.observation.table.round + 1 for turn in offers],
    )
    by_agent = {
        seat: tuple(p for p, turn in zip(points, offers, strict=True) if turn.agent == seat)
        for seat in SEATS
    }
    past = episode.final.table.past
    deal = past[0] if past else None
    return Plane(
        by_agent["seller"],
        by_agent["buyer"],
        None
        if deal is None or deal.price is None
        else _utilities(episode.seed, [deal.price], [deal.rounds])[0],
        bool(Scenarios.of([episode.seed]).zopa[0]),
    )


def _utilities(seed: int, prices: Sequence[float], rounds: Sequence[int]) -> list[Point]:
    """The utilities of deals at these prices after so many rounds, in the scenario of `seed`."""
    if not prices:
        return []
    deals = {"end": "A" * len(prices), "price": prices, "rounds": rounds}
    utility = Payoffs.of(deals, Scenarios.of([seed] * len(prices))).utility
    return list(zip(*(np.asarray(utility[seat]).tolist() for seat in SEATS), strict=True))


def sentence(plane: Plane) -> Markup:
    """What the plane shows, in words."""
    nash = term("Nash point", "the deal with the largest product of both utilities")
    if plane.deal is None:
        told = Markup("No deal: both get 0.")
    else:
        buyer, seller = plane.deal
        told = Markup(
            "The deal is worth {:z.2f} to the buyer and {:z.2f} to the seller, of {}."
        ).format(buyer, seller, could_be_won() if plane.zopa else "the list price")
    if plane.zopa:
        told += Markup(" The {} gives {:.2f} to each, in the first round.").format(nash, NASH[0])
    else:
        none = nothing_to_win("No price serves both")
        told += Markup(" {}, so there is no {}.").format(none, nash)
    if plane.beyond:
        told += f" {plane.beyond} of the offers lie beyond the edge."
    return told


def utility_plane(plane: Plane) -> Markup:
    """The plane as SVG; its sentence stands below it."""
    parts = [_grid(plane.zopa)]
    if plane.zopa:
        (x1, y1), (x2, y2), (x, y) = map(_at, ((0, 1), (1, 0), NASH))
        parts.append(
            Markup(
                '<line class="zopa-line" x1="{}" y1="{}" x2="{}" y2="{}"/>'
                '<path class="nash" d="M{x} {top} L{right} {y} L{x} {bottom} L{left} {y} Z"/>'
                '<text x="{}" y="{}">Nash point</text>'
            ).format(
                *(x1, y1, x2, y2, x + 10, y - 4),
                x=x, y=y, top=y - 6, bottom=y + 6, left=x - 6, right=x + 6,
            )
        )  # fmt: skip
    parts += [_path(plane.asks, "seller", "asks"), _path(plane.bids, "buyer", "bids")]
    x, y = _at(plane.deal or (0, 0))
    parts.append(
        Markup(
            '<g class="deal"><circle cx="{}" cy="{}" r="8"/>'
            '<text x="{}" y="{}" text-anchor="end">{}</text></g>'
        ).format(x, y, x - 9, y + 14, "deal" if plane.deal else "no deal")
    )
    return Markup(
        '<svg class="sauda-offers sauda-plane" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '</svg><p class="sauda-note">{}</p>'
    ).format(
        WIDTH,
        HEIGHT,
        "Utility plane: both sides’ utilities of every offer",
        Markup("").join(parts),
        sentence(plane),
    )


def _at(point: Point) -> Point:
    """Where a point stands in the picture, moved to the edge if it lies beyond."""
    x, y = ((min(max(utility, LOW), HIGH) - LOW) / (HIGH - LOW) for utility in point)
    return (
        round(LEFT + (WIDTH - LEFT - RIGHT) * x, 1),
        round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y, 1),
    )


def _grid(zopa: bool) -> Markup:
    (left, bottom), (right, top) = _at((LOW, LOW)), _at((HIGH, HIGH))
    lines = []
    for tick in (0, 0.5, 1):
        x, y = _at((tick, tick))
        lines.append(
            Markup(
                '<line class="grid" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'
                '<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
                '<text class="tick" x="{x}" y="{below}" text-anchor="middle">{tick:g}</text>'
                '<text class="tick" x="{beside}" y="{level}" text-anchor="end">{tick:g}</text>'
            ).format(
                x=x, y=y, top=top, bottom=bottom, left=left, right=right, tick=tick,
                below=bottom + 14, beside=left - 6, level=y + 4,
            )
        )  # fmt: skip
    unit = f"shares of {'what could be won' if zopa else 'the list price'}"
    middle, height = (left + right) / 2, (top + bottom) / 2
    lines.append(
        Markup(
            '<text class="axis" x="{}" y="{}" text-anchor="middle">buyer’s utility, {}</text>'
            '<text class="axis" transform="translate(14 {}) rotate(-90)" text-anchor="middle">'
            "seller’s utility</text>"
        ).format(middle, HEIGHT - 6, unit, height)
    )
    return Markup("").join(lines)


def _path(points: Sequence[Point], agent: str, label: str) -> Markup:
    """Offers in order; their label stands beside the first one."""
    if not points:
        return Markup("")
    places = [_at(point) for point in points]
    shape = (
        Markup('<rect x="{}" y="{}" width="6" height="6"/>')
        if agent == "seller"
        else Markup('<circle cx="{}" cy="{}" r="3.5"/>')
    )
    shift = 3 if agent == "seller" else 0
    marks = Markup("").join(shape.format(x - shift, y - shift) for x, y in places)
    path = " ".join(f"{x},{y}" for x, y in places)
    x, y = places[0]
    beside = (x + 8, y - 2) if agent == "seller" else (x, y + 15)
    anchor = "start" if agent == "seller" else "end"
    return Markup(
        '<g class="{}"><polyline points="{}"/>{}<text x="{}" y="{}" text-anchor="{}">{}</text></g>'
    ).format(agent, path, marks, *beside, anchor, label)
