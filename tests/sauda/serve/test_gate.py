"""The fair gate: who runs, who waits, who is refused."""

import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import pytest

from sauda.serve.gate import FairGate, GateFull, Limits
from tests.support.coroutines import run


class Visit:
    """A request of `address` at a gate, from its arrival until `leave`."""

    def __init__(self, gate: FairGate, address: str, session: str = "", size: int = 0) -> None:
        self.inside, self._leaving = False, asyncio.Event()
        self.task = asyncio.create_task(self._stay(gate.place(address, session, size)))

    async def _stay(self, place: AbstractAsyncContextManager) -> None:
        async with place:
            self.inside = True
            await self._leaving.wait()

    async def leave(self) -> None:
        self._leaving.set()
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_addresses_take_turns():
    async def play() -> None:
        gate = FairGate(Limits(running=1, running_of_address=1))
        busy = [Visit(gate, "a") for _ in range(3)]
        await settle()
        polite = Visit(gate, "b")
        await settle()
        assert [v.inside for v in (*busy, polite)] == [True, False, False, False]
        await busy[0].leave()
        assert (busy[1].inside, polite.inside) == (True, False)  # it stood first in line
        await busy[1].leave()
        assert (busy[2].inside, polite.inside) == (False, True)
        for visit in (polite, busy[2]):
            await visit.leave()
        assert (dict(gate.running), dict(gate.waiting)) == ({}, {})

    run(play())


def test_an_address_leaves_places_to_the_others():
    async def play() -> None:
        gate = FairGate(Limits(running=3, running_of_address=2))
        visits = [Visit(gate, address) for address in "aaab"]
        await settle()
        assert [visit.inside for visit in visits] == [True, True, False, True]
        for visit in visits:
            await visit.leave()

    run(play())


def test_the_sessions_of_one_address_take_turns():
    async def play() -> None:
        gate = FairGate(Limits(running=1))
        busy = [Visit(gate, "a", "greedy") for _ in range(3)]
        polite = Visit(gate, "a", "polite")
        await settle()
        await busy[0].leave()
        await busy[1].leave()
        assert (polite.inside, busy[2].inside) == (True, False)
        for visit in (polite, busy[2]):
            await visit.leave()
        assert (dict(gate.running), dict(gate.waiting)) == ({}, {})

    run(play())


def test_what_waits_of_an_address_is_bounded_in_bytes_whatever_its_sessions():
    async def play() -> None:
        gate = FairGate(Limits(running=1, waiting_bytes_of_address=10))
        first = Visit(gate, "a", "0", size=10)
        await settle()
        waiting = [Visit(gate, "a", "1", size=6), Visit(gate, "a", "2", size=4)]
        await settle()
        with pytest.raises(GateFull):
            await Visit(gate, "a", "3", size=1).task
        waiting[0].task.cancel()
        await settle()
        fits = Visit(gate, "a", "3", size=6)
        for visit in (first, waiting[1], fits):
            await visit.leave()
        assert fits.inside
        assert (dict(gate.running), dict(gate.waiting)) == ({}, {})

    run(play())


def test_an_address_with_too_many_requests_is_refused():
    async def play() -> None:
        gate = FairGate(Limits(running=1, waiting_of_address=2))
        visits = [Visit(gate, "a") for _ in range(3)]
        await settle()
        with pytest.raises(GateFull):
            await Visit(gate, "a").task
        async with AsyncExitStack() as stack:
            other = asyncio.create_task(stack.enter_async_context(gate.place("b")))
            await settle()
            assert not other.done()  # it waits, though the line of the first address is full
            for visit in visits:
                await visit.leave()
            await other

    run(play())


def test_who_leaves_the_line_or_at_the_very_moment_of_entering_holds_no_place():
    async def play() -> None:
        gate = FairGate(Limits(running=1))
        first, second, third = (Visit(gate, "a") for _ in range(3))
        await settle()
        second.task.cancel()
        await settle()
        assert len(gate.waiting["a"]) == 1
        first.task.cancel()
        await asyncio.sleep(0)  # the first has left; the third is let in and not yet awake
        third.task.cancel()
        await settle()
        assert (dict(gate.running), dict(gate.waiting)) == ({}, {})

    run(play())
