from itertools import pairwise

import pytest

from env import conceded, surplus_share, zopa_width

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


def test_the_zopa_spans_from_the_seller_s_to_the_buyer_s_reservation_price():
    assert zopa_width(buyer_reservation=100, seller_reservation=30) == 70


@pytest.mark.parametrize(("buyer", "seller"), [(50, 50), (30, 100)])
def test_there_is_no_zopa_where_the_reservation_prices_meet_or_cross(buyer: float, seller: float):
    assert zopa_width(buyer, seller) == 0


def test_a_surplus_share_is_the_payoff_over_the_width():
    assert surplus_share(49, 70) == pytest.approx(0.7)
    assert surplus_share(0, 70) == 0


def test_a_deal_at_a_loss_has_a_share_below_0():
    assert surplus_share(-7, 70) == pytest.approx(-0.1)


@pytest.mark.parametrize("width", [0, -5])
def test_nothing_can_be_shared_without_a_zopa(width: float):
    with pytest.raises(ValueError, match="no ZOPA"):
        surplus_share(10, width)
