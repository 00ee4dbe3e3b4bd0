"""How the sellers of the open market bargain, by the moves they make against fixed partners.

The seller opens at 1000 and must get 600; a bid of 400 is where it starts to count movement.
"""

from dataclasses import replace
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np
import pytest

from env import (
    EndReason,
    Episode,
    Instance,
    Item,
    Observation,
    Offer,
    Policy,
    Task,
    get_task,
    rollout,
)
from env.bazaar.market import (
    SELLER_TYPES,
    SellerType,
    Stance,
    claim_at,
    draw_chance,
    hazard_at,
)
from sauda.policies.bazaar import boulware, linear, random, tit_for_tat

OPEN, RUSHED = get_task("bazaar/open"), get_task("bazaar/rushed")
CALM = ((1.0, 1.0, 0.0, 1.0, 0.0, *(0.0,) * 7),) * 10  # it neither walks nor claims anything

every_type = pytest.mark.parametrize("name", SELLER_TYPES)


def middle(name: str) -> SellerType:
    """The seller in the middle of every range of its type."""
    return SellerType(name, *(mean(ends) for ends in SELLER_TYPES[name].values()))


def stance(name: str = "fair", rival: bool = False, **traits: Any) -> Stance:
    return Stance(replace(middle(name), **traits), 600, 1000, 10, rival)


def met(seller: Stance, buyer: Policy, chance: Any = CALM) -> Episode:
    """The game of a seller with a buyer who has money enough."""
    item = Item("brass oil lamp", "Decor", "new", 1000)
    own = {"reservation": 2000, "discount": 1.0, "deadline": None, "purse": 2000}
    private = {"reservation": seller.reservation, "stance": seller, "chance": chance}
    instance = Instance(item, own, private, rounds=seller.rounds)
    task: Task = replace(OPEN, env=replace(OPEN.env, draw=lambda rng: (instance,)))
    return rollout(task, buyer, 0)


def bidding(start: float, step: float = 0) -> Policy:
    """A buyer who bids `start`, then `step` more each round."""
    return lambda obs, rng: Offer(start + step * obs.round)


def asks(seller: Stance, buyer: Policy) -> tuple[float, ...]:
    return met(seller, buyer).final.table.asks


# Asks


@pytest.mark.parametrize("buyer", [linear, boulware, tit_for_tat, random])
def test_asks_never_rise_and_stay_above_the_floor_at_the_resting_price(buyer: Policy):
    for market in (OPEN, RUSHED):
        for seed in range(100):
            game = rollout(market, buyer, seed)
            seller_stance = game.final.private["seller"]["stance"]
            prices = game.final.table.asks
            assert all(later <= earlier for earlier, later in pairwise(prices))
            assert min(prices) >= seller_stance.resting > seller_stance.reservation


@every_type
def test_a_seller_comes_down_further_for_a_buyer_who_moves(name: str):
    moved, repeated = asks(stance(name), bidding(400, 15)), asks(stance(name), bidding(400))
    assert len(moved) == len(repeated) == 11
    assert all(ask <= other for ask, other in zip(moved, repeated, strict=True))
    assert moved[-1] < repeated[-1] - 20


# What it takes


@every_type
def test_a_bid_at_the_threshold_is_taken_and_a_rupee_less_is_not(name: str):
    seller_stance = stance(name)
    for t in range(1, 11):

        def late(obs: Observation, rng: np.random.Generator, bid: int, t: int = t) -> Offer:
            return Offer(bid if obs.round == t - 1 else 400)

        def sold(bid: int, t: int = t) -> bool:
            past = met(seller_stance, lambda obs, rng: late(obs, rng, bid, t)).final.table.past
            return past[0].price == bid

        least = next(bid for bid in range(601, 1001) if sold(bid, t))
        assert least > 601
        assert not sold(least - 1)


# Walking


@every_type
def test_nobody_walks_from_a_buyer_who_came_a_stride_nearer(name: str):
    seller_stance = stance(name)
    assert hazard_at(seller_stance, 450, 400, 900) == 0
    assert hazard_at(seller_stance, 400, 400, 900) > hazard_at(seller_stance, 425, 400, 900) > 0
    sure = ((0.0, *CALM[0][1:]),) * 10  # it walks wherever there is any hazard
    assert met(seller_stance, bidding(450, 50), sure).end is not EndReason.WALKAWAY
    assert met(seller_stance, bidding(400), sure).final.table.round == 1


# Claims and manner


def claims(seller_stance: Stance, seeds: int) -> list[tuple[str, bool]]:
    """Every claim on the tongue of this seller over so many games: (what, whether true)."""
    drawn = []
    for seed in range(seeds):
        own = {
            "stance": seller_stance,
            "chance": draw_chance(np.random.default_rng(seed), seller_stance.rounds),
        }
        drawn += [claim_at(own, t) for t in range(1, seller_stance.rounds + 1)]
    return [(claim, true) for claim, true in drawn if claim]


@every_type
@pytest.mark.parametrize("rival", [False, True])
def test_a_seller_that_never_bluffs_says_only_what_is_true(name: str, rival: bool):
    made_claims = claims(stance(name, rival, bluff_rate=0.0), 100)
    assert all(true for _, true in made_claims)
    assert ("rival" in {claim for claim, _ in made_claims}) == rival
