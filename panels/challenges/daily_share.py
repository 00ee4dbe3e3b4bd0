"""What a visitor sends to friends of a finished bargain of the day: a text, a link, a picture.

The picture has the item, the share, the place and the two lines of offers, 1200 x 630 px, as links
are shown. Text and picture name no price of the game: whoever sees them can still play.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from io import BytesIO
from itertools import groupby

from markupsafe import Markup
from PIL import Image, ImageDraw, ImageFont

from env import EndReason, rupees
from panels.haggle.conversation import chart_words
from panels.haggle.words import Translate, translator
from panels.ui.downloads import data_address
from panels.ui.html import macros
from panels.ui.look import PALETTE
from panels.ui.offers import Say
from panels.ui.theme import FONTS
from sauda.language.lines import name_in
from sauda.sessions.bazaar import Game
from sauda.sessions.daily import encode

HTML = macros("challenges")
# A bid's block, by the least distance from the ask before it, as a share of the list price.
BLOCKS = {0.30: "🟥", 0.15: "🟧", 0.05: "🟨"}
CLOSE = "🟩"
ENDS = {EndReason.AGREEMENT: "🤝", EndReason.WALKAWAY: "🚶", EndReason.DEADLINE: "⌛"}

WIDTH, HEIGHT = 1200, 630  # px
FINER = 2  # drawn at twice the size, because Pillow's lines have no smooth edges
SIDE = 64  # px: the margins
CHART = (640, 232, WIDTH - SIDE, 480)  # left, top, right, bottom
LEFT_OF_CHART = 560  # px, for words
LATIN = "inter-latin-wght-normal.woff2"
DEVANAGARI = "noto-sans-devanagari-devanagari-wght-normal.woff2"
Draw = ImageDraw.ImageDraw


@dataclass(frozen=True)
class Finished:
    """A finished bargain of the day."""

    day: date
    game: Game
    share: float  # of what could be won
    place: str  # among the scripts, in words
    origin: str  # scheme and host of the page; "" where the browser did not say
    language: str

    @property
    def translate(self) -> Translate:
        return translator(self.language)


def day_in_words(day: date, translate: Translate) -> str:
    """The day as "23 November 2026"."""
    month = translate("daily_months").split()[day.month - 1]
    return f"{day.day} {month} {day.year}"


def day_address(day: date, code: str = "") -> str:
    """The query string that opens a day's bargain, with the game of `code` if there is one."""
    moves = f"&moves={code}" if code else ""
    return f"?tab=haggle&part=daily&day={day.isoformat()}{moves}"


def show_share(one: Finished) -> Markup:
    """The text, the link and the picture."""
    address = f"{one.origin}/{day_address(one.day, encode(one.game))}"
    png = BytesIO()
    picture(one).save(png, format="PNG")
    drawn = data_address(png.getvalue(), "image/png")
    return HTML.share(text_of(one), address, drawn, one.translate)


def text_of(one: Finished) -> list[str]:
    """What stands above the link, in lines: the item; share and place; a block per bid."""
    translate, item = one.translate, one.game.play.state.table.item
    named = translate(
        "daily_item", item=name_in(one.language, item.name), price=rupees(item.list_price)
    )
    won = translate("daily_won", share=f"{one.share:.0%}")
    return [
        translate("daily_title", day=day_in_words(one.day, translate), item=named),
        f"{won}; {translate('daily_place', place=one.place)}",
        blocks(one.game),
    ]


def blocks(game: Game) -> str:
    """A coloured block per bid, by its distance from the ask, then how the game ended: no price."""
    table, shown = game.play.state.table, ""
    for ask, bid in zip(table.asks, table.bids, strict=False):
        gap = (ask - bid) / table.item.list_price
        shown += next((block for share, block in BLOCKS.items() if gap > share), CLOSE)
    return shown + ENDS.get(table.past[-1].end, "")


# The picture ------------------------------------------------------------------------------------


def picture(one: Finished) -> Image.Image:
    """The picture, WIDTH x HEIGHT px."""
    translate, table = one.translate, one.game.play.state.table
    image = Image.new("RGB", (WIDTH * FINER, HEIGHT * FINER), _colour("paper"))
    draw = ImageDraw.Draw(image)
    _write(draw, (SIDE, 56), translate("daily_sauda"), (44,), 700, "ink")
    title = translate("daily_of", day=day_in_words(one.day, translate))
    _write(draw, (SIDE, 118), title, (26,), 400, "subdued")
    _line(draw, [(SIDE, 168), (WIDTH - SIDE, 168)], "ink", 2)
    item = name_in(one.language, table.item.name)
    item = f"{item[0].upper()}{item[1:]}"
    _write(draw, (SIDE, 204), item, (34, 30, 26), 600, "ink", LEFT_OF_CHART)
    _write(draw, (SIDE, 262), f"{one.share:.0%}", (132,), 700, "indigo")
    _write(draw, (SIDE, 418), translate("daily_won_above"), (28,), 400, "ink", LEFT_OF_CHART)
    place = translate("daily_place", place=one.place)
    _write(draw, (SIDE, 456), place, (28, 25, 22), 400, "ink", LEFT_OF_CHART)
    _offers(draw, table.asks, table.bids, chart_words(translate))
    _line(draw, [(SIDE, 540), (WIDTH - SIDE, 540)], "line", 2)
    address = f"{one.origin.partition('://')[2]}/{day_address(one.day)}"
    again = translate("daily_play_same", address=address)
    _write(draw, (SIDE, 562), again, (22,), 400, "subdued")
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def _offers(draw: Draw, asks: Sequence[float], bids: Sequence[float], say: Say) -> None:
    """Both sides' offers as lines without a scale."""
    left, top, right, bottom = CHART
    prices = [*asks, *bids]
    low, span = min(prices), max(prices) - min(prices) or 1
    steps = max(len(asks), len(bids) + 1, 2) - 1
    for offers, start, colour, name, below in (
        (asks, 0, "marigold", say("asks"), -40),
        (bids, 1, "indigo", say("bids"), 16),
    ):
        points = [
            (
                left + (right - left) * (start + i) / steps,
                bottom - (bottom - top) * (price - low) / span,
            )
            for i, price in enumerate(offers)
        ]
        if not points:
            continue
        _line(draw, points, colour, 5)
        for x, y in points:
            draw.circle((FINER * x, FINER * y), FINER * 7, fill=_colour(colour))
        x, y = points[0]
        x = min(x, right - _length(name, 22, 500))
        _write(draw, (x, y + below), name, (22,), 500, colour)


def _line(draw: Draw, points: Sequence[tuple[float, float]], colour: str, width: int) -> None:
    scaled = [(FINER * x, FINER * y) for x, y in points]
    draw.line(scaled, fill=_colour(colour), width=FINER * width, joint="curve")


def _write(
    draw: Draw,
    place: tuple[float, float],
    text: str,
    sizes: Sequence[int],
    weight: int,
    colour: str,
    room: float = WIDTH - 2 * SIDE,
) -> None:
    """Text with its upper left corner at `place`, in the first of `sizes`, in px, that fits `room`.

    `sizes` go down. Text that needs more room is cut.
    """
    fitting = (size for size in sizes if _length(text, size, weight) <= room)
    size = next(fitting, sizes[-1])
    while _length(text, size, weight) > room:
        text = text.rstrip("…")[:-1] + "…"
    x, y = FINER * place[0], FINER * place[1] + _font(LATIN, size, weight).getmetrics()[0]
    for part, font in _parts(text, size, weight):
        draw.text((x, y), part, font=font, fill=_colour(colour), anchor="ls")
        x += font.getlength(part)


def _length(text: str, size: int, weight: int) -> float:
    """The width of a text in px of the picture."""
    return sum(font.getlength(part) for part, font in _parts(text, size, weight)) / FINER


def _parts(text: str, size: int, weight: int) -> Iterator[tuple[str, ImageFont.FreeTypeFont]]:
    """The parts of `text` in one script each, with the font that has its letters."""
    for hindi, letters in groupby(text, lambda letter: "\u0900" <= letter <= "\u097f"):
        yield "".join(letters), _font(DEVANAGARI if hindi else LATIN, size, weight)


@cache
def _font(file: str, size: int, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(FONTS / file, FINER * size)
    font.set_variation_by_axes([weight])
    return font


def _colour(role: str) -> str:
    light, _ = PALETTE[role]
    return light
