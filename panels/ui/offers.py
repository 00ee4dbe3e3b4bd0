"""The offers of one deal as a picture: asks and bids over rounds, how it ended, the ZOPA once over.

Drawn as SVG in the page's own colours: it follows light and dark and redraws with a chat reply.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

from markupsafe import Markup

from env import Deal, EndReason, Episode, rupees

LARGE, SMALL = (420, 240), (270, 190)  # width and height of the viewBox, near those on the page
LEFT, RIGHT, TOP, BOTTOM = 62, 96, 24, 36  # margins that hold the labels
LINE = 13  # the least height between two labels
CHART_WORDS: Mapping[str, str] = {
    "none": "No price has been named yet.",
    "asks": "asks",
    "bids": "bids",
    "round": "round",
    "seller_limit": "seller’s limit",
    "buyer_limit": "buyer’s limit",
    "summary": "Offers over {rounds} rounds: {parts}; {ending}.",
    "asks_span": "asks from {first} to {last}",
    "bids_span": "bids from {first} to {last}",
    "open": "still open",
    "bought": "{name} bought it in round {round}",
    "closed": "closed at {price} in round {round}",
    "walked": "the {name} walked away in round {round}",
    "seller": "seller",
    "buyer": "buyer",
    "ran_out": "time ran out after round {round}",
}
Say = Callable[..., str]  # a text of CHART_WORDS, by its key and its values


def in_english(key: str, **values: object) -> str:
    """The text of CHART_WORDS with its values."""
    return CHART_WORDS[key].format(**values)


@dataclass(frozen=True)
class Offers:
    """What one deal's chart shows. Prices in rupees; `zopa` is (seller's, buyer's) reservation."""

    asks: tuple[float, ...]
    bids: tuple[float, ...]
    rounds: int  # the limit
    deal: Deal | None = None  # None while it runs
    zopa: tuple[float, float] | None = None  # shown only once the game is over


def offers_of(episode: Episode, step: int | None = None, deal: int = 0) -> Offers:
    """The offers in one deal of `episode`, after the first `step` moves of it; all if None."""
    table = episode.final.table
    turns = deal_turns(episode, deal)
    shown = turns[:step]
    prices = [(t.agent, t.action.price) for t in shown if hasattr(t.action, "price")]
    done = len(shown) == len(turns) and deal < len(table.past)
    instance = episode.final.private["nature"][deal]
    return Offers(
        asks=tuple(price for agent, price in prices if agent == "seller"),
        bids=tuple(price for agent, price in prices if agent == "buyer"),
        rounds=table.rounds,
        deal=table.past[deal] if done else None,
        zopa=(instance.seller["reservation"], instance.buyer["reservation"]),
    )


def deal_turns(episode: Episode, deal: int) -> tuple:
    """The turns of one deal of an episode."""
    return tuple(t for t in episode.turns if len(t.observation.table.past) == deal)


def offer_chart(
    offers: Offers,
    size: tuple[int, int] = LARGE,
    beside: Offers | None = None,
    say: Say = in_english,
) -> Markup:
    """The chart as SVG of LARGE or SMALL size, with a sentence that says what it shows.

    Its prices also span those of `beside`, the offers that it will be compared with. `say` gives
    the words of CHART_WORDS in another language.
    """
    prices = [*offers.asks, *offers.bids, *(offers.zopa or ())]
    if not prices:
        return Markup('<p class="sauda-note">{}</p>').format(say("none"))
    prices += [*beside.asks, *beside.bids] if beside else []
    ticks = nice_ticks(min(0, *prices), max(prices))
    scale = _Scale(ticks[0], max(ticks[-1], max(prices)), offers.rounds, *size)
    parts = [_grid(scale, ticks, offers.rounds, say), _zopa(scale, offers.zopa, say)]
    parts += [
        _line(scale, offers.asks, "seller", say("asks"), start=0),
        _line(scale, offers.bids, "buyer", say("bids"), start=1),
        _end(scale, offers),
    ]
    return Markup(
        '<svg class="sauda-offers" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(*size, summary(offers, say), Markup("").join(parts))


def summary(offers: Offers, say: Say = in_english) -> str:
    """What the chart shows, as a sentence."""
    spans = [
        say(key, first=rupees(prices[0]), last=rupees(prices[-1]))
        for key, prices in (("asks_span", offers.asks), ("bids_span", offers.bids))
        if prices
    ]
    parts, end = ", ".join(spans), ending(offers.deal, say)
    return say("summary", rounds=offers.rounds, parts=parts, ending=end)


def ending(deal: Deal | None, say: Say = in_english) -> str:
    """How a deal ended, in plain words."""
    if deal is None:
        return say("open")
    if deal.price is not None and deal.buyer != "buyer":
        return say("bought", name=deal.buyer.replace("_", " "), round=deal.rounds)
    if deal.price is not None:
        return say("closed", price=rupees(deal.price), round=deal.rounds)
    if deal.end == EndReason.WALKAWAY:
        name = say(deal.by) if deal.by in ("seller", "buyer") else deal.by
        return say("walked", name=name, round=deal.rounds)
    return say("ran_out", round=deal.rounds)


def nice_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Values that span [low, high] in `count` steps or so of 1, 2 or 5 times a power of ten."""
    span = max(high - low, 1e-9)
    power = 10 ** floor(log10(span / count))
    step = next(m * power for m in (1, 2, 5, 10) if m * power * count >= span)
    first = floor(low / step)
    return [
        round((first + i) * step, 10) for i in range(count + 2) if (first + i - 1) * step < high
    ]


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    rounds: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.width - RIGHT

    def x(self, round_: float) -> float:
        return round(LEFT + (self.right - LEFT) * round_ / max(1, self.rounds), 1)

    def y(self, price: float) -> float:
        share = (price - self.low) / (self.high - self.low)
        return round(self.height - BOTTOM - (self.height - TOP - BOTTOM) * share, 1)


def _grid(scale: _Scale, ticks: Sequence[float], rounds: int, say: Say) -> Markup:
    rows = [
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{y}" y2="{y}"/>'
            '<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>'
        ).format(LEFT, scale.right, LEFT - 8, scale.y(t) + 4, rupees(t), y=scale.y(t))
        for t in ticks
        if t <= scale.high
    ]
    every = max(1, (rounds + 1) // 6)
    rows += [
        Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
            scale.x(r), scale.height - BOTTOM + 16, r
        )
        for r in range(0, rounds + 1, every)
    ]
    middle = (LEFT + scale.right) / 2
    title = Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>')
    return Markup("").join([*rows, title.format(middle, scale.height - 3, say("round"))])


def _zopa(scale: _Scale, zopa: tuple[float, float] | None, say: Say) -> Markup:
    if zopa is None:
        return Markup("")
    seller, buyer = zopa
    top, bottom = scale.y(max(zopa)), scale.y(min(zopa))
    band = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
        "zopa" if buyer > seller else "no-zopa",
        LEFT,
        top,
        scale.right - LEFT,
        max(1, bottom - top),
    )
    label = Markup('<text class="limit" x="{}" y="{}">{}</text>')  # beside a deal in the last round
    (_, lower), (_, upper) = sorted(((seller, "seller"), (buyer, "buyer")))
    middle, apart = (top + bottom) / 2, max(bottom - top, LINE) / 2
    edges = [
        label.format(scale.right + 11, round(y + 4, 1), say(f"{who}_limit"))
        for who, y in ((upper, middle - apart), (lower, middle + apart))
    ]
    return band + Markup("").join(edges)


def _line(scale: _Scale, prices: Sequence[float], agent: str, label: str, start: int) -> Markup:
    if not prices:
        return Markup("")
    points = [(scale.x(start + i), scale.y(p)) for i, p in enumerate(prices)]
    path = " ".join(f"{x},{y}" for x, y in points)
    shape = (
        Markup('<rect x="{}" y="{}" width="7" height="7"/>')
        if agent == "seller"
        else Markup('<circle cx="{}" cy="{}" r="4"/>')
    )
    shift = 3.5 if agent == "seller" else 0
    marks = Markup("").join(shape.format(x - shift, y - shift) for x, y in points)
    x, y = points[0]  # where the lines are furthest apart
    below = -8 if agent == "seller" else 17
    return Markup(
        '<g class="{}"><polyline points="{}"/>{}<text x="{}" y="{}">{}</text></g>'
    ).format(agent, path, marks, x - 4, y + below, label)


def _end(scale: _Scale, offers: Offers) -> Markup:
    deal = offers.deal
    if deal is None or deal.price is None or deal.buyer != "buyer":
        return Markup("")
    x, y = scale.x(deal.rounds), scale.y(deal.price)
    return Markup('<g class="deal"><circle cx="{}" cy="{}" r="8"/></g>').format(x, y)
