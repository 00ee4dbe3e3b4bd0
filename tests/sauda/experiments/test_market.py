"""The open market: its grades by hand, its money, and how much of a cause a cue explains."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from env import (
    Accept,
    IllegalAction,
    Instance,
    Item,
    Offer,
    WalkAway,
    get_task,
)
from sauda.experiments.market import partial_r2

OPEN = get_task("bazaar/open")


# Grades, by hand: list price 1000, the seller must get 500, a round keeps nine tenths


def ended(*moves: Any, limit: int = 900, deadline: int | None = None, purse: int = 1500) -> Any:
    """The state after these moves, the seller's first; a number is an ask or a bid."""
    own = {"reservation": limit, "discount": 0.9, "deadline": deadline, "purse": purse}
    item = Item("brass oil lamp", "Decor", "new", 1000)
    instance = Instance(item, own, {"reservation": 500}, rounds=8)
    env = replace(OPEN.env, draw=lambda rng: (instance,), manner=None)
    state = env.reset(np.random.default_rng(0))
    for move in moves:
        state = env.step(state, Offer(move) if isinstance(move, int) else move)
    return state


def grade(*moves: Any, **setting: Any) -> float:
    return OPEN.grade(ended(*moves, **setting))


def test_a_deal_is_graded_by_its_discounted_share_of_the_zopa():
    assert grade(700, Accept()) == pytest.approx(200 / 400)
    assert grade(1000, 600, 800, Accept()) == pytest.approx(0.9 * 100 / 400)
    assert grade(1000, 600, 800, 700, Accept()) == pytest.approx(0.9 * 200 / 400)
    payoffs = OPEN.env.payoffs(ended(1000, 600, 800, Accept()))
    assert payoffs == {"buyer": pytest.approx(90), "seller": 300}


def test_no_deal_is_worth_nothing_where_one_could_be_made():
    assert grade(1000, WalkAway()) == 0
    assert grade(1000, 600, 900, WalkAway()) == 0


def test_a_deal_at_a_loss_is_worse_than_leaving():
    assert grade(1000, Accept()) == pytest.approx(-100 / 1000)
    assert grade(700, Accept(), limit=450) == pytest.approx(-250 / 1000)
    assert OPEN.env.payoffs(ended(700, Accept(), limit=450))["buyer"] == -250
    assert grade(9000, Accept(), purse=9000) == -1


def test_past_the_deadline_nothing_is_worth_anything():
    assert grade(1000, 600, 700, Accept(), deadline=2) == pytest.approx(0.9 * 200 / 400)
    assert grade(1000, 600, 700, Accept(), deadline=1) == 0
    assert grade(1000, 300, 900, WalkAway(), limit=450, deadline=1) == 0


# Money


def test_a_buyer_may_pay_more_than_a_thing_is_worth_to_it_but_not_more_than_its_purse():
    assert ended(1200, 950).table.bids == (950,)
    with pytest.raises(IllegalAction, match="the budget is ₹940, and ₹950 is more"):
        ended(1200, 950, purse=940)
    with pytest.raises(IllegalAction, match="the budget is ₹940, and ₹1,000 is more"):
        ended(1000, Accept(), purse=940)


# What words and manner give away


def test_partial_r2_is_the_share_of_what_is_left_open():
    """Cause = public + hidden, cue = hidden + noise of its size: the cue explains half of it."""
    rng = np.random.default_rng(0)
    public, hidden, noise = rng.standard_normal((3, 20_000, 1))
    known = np.c_[np.ones(len(public)), public]
    shares = partial_r2(np.c_[hidden + noise, public], known, public + hidden)
    assert shares[0, 0] == pytest.approx(0.5, abs=0.02)
    assert shares[1, 0] == 0  # what is public already tells nothing more
