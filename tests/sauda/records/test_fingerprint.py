"""A fingerprint changes with what is played, and with nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from env import Accept, IllegalAction, Offer, Task, get_task
from sauda.policies import BUYERS
from sauda.records.fingerprint import of_opponents, of_policy, of_rules

OPEN = get_task("bazaar/open")
SELLER = OPEN.opponents["seller"]


def with_seller(seller: Any) -> Task:
    return replace(OPEN, opponents={"seller": seller})


def test_rules_do_not_depend_on_the_opponents_and_opponents_not_on_luck():
    def stubborn(obs, rng):
        return Offer(obs.table.asks[-1] if obs.table.asks else obs.table.item.list_price)

    assert of_rules(with_seller(stubborn)) == of_rules(OPEN)
    assert of_opponents(with_seller(stubborn)) != of_opponents(OPEN)
    assert of_rules(replace(OPEN, grade=lambda final: OPEN.grade(final) / 2)) != of_rules(OPEN)


@pytest.mark.parametrize("odd", ["retreats", "insults", "is silent"])
def test_a_seller_that_differs_only_against_an_odd_buyer_is_another_one(odd):
    def seller(obs, rng):
        bids = obs.table.bids
        met = {
            "retreats": len(bids) > 1 and bids[-1] < bids[-2],
            "insults": bool(bids) and bids[-1] < 0.1 * obs.table.item.list_price,
            "is silent": len(bids) > 7,
        }
        action = SELLER(obs, rng)
        return Accept("odd") if met[odd] else action

    assert of_opponents(with_seller(seller)) != of_opponents(OPEN)


def test_a_policy_counts_by_its_moves_also_where_it_would_not_come():
    linear = BUYERS["linear"]

    def proud(obs, rng):
        """Linear, but it takes nothing once it has retreated, as linear never does."""
        bids = obs.table.bids
        if len(bids) > 1 and bids[-1] < bids[-2]:
            raise IllegalAction("too proud")
        return linear(obs, rng)

    assert of_policy(OPEN, lambda obs, rng: linear(obs, rng)) == of_policy(OPEN, linear)
    assert of_policy(OPEN, proud) != of_policy(OPEN, linear)
