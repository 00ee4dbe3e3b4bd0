"""The benchmark by hand: its figures have the shape and the names of the recorded ones."""

from benchmarks.speed import interleave


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
