from itertools import pairwise

import pytest

from env import conceded

EXPONENTS = [0.25, 1.0, 4.0]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_nothing_is_conceded_at_first_and_everything_at_last(exponent: float):
    assert conceded(0, 9, exponent) == 0
    assert conceded(8, 9, exponent) == 1


def test_the_linear_curve_concedes_the_same_at_every_move():
    assert [conceded(m, 5, 1.0) for m in range(5)] == [0, 0.25, 0.5, 0.75, 1]


def test_half_way_the_boulware_curve_conceded_little_and_the_conceder_much():
    assert conceded(4, 9, 0.25) == pytest.approx(0.5**4)
    assert conceded(4, 9, 4.0) == pytest.approx(0.5**0.25)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_concession_is_never_taken_back(exponent: float):
    curve = [conceded(m, 12, exponent) for m in range(12)]
    assert all(earlier < later for earlier, later in pairwise(curve))


@pytest.mark.parametrize("moves", [0, 1])
def test_a_negotiator_with_one_move_concedes_everything_at_once(moves: int):
    assert conceded(0, moves, 1.0) == 1


def test_moves_outside_the_game_concede_nothing_or_everything():
    assert conceded(-3, 5, 0.25) == 0
    assert conceded(99, 5, 4.0) == 1
