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
from typing import Any, Generic, TypeVar

from sauda.records.store import refuse_constant

NO_ADDRESS = "unknown"  # a test client, or a socket that is no network socket
HOME = 64  # bits of an IPv6 address; the others are whatever a caller chooses

MOST_EPISODES = 256  # that are kept in all
EPISODES_OF_ADDRESS = 16
IDLE_SECONDS = 600.0  # that an episode is kept without a call

Content = TypeVar("Content")


def address_of(scope: Mapping[str, Any]) -> str:
    """The caller's address in an ASGI scope; the web server has looked behind trusted proxies.

    Of IPv6 it is the network of 64 bits, all of which one caller has.
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
    return str(IPv6Network((int(address), HOME), strict=False))


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
    found = {  # by field; where one of several types would do, what the last one takes
        ".".join(str(part) for part in fault["loc"] if part not in ("int", "float"))[:80]: fault[
            "msg"
        ]
        for fault in faults
    }
    return "; ".join(f"{field or 'the call'}: {what}" for field, what in list(found.items())[:5])


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


@dataclass
class Kept(Generic[Content]):
    """One kept episode; its lock lets one call at a time use it."""

    content: Content
    address: str
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)


class Episodes(Generic[Content]):
    """The episodes that are kept between calls, each under a key. Thread-safe.

    A server chooses its keys so that no caller meets another's episode. An address that keeps too
    many loses the one that was not used for longest.
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
        """Keep an episode of `address`, in the place of an older one under the same key.

        Raises Refused where no room is left.
        """
        with self._lock:
            self._drop_idle()
            self._kept.pop(key, None)
            own = [k for k, kept in self._kept.items() if kept.address == address]
            if len(own) >= EPISODES_OF_ADDRESS:
                del self._kept[own[0]]
            if len(self._kept) >= MOST_EPISODES:
                minutes = self.idle_seconds / 60
                raise Refused(429, f"Too many episodes are running; try again in {minutes:g} min.")
            self._kept[key] = Kept(content, address, self._clock())

    @contextmanager
    def use(self, key: Hashable) -> Iterator[Kept[Content]]:
        """Context: an episode, for this caller alone; Refused where none is kept under `key`."""
        with self._lock:
            self._drop_idle()
            kept = self._kept.get(key)
            if kept is None:
                raise Refused(404, self.missing)
            self._kept.move_to_end(key)
            kept.used = self._clock()
        with kept.lock:
            yield kept

    def _drop_idle(self) -> None:
        since = self._clock() - self.idle_seconds
        while self._kept and next(iter(self._kept.values())).used < since:
            self._kept.popitem(last=False)
