"""The picture of a finished bargain of the day: item, share, place, the two lines of offers.

It names no price of the game: whoever sees it can still play. 1200 x 630 px, as links are shown.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from itertools import groupby
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from panels.challenges.daily.view import Words, day_address, day_in_words
from panels.haggle.conversation import chart_words
from panels.ui.downloads import downloads
from panels.ui.look import PALETTE
from panels.ui.offers import Say
from panels.ui.theme import FONTS
from sauda.language.lines import name_in
from sauda.sessions.bazaar import Game
from sauda.sessions.daily import encode

WIDTH, HEIGHT = 1200, 630  # px
FINER = 2  # drawn at twice the size, because Pillow's lines have no smooth edges
SIDE = 64  # px: the margins
CHART = (640, 232, WIDTH - SIDE, 480)  # left, top, right, bottom
LEFT_OF_CHART = 560  # px, for words
ITEM_SIZES = (34, 30, 26)  # px: the largest in which the words fit to the left of the chart
PLACE_SIZES = (28, 25, 22)
LIGHT = 0  # of a pair of PALETTE
LATIN = "inter-latin-wght-normal.woff2"
DEVANAGARI = "noto-sans-devanagari-devanagari-wght-normal.woff2"


def picture_file(day: date, game: Game, share: float, where: str, origin: str, words: Words) -> str:
    """The path of the picture as PNG; raises NotWritten."""
    content = repr((day, encode(game), where, origin, words[1]))
    name = f"sauda-{day.isoformat()}.png"

    def write(path: Path) -> None:
        picture(day, game, share, where, origin, words).save(path, format="PNG", optimize=True)

    return str(downloads().write(name, content, write))


def picture(
    day: date, game: Game, share: float, where: str, origin: str, words: Words
) -> Image.Image:
    """The picture of a finished game, WIDTH x HEIGHT px; `where` is the place among the scripts."""
    translate, language = words
    size = (WIDTH * FINER, HEIGHT * FINER)
    image = Image.new("RGB", size, _colour("paper"))
    draw = ImageDraw.Draw(image)
    table = game.play.state.table
    _write(draw, (SIDE, 56), translate("daily_sauda"), 44, 700, "ink")
    title = translate("daily_of", day=day_in_words(day, translate))
    _write(draw, (SIDE, 118), title, 26, 400, "subdued")
    _line(draw, [(SIDE, 168), (WIDTH - SIDE, 168)], "ink", 2)
    item = name_in(language, table.item.name)
    item = f"{item[0].upper()}{item[1:]}"
    _write(draw, (SIDE, 204), item, fitting(item, ITEM_SIZES, 600), 600, "ink", LEFT_OF_CHART)
    _write(draw, (SIDE, 262), f"{share:.0%}", 132, 700, "indigo")
    _write(draw, (SIDE, 418), translate("daily_won_above"), 28, 400, "ink", LEFT_OF_CHART)
    place = translate("daily_place", place=where)
    size = fitting(place, PLACE_SIZES, 400)
    _write(draw, (SIDE, 456), place, size, 400, "ink", LEFT_OF_CHART)
    _offers(draw, table.asks, table.bids, chart_words(translate))
    host = origin.partition("://")[2]
    address = f"{host}/{day_address(day)}"
    _line(draw, [(SIDE, 540), (WIDTH - SIDE, 540)], "line", 2)
    again = translate("daily_play_same", address=address)
    _write(draw, (SIDE, 562), again, 22, 400, "subdued")
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def _offers(
    draw: ImageDraw.ImageDraw, asks: Sequence[float], bids: Sequence[float], say: Say
) -> None:
    """Both sides' offers as lines without a scale."""
    left, top, right, bottom = CHART
    prices = [*asks, *bids]
    low, span = min(prices), max(prices) - min(prices) or 1
    steps = max(len(asks), len(bids) + 1, 2) - 1
    for offers, start, colour, name in (
        (asks, 0, "marigold", say("asks")),
        (bids, 1, "indigo", say("bids")),
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
            box = [FINER * (x - 7), FINER * (y - 7), FINER * (x + 7), FINER * (y + 7)]
            draw.ellipse(box, fill=_colour(colour))
        x, y = points[0]
        x = min(x, right - _length(name, 22, 500))
        _write(draw, (x, y - 40 if colour == "marigold" else y + 16), name, 22, 500, colour)


def fitting(text: str, sizes: Sequence[int], weight: int) -> int:
    """The largest of `sizes`, in px, in which `text` fits to the left of the chart, else the least.

    `sizes` go down.
    """
    fit = (size for size in sizes if _length(text, size, weight) <= LEFT_OF_CHART)
    return next(fit, sizes[-1])


def _length(text: str, size: int, weight: int) -> float:
    """The width of a text in px of the picture."""
    return sum(font.getlength(part) for part, font in _parts(text, size, weight)) / FINER


def _line(
    draw: ImageDraw.ImageDraw, points: Sequence[tuple[float, float]], colour: str, width: int
) -> None:
    scaled = [(FINER * x, FINER * y) for x, y in points]
    draw.line(scaled, fill=_colour(colour), width=FINER * width, joint="curve")


def _write(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    size: int,
    weight: int,
    colour: str,
    room: float = WIDTH - 2 * SIDE,
) -> None:
    """Text of `size` px, its upper left corner at `place`; cut where it needs more room."""
    while _length(text, size, weight) > room:
        text = text.rstrip("…")[:-1] + "…"
    x, y = FINER * place[0], FINER * place[1] + _font(LATIN, size, weight).getmetrics()[0]
    for part, font in _parts(text, size, weight):
        draw.text((x, y), part, font=font, fill=_colour(colour), anchor="ls")
        x += font.getlength(part)


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
    return PALETTE[role][LIGHT]
