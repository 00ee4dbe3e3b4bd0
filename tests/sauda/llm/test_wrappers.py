"""Wrappers: the published steering gives its published figures; the honest one keeps its word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import Accept, IllegalAction, Offer, WalkAway, get_task, rollout, shares
from sauda.llm.wrappers import honest, steer
from tests.support.bazaar_games import seen


def garbage(obs, rng):
    raise IllegalAction("no move")


def leave(obs, rng):
    return WalkAway()


def share(proposer, name: str, seeds: int = 60) -> tuple[float, float]:
    """Mean share of the ZOPA and mean rounds of `proposer` under the published steering."""

    def policy(obs, rng):
        try:
            proposal = proposer(obs, rng)
        except IllegalAction as error:
            proposal = error
        return steer(obs, proposal).action

    played = [rollout(get_task(name), policy, seed) for seed in range(seeds)]
    won = [shares(e.final, "buyer")[0] for e in played]
    return round(float(np.mean(won)), 4), float(np.mean([e.final.table.round for e in played]))


@pytest.mark.parametrize(
    ("proposer", "name", "published"),
    [  # spec bazaar.md 7b: what the steering alone achieves, with no model
        (garbage, "classic/single_deal", (0.8249, 3.0)),
        (garbage, "classic/asymmetric_pressure", (0.8211, 4.0)),
        (leave, "classic/single_deal", (0.7977, 3.0)),
        (leave, "classic/asymmetric_pressure", (0.7820, 3.0)),
    ],
)
def test_the_published_steering_scores_what_it_scored_to_four_decimals(proposer, name, published):
    assert share(proposer, name) == published


def test_every_change_is_logged_and_no_change_is_no_log():
    obs = seen()
    inside = steer(obs, Offer(600, "₹600"))
    assert (inside.action, inside.changes) == (Offer(600, "₹600"), ())
    raised = steer(obs, Offer(410, "₹410"))
    assert raised.action.price > 410
    assert raised.action.message == ""  # the words went with their price
    assert raised.changes == (f"price 410 → {raised.action.price:g}",)
    filled = steer(obs, IllegalAction("?"))
    assert filled.changes[0] == "no legal move: bids 0.3 of the budget"


prices = st.lists(st.integers(1, 2000), min_size=1, max_size=4)


@given(prices, prices, st.integers(1, 2000), st.integers(-5, 5000), st.booleans())
def test_an_honest_offer_never_retreats_and_never_passes_budget_or_ask(
    asks, bids, limit, price, accepts
):
    bids = sorted(min(bid, limit) for bid in bids)
    obs = seen(asks=tuple(asks), bids=tuple(bids), reservation=limit)
    action = honest(obs, Accept() if accepts else Offer(price)).action
    paid = asks[-1] if isinstance(action, Accept) else action.price
    assert paid <= limit
    if isinstance(action, Offer):
        assert action.price >= bids[-1]
        assert action.price <= max(asks[-1], bids[-1])


@given(prices, st.integers(1, 2000), st.integers(1, 5000))
def test_an_honest_ask_never_rises_and_never_goes_below_the_limit(asks, limit, price):
    asks = sorted((max(ask, limit) for ask in asks), reverse=True)
    obs = seen(asks=tuple(asks), bids=(300,), reservation=limit, agent="seller")
    action = honest(obs, Offer(price)).action
    got = 300 if isinstance(action, Accept) else action.price
    assert got >= limit
    assert isinstance(action, Accept) or action.price <= asks[-1]


def test_the_honest_wrapper_leaves_walks_good_moves_and_forfeits_alone():
    obs = seen()
    assert honest(obs, Offer(500, "₹500")).changes == ()
    assert honest(obs, WalkAway("bye")).action == WalkAway("bye")
    with pytest.raises(IllegalAction, match="gibberish"):
        honest(obs, IllegalAction("gibberish"))


def test_the_ask_that_meets_an_honest_bid_is_taken_and_one_beyond_the_limit_is_not():
    assert honest(seen(asks=(1000, 500), bids=(400,)), Offer(600)).action == Accept()
    over = honest(seen(reservation=800.0), Accept())
    assert over.action == Offer(800)
    assert over.changes == ("does not take a price beyond its limit",)
