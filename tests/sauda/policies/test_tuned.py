"""The rule of a few numbers, and the buyer that does not play: what each does in a position."""

import numpy as np
import pytest

from env import Offer, WalkAway, begin, get_task, rollout, zopa_width
from sauda.policies.bazaar import leave
from sauda.policies.tuned import CONSTANT, rule
from tests.support.bazaar_games import seen

RNG = np.random.default_rng(0)


def test_the_price_is_the_sum_of_each_feature_times_its_number_in_limits_of_the_buyer():
    stays = {CONSTANT: -1.0}
    assert rule({CONSTANT: 0.7}, stays)(seen(), RNG) == Offer(700)
    # The ask is 0.9 and the own bid 0.4 of the limit: 0.5 x 0.9 + 0.25 x 0.4 + 0.1.
    price = {CONSTANT: 0.1, "ask": 0.5, "last bid": 0.25}
    assert rule(price, stays)(seen(), RNG) == Offer(650)


def test_it_leaves_where_the_sum_of_the_second_numbers_is_above_0():
    walk = {CONSTANT: -1.2, "first ask": 1.0}
    assert rule({CONSTANT: 0.7}, walk)(seen(asks=(1300.0, 900.0)), RNG) == WalkAway()
    assert rule({CONSTANT: 0.7}, walk)(seen(asks=(1100.0, 900.0)), RNG) == Offer(700)


def test_a_number_for_what_the_prompt_does_not_show_is_refused():
    with pytest.raises(ValueError, match="floor"):
        rule({"floor": 1.0}, {})


def test_who_leaves_at_once_scores_where_nothing_could_be_shared_and_nowhere_else():
    task = get_task("bazaar/open")
    for seed in range(60):
        (deal,) = begin(task, seed).state.private["nature"]
        shared = zopa_width(deal.buyer["reservation"], deal.seller["reservation"]) > 0
        assert task.grade(rollout(task, leave, seed).final) == (0.0 if shared else 1.0)
