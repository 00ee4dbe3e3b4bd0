"""Offers of one deal as a picture, with its end and the ZOPA once over; lines that grow in a game.

Drawn as SVG in the page's own colours: it follows light and dark and redraws with a chat reply.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

from markupsafe import Markup

from env import Deal, EndReason, Episode, rupees
from panels.ui.look import macros, note

HTML = macros("charts")
LARGE, SMALL = (420, 240), (270, 190)  # width and height of the viewBox, near those on the page
MARGINS = (62, 96, 24, 36)  # left, right, above and below, which hold the labels
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


class _Scale:
    """Where a step and a value from `low` to `high` stand within the margins of a picture."""

    def __init__(
        self, size: tuple[int, int], margins: Sequence[int], steps: int, low: float, high: float
    ) -> None:
        self.left, self.right = margins[0], size[0] - margins[1]
        self.top, self.base = margins[2], size[1] - margins[3]
        self.steps, self.low, self.high = max(1, steps), low, high

    def x(self, step: float) -> float:
        return round(self.left + (self.right - self.left) * step / self.steps, 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.base - (self.base - self.top) * share, 1)


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
        return note(say("none"))
    prices += [*beside.asks, *beside.bids] if beside else []
    ticks = nice_ticks(min(0, *prices), max(prices))
    scale = _Scale(size, MARGINS, offers.rounds, ticks[0], max(ticks[-1], *prices))
    rounds = range(0, offers.rounds + 1, max(1, (offers.rounds + 1) // 6))
    parts = _zopa(scale, *offers.zopa, say) if offers.zopa else Markup("")
    for agent, name, prices, start in (
        ("seller", "asks", offers.asks, 0),
        ("buyer", "bids", offers.bids, 1),
    ):
        points = [(scale.x(start + i), scale.y(price)) for i, price in enumerate(prices)]
        if points:
            # a lower mark leaves no room for a name between it and the rounds
            below = agent == "buyer" and points[0][1] < scale.base - 18
            parts += HTML.offers(agent, points, say(name), 17 if below else -8)
    deal = offers.deal
    if deal and deal.price is not None and deal.buyer == "buyer":
        parts += HTML.deal(scale.x(deal.rounds), scale.y(deal.price))
    levels = [(scale.y(tick), rupees(tick)) for tick in ticks if tick <= scale.high]
    columns = [(scale.x(number), number) for number in rounds]
    return HTML.chart(
        size, scale.left, scale.right, summary(offers, say), levels, 8, say("round"), size[1] - 3,
        parts, columns, scale.base + 16,
    )  # fmt: skip


def _zopa(scale: _Scale, seller: float, buyer: float, say: Say) -> Markup:
    top, bottom = scale.y(max(seller, buyer)), scale.y(min(seller, buyer))
    (_, lower), (_, upper) = sorted(((seller, "seller"), (buyer, "buyer")))
    middle, apart = (top + bottom) / 2, max(bottom - top, LINE) / 2
    limits = [
        (round(y + 4, 1), say(f"{who}_limit"))
        for who, y in ((upper, middle - apart), (lower, middle + apart))
    ]
    kind = "zopa" if buyer > seller else "no-zopa"
    return HTML.zopa(kind, scale.left, scale.right, top, max(1, bottom - top), limits)


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


# Lines that grow with a game ----------------------------------------------------------------------

CURVE, CURVE_MARGINS = (420, 170), (44, 12, 12, 32)  # likewise


def curve(
    lines: Mapping[str, Sequence[float]],
    length: int,
    unit: str,
    sentence: str,
    x_name: str = "step",
    span: Sequence[float] = (),
) -> Markup:
    """Each line against 0, 1, …; the axis has room for `length` steps, or for those there are.

    The first line takes the buyer's style, the second the seller's; two lines are labelled. `unit`
    names the vertical axis, which holds the values of `span`, too; `sentence` is the description
    for screen readers.
    """
    values = [*span, *(value for line in lines.values() for value in line)]
    steps = max(length, *(len(line) - 1 for line in lines.values()), 1)
    ticks = nice_ticks(min(0.0, *values), max(0.0, *values, min(values) + 0.1), count=3)
    scale, drawn = _Scale(CURVE, CURVE_MARGINS, steps, ticks[0], ticks[-1]), Markup("")
    styled = zip(("buyer", "seller"), lines.items(), strict=False)
    for i, (style, (name, line)) in enumerate(styled):
        points = [(scale.x(step), scale.y(value)) for step, value in enumerate(line)]
        name_at = scale.left + 8 + 150 * i, scale.top
        drawn += HTML.line(style, points, name if len(lines) > 1 else "", name_at)
    levels = [(scale.y(tick), f"{tick:g}") for tick in ticks]
    return HTML.chart(
        CURVE, scale.left, scale.right, sentence, levels, 6, f"{x_name}s; {unit}", CURVE[1] - 8,
        drawn,
    )  # fmt: skip
