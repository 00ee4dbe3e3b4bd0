"""The load test's visitors on the real page: they find its events, and none of them fails."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sauda.commands.loadtest.mixes import GREEDY, POLITE, Size
from sauda.commands.loadtest.page_process import RunningPage
from sauda.commands.loadtest.run import ALL, played
from sauda.commands.loadtest.visits import REVIEW

SIZE = Size(seconds=4.0, games=2, sessions=3)


def mix_played(name, size, server):
    """A mix of that length, in a thread without the loop that Playwright leaves in the tests'."""
    mix = ALL[name]
    whole = replace(size, seconds=size.seconds / mix.part)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(played, mix, whole, RunningPage(server, None)).result()


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("20 players", {"start of a game", "scripted reply", "event after a scripted reply"}),
        ("games in a row", {"start of a game", "scripted reply", "event after a scripted reply"}),
        ("sessions", {"page load", "opening events", "start of a game"}),
    ],
)
def test_visitors_of_a_short_mix_are_all_answered(server, name, rows):
    mix = mix_played(name, SIZE, server)
    assert {row["what"] for row in mix["rows"]} - {REVIEW} == rows
    assert all(row["n"] > 0 for row in mix["rows"])
    assert [row["reasons"] for row in mix["rows"] if row["reasons"]] == []


@pytest.mark.model
@pytest.mark.slow
def test_a_class_behind_one_address_is_refused_nothing(server):
    mix = mix_played("30 behind one address", Size(seconds=12.0), server)
    assert {row["what"]: row["refused"] for row in mix["rows"] if row["refused"]} == {}
    assert all(row["reasons"] == {} for row in mix["rows"])


@pytest.mark.model
@pytest.mark.slow
def test_a_client_with_30_model_games_is_refused_some_and_a_polite_visitor_is_not(server):
    mix = mix_played("greedy client", Size(seconds=10.0), server)
    rows = {row["what"]: row for row in mix["rows"]}
    assert rows[GREEDY]["refused"] > 0
    polite = rows[POLITE]
    assert polite["n"] > 0
    assert (polite["refused"], polite["reasons"]) == (0, {})
