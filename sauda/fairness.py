"""The fair order of those who wait: who is next, who waits and for how long, who is refused.

Addresses take turns, and so do the sessions of one address: a class behind one router waits side by
side, and whoever starts many requests there waits behind those who start few. A session is the
caller's own claim, so what bounds an address never asks how many it has.
"""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

FIRST_GUESS = 4.0  # seconds of a request, before any was timed
MEMORY = 0.2  # weight of the newest request in the mean of their seconds

Turns = dict[tuple[str, ...], int]  # of each address and session that waits: the least is next


@dataclass(frozen=True)
class Visitor:
    """Who makes a request. The page's own requests have a session and no address."""

    session: str
    address: str = ""


PAGE = Visitor("")  # the page itself, for tabs whose requests no visitor makes


@dataclass(frozen=True)
class Limits:
    """How many requests run and wait at a time."""

    running: int = 8
    running_of_address: int = 6  # the others stay free for the other visitors
    waiting_of_address: int = 64
    waiting_bytes_of_address: float = 16 * 2**20
    waiting: float = math.inf
    running_beside_others: float = math.inf  # of an address, while another one plays too
    of_session: float = math.inf  # that run, and that wait


class QueueFull(Exception):
    """No place is left; `seconds` estimates when one will be."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the queue is full for about {seconds:.0f} s")
        self.seconds = seconds


class FairQueue:
    """Requests by key: those that run and those that wait. It has no clock; not thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running: dict[Hashable, Visitor] = {}
        self.waiting: dict[Hashable, Visitor] = {}  # the oldest first
        self.seconds_per_request = FIRST_GUESS
        self._bytes: dict[Hashable, int] = {}  # of the requests that wait
        self._turns: Turns = {}
        self._count = 0
        # Whose requests began last: an address that thinks about its move still plays.
        self._recent: deque[str] = deque(maxlen=2 * limits.running)

    def enter(self, key: Hashable, visitor: Visitor, size: int = 0) -> None:
        """Put a request of `size` bytes in the queue; QueueFull where there is no place for it."""
        of_address = [k for k, v in self.waiting.items() if v.address == visitor.address]
        of_session = [k for k in of_address if self.waiting[k].session == visitor.session]
        most = self.limits
        if (
            len(self.waiting) >= most.waiting
            or len(of_address) >= most.waiting_of_address
            or len(of_session) >= most.of_session
            or size + sum(self._bytes[k] for k in of_address) > most.waiting_bytes_of_address
        ):
            raise QueueFull(self._seconds_until(len(self.waiting) + 1))
        self.waiting[key], self._bytes[key] = visitor, size
        self._count += 1
        for mark in _marks(visitor):
            self._turns.setdefault(mark, self._count)

    def leave(self, key: Hashable) -> None:
        """Forget a request that was answered, cancelled or refused."""
        self.running.pop(key, None)
        if key in self.waiting:
            self._stop_waiting(key)

    def start_next(self) -> Hashable | None:
        """The request that runs from now on; None where nobody can."""
        able = self._able(self.waiting) if len(self.running) < self.limits.running else []
        if not able:
            return None
        key = min(able, key=lambda k: _turn(self.waiting[k], self._turns))
        visitor = self.running[key] = self.waiting[key]
        self._count += 1
        self._turns |= dict.fromkeys(_marks(visitor), self._count)  # behind all others
        self._recent.append(visitor.address)
        self._stop_waiting(key)
        return key

    def _stop_waiting(self, key: Hashable) -> None:
        del self.waiting[key], self._bytes[key]
        still = {mark for visitor in self.waiting.values() for mark in _marks(visitor)}
        self._turns = {mark: turn for mark, turn in self._turns.items() if mark in still}

    def place(self, key: Hashable) -> tuple[int, float]:
        """How many requests run before this one, itself included, and seconds until it runs."""
        place = self.order().index(key) + 1
        return place, self._seconds_until(place)

    def order(self) -> list[Hashable]:
        """The waiting requests in the order in which they will run, as far as can be told."""
        waiting, turns, order = dict(self.waiting), dict(self._turns), []
        while waiting:
            key = min(self._able(waiting) or waiting, key=lambda k: _turn(waiting[k], turns))
            order.append(key)
            turns |= dict.fromkeys(_marks(waiting.pop(key)), self._count + len(order))
        return order

    def learn_time(self, seconds: float) -> None:
        """Learn from a request that took `seconds`."""
        self.seconds_per_request += MEMORY * (seconds - self.seconds_per_request)

    def _seconds_until(self, place: int) -> float:
        """Of `running` requests at a time, one ends every `seconds_per_request / running`."""
        return place * self.seconds_per_request / self.limits.running

    def _able(self, waiting: Mapping[Hashable, Visitor]) -> list[Hashable]:
        """Those of `waiting` that may run as soon as there is a place."""
        most, running = self.limits, self.running.values()
        by_address = Counter(visitor.address for visitor in running if visitor.address)
        by_session = Counter((visitor.address, visitor.session) for visitor in running)
        players = {*self._recent, *(visitor.address for visitor in self.waiting.values())} - {""}
        beside = min(most.running_of_address, most.running_beside_others)

        def may_run(visitor: Visitor) -> bool:
            of_address = beside if players - {visitor.address} else most.running_of_address
            return (
                by_address[visitor.address] < of_address
                and by_session[visitor.address, visitor.session] < most.of_session
            )

        able = {visitor: may_run(visitor) for visitor in set(waiting.values())}
        return [key for key, visitor in waiting.items() if able[visitor]]


def _marks(visitor: Visitor) -> tuple[tuple[str], tuple[str, str]]:
    return (visitor.address,), (visitor.address, visitor.session)


def _turn(visitor: Visitor, turns: Turns) -> tuple[int, int]:
    address, session = _marks(visitor)
    return turns[address], turns[session]


class FairGate:
    """Lets few requests in at a time; those that wait hold no thread. For one event loop."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.queue = FairQueue(limits or Limits())
        self._waiting: dict[Hashable, asyncio.Future] = {}

    @property
    def running(self) -> int:
        """How many requests are inside."""
        return len(self.queue.running)

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self.queue.waiting)

    @asynccontextmanager
    async def place(self, address: str, session: str = "", size: int = 0) -> AsyncIterator[None]:
        """Context: wait for a place, and keep it. Raises QueueFull where too many wait.

        `size` is that of the request in bytes. A task that is cancelled while it waits leaves.
        """
        key, began = object(), None
        self.queue.enter(key, Visitor(session, address), size)
        turn = self._waiting[key] = asyncio.get_running_loop().create_future()
        self._let_in()
        try:
            await turn
            began = time.monotonic()
            yield
        finally:
            if began is not None:
                self.queue.learn_time(time.monotonic() - began)
            self._waiting.pop(key, None)
            self.queue.leave(key)
            self._let_in()

    def _let_in(self) -> None:
        while (key := self.queue.start_next()) is not None:
            turn = self._waiting.pop(key)
            if not turn.done():  # one that was cancelled leaves when it wakes
                turn.set_result(None)
