"""A fair gate before work that holds a thread: few run at a time, addresses take turns.

So do the sessions of one address: a class behind one router waits side by side, and whoever starts
many requests there waits behind those who start few. A session is the caller's own claim, so what
bounds an address never asks how many it has.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How many requests run and wait at a time."""

    running: int = 8
    running_of_address: int = 6  # the others stay free for the other visitors
    waiting_of_address: int = 64
    waiting_bytes_of_address: int = 16 * 2**20  # of the requests that wait


LIMITS = Limits()


class GateFull(Exception):
    """Too many requests of one address are waiting."""


class Line:
    """The waiting requests of one address; `sessions` holds each session's, the next one first."""

    def __init__(self) -> None:
        self.sessions: OrderedDict[str, deque[asyncio.Future]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return sum(map(len, self.sessions.values()))

    def take_next(self) -> asyncio.Future:
        """Remove the oldest request of the session whose turn it is."""
        session, turns = self.sessions.popitem(last=False)
        turn = turns.popleft()
        if turns:
            self.sessions[session] = turns  # behind all other sessions
        return turn

    def drop(self, session: str, turn: asyncio.Future) -> None:
        """Remove a request that nobody waits for any more, if it is here."""
        turns = self.sessions.get(session, ())
        if turn in turns:
            turns.remove(turn)
            if not turns:
                del self.sessions[session]


class FairGate:
    """Lets requests in; those that wait hold no thread. For one event loop."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.running: Counter[str] = Counter()  # by address
        self.waiting: OrderedDict[str, Line] = OrderedDict()  # the address whose turn is next first

    @property
    def waiting_in_all(self) -> int:
        """How many requests wait."""
        return sum(map(len, self.waiting.values()))

    @asynccontextmanager
    async def place(self, address: str, session: str = "", size: int = 0) -> AsyncIterator[None]:
        """Context: wait for a place, and keep it. Raises GateFull where too many wait.

        `size` is that of the request in bytes. A task that is cancelled while it waits leaves.
        """
        await self._enter(address, session, size)
        try:
            yield
        finally:
            self._leave(address)

    async def _enter(self, address: str, session: str, size: int) -> None:
        line = self.waiting.get(address) or Line()
        most = self.limits
        if (
            len(line) >= most.waiting_of_address
            or line.bytes + size > most.waiting_bytes_of_address
        ):
            raise GateFull
        turn = asyncio.get_running_loop().create_future()
        line.sessions.setdefault(session, deque()).append(turn)
        self.waiting[address] = line
        line.bytes += size
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                line.drop(session, turn)
                if not line.sessions and self.waiting.get(address) is line:
                    del self.waiting[address]
            else:  # it was let in at the same moment
                self._leave(address)
            raise
        finally:
            line.bytes -= size

    def _leave(self, address: str) -> None:
        self.running[address] -= 1
        if not self.running[address]:
            del self.running[address]
        self._let_in()

    def _let_in(self) -> None:
        while self.running.total() < self.limits.running and (address := self._next()) is not None:
            line = self.waiting.pop(address)
            turn = line.take_next()
            if line.sessions:
                self.waiting[address] = line  # behind all other addresses
            if not turn.done():  # a cancelled one
                self.running[address] += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        free = (a for a in self.waiting if self.running[a] < self.limits.running_of_address)
        return next(free, None)
