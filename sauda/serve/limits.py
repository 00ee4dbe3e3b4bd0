"""Limits by network address: who may hold how many of a thing, and who may take it how often.

Each door of the page counts here, with numbers of its own: connections and streams of the page, its
events, `/ws`, OpenEnv over HTTP, MCP and the leaderboard.
"""

import json
import math
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from env import refuse_constant

NO_ADDRESS = "unknown"  # a test client, or a socket that is no network socket
SITE = 48  # bits of an IPv6 address; the others are whatever a caller chooses

MOST_EPISODES = 256  # that are kept in all
IDLE_SECONDS = 600.0  # that an episode is kept without a call
MOVED = 0.75  # of all places, those for games with a move; the others stay free for new games


def address_of(scope: Mapping[str, Any]) -> str:
    """The caller's address in an ASGI scope; the web server has looked behind trusted proxies.

    An IPv6 address is cut to its network of 48 bits, since one caller may have all of it.
    """
    client = scope.get("client")
    return normalize_address(client[0]) if client else NO_ADDRESS


@lru_cache(maxsize=1024)
def normalize_address(host: str) -> str:
    """What limits count for an address: an IPv4 address, an IPv6 network, or any other text."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address) or address.is_loopback:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), SITE), strict=False))


def is_this_machine(address: str) -> bool:
    """Whether a caller runs on the machine that serves; no limit of one address binds it."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


class Refused(Exception):
    """A call that is not answered; `status` is that of HTTP, the text a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def json_object(
    text: str | bytes, what: str, read_constant: Callable[[str], Any] = refuse_constant
) -> dict[str, Any]:
    """The JSON object that a stranger sent, called `what` in the sentence of a ValueError.

    Raises ValueError where `text` holds no object, or one that cannot be written again, because of
    half a surrogate pair or, unless `read_constant` takes it, NaN.
    """
    try:
        value = json.loads(text, parse_constant=read_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise ValueError(f"{what} is a JSON object; this one cannot be read.") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what} is a JSON object; this is none.")
    return value


def describe_faults(faults: Iterable[Mapping[str, Any]]) -> str:
    """The first of pydantic's faults in words: the field and what it takes; quotes no value."""
    sentences = {}  # by field; where one of several types would do, what the last one takes
    for fault in faults:
        field = ".".join(str(part) for part in fault["loc"] if part not in ("int", "float"))[:80]
        sentences[field or "the call"] = fault["msg"]
    return "; ".join(f"{field}: {what}" for field, what in islice(sentences.items(), 5))


class Limiter:
    """Counts what each address holds, and decides who may have one more. Thread-safe.

    With `seconds`, each is given back by itself after so long, which limits how often.
    """

    def __init__(
        self,
        of_address: int,
        in_all: float = math.inf,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.of_address, self.in_all, self.seconds = of_address, in_all, seconds
        self._clock = clock
        self._held: Counter[str] = Counter()
        self._due: deque[tuple[float, str]] = deque()  # when and whose is given back, in order
        self._lock = threading.RLock()

    @property
    def total(self) -> int:
        """How many are held in all."""
        with self._lock:
            self._give_back_due()
            return self._held.total()

    def count(self, address: str) -> int:
        """How many `address` holds."""
        with self._lock:
            self._give_back_due()
            return self._held[address]

    def take(self, address: str, is_exempt: bool = False) -> bool:
        """Count one more for `address` if it has room; whether it had.

        Where it is exempt only `in_all` counts.
        """
        with self._lock:
            is_free = is_exempt or self.count(address) < self.of_address
            if not is_free or self.total >= self.in_all:
                return False
            self._held[address] += 1
            if self.seconds is not None:
                self._due.append((self._clock() + self.seconds, address))
            return True

    def give_back(self, address: str) -> None:
        """Count one less for `address`."""
        with self._lock:
            self._held[address] -= 1
            if not self._held[address]:
                del self._held[address]

    def seconds_left(self, address: str) -> float:
        """Seconds until one that `address` took is given back by itself; 0 where it has none."""
        with self._lock:
            self._give_back_due()
            due = next((when for when, held in self._due if held == address), self._clock())
            return due - self._clock()

    @contextmanager
    def hold(self, address: str, full: Exception) -> Iterator[None]:
        """Context: one more of `address`; raises `full` where there is no room."""
        if not self.take(address):
            raise full
        try:
            yield
        finally:
            self.give_back(address)

    def _give_back_due(self) -> None:
        while self._due and self._clock() >= self._due[0][0]:
            self.give_back(self._due.popleft()[1])


class OfAddress(Protocol):
    """A game that is kept between calls, with the network address that began it."""

    address: str

    @property
    def moved(self) -> bool:
        """Whether its player has made a move."""


def to_give_way(games: Mapping[Hashable, OfAddress], most: int) -> Hashable | None:
    """The key of the game that gives way, where there are more than `most`; else None.

    A game without a move costs nobody anything, and so it goes first. Games with a move give way
    to those alone. Of either kind the address that has most loses the one not used for longest,
    which stands first.
    """
    if len(games) <= MOVED * most:
        return None
    moved = {key for key, game in games.items() if game.moved}
    if len(moved) <= MOVED * most and len(games) <= most:
        return None
    crowd = moved if len(moved) > MOVED * most else games.keys() - moved
    of_address = Counter(games[key].address for key in crowd)
    return max((key for key in games if key in crowd), key=lambda k: of_address[games[k].address])


Content = TypeVar("Content")


@dataclass
class Kept(Generic[Content]):
    """One kept episode; its lock lets one call at a time use it."""

    content: Content
    address: str
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def moved(self) -> bool:
        """Whether its player has made a move."""
        return self.content.moved


class Episodes(Generic[Content]):
    """The episodes that are kept between calls, each under a key. Thread-safe.

    A server draws its keys so that no caller meets another's episode. Where there are MOST_EPISODES
    each new one takes the place of another: see `to_give_way`.
    """

    def __init__(
        self,
        missing: str = "There is no episode of this id.",
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.missing = missing  # what a caller is told whose episode is not here
        self.idle_seconds = idle_seconds
        self._clock = clock
        self._kept = OrderedDict[Hashable, Kept[Content]]()  # those used last at the end
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: Hashable, address: str, content: Content) -> None:
        """Keep a new episode of `address`."""
        with self._lock:
            self._kept[key] = Kept(content, address, self._clock())
            self._make_room()

    @contextmanager
    def use(self, key: Hashable) -> Iterator[Kept[Content]]:
        """Context: an episode, for this caller alone; Refused where none is kept under `key`."""
        with self._lock:
            self._make_room()
            episode = self._kept.get(key)
            if episode is None:
                raise Refused(404, self.missing)
            self._kept.move_to_end(key)
            episode.used = self._clock()
        with episode.lock:
            yield episode

    def _make_room(self) -> None:
        since = self._clock() - self.idle_seconds
        while self._kept and next(iter(self._kept.values())).used < since:
            self._kept.popitem(last=False)
        while (key := to_give_way(self._kept, MOST_EPISODES)) is not None:
            del self._kept[key]
