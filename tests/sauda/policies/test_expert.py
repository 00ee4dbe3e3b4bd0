import numpy as np
import pytest

from env import (
    TASKS,
    Accept,
    EndReason,
    Item,
    Observation,
    Offer,
    Table,
    WalkAway,
    rollout,
)
from sauda.policies.expert import expert

BUYER_TASKS = [t for t in TASKS.values() if t.learner == "buyer"]
CHANCE = np.random.default_rng(0)


def seen(
    asks: tuple[float, ...],
    bids: tuple[float, ...] = (),
    *,
    rounds: int = 8,
    deadline: int | None = None,
    budget: float = 100,
    seller_type: str = "default",
) -> Observation:
    """What a buyer sees who has bid once for each ask but the last."""
    bids = bids or (20.0,) * (len(asks) - 1)
    item = Item("brass oil lamp", "Decor", "new", 60)
    table = Table(item, rounds, 1, 2, seller_type, round=len(bids), asks=asks, bids=bids)
    return Observation("buyer", table, {"reservation": budget, "deadline": deadline})


def test_the_expert_bids_the_discounted_floor_once_the_fall_shrinks():
    list_price = seen((100, 90, 80, 78), budget=100)
    assert expert(list_price, CHANCE) == Offer(76.44)


def test_the_expert_keeps_waiting_while_the_ask_falls_in_equal_steps():
    list_price = seen((100, 90, 80, 70), budget=100)
    assert expert(list_price, CHANCE) == Offer(33)


def test_the_expert_takes_a_resting_ask_whose_discount_was_refused():
    assert expert(seen((60, 54, 48, 48, 48), (20, 20, 20, 47.04)), CHANCE) == Accept()


def test_the_expert_does_not_try_for_a_discount_on_its_last_move():
    assert expert(seen((60, 54, 48, 48), rounds=4), CHANCE) == Accept()


def test_the_expert_pays_the_whole_ask_of_a_seller_that_gives_no_discount():
    obs = seen((69, 64, 40, 40), seller_type="deceptive")
    assert expert(obs, CHANCE) == Accept()


def test_the_expert_never_accepts_more_than_its_reservation_price():
    assert expert(seen((60, 54, 48, 48), rounds=4, budget=40), CHANCE) == Offer(40)


@pytest.mark.parametrize("played", BUYER_TASKS, ids=lambda t: t.name)
def test_the_experts_bids_are_legal_rise_and_stay_within_ask_and_reservation(played):
    for seed in range(200):
        episode = rollout(played, expert, seed)
        assert episode.end is not EndReason.FORFEIT
        for turn in episode.trajectory("buyer"):
            obs = turn.observation
            if isinstance(turn.action, WalkAway):
                assert obs.budget < 10**-obs.table.decimals  # its purse is empty
                continue
            price = obs.ask if isinstance(turn.action, Accept) else turn.action.price
            assert (obs.bid or 0) <= price <= min(obs.ask, obs.budget)
