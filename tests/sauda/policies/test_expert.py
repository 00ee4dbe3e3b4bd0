from dataclasses import replace

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
    get_task,
    rollout,
)
from sauda.policies.bazaar import random, wait
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


def mean_grade(task_name: str, policy, seeds: range) -> float:
    played = get_task(task_name)
    return float(np.mean([played.grade(rollout(played, policy, s).final) for s in seeds]))


def scaled(obs: Observation, factor: int) -> Observation:
    table = obs.table
    table = table._replace(
        item=replace(table.item, list_price=table.item.list_price * factor),
        asks=tuple(round(ask * factor, 2) for ask in table.asks),
        bids=tuple(round(price * factor, 2) for price in table.bids),
    )
    money = {key: obs.own[key] * factor for key in ("reservation", "purse") if key in obs.own}
    return Observation("buyer", table, {**obs.own, **money})


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


def test_the_expert_bids_the_next_ask_at_its_own_deadline():
    asks = (60, 54.6, 49.2, 43.8, 38.4)
    assert expert(seen(asks, deadline=5), CHANCE) == Offer(33)
    assert expert(seen(asks, deadline=6), CHANCE) == Offer(30.87)


def test_the_expert_takes_a_bluffed_ask_on_its_last_move():
    obs = seen((75.9, 66.16), rounds=2, seller_type="deceptive")
    assert expert(obs, CHANCE) == Accept()


def test_the_expert_never_accepts_more_than_its_reservation_price():
    assert expert(seen((60, 54, 48, 48), rounds=4, budget=40), CHANCE) == Offer(40)


def test_the_expert_closes_by_its_own_deadline():
    for seed in range(100):
        episode = rollout(get_task("classic/asymmetric_pressure"), expert, seed)
        assert all(d.rounds <= 5 and d.price is not None for d in episode.final.table.past)


def test_the_expert_outbids_its_rivals():
    arena = get_task("classic/marketplace_arena")
    assert all(rollout(arena, expert, s).final.table.past[0].buyer == "buyer" for s in range(50))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("played", BUYER_TASKS, ids=lambda t: t.name)
def test_the_expert_moves_legally_wherever_another_buyer_left_off(played):
    def taken_over(obs: Observation, rng: np.random.Generator):
        return (random if obs.round < played.env.rounds // 2 else expert)(obs, rng)

    assert all(rollout(played, taken_over, s).end is not EndReason.FORFEIT for s in range(100))


@pytest.mark.parametrize("played", BUYER_TASKS, ids=lambda t: t.name)
def test_the_experts_bids_scale_with_the_prices_on_the_table(played):
    for seed in range(20):
        for turn in rollout(played, expert, seed).trajectory("buyer"):
            dear = scaled(turn.observation, 7)
            bigger = expert(dear, CHANCE)
            if played.env.decimals:  # rounded up to whole rupees, a bid may meet the ask
                assert type(bigger) is type(turn.action)
            if isinstance(turn.action, WalkAway):
                assert bigger == turn.action
                continue
            before, after = (
                obs.ask if isinstance(action, Accept) else action.price
                for obs, action in ((turn.observation, turn.action), (dear, bigger))
            )
            assert after == pytest.approx(7 * before, abs=8 * 10**-played.env.decimals)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task_name", "margin"),
    [
        ("classic/single_deal", 0.005),
        ("classic/asymmetric_pressure", 0.4),
        ("classic/career_10", 0.05),
        ("classic/amazon_realistic", 0.03),
    ],
)
def test_the_expert_beats_waiting(task_name: str, margin: float):
    seeds = range(50 if task_name.endswith("career_10") else 200)
    expert_grade = mean_grade(task_name, expert, seeds)
    assert expert_grade > mean_grade(task_name, wait, seeds) + margin


def test_the_expert_is_a_function_of_what_it_sees():
    obs = seen((60, 54, 48))
    assert expert(obs, np.random.default_rng(1)) == expert(obs, np.random.default_rng(2))
