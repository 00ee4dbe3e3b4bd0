import pytest

from env.amounts import conceded, surplus_share


def test_the_linear_curve_concedes_the_same_at_every_move():
    assert [conceded(m, 5, 1.0) for m in range(5)] == [0, 0.25, 0.5, 0.75, 1]


def test_half_way_the_boulware_curve_conceded_little_and_the_conceder_much():
    assert conceded(4, 9, 0.25) == pytest.approx(0.5**4)
    assert conceded(4, 9, 4.0) == pytest.approx(0.5**0.25)


def test_moves_outside_the_game_concede_nothing_or_everything():
    assert conceded(-3, 5, 0.25) == 0
    assert conceded(99, 5, 4.0) == 1


@pytest.mark.parametrize("width", [0, -5])
def test_nothing_can_be_shared_without_a_zopa(width: float):
    with pytest.raises(ValueError, match="no ZOPA"):
        surplus_share(10, width)
