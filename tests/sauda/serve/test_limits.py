"""Who may hold how many of what, who waits, who is refused: limits by network address."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from sauda.serve.limits import (
    EPISODES_OF_ADDRESS,
    IDLE_SECONDS,
    MOST_EPISODES,
    Episodes,
    FairGate,
    GateFull,
    GateLimits,
    Limiter,
    Refused,
    is_this_machine,
    normalize_address,
)
from tests.support.coroutines import run


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::1", "::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("unknown", "unknown"),
    ],
)
def test_all_addresses_of_one_home_count_as_one(host, address):
    assert normalize_address(host) == address
    assert is_this_machine(host) == (host == "::1")


def test_an_address_holds_a_few_and_all_together_more():
    held = Limiter(of_address=2, in_all=3)
    assert [held.take(address) for address in "aaabbb"] == [True, True, False, True, False, False]
    assert (held.count("a"), held.total) == (2, 3)
    held.give_back("a")
    assert held.take("b")
    assert not held.take("a", is_exempt=True)  # no address is exempt from the limit in all
    held.give_back("b")
    held.give_back("b")
    assert all(held.take("a", is_exempt=True) for _ in range(2))
    with pytest.raises(LookupError), held.hold("a", LookupError()):
        pass
    for _ in range(3):
        held.give_back("a")
    with held.hold("a", LookupError()):
        assert held.total == 1
    assert held.total == 0


def test_what_is_taken_for_an_hour_is_free_again_after_it():
    clock = Clock()
    hourly = Limiter(2, 3, seconds=3600.0, clock=clock)
    assert [hourly.take(address) for address in "aaabc"] == [True, True, False, True, False]
    clock.now += 3599
    assert not hourly.take("a")
    clock.now += 1
    assert [hourly.take(address) for address in "babc"] == [True, True, True, False]


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


def is_empty(gate: FairGate) -> bool:
    return (gate.running.total, gate.waiting_in_all, len(gate.waiting)) == (0, 0, 0)


@pytest.mark.parametrize("polite", [("b", ""), ("a", "polite")], ids=["address", "session"])
def test_addresses_and_sessions_of_one_address_take_turns(polite):
    async def play() -> None:
        gate = FairGate(GateLimits(running=1, running_of_address=1))
        busy = [Visit(gate, "a", "greedy") for _ in range(3)]
        await settle()
        late = Visit(gate, *polite)
        await settle()
        assert [v.inside for v in (*busy, late)] == [True, False, False, False]
        await busy[0].leave()
        assert (busy[1].inside, late.inside) == (True, False)  # it stood first in line
        await busy[1].leave()
        assert (busy[2].inside, late.inside) == (False, True)
        for visit in (late, busy[2]):
            await visit.leave()
        assert is_empty(gate)

    run(play())


def test_an_address_leaves_places_to_the_others():
    async def play() -> None:
        gate = FairGate(GateLimits(running=3, running_of_address=2))
        visits = [Visit(gate, address) for address in "aaab"]
        await settle()
        assert [visit.inside for visit in visits] == [True, True, False, True]
        for visit in visits:
            await visit.leave()

    run(play())


def test_what_waits_of_an_address_is_bounded_in_number_and_bytes_whatever_its_sessions():
    async def play() -> None:
        limits = GateLimits(running=1, waiting_of_address=2, waiting_bytes_of_address=10)
        gate = FairGate(limits)
        first = Visit(gate, "a", "0", size=10)
        await settle()
        waiting = [Visit(gate, "a", "1", size=6)]
        await settle()
        with pytest.raises(GateFull):
            await Visit(gate, "a", "2", size=5).task
        waiting.append(Visit(gate, "a", "2", size=0))
        await settle()
        with pytest.raises(GateFull):
            await Visit(gate, "a", "3").task
        other = Visit(gate, "b", size=10)  # it may wait, though the first address is full
        waiting[0].task.cancel()
        await settle()
        fits = Visit(gate, "a", "3", size=10)
        for visit in (first, waiting[1], other, fits):
            await visit.leave()
            assert visit.inside
        assert is_empty(gate)

    run(play())


def test_who_leaves_the_line_or_at_the_very_moment_of_entering_holds_no_place():
    async def play() -> None:
        gate = FairGate(GateLimits(running=1))
        first, second, third = (Visit(gate, "a") for _ in range(3))
        await settle()
        second.task.cancel()
        await settle()
        assert gate.waiting_in_all == 1
        first.task.cancel()
        await asyncio.sleep(0)  # the first has left; the third is let in and not yet awake
        third.task.cancel()
        await settle()
        assert is_empty(gate)

    run(play())


def is_kept(episodes: Episodes, *key: str) -> bool:
    try:
        with episodes.using(key) as content:
            return content == key
    except Refused as refused:
        return refused.status != 404


def keep(episodes: Episodes, address: str, *names: str) -> None:
    for name in names:
        episodes.keep((address, name), address, (address, name))


def test_an_address_that_keeps_too_many_episodes_loses_the_one_unused_for_longest():
    episodes = Episodes()
    keep(episodes, "a", *map(str, range(EPISODES_OF_ADDRESS)))
    keep(episodes, "b", "other")
    assert is_kept(episodes, "a", "0")
    keep(episodes, "a", "new", "new")
    kept = [is_kept(episodes, "a", name) for name in ("0", "1", "2", "new")]
    assert kept == [True, False, True, True]
    assert is_kept(episodes, "b", "other")
    assert not is_kept(episodes, "b", "0")
    assert len(episodes) == EPISODES_OF_ADDRESS + 1


def test_an_episode_is_dropped_when_it_is_left_and_makes_room():
    clock = Clock()
    episodes = Episodes(clock=clock)
    for number in range(MOST_EPISODES):
        keep(episodes, f"address {number // EPISODES_OF_ADDRESS}", str(number))
    with pytest.raises(Refused) as refused:
        keep(episodes, "another", "one")
    assert refused.value.status == 429
    clock.now += IDLE_SECONDS
    assert is_kept(episodes, "address 0", "1")
    clock.now += 1
    keep(episodes, "another", "one")
    assert is_kept(episodes, "address 0", "1")
    assert not is_kept(episodes, "address 0", "0")
    assert len(episodes) == 2
