"""Who may hold how many of what, who waits, who is refused: limits by network address."""

import os
import socket
import subprocess
import sys

import pytest

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
