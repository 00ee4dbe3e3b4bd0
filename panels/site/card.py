"""What a chat or a network shows of a link: a result or the page's question, told and drawn.

Drawn with Pillow from the page's palette, fonts and line drawings. A link names the game and the
share that its sender claims. Nothing hidden of the game is told: whoever sees it can still play.
"""

import io
import math
import re
import threading
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from PIL import Image, ImageDraw, ImageFont
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from env import ARENA_TASKS, BAZAAR_TASKS, TYPES, get_task
from panels.ui.html import SAUDA, STRANGER, drawing
from panels.ui.look import PALETTE
from panels.ui.provenance import load_or_say
from panels.ui.theme import FONTS
from sauda.language.lines import drawings
from sauda.players import is_model
from sauda.records.schemas.episodes import DUEL_FILE
from sauda.records.seeds import deal_at, whole_seed
from sauda.sessions import arena, daily
from sauda.sessions.ladder import LEVELS, person_at

PATH = "/card.png"
# In an address: a game, and what its sender won, in percent, or NO_DEAL.
TASK, SEED, AGAINST, WON = "task", "seed", "against", "won"
NO_DEAL = "none"
HIDDEN = "hidden"  # in an address: an opponent that the end of the game reveals
CLIMBED = "climbed"  # in an address: how many persons of the ladder its sender has beaten
# In an address: the mean percents of a person and of Sauda in five bargains for the record.
RECORD, MODEL_WON = "record", "sauda"
MADE = "made"  # in an address: the credits that a lab of its sender's made in a world of the arena
CREDITS = re.compile(r"-?\d{1,4}\.\d", re.ASCII)
PERCENT = re.compile(r"100|-?\d{1,2}|-[1-9]\d\d", re.ASCII)
SIZE, SCALE = (1200, 630), 2  # px, and how much finer it is drawn
KEPT = 128  # pictures, of about 30 KB each
COLOURS = {role: light for role, (light, _) in PALETTE.items()}
CAN_YOU = "Can you do better?"
_ONE = threading.Lock()  # one picture is drawn at a time, so that nobody's game waits for many

Query = Mapping[str, str]


def of_query(query: Query) -> dict[str, str]:
    """What is told of an address; empty where it names no result.

    Raises ValueError where it names a game that the page does not have.
    """
    if CLIMBED in query:
        if query[CLIMBED] not in {f"{level.number}" for level in LEVELS}:
            raise ValueError(f"the ladder has {len(LEVELS)} persons, not {query[CLIMBED]!r:.40}")
        return {CLIMBED: query[CLIMBED]}
    if RECORD in query:
        return {name: _percent(query.get(name, "")) for name in (RECORD, MODEL_WON)}
    task, seed, against = (query.get(name, "") for name in (TASK, SEED, AGAINST))
    if MADE in query:
        if task not in ARENA_TASKS or not CREDITS.fullmatch(query[MADE]):
            raise ValueError(f"no lab makes {query[MADE]!r:.40} in {task!r:.40}")
        return {TASK: task, SEED: str(whole_seed(seed)), MADE: query[MADE]}
    if WON not in query:
        return {}
    if "day" in query:
        day = daily.day_of(query["day"])
        task, seed, against = daily.TASK, str(daily.seed_of_day(day)), ""
    if task not in BAZAAR_TASKS:
        raise ValueError(f"no picture of {task!r:.40}")
    won = query[WON] if query[WON] == NO_DEAL else _percent(query[WON])
    values = {TASK: task, SEED: str(whole_seed(seed)), WON: won}
    opponent = re.fullmatch(r"[\w:+-]{1,60}", against, re.ASCII)
    return values | ({AGAINST: against} if opponent and against != HIDDEN else {})


def _percent(text: str) -> str:
    if not PERCENT.fullmatch(text):
        raise ValueError(f"a share is a percentage, at most 100, not {text!r:.40}")
    return text


class Link(NamedTuple):
    """What a link to the page shows."""

    picture: str  # its query
    title: str


def link_of(raw: bytes) -> Link | None:
    """What a link with the query `raw` shows; None for the page's own picture and title."""
    try:
        values = of_query(dict(parse_qsl(raw.decode("ascii"))))
    except ValueError:
        return None
    return Link(urlencode(values, safe="/"), " ".join(claim(values))) if values else None


def answer(request: Request) -> Response:
    """Answers at PATH with the picture of a result."""
    try:
        values = of_query(request.query_params)
    except ValueError as error:
        return PlainTextResponse(f"There is no such picture: {error}.", 404)
    with _ONE:
        png = picture(**values)
    return Response(png, media_type="image/png", headers={"cache-control": "max-age=86400"})


# What is told -------------------------------------------------------------------------------------


def claim(values: Query) -> tuple[str, ...]:
    """A result in the words of whoever sends it: the headline, what stands under it, a question.

    Its values are those that `of_query` returns.
    """
    if CLIMBED in values:
        return f"I beat {values[CLIMBED]} of {len(LEVELS)}.", "How far can you get?"
    if RECORD in values:
        mine, its = int(values[RECORD]), int(values[MODEL_WON])
        end = "We tied" if mine == its else "I beat Sauda" if mine > its else "Sauda beat me"
        return f"{end}.", f"{max(mine, its)}% to {min(mine, its)}% over five bargains.", CAN_YOU
    task, seed, won = values[TASK], int(values[SEED]), values.get(WON, "")
    if MADE in values:
        beside = f"credits with an AI lab that makes {alone_at(task, seed):.1f} alone."
        return f"I made {values[MADE]}", beside, CAN_YOU
    sells = get_task(task).learner == "seller"
    if won == NO_DEAL:
        return "No deal.", "I left everything on the table.", CAN_YOU
    other = _name_of(task, seed, values.get(AGAINST, ""))
    if int(won) < 0:
        lost = "I sold at a loss." if sells else "I overpaid."
        return lost, f"{other} took {100 - int(won)}%.", CAN_YOU
    rival = recorded_share(task, seed)
    beside = (
        f"{other} took {100 - int(won)}%." if rival is None else f"Sauda took {rival:.0%} here."
    )
    return f"I took {won}%", f"of what could be won. {beside}", CAN_YOU


def recorded_share(task: str, seed: int) -> float | None:
    """Sauda's share in the recorded duel, where that was the same game."""
    artifact, _ = load_or_say(DUEL_FILE)
    if artifact is None:
        return None
    data, game = artifact.data, artifact.data.games[0]
    return data.shares[data.seeds.index(seed)] if (game.task, game.seed) == (task, seed) else None


def alone_at(task: str, seed: int) -> float:
    """The credits that the visitor's lab could make without any trade in a world of the arena."""
    return arena.start(task, seed).observation.own.batna


def _name_of(task: str, seed: int, against: str) -> str:
    if person := person_at(task, seed, against):
        return person.text("name")
    if is_model(against):
        return "Sauda"
    return "The buyer" if get_task(task).learner == "seller" else "The seller"


def face_at(task: str, seed: int, opponent: str) -> str:
    """The drawing of who sits across in a game, the same from its first move to its picture.

    So the type of a seller shows in its face only where the visitor chose it.
    """
    opponent = "" if opponent == HIDDEN else opponent
    if person := person_at(task, seed, opponent):
        return person.face
    if is_model(opponent):
        return SAUDA
    kind = opponent.rpartition(":")[2]
    return kind if kind in TYPES else STRANGER


def mouths(share: float, other: float) -> tuple[str, str]:
    """The mouths of the visitor and of the other side: whoever took more smiles."""
    if share == other:
        return ("smile", "smile") if share > 0 else ("flat", "flat")
    return ("smile", "wry") if share > other else ("wry", "smile")


# What is drawn ------------------------------------------------------------------------------------


@lru_cache(maxsize=KEPT)
def picture(**values: str) -> bytes:
    """A PNG of SIZE of what `of_query` returns: the claim, with what it is about.

    Without a result the page's question.
    """
    image = Image.new("RGB", [SCALE * side for side in SIZE], COLOURS["paper"])
    pen = ImageDraw.Draw(image)
    for left in range(0, SIZE[0], 60):
        colour = COLOURS["marigold" if left % 120 == 0 else "marigold-soft"]
        pen.rectangle(_scaled(left, 0, left + 60, 56), fill=colour)
        pen.pieslice(_scaled(left, 26, left + 60, 86), 0, 180, fill=colour)
    _write(pen, (64, 560), "Sauda", 34, "ink", 700)
    if CLIMBED in values:
        headline, question = claim(values)
        _write(pen, (64, 130), headline, 110, "indigo", 700)
        _write(pen, (64, 280), question, 54, "ink", 600)
        for place, level in enumerate(LEVELS):
            at = 64 + 134 * (place % 8), 352 + 104 * (place // 8)
            is_beaten = place < int(values[CLIMBED])
            _draw(pen, level.face, at, 90, "marigold-soft" if is_beaten else "paper")
    elif not values:
        _write(pen, (64, 180), "Can a tiny language", 84, "ink", 700)
        _write(pen, (64, 280), "model learn to haggle?", 84, "ink", 700)
        _write(pen, (64, 410), "Bargain with it, and see.", 40, "indigo", 500)
        _draw(pen, SAUDA, (960, 390), 180, "indigo-soft")
    else:
        _draw_result(pen, values)
    out = io.BytesIO()
    small = image.resize(SIZE, Image.Resampling.LANCZOS).quantize(64)
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


def _draw_result(pen: ImageDraw.ImageDraw, values: Mapping[str, str]) -> None:
    """The claim beside both faces; of one game the goods and the split, too."""
    headline, beside, question = claim(values)
    goods, face = "", SAUDA
    if MADE in values:
        share, other = float(values[MADE]), alone_at(values[TASK], int(values[SEED]))
        goods, face, about = "desktop", "", "AI labs share scarce GPUs"
    elif RECORD in values:
        share, other = int(values[RECORD]), int(values[MODEL_WON])
    else:
        task, seed, won = get_task(values[TASK]), int(values[SEED]), values[WON]
        share, other = (0, 0) if won == NO_DEAL else (int(won), 100 - int(won))
        face = face_at(values[TASK], seed, values.get(AGAINST, ""))
        item = deal_at(task, seed).item.name
        goods, about = drawings()[item], item[0].upper() + item[1:]
        seats = ("marigold", "indigo") if task.learner == "seller" else ("indigo", "marigold")
        _draw_pie(pen, share, other, seats)
    if goods:
        _draw(pen, goods, (64, 110), 130, "marigold-soft")
        _write(pen, (220, 155), about, 40, "ink", 600, 460)
    _write(pen, (64, 265), headline, 96, "indigo" if share >= other else "bad", 700, 660)
    _write(pen, (64, 395), beside, 36, "ink", 500, 660)
    _write(pen, (64, 460), question, 54, "ink", 600, 660)
    for name, left, mouth in zip(("you", face), (990, 740), mouths(share, other), strict=True):
        if name:
            _draw(pen, name, (left, 120), 110, "indigo-soft", mouth)


def _draw_pie(pen: ImageDraw.ImageDraw, share: int, other: int, colours: tuple[str, str]) -> None:
    """The sender's part of 100 from the top on, in the first of `colours`; empty without a deal."""
    around, part = _scaled(790, 260, 1050, 520), max(0, share)
    pen.pieslice(around, -90, 270, fill=COLOURS[colours[1] if share + other else "line"])
    pen.pieslice(around, -90, -90 + 3.6 * part, fill=COLOURS[colours[0]])


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
    pen: ImageDraw.ImageDraw,
    name: str,
    at: tuple[float, float],
    side: float,
    fill: str,
    mouth: str = "",
) -> None:
    """One of the page's drawings, `side` px wide, from its upper left corner."""
    grow, left, top = SCALE * side / 64, SCALE * at[0], SCALE * at[1]
    for line in lines_of(name, mouth):
        points = [(left + grow * x, top + grow * y) for x, y in line]
        if line[0] == line[-1]:
            pen.polygon(points, fill=COLOURS[fill])
        pen.line(points, fill=COLOURS["ink"], width=round(2 * grow), joint="curve")


@cache
def lines_of(name: str, mouth: str = "") -> list[list[Point]]:
    """The lines of a drawing as points in a square of 64; a closed one ends where it begins."""
    lines: list[list[Point]] = []
    for kind, text in PART.findall(drawing(name, mouth)):
        got = dict(re.findall(r'([a-z]+)="([^"]*)"', text))
        if kind == "path":
            lines += _path(got["d"])
            continue
        value = {key: float(number) for key, number in got.items()}
        if kind == "circle":
            lines.append(_circle(value["cx"], value["cy"], value["r"]))
        else:
            x, y = value["x"], value["y"]
            right, low = x + value["width"], y + value["height"]
            lines.append([(x, y), (right, y), (right, low), (x, low), (x, y)])
    return lines


def _circle(x: float, y: float, radius: float) -> list[Point]:
    angles = [2 * math.pi * step / STEPS for step in range(STEPS)]
    points = [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]
    return [*points, points[0]]


def _path(d: str) -> list[list[Point]]:
    """The lines of a path of moves, lines and cubic curves; KeyError where it has others."""
    tokens, lines, at, order = TOKEN.findall(d), [], (0.0, 0.0), ""
    while tokens:
        if tokens[0].isalpha():
            order = tokens.pop(0)
        kind, is_relative = order.upper(), order.islower()
        if kind == "Z":
            lines[-1].append(lines[-1][0])
            at = lines[-1][0]
            continue
        count = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6}[kind]
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
        elif kind == "C":
            near, far = ((base[0] + numbers[i], base[1] + numbers[i + 1]) for i in (0, 2))
            lines[-1] += _cubic(at, near, far, (x, y))
        else:
            lines[-1].append((x, y))
        at = (x, y)
    return lines


def _cubic(*points: Point) -> Iterator[Point]:
    for t in (step / STEPS for step in range(1, STEPS + 1)):
        shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (sum(s * p[axis] for s, p in zip(shares, points, strict=True)) for axis in (0, 1))
        yield x, y
