from math import sqrt

import pytest

from env import frontier_distance, nash_product, surplus_share, zopa_width

FRONTIER = [(x, 70 - x) for x in range(71)]  # every way to share 70 rupees


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


def test_the_nash_product_is_largest_at_an_equal_split():
    splits = {x: nash_product({"buyer": x, "seller": 70 - x}) for x in range(71)}
    assert splits[35] == 1225 == max(splits.values())


def test_the_nash_product_is_0_as_soon_as_one_party_gains_nothing():
    assert nash_product({"buyer": 70, "seller": 0}) == 0
    assert nash_product({"buyer": -10, "seller": -20}) == 0


def test_every_price_of_one_item_is_on_the_frontier():
    assert all(frontier_distance((x, 70 - x), FRONTIER) == 0 for x in (0, 21, 70))


def test_no_deal_is_the_width_over_the_root_of_two_from_the_frontier():
    assert frontier_distance((0, 0), FRONTIER) == pytest.approx(70 / sqrt(2))
