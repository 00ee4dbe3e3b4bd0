"""The bargain of the day: one game for everybody, its link, and how the scripts play it.

A link holds a visitor's moves and a check of the game that they led to, so that nobody has to keep
the game. All prices are whole rupees.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import sha256
from itertools import count

from env import (
    Accept,
    Episode,
    IllegalAction,
    Offer,
    WalkAway,
    games_of,
    get_task,
    play_batch,
    rollout,
)
from sauda.games import game_of
from sauda.policies.vectorized import BATCH
from sauda.records.seeds import DAILY
from sauda.sessions.bazaar import Action, Game, Standing, answer, moves_of, stand, start
from sauda.sessions.review import informed_grade

TASK = "bazaar/open"  # its own seller is the opponent; the visitor buys
VERSION = "1"  # of the links
LONGEST_CODE = 100  # characters
MOVE_BYTES = 3  # a bid, or one of the two codes above every bid
ACCEPT, WALK = 0xFFFFFF, 0xFFFFFE
CHECK_BYTES = 3
GAINERS = 3  # scripts that have to gain in the bargain of a day
TRIED_AT_ONCE = 8  # seeds, in one batch; about every second one fits
DAYS_KEPT = 32  # whose scripted standings are kept in memory
NOT_REPLAYED = (
    "The moves in the link do not lead through this day’s bargain: the link was cut or changed, or"
    " another version of the page made it."
)


class BadLink(ValueError):
    """A link that names no day, or moves that cannot be replayed; the text is one sentence."""


def today() -> date:
    """The day by UTC: everybody's bargain changes at the same moment."""
    return datetime.now(UTC).date()


def day_of(text: str | None) -> date:
    """The day that a link names as "2026-11-23", today where it names none; raises BadLink."""
    if text is None:
        return today()
    try:
        day = date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:  # such as 30 February
        day = None
    if day is None:
        raise BadLink("A link names its day as year, month and date, such as 2026-11-23.")
    if day > today():
        raise BadLink("The link names a day to come; its bargain opens at midnight, UTC.")
    return day


@lru_cache(maxsize=DAYS_KEPT)
def seed_of_day(day: date) -> int:
    """The seed of a day: a digest of its date, then the next of DAILY that people can win.

    That is a game in which the informed oracle and at least GAINERS scripts gain. It follows from
    the date and from the code of the market and the scripts: where that code changes, a day may
    get another bargain, and a link to its former one is refused.
    """
    place = int.from_bytes(sha256(f"bargain of {day.isoformat()}".encode()).digest()[:8])
    tried = (
        [DAILY[(start + i) % len(DAILY)] for i in range(TRIED_AT_ONCE)]
        for start in count(place, TRIED_AT_ONCE)
    )
    return next(
        seed
        for seeds in tried
        for seed, gainers in zip(seeds, gaining_scripts(seeds), strict=True)
        if gainers >= GAINERS and informed_grade(get_task(TASK), seed) > 0
    )


def gaining_scripts(seeds: Sequence[int]) -> list[int]:
    """How many scripts gain in the game of each seed.

    A grade alone is no gain: leaving has one where there is no ZOPA. The pilot does not count: its
    weights are a file, and a day must not depend on one.
    """
    games = games_of(TASK, seeds)
    results = [play_batch(games, form) for form in BATCH.values()]
    return sum((one.share[0] > 0) & (one.grade > 0) for one in results).tolist()


def bargain_of(day: date) -> Game:
    """The day's game before the visitor's first move."""
    return start(TASK, "", seed_of_day(day))


# Links ------------------------------------------------------------------------------------------


def encode(game: Game) -> str:
    """The visitor's moves, of a running game too, as LONGEST_CODE characters at most.

    They are letters, digits, - and _. The moves are packed, so that nobody reads the prices by
    accident.
    """
    moves = [game.play.turns[place].action for place in moves_of(game)]
    packed = b"".join(_number(move).to_bytes(MOVE_BYTES) for move in moves)
    return VERSION + urlsafe_b64encode(packed + _check(game)).decode()


def _number(action: Action) -> int:
    if isinstance(action, Offer):
        return int(action.price)
    return ACCEPT if isinstance(action, Accept) else WALK


def _check(game: Game) -> bytes:
    """A digest of all that both sides did: a replay that differs anywhere has another one."""
    table = game.play.state.table
    prices = [f"{price:.2f}" for price in (*table.asks, *table.bids)]
    ends = [(str(deal.end), deal.by, deal.rounds) for deal in table.past] or [()]
    told = (game.play.seed, table.item.name, prices, *ends[0])
    return sha256(repr(told).encode()).digest()[:CHECK_BYTES]


def replay(day: date, code: str) -> Game:
    """The finished game of a day that the moves in `code` lead to; raises BadLink."""
    game = resume(day, code)
    if not game.over:
        raise BadLink(NOT_REPLAYED)
    return game


def resume(day: date, code: str) -> Game:
    """The game of a day, running or finished, that the moves in `code` lead to; raises BadLink.

    The seller answers anew, by the seed of the day: a code cannot hold a result, only moves.
    """
    game = bargain_of(day)
    try:
        for action in _moves(code):
            game = answer(game, action)
    except IllegalAction as error:
        raise BadLink(NOT_REPLAYED) from error
    if encode(game) != code:
        raise BadLink(NOT_REPLAYED)
    return game


def _moves(code: str) -> Iterable[Action]:
    if len(code) > LONGEST_CODE or not re.fullmatch(r"[\w-]+", code, re.ASCII):
        raise BadLink(NOT_REPLAYED)
    if not code.startswith(VERSION):
        raise BadLink(f"The link is of another version; this page reads version {VERSION}.")
    try:
        packed = urlsafe_b64decode(code.removeprefix(VERSION))
    except ValueError as error:
        raise BadLink(NOT_REPLAYED) from error
    own = packed[:-CHECK_BYTES]
    numbers = [own[i : i + MOVE_BYTES] for i in range(0, len(own), MOVE_BYTES)]
    return [_action(int.from_bytes(number)) for number in numbers]


def _action(number: int) -> Action:
    return {ACCEPT: Accept(), WALK: WalkAway()}.get(number) or Offer(number)


# Standings --------------------------------------------------------------------------------------


@lru_cache(maxsize=DAYS_KEPT)
def scripts(day: date) -> tuple[Standing, ...]:
    """How every scripted buyer fares on the day, through the batch engine where it can play.

    Raises ArtifactError where the pilot's weights are missing.
    """
    task, seed = get_task(TASK), seed_of_day(day)
    game = game_of(task)
    rows = []
    for name, policy in game.policies(task).items():
        columns = game.table.batch_columns(TASK, name, [seed])
        if columns is None:
            rows.append(player(name, rollout(task, policy, seed)))
        else:
            (share,), (grade,), (price,) = (columns[key] for key in ("share", "grade", "price"))
            rows.append(Standing(name, share, grade, price))
    return tuple(rows)


def player(name: str, played: Episode, visitor: bool = False) -> Standing:
    """One episode's standing, rounded as the batch engine rounds, so that equal is equal."""
    row = stand(name, get_task(TASK), played, visitor)
    return replace(row, share=round(row.share, 6), grade=round(row.grade, 6))
