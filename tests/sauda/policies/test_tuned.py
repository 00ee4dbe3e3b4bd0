"""Tuned scripts: what a few numbers make of a position, and which of them plays a task."""

from dataclasses import fields

import numpy as np
import pytest

from env import Accept, Offer, WalkAway, begin, get_task, rollout, zopa_width
from sauda.games import policies_of
from sauda.policies.bazaar import leave
from sauda.policies.tuned import FAMILIES, Fixed, Matching, Timed, at, load_best
from tests.support.bazaar_games import seen

RNG = np.random.default_rng(0)
STAYS = {"leaves_from": 1.0, "leaves_above": 2.0}
OPEN = "bazaar/open"


def test_each_family_bids_by_its_numbers_and_never_below_its_own_bid():
    timed = Timed(**STAYS, exponent=1.0, opening=0.3, final=1.0)
    assert timed(seen(), RNG) == Offer(400)  # one of seven steps from 300 to 1,000
    assert Matching(**STAYS, opening=0.4, rise=2.0)(seen(), RNG) == Offer(600)  # the ask fell 100
    assert Fixed(**STAYS, share=0.7)(seen(), RNG) == Offer(700)
    assert Fixed(**STAYS, share=0.2)(seen(), RNG) == Offer(400)


def test_it_takes_an_ask_that_is_no_higher_than_its_own_next_bid():
    assert Fixed(**STAYS, share=0.95)(seen(), RNG) == Accept()


def test_it_leaves_an_ask_too_far_above_its_limit_once_it_may():
    high = seen(asks=(1500.0, 1400.0))
    assert Fixed(leaves_from=0.0, leaves_above=1.3, share=0.7)(high, RNG) == WalkAway()
    assert Fixed(leaves_from=0.5, leaves_above=1.3, share=0.7)(high, RNG) == Offer(700)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_point_of_the_search_is_a_script_within_its_bounds(family):
    kind = FAMILIES[family]
    size = len(fields(kind))
    low, high = at(kind, [-1.0] * size), at(kind, [2.0] * size)
    for known in fields(kind):
        ends = known.metadata["low"], known.metadata["high"]
        assert (getattr(low, known.name), getattr(high, known.name)) == pytest.approx(ends)


def test_tuned_plays_what_the_search_found_best_on_training_games():
    task = get_task(OPEN)
    player = policies_of(task)["tuned"]
    assert rollout(task, player, 7).turns == rollout(task, load_best(OPEN), 7).turns
    with pytest.raises(ValueError, match="nothing was tuned for classic/single_deal"):
        load_best("classic/single_deal")
    assert "tuned" not in policies_of(get_task("classic/single_deal"))
    assert "tuned" in policies_of(get_task("bazaar/mute"))


def test_who_leaves_at_once_scores_where_nothing_could_be_shared_and_nowhere_else():
    task = get_task(OPEN)
    for seed in range(60):
        (deal,) = begin(task, seed).state.private["nature"]
        shared = zopa_width(deal.buyer["reservation"], deal.seller["reservation"]) > 0
        assert task.grade(rollout(task, leave, seed).final) == (0.0 if shared else 1.0)
