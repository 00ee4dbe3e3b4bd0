"""The bargain of the day: one game for everybody, its link, and how the scripts play it.

A link holds a visitor's moves, each with the speech act of its words, and a check of the game that
they led to, so that nobody has to keep the game. All prices are whole rupees.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import sha256
from itertools import chain

import env
from sauda.players import PEOPLE, scripts_of
from sauda.policies import BUYERS
from sauda.records.seeds import DAILY
from sauda.sessions.bazaar import Action, Game, Standing, answer, moves_of, stand, start
from sauda.sessions.review import informed_grade

TASK = PEOPLE  # its own seller is the opponent; the visitor buys
VERSION = "3"  # of the links
LONGEST_CODE = 140  # characters
PRICE_BYTES = 3  # of a bid, or one of the two codes above every bid; before it a byte for the act
ACCEPT, WALK = 0xFFFFFF, 0xFFFFFE
ACTS = ("", *env.speech.ACTS)
OUTSIDE = ACTS.index("outside")  # the act whose price follows
CHECK_BYTES = 3
GAINERS = 3  # scripts that have to gain in the bargain of a day
FIRST_DAY = date(2000, 1, 1)
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
    if day < FIRST_DAY:
        raise BadLink(f"The link names a day before {FIRST_DAY}, the first that has a bargain.")
    if day > today():
        raise BadLink("The link names a day to come; its bargain opens at midnight, UTC.")
    return day


@lru_cache(maxsize=DAYS_KEPT)
def seed_of_day(day: date) -> int:
    """The seed of a day: a digest of its date, then the next of DAILY that people can win.

    That is a game in which the informed oracle and at least GAINERS scripts gain. Anybody can make
    it and play it as often as they like, before its day, too: no place in it is proof of skill. A
    secret seed would not change that, as one browser after another can begin the game of a day.

    It follows from the date and from the code of the market and the scripts: where that code
    changes, a day may get another bargain, and a link to its former one is refused.
    """
    place = int.from_bytes(sha256(f"bargain of {day.isoformat()}".encode()).digest()[:8])
    at, task = place % len(DAILY), env.get_task(TASK)
    seeds = chain(DAILY[at:], DAILY[:at])
    won = (s for s in seeds if gaining_scripts(s) >= GAINERS and informed_grade(task, s) > 0)
    return next(won)


def gaining_scripts(seed: int) -> int:
    """How many scripts gain in the game of a seed.

    A grade alone is no gain: leaving has one where there is no ZOPA.
    """
    task = env.get_task(TASK)
    played = [stand(name, task, env.rollout(task, buyer, seed)) for name, buyer in BUYERS.items()]
    return sum(standing.share > 0 and standing.grade > 0 for standing in played)


def bargain_of(day: date) -> Game:
    """The day's game before the visitor's first move."""
    return start(TASK, "", seed_of_day(day))


# Links ------------------------------------------------------------------------------------------


def encode(game: Game) -> str:
    """The visitor's moves, of a running game too, as LONGEST_CODE characters at most.

    They are letters, digits, - and _. The moves are packed, so that nobody reads the prices by
    accident. Of the words a code keeps what the seller heard in them.
    """
    moves = [game.play.turns[place].action for place in moves_of(game)]
    packed = urlsafe_b64encode(b"".join(map(_pack, moves)) + _check(game))
    return VERSION + packed.decode().rstrip("=")


def _pack(action: Action) -> bytes:
    if not isinstance(action, env.Offer):
        return bytes([0]) + (ACCEPT if isinstance(action, env.Accept) else WALK).to_bytes(
            PRICE_BYTES
        )
    act, named = env.people.act_in(action.message)
    packed = bytes([ACTS.index(act)]) + int(action.price).to_bytes(PRICE_BYTES)
    return packed + min(named, WALK).to_bytes(PRICE_BYTES) if act == "outside" else packed


def _check(game: Game) -> bytes:
    """A digest of all that both sides did: a replay that differs anywhere has another one."""
    table = game.play.state.table
    prices = [f"{price:.2f}" for price in (*table.asks, *table.bids)]
    ends = [(str(deal.end), deal.by, deal.rounds) for deal in table.past] or [()]
    heard = [
        env.people.act_in(move.action.message) for move in table.moves if move.agent == "buyer"
    ]
    content = (game.play.seed, table.item.name, prices, heard, *ends[0])
    return sha256(repr(content).encode()).digest()[:CHECK_BYTES]


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
    except env.IllegalAction as error:
        raise BadLink(NOT_REPLAYED) from error
    if encode(game) != code:
        raise BadLink(NOT_REPLAYED)
    return game


def _moves(code: str) -> Iterable[Action]:
    is_ours = code.startswith(VERSION) and re.fullmatch(r"[\w-]+", code, re.ASCII)
    if len(code) > LONGEST_CODE or not is_ours:
        raise BadLink(NOT_REPLAYED)
    try:
        letters = code.removeprefix(VERSION)
        packed = urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
    except ValueError as error:
        raise BadLink(NOT_REPLAYED) from error
    return _unpack(packed[:-CHECK_BYTES])


def _unpack(packed: bytes) -> Iterator[Action]:
    at = 0
    while at < len(packed):
        act, price = packed[at], int.from_bytes(packed[at + 1 : at + 1 + PRICE_BYTES])
        at += 1 + PRICE_BYTES
        named = 0
        if act == OUTSIDE:
            named, at = int.from_bytes(packed[at : at + PRICE_BYTES]), at + PRICE_BYTES
        if act >= len(ACTS):
            raise BadLink(NOT_REPLAYED)
        words = env.corpus.buyer_line(ACTS[act], named, 0.0) if act else ""
        yield {ACCEPT: env.Accept(), WALK: env.WalkAway()}.get(price) or env.Offer(price, words)


# Standings --------------------------------------------------------------------------------------


@lru_cache(maxsize=DAYS_KEPT)
def scripts(day: date) -> tuple[Standing, ...]:
    """How every scripted buyer fares on the day."""
    task, seed = env.get_task(TASK), seed_of_day(day)
    played = {name: env.rollout(task, policy, seed) for name, policy in scripts_of(task).items()}
    return tuple(player(name, episode) for name, episode in played.items())


def player(name: str, played: env.Episode) -> Standing:
    return stand(name, env.get_task(TASK), played)
