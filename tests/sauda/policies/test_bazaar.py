"""The scripted contestants by hand numbers."""

import numpy as np
import pytest

from env import Accept, Offer
from sauda.policies.bazaar import tit_for_tat
from tests.support.bazaar_games import seen

CHANCE = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("bids", "ask"),
    [
        ((400, 450), 950),  # the bid rose by 50
        ((400, 400), 1000),  # it did not move
        ((400,), 1000),  # one bid is no concession
    ],
)
def test_a_tit_for_tat_seller_falls_by_what_the_bid_rose(bids, ask):
    asks = (1000,) * len(bids)
    obs = seen(asks, bids, reservation=500, agent="seller")
    assert tit_for_tat(obs, CHANCE) == Offer(ask)


def test_tit_for_tat_accepts_a_price_as_good_as_its_own_next_one_in_both_seats():
    assert tit_for_tat(seen((1000, 650), (400,)), CHANCE) == Accept()
    obs = seen((1000, 700), (400, 800), reservation=500, agent="seller")
    assert tit_for_tat(obs, CHANCE) == Accept()
