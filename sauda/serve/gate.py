"""A fair gate before work that holds a thread: few run at a time, addresses take turns."""

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


LIMITS = Limits()


class GateFull(Exception):
    """Too many requests of one address are waiting."""


class FairGate:
    """Lets requests in; those that wait hold no thread. For one event loop."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.running: Counter[str] = Counter()  # by address
        # The address whose turn is next stands first.
        self.waiting: OrderedDict[str, deque[asyncio.Future]] = OrderedDict()

    @asynccontextmanager
    async def place(self, address: str) -> AsyncIterator[None]:
        """Context: wait for a place, and keep it. Raises GateFull where too many wait.

        A task that is cancelled while it waits leaves the line.
        """
        await self._enter(address)
        try:
            yield
        finally:
            self._leave(address)

    async def _enter(self, address: str) -> None:
        line = self.waiting.get(address, ())
        if len(line) >= self.limits.waiting_of_address:
            raise GateFull
        turn = asyncio.get_running_loop().create_future()
        self.waiting.setdefault(address, deque()).append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._drop(address, turn)
            else:  # it was let in at the same moment
                self._leave(address)
            raise

    def _drop(self, address: str, turn: asyncio.Future) -> None:
        line = self.waiting.get(address)
        if line and turn in line:
            line.remove(turn)
            if not line:
                del self.waiting[address]

    def _leave(self, address: str) -> None:
        self.running[address] -= 1
        if not self.running[address]:
            del self.running[address]
        self._let_in()

    def _let_in(self) -> None:
        while self.running.total() < self.limits.running and (address := self._next()) is not None:
            line = self.waiting.pop(address)
            turn = line.popleft()
            if line:
                self.waiting[address] = line  # behind all other addresses
            if not turn.done():  # a cancelled one
                self.running[address] += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        free = (a for a in self.waiting if self.running[a] < self.limits.running_of_address)
        return next(free, None)
