"""Who may hold how many of what, who is next, who waits, who is refused."""

import asyncio
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.fairness import FairGate, FairQueue, Limits, QueueFull, Visitor
from sauda.llm.server import LIMITS
from sauda.records.store import REPOSITORY
from sauda.serve.limits import (
    EPISODES_OF_ADDRESS,
    IDLE_SECONDS,
    MOST_EPISODES,
    Episodes,
    Limiter,
    Refused,
    is_this_machine,
    normalize_address,
)
from sauda.serve.listening import check_free
from tests.support.running import run

# Limits by network address ------------------------------------------------------------------------


def test_all_addresses_of_one_home_count_as_one():
    for host in ("10.0.0.1", "::1", "unknown"):
        assert normalize_address(host) == host
        assert is_this_machine(host) == (host == "::1")
    assert normalize_address("::ffff:10.0.0.1") == "10.0.0.1"
    assert {normalize_address(f"2001:db8::{end}") for end in ("1", "ffff:2")} == {"2001:db8::/64"}


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
    now = 1000.0
    hourly = Limiter(2, 3, seconds=3600.0, clock=lambda: now)
    assert [hourly.take(address) for address in "aaabc"] == [True, True, False, True, False]
    now += 3599
    assert not hourly.take("a")
    now += 1
    assert [hourly.take(address) for address in "babc"] == [True, True, True, False]


def is_kept(episodes: Episodes, *key: str) -> bool:
    try:
        with episodes.use(key) as kept:
            return kept.content == key
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
    now = 1000.0
    episodes = Episodes(clock=lambda: now)
    for number in range(MOST_EPISODES):
        keep(episodes, f"address {number // EPISODES_OF_ADDRESS}", str(number))
    with pytest.raises(Refused) as refused:
        keep(episodes, "another", "one")
    assert refused.value.status == 429
    now += IDLE_SECONDS
    assert is_kept(episodes, "address 0", "1")
    now += 1
    keep(episodes, "another", "one")
    assert is_kept(episodes, "address 0", "1")
    assert not is_kept(episodes, "address 0", "0")
    assert len(episodes) == 2


NO_GRADIO = "import sys; sys.modules['gradio'] = None; import runpy; "
START = NO_GRADIO + "runpy.run_path('app.py', run_name='__main__')"


def test_a_page_at_a_busy_port_ends_with_a_sentence_before_it_loads_gradio():
    """Gradio cannot be imported here, so a page that got so far would say that instead."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        page = subprocess.run(
            [sys.executable, "-c", START],
            cwd=REPOSITORY,
            env=os.environ | {"HOST": "127.0.0.1", "PORT": str(port)},
            capture_output=True,
            text=True,
        )
        assert (page.returncode, "Traceback" in page.stderr) == (1, False)
        assert f"Cannot listen on 127.0.0.1, port {port}" in page.stderr
    check_free("127.0.0.1", port)
    with pytest.raises(ValueError, match="no address of this machine"):
        check_free("192.0.2.1", port)


# The queue as a value, and the gate of an event loop ----------------------------------------------

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
