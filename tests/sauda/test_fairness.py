"""Who is next, who waits, who is refused: the queue as a value, and the gate of an event loop."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.fairness import FairGate, FairQueue, Limits, QueueFull, Visitor
from sauda.llm.server import LIMITS
from tests.support.running import run

TWO = replace(LIMITS, running=2, waiting=8, running_of_address=1, waiting_of_address=4)


def start_all(queue: FairQueue) -> list:
    """The keys that may run now, in order."""
    return list(iter(queue.start_next, None))


def test_one_session_has_one_reply_at_a_time_and_one_waiting():
    queue = FairQueue(LIMITS)
    queue.enter("first", Visitor("s", "a"))
    assert start_all(queue) == ["first"]
    queue.enter("second", Visitor("s", "a"))
    assert start_all(queue) == []
    with pytest.raises(QueueFull):
        queue.enter("third", Visitor("s", "a"))
    queue.leave("first")
    assert start_all(queue) == ["second"]


def test_addresses_take_turns_whatever_number_of_requests_each_has():
    queue = FairQueue(replace(LIMITS, running=1, running_of_address=1))
    for number in range(4):
        queue.enter(f"greedy {number}", Visitor(f"g{number}", "greedy"))
    queue.enter("polite", Visitor("p", "polite"))
    order = []
    while key := queue.start_next():
        order.append(key)
        queue.leave(key)
    assert order == ["greedy 0", "polite", "greedy 1", "greedy 2", "greedy 3"]


def test_an_address_takes_neither_all_places_to_run_nor_all_to_wait():
    queue = FairQueue(LIMITS)
    entered = 0
    for number in range(30):
        try:
            queue.enter(number, Visitor(f"s{number}", "greedy"))
        except QueueFull:
            continue
        entered += 1
        start_all(queue)
    assert entered == queue.limits.running_of_address + queue.limits.waiting_of_address
    queue.enter("polite", Visitor("p", "polite"))
    assert start_all(queue) == ["polite"]


def test_so_many_wait_and_whoever_is_refused_learns_for_how_long():
    queue = FairQueue(replace(LIMITS, running=6, waiting=8))
    for _ in range(100):
        queue.learn_time(6.0)
    for number in range(14):
        queue.enter(number, Visitor(f"s{number}", f"a{number}"))
        start_all(queue)
    with pytest.raises(QueueFull) as refused:
        queue.enter("one more", Visitor("s", "a"))
    assert refused.value.seconds == pytest.approx(9.0)  # nine places, one free each second
    assert queue.place(6) == (1, pytest.approx(1.0))


def test_beside_others_an_address_has_fewer_places_and_alone_more_again():
    queue = FairQueue(LIMITS)
    queue.enter("other", Visitor("o", "other"))
    assert start_all(queue) == ["other"]
    queue.leave("other")
    most = []
    for number in range(40):
        with suppress(QueueFull):
            queue.enter(number, Visitor(f"s{number}", "class"))
        start_all(queue)
        most.append(len(queue.running))
        if number % 2:
            queue.leave(next(iter(queue.running)))
    assert max(most[:8]) == queue.limits.running_beside_others
    assert max(most) == queue.limits.running_of_address


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=60))
def test_nobody_is_lost_and_no_limit_is_passed(events):
    queue, entered, ran = FairQueue(TWO), set(), set()
    for number, (session, address, ends) in enumerate(events):
        if ends and queue.running:
            queue.leave(next(iter(queue.running)))
        try:
            queue.enter(number, Visitor(f"{address}-{session}", f"{address}"))
            entered.add(number)
        except QueueFull:
            pass
        ran.update(start_all(queue))
        visitors = list(queue.running.values())
        assert len(visitors) <= TWO.running
        assert len({v.address for v in visitors}) == len(visitors)
        assert sorted(queue.order()) == sorted(queue.waiting)
    while queue.running:
        queue.leave(next(iter(queue.running)))
        ran.update(start_all(queue))
    assert ran == entered


async def stay(gate: FairGate) -> None:
    """A request of one address at a gate, until it is cancelled."""
    async with gate.place("a", "", 0):
        await asyncio.Event().wait()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_who_leaves_the_queue_or_at_the_very_moment_of_entering_holds_no_place():
    async def play() -> None:
        gate = FairGate(Limits(running=1))
        first, second, third = (asyncio.create_task(stay(gate)) for _ in range(3))
        await settle()
        second.cancel()
        await settle()
        assert gate.waiting == 1
        first.cancel()
        await asyncio.sleep(0)  # the first has left; the third is let in and not yet awake
        third.cancel()
        await settle()
        assert (gate.running, gate.waiting) == (0, 0)

    run(play())


def test_who_is_refused_by_a_quick_gate_is_not_told_to_wait_for_long():
    async def play() -> float:
        gate = FairGate(Limits(running=1, waiting_of_address=1))
        for _ in range(60):
            async with gate.place("a"):
                pass
        tasks = [asyncio.create_task(stay(gate)) for _ in range(2)]
        await settle()
        with pytest.raises(QueueFull) as refused:
            await stay(gate)
        for task in tasks:
            task.cancel()
        return refused.value.seconds

    assert run(play()) < 1
