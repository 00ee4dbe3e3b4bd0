"""The benchmark by hand: what is timed, and how often."""

from benchmarks.speed import GAMES, play_bazaar, repeat


def test_work_is_timed_after_a_first_repetition_that_warms_up():
    numbers = []

    def work(number: int) -> int:
        numbers.append(number)
        return 10

    ticks = iter(range(0, 100, 5))
    assert repeat(work, repetitions=2, clock=lambda: next(ticks)) == [2.0, 2.0]
    assert numbers == [1, 0, 1]


def test_every_policy_is_timed_on_its_task():
    for policy, task, _ in GAMES:
        row = play_bazaar(policy, task, 1)
        assert (row["task"], row["unit"]) == (task, "episodes/s")
        assert min(row["samples"]) > 0
