"""The benchmark by hand: its figures have the shape and the names of the recorded ones."""

import pytest

from benchmarks.speed import ALONE, DRAWN, SEEDED, interleave, play_in_ways
from sauda.records.store import load


def test_ways_that_are_compared_are_timed_in_turn_after_a_first_round_that_warms_up():
    calls = []

    def way(name: str, number: int) -> int:
        calls.append((name, number))
        return 10

    ways = {name: lambda number, name=name: way(name, number) for name in "ab"}
    ticks = iter(range(0, 100, 5))
    samples = interleave(ways, repetitions=2, clock=lambda: next(ticks))
    assert [way for way, _ in calls] == ["a", "b"] * 3
    assert [number for _, number in calls[2:]] == [0, 0, 1, 1]
    assert samples == {"a": [2.0, 2.0], "b": [2.0, 2.0]}


def test_a_batch_is_timed_from_seeds_and_drawn_at_once_beside_one_by_one():
    figures, ratios = play_in_ways("rule_based", "bazaar/open", episodes=5, drawn=50)
    of = "episodes a second, rule_based on bazaar/open, "
    assert [f["name"] for f in figures] == [of + way for way in (ALONE, SEEDED, DRAWN)]
    assert [f["episodes"] for f in figures] == [5, 5, 50]
    assert [(r["of"], r["to"]) for r in ratios] == [(of + w, of + ALONE) for w in (SEEDED, DRAWN)]
    alone, _, drawn = (f["samples"] for f in figures)
    assert ratios[1]["samples"] == [
        pytest.approx(a / b, rel=1e-3) for a, b in zip(drawn, alone, strict=True)
    ]
    recorded = load("bench.json").data
    assert {f["name"] for f in figures} <= {row.name for row in recorded.figures}
