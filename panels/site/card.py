"""The picture that a chat or a network shows of a link: a result, or the question of the page.

Drawn with Pillow from the page's palette, fonts and line drawings. A link names the game and the
share that its sender claims. Nothing hidden of the game is drawn: whoever sees it can still play.
"""

import io
import math
import re
import threading
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from urllib.parse import parse_qsl, urlencode

from PIL import Image, ImageDraw, ImageFont
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from env import BAZAAR_TASKS, get_task
from panels.ui.html import SAUDA, STRANGER, drawing
from panels.ui.look import PALETTE
from panels.ui.theme import FONTS
from sauda.language.lines import drawings
from sauda.records.seeds import deal_at, whole_seed
from sauda.sessions import daily
from sauda.sessions.ladder import LEVELS

PATH = "/card.png"
TASK, SEED, WON = "task", "seed", "won"  # in an address; the last is what its sender won, percent
CLIMBED = "climbed"  # in an address: how many persons of the ladder its sender has beaten
SIZE, SCALE = (1200, 630), 2  # px, and how much finer it is drawn
KEPT = 128  # pictures, of about 30 KB each
COLOURS = {role: light for role, (light, _) in PALETTE.items()}
_ONE = threading.Lock()  # one picture is drawn at a time, so that nobody's game waits for many

Query = Mapping[str, str]


def of_query(query: Query) -> dict[str, str]:
    """What a picture is made from in an address; empty where the address names no result.

    Raises ValueError where it names a game that the page does not have.
    """
    if CLIMBED in query:
        if query[CLIMBED] not in {f"{level.number}" for level in LEVELS}:
            raise ValueError(f"the ladder has {len(LEVELS)} persons, not {query[CLIMBED]!r:.40}")
        return {CLIMBED: query[CLIMBED]}
    if WON not in query:
        return {}
    task, seed, won = query.get(TASK, ""), query.get(SEED), query[WON]
    if "day" in query:
        task, seed = daily.TASK, str(daily.seed_of_day(daily.day_of(query["day"])))
    if task not in BAZAAR_TASKS:
        raise ValueError(f"no picture of {task!r:.40}")
    if not re.fullmatch(r"\d{1,2}|100", won, re.ASCII):
        raise ValueError(f"a share is 0 to 100 percent, not {won!r:.40}")
    return {TASK: task, SEED: str(whole_seed(seed)), WON: won}


def link_query(raw: bytes) -> str:
    """The query of the picture for a page that is asked for with the query `raw`."""
    try:
        return urlencode(of_query(dict(parse_qsl(raw.decode("ascii")))), safe="/")
    except ValueError:
        return ""


def route() -> Route:
    """Answers with the picture of a result."""
    return Route(PATH, _answer)


def _answer(request: Request) -> Response:
    try:
        values = of_query(request.query_params)
    except ValueError as error:
        return PlainTextResponse(f"There is no such picture: {error}.", 404)
    with _ONE:
        png = picture(**values)
    return Response(png, media_type="image/png", headers={"cache-control": "max-age=86400"})


@lru_cache(maxsize=KEPT)
def picture(task: str = "", seed: str = "", won: str = "", climbed: str = "") -> bytes:
    """A PNG of SIZE: the goods of a game and both shares, or how far somebody got on the ladder.

    Without either the page's question.
    """
    image = Image.new("RGB", [SCALE * side for side in SIZE], COLOURS["paper"])
    pen = ImageDraw.Draw(image)
    for left in range(0, SIZE[0], 60):
        colour = COLOURS["marigold" if left % 120 == 0 else "marigold-soft"]
        pen.rectangle(_scaled(left, 0, left + 60, 56), fill=colour)
        pen.pieslice(_scaled(left, 26, left + 60, 86), 0, 180, fill=colour)
    _write(pen, (64, 560), "Sauda", 34, "ink", 700)
    if climbed:
        _write(pen, (64, 130), f"I beat {climbed} of {len(LEVELS)}.", 110, "indigo", 700)
        _write(pen, (64, 280), "How far can you get?", 54, "ink", 600)
        for place, level in enumerate(LEVELS):
            at = 64 + 134 * (place % 8), 352 + 104 * (place // 8)
            _draw(pen, level.face, at, 90, "marigold-soft" if place < int(climbed) else "paper")
    elif not task:
        _write(pen, (64, 180), "Can a tiny language", 84, "ink", 700)
        _write(pen, (64, 280), "model learn to haggle?", 84, "ink", 700)
        _write(pen, (64, 410), "Bargain with it, and see.", 40, "indigo", 500)
        _draw(pen, SAUDA, (960, 390), 180, "indigo-soft")
    else:
        deal, share = deal_at(get_task(task), int(seed)), int(won)
        name = deal.item.name[0].upper() + deal.item.name[1:]
        _draw(pen, drawings()[deal.item.name], (64, 120), 150, "marigold-soft")
        _write(pen, (240, 170), name, 40, "ink", 600, 460)
        _write(pen, (64, 290), f"I took {share}%.", 110, "indigo", 700)
        _write(pen, (64, 440), "Can you do better?", 54, "ink", 600)
        around = _scaled(790, 260, 1050, 520)
        pen.pieslice(around, -90, 270, fill=COLOURS["marigold"])
        pen.pieslice(around, -90, -90 + 3.6 * share, fill=COLOURS["indigo"])
        face = SAUDA if get_task(task).learner == "seller" else STRANGER
        _draw(pen, face, (740, 120), 110, "indigo-soft")
        _draw(pen, "you", (990, 120), 110, "indigo-soft")
    out = io.BytesIO()
    small = image.resize(SIZE, Image.Resampling.LANCZOS).quantize(64)
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


def _scaled(*places: float) -> list[float]:
    return [SCALE * place for place in places]


@cache
def _font(size: float, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(FONTS / "inter-latin-wght-normal.woff2", SCALE * size)
    font.set_variation_by_axes([weight])
    return font


def _write(
    pen: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    size: float,
    colour: str,
    weight: int,
    room: float = 1072,
) -> None:
    """Write a line from its upper left corner; one longer than `room` px becomes smaller."""
    size = min(size, size * room * SCALE / _font(size, weight).getlength(text))
    pen.text(_scaled(*at), text, fill=COLOURS[colour], font=_font(int(size), weight))


# Line drawings ------------------------------------------------------------------------------------

Point = tuple[float, float]
PART = re.compile(r"<(path|circle|rect) ([^>]*)/>")
TOKEN = re.compile(r"[A-Za-z]|-?\d*\.?\d+")
STEPS = 16  # straight pieces of a curve


def _draw(
    pen: ImageDraw.ImageDraw, name: str, at: tuple[float, float], side: float, fill: str
) -> None:
    """One of the page's drawings, `side` px wide, from its upper left corner."""
    grow, left, top = SCALE * side / 64, SCALE * at[0], SCALE * at[1]
    for line in lines_of(name):
        points = [(left + grow * x, top + grow * y) for x, y in line]
        if line[0] == line[-1]:
            pen.polygon(points, fill=COLOURS[fill])
        pen.line(points, fill=COLOURS["ink"], width=round(2 * grow), joint="curve")


@cache
def lines_of(name: str) -> list[list[Point]]:
    """The lines of a drawing as points in a square of 64; a closed one ends where it begins."""
    lines: list[list[Point]] = []
    for kind, text in PART.findall(drawing(name)):
        got = dict(re.findall(r'([a-z]+)="([^"]*)"', text))
        if kind == "path":
            lines += _path(got["d"])
            continue
        value = {key: float(number) for key, number in got.items()}
        if kind == "circle":
            lines.append([*_arc((value["cx"], value["cy"]), value["r"], 0, 2 * math.pi)])
            lines[-1].append(lines[-1][0])
        else:
            x, y = value["x"], value["y"]
            right, low = x + value["width"], y + value["height"]
            lines.append([(x, y), (right, y), (right, low), (x, low), (x, y)])
    return lines


def _arc(centre: Point, radius: float, start: float, turn: float) -> Iterator[Point]:
    for step in range(STEPS + 1):
        angle = start + turn * step / STEPS
        yield centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)


def _path(d: str) -> list[list[Point]]:
    """The lines of a path of moves, lines, cubic curves and unturned arcs."""
    tokens, lines, at, order = TOKEN.findall(d), [], (0.0, 0.0), ""
    handle = at  # of the curve before, which a smooth one goes on from
    while tokens:
        if tokens[0].isalpha():
            order = tokens.pop(0)
        kind, is_relative = order.upper(), order.islower()
        if kind == "Z":
            lines[-1].append(lines[-1][0])
            at = lines[-1][0]
            continue
        count = {"H": 1, "V": 1, "S": 4, "C": 6, "A": 7}.get(kind, 2)
        numbers = [float(tokens.pop(0)) for _ in range(count)]
        base = at if is_relative else (0.0, 0.0)
        if kind in "HV":
            x = base[0] + numbers[0] if kind == "H" else at[0]
            y = base[1] + numbers[0] if kind == "V" else at[1]
        else:
            x, y = base[0] + numbers[-2], base[1] + numbers[-1]
        if kind == "M":
            lines.append([(x, y)])
            order = "l" if is_relative else "L"
        elif kind in "CS":
            *first, far = [
                (base[0] + numbers[i], base[1] + numbers[i + 1]) for i in range(0, count - 2, 2)
            ]
            near = first[0] if first else (2 * at[0] - handle[0], 2 * at[1] - handle[1])
            lines[-1] += _cubic(at, near, far, (x, y))
            handle = far
        elif kind == "A":
            lines[-1] += _to_arc(at, (x, y), numbers)
        else:
            lines[-1].append((x, y))
        at = (x, y)
    return lines


def _cubic(*points: Point) -> Iterator[Point]:
    for t in (step / STEPS for step in range(1, STEPS + 1)):
        shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (sum(s * p[axis] for s, p in zip(shares, points, strict=True)) for axis in (0, 1))
        yield x, y


def _to_arc(start: Point, end: Point, numbers: list[float]) -> Iterator[Point]:
    """An arc of a circle by SVG's endpoint form: radius, -, -, large, sweep."""
    radius, large, sweep = numbers[0], numbers[3], numbers[4]
    (x0, y0), (x1, y1) = start, end
    across = math.hypot(x1 - x0, y1 - y0)
    radius = max(radius, across / 2)
    off = math.sqrt(max(0.0, radius**2 - across**2 / 4)) / across
    side = 1 if large == sweep else -1
    centre = (x0 + x1) / 2 + side * off * (y1 - y0), (y0 + y1) / 2 - side * off * (x1 - x0)
    first, last = (math.atan2(y - centre[1], x - centre[0]) for x, y in (start, end))
    turn = (last - first) % (2 * math.pi)
    yield from _arc(centre, radius, first, turn if sweep else turn - 2 * math.pi)
