"""Who may hold how many of what, who waits, who is refused: limits by network address."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterable
from types import SimpleNamespace

import pytest

from sauda.records.store import REPOSITORY
from sauda.serve.limits import (
    IDLE_SECONDS,
    MOST_EPISODES,
    Episodes,
    Limiter,
    Refused,
    is_this_machine,
    normalize_address,
)
from sauda.serve.listening import check_free


def test_all_addresses_that_one_caller_may_have_count_as_one():
    for host in ("10.0.0.1", "::1", "unknown"):
        assert normalize_address(host) == host
        assert is_this_machine(host) == (host == "::1")
    assert normalize_address("::ffff:10.0.0.1") == "10.0.0.1"
    hosts = ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1", "2001:db8:0:ffff::1")
    assert {normalize_address(host) for host in hosts} == {"2001:db8::/48"}
    assert normalize_address("2001:db8:1::1") != "2001:db8::/48"  # another customer


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
    assert (hourly.seconds_left("a"), hourly.seconds_left("c")) == (3600, 0)
    now += 3599
    assert not hourly.take("a")
    assert hourly.seconds_left("a") == 1
    now += 1
    assert [hourly.take(address) for address in "babc"] == [True, True, True, False]


def is_kept(episodes: Episodes, key: str) -> bool:
    try:
        with episodes.use(key):
            return True
    except Refused as refused:
        return refused.status != 404


def keep(episodes: Episodes, address: str, names: Iterable[object], moves: bool = False) -> None:
    """Begin an episode per name, and perhaps move in it, as callers do: one call each."""
    for name in names:
        episodes.keep(f"{address} {name}", address, SimpleNamespace(moved=False))
        if moves:
            with episodes.use(f"{address} {name}") as kept:
                kept.content.moved = True


def count(episodes: Episodes, address: str, names: Iterable[object]) -> int:
    return sum(is_kept(episodes, f"{address} {name}") for name in names)


def test_a_flood_of_games_without_a_move_costs_nobody_a_game_and_locks_nobody_out():
    episodes, few = Episodes(), range(10)
    keep(episodes, "a player", few, moves=True)
    keep(episodes, "somebody who reads the rules", few)
    for number in range(2 * MOST_EPISODES):
        keep(episodes, f"address {number % 16}", [number])
    keep(episodes, "a newcomer", few)
    for address in ("a player", "somebody who reads the rules", "a newcomer"):
        assert count(episodes, address, few) == len(few)
    for number in range(2 * MOST_EPISODES):
        keep(episodes, f"address {number}", [number])  # now the player's address has most
    assert count(episodes, "a player", few) == len(few)
    assert len(episodes) == MOST_EPISODES


def test_games_with_a_move_give_way_to_such_alone_and_the_address_that_has_most_loses_its_oldest():
    episodes, few, many = Episodes(), range(10), range(MOST_EPISODES)
    keep(episodes, "a hoarder", many, moves=True)
    keep(episodes, "a reader", many)
    held = count(episodes, "a hoarder", many)
    assert held > MOST_EPISODES / 2
    assert is_kept(episodes, f"a hoarder {many[-1]}")
    keep(episodes, "a newcomer", few, moves=True)
    assert count(episodes, "a newcomer", few) == len(few)
    assert count(episodes, "a hoarder", many) == held - len(few)


def test_an_address_alone_may_use_all_places_and_loses_the_game_unused_for_longest():
    episodes, names = Episodes(), range(MOST_EPISODES)
    keep(episodes, "a trainer", names)
    assert is_kept(episodes, "a trainer 0")
    keep(episodes, "a trainer", ["new"])
    kept = [is_kept(episodes, f"a trainer {name}") for name in (0, 1, 2, "new")]
    assert kept == [True, False, True, True]


def test_an_episode_is_dropped_when_it_is_left():
    now = 1000.0
    episodes = Episodes(clock=lambda: now)
    keep(episodes, "a", "12", moves=True)
    now += IDLE_SECONDS
    assert is_kept(episodes, "a 2")
    now += 1
    assert not is_kept(episodes, "a 1")
    assert is_kept(episodes, "a 2")
    assert len(episodes) == 1


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
