"""The oracle's bounds on the open market, against play, and what its artifact holds."""

import pytest

from sauda.experiments.oracle import (
    TASKS,
    grades,
    informed_grades,
    oracle,
)

SEEDS = range(120)


@pytest.mark.nightly
@pytest.mark.parametrize("name", TASKS)
def test_the_informed_value_agrees_with_play_under_the_games_own_draws(name: str):
    # It keeps the hazard so low that a walk is rare: one in a hundred games moves the mean most.
    values = grades(name, None, SEEDS)
    assert informed_grades(name, SEEDS).mean() == pytest.approx(values.mean(), abs=0.015)


# The artifact's data


@pytest.fixture(scope="module")
def data() -> dict:
    return oracle(episodes=40, search=4, refined=10)


@pytest.mark.nightly
def test_nobody_beats_the_informed_or_comes_near_it(data: dict):
    for row in data["rows"]:
        contestants = [*row["policies"], row["search"]["holdout"]]
        assert max(cell["mean"] for cell in contestants) < row["informed"]["mean"]
        assert not any(cell["flagged"] for cell in contestants), row["task"]
