import numpy as np
import pytest

from env import TASKS, Accept, EndReason, Item, Observation, Offer, Table, WalkAway, rollout
from sauda.policies.bazaar import expert

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


@pytest.mark.parametrize(
    ("obs", "action"),
    [
        (seen((100, 90, 80, 78)), Offer(76.44)),  # the fall shrinks: the discounted floor
        (seen((100, 90, 80, 70)), Offer(33)),  # the ask falls in equal steps: it waits
        (seen((60, 54, 48, 48, 48), (20, 20, 20, 47.04)), Accept()),  # the discount was refused
        (seen((60, 54, 48, 48), rounds=4), Accept()),  # its last move: no try for a discount
        (seen((69, 64, 40, 40), seller_type="deceptive"), Accept()),  # who gives no discount
        (seen((60, 54, 48, 48), rounds=4, budget=40), Offer(40)),  # never more than its limit
    ],
)
def test_the_expert_waits_for_the_floor_and_tries_for_a_discount(obs, action):
    assert expert(obs, CHANCE) == action


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
