"""The published game: its seller's schedule, terms, graders and the figures without error.

A ZOPA of 70 rupees (budget 100, cost 30) stands behind nearly every number here.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from env import (
    CATALOGUE,
    CLASSIC,
    TASKS,
    Accept,
    Deal,
    EndReason,
    Observation,
    Offer,
    WalkAway,
    begin,
    bonus,
    get_task,
    rollout,
    shares,
)
from env.bazaar.market import RESERVATION_SHARE
from sauda.llm.registry import get_policy

SCHEDULE = (60, 54, 48, 42, 36, 31.5, 31.5, 31.5, 31.5)
FIXED_PRICE = [name for name in CLASSIC if name != "amazon_realistic"]


def script(*actions: Any) -> Callable[..., Any]:
    """Plays the actions one a round, the last one from then on, in every deal alike."""
    return lambda obs, rng: actions[min(obs.round, len(actions) - 1)]


def bids(*prices: float) -> Callable[..., Any]:
    return script(*map(Offer, prices))


def asks(name: str, buyer: Callable[..., Any], seed: int = 0) -> tuple[float, ...]:
    return rollout(get_task(f"classic/{name}"), buyer, seed).final.table.asks


def seller_of(name: str) -> Any:
    return begin(get_task(f"classic/{name}"), 0).state.private["seller"]["terms"]


def ended(name: str, *deals: tuple[float | None, int]) -> float:
    """The grade of an episode with these deals, each a price and the rounds it took."""
    played = get_task(f"classic/{name}")
    past = tuple(
        Deal(EndReason.WALKAWAY if price is None else EndReason.AGREEMENT, "buyer", price, n, 60)
        for price, n in deals
    )
    state = begin(played, 0).state
    return played.grade(replace(state, table=state.table._replace(past=past)))


# The seller's schedule


@pytest.mark.parametrize(
    "modest", [(28.4,), (30.8,), (28.4, 30.8, 29, 30), (29, 28.5, 30.75)], ids=str
)
def test_the_default_seller_asks_the_same_whatever_modest_bids_come(modest: tuple[float, ...]):
    for seed in range(20):
        played = asks("single_deal", bids(*modest), seed)
        assert played[:6] == SCHEDULE[:6]
        assert played == SCHEDULE[: len(played)]


def test_low_bids_change_no_ask_but_may_end_the_talk():
    games = [asks("single_deal", bids(1, 10, 2, 20), seed) for seed in range(100)]
    assert all(game == SCHEDULE[: len(game)] for game in games)
    assert any(len(game) < 9 for game in games)
    assert any(len(game) == 9 for game in games)


def test_the_default_seller_never_walks_from_nine_tenths_of_its_floor():
    for seed in range(200):  # 0.9 of 31.5 is 28.35
        assert rollout(get_task("classic/single_deal"), bids(28.35), seed).end is EndReason.DEADLINE


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("single_deal", 0.100), ("asymmetric_pressure", 0.090), ("career_10", 0.105),
        ("deceptive_seller", 0.063), ("impatient_seller", 0.150),
        ("collaborative_seller", 0.1625), ("read_the_tells", 0.0525),
        ("marketplace_arena", 0.075), ("amazon_realistic", 0.100),
    ],
)  # fmt: skip
def test_the_effective_concession_rate_is_the_published_one(name: str, rate: float):
    assert min(0.25, seller_of(name).rate) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("soft_deals", "failed_deals", "rate"), [(0, 2, 0.105), (1, 1, 0.08925), (2, 0, 0.0735)]
)
def test_a_buyer_that_paid_the_opening_ask_meets_a_firmer_seller(soft_deals, failed_deals, rate):
    def buyer(obs: Observation, rng: np.random.Generator) -> Any:
        number = len(obs.table.past)
        if number < soft_deals + failed_deals:
            return Accept() if number < soft_deals else WalkAway()
        return Offer(29)

    turns = rollout(get_task("classic/career_10"), buyer, 0).trajectory("buyer")
    third_deal = [t.observation for t in turns if len(t.observation.table.past) == 2]
    assert third_deal[1].table.asks == (60, round(60 * (1 - rate), 2))


def test_a_price_of_0_85_of_the_opening_ask_is_not_yet_soft():
    def buyer(price: float) -> Callable[..., Any]:
        return lambda obs, rng: Offer(29) if obs.table.past else bids(30, price)(obs, rng)

    for price, second_ask in ((51, 53.7), (51.01, 55.59)):  # 60 less 0.105, or 0.0735 of it
        turns = rollout(get_task("classic/career_10"), buyer(price), 0).trajectory("buyer")
        second_deal = [t.observation for t in turns if len(t.observation.table.past) == 1]
        assert second_deal[0].table.past[0].price == price
        assert second_deal[1].ask == second_ask


@pytest.mark.parametrize("name", ["single_deal", "asymmetric_pressure", "career_10"])
def test_the_default_seller_never_raises_its_ask(name: str):
    for seed in range(50):
        for game_asks in all_asks(name, seed):
            assert all(later <= earlier for earlier, later in pairwise(game_asks))


def test_a_deceptive_seller_sometimes_raises_its_ask():
    rises = [any(b > a for a, b in pairwise(asks("deceptive_seller", bids(29), s)))
             for s in range(200)]  # fmt: skip
    assert 150 < sum(rises) < 200  # published: 439 of 500


def all_asks(name: str, seed: int) -> list[tuple[float, ...]]:
    """The asks of every deal of an episode against a buyer that never comes near."""
    turns = rollout(get_task(f"classic/{name}"), bids(29), seed).trajectory("seller")
    return [turn.observation.table.asks for turn in turns]


# The four personalities


@pytest.mark.parametrize(
    ("name", "anchor", "reserve", "rounds", "accept_at", "walk", "late"),
    [
        ("single_deal", 60, 31.5, 8, 0.98, 0.05, 1.0),
        ("deceptive_seller", 69, 31.5, 10, 1.00, 0.05, 0.6),
        ("impatient_seller", 60, 31.5, 6, 0.98, 0.225, 1.3),
        ("collaborative_seller", 54, 30.6, 8, 0.95, 0.006, 1.0),
        ("read_the_tells", 75.9, 31.5, 2, 1.00, 0.08, 0.6),
    ],
)
def test_a_personality_s_terms_are_the_published_ones(
    name, anchor, reserve, rounds, accept_at, walk, late
):
    terms = seller_of(name)
    assert terms.anchor == pytest.approx(anchor)
    assert terms.reserve == pytest.approx(reserve)
    assert (terms.rounds, terms.accept_at, terms.late) == (rounds, accept_at, late)
    assert terms.walk_probability == pytest.approx(walk)


def test_an_impatient_seller_falls_by_its_early_factors():
    # 60 x 0.85 x 0.92, then 60 x 0.70 x 0.84, then the plain schedule: 60 x 0.55
    assert asks("impatient_seller", bids(28.4))[:4] == (60, 46.92, 35.28, 33)


def test_a_collaborative_seller_comes_down_fastest():
    # 54 x (1 - 0.1625) is 45.225; then 0.7 x 36.45 + 0.3 x (33 + 45.23) / 2
    assert asks("collaborative_seller", bids(28.4))[:3] == (54, 45.23, 37.25)


def test_every_fixed_price_task_draws_the_same_prices_at_every_seed():
    for name in FIXED_PRICE:
        for seed in range(5):
            private = begin(get_task(f"classic/{name}"), seed).state.private
            assert private["buyer"]["reservation"] == 100
            assert private["seller"]["reservation"] == 30


# Graders


def test_a_share_is_of_the_70_rupees_between_cost_and_budget():
    assert ended("single_deal", (51, 2)) == pytest.approx(0.7)
    assert ended("single_deal", (30, 8)) == 1
    assert ended("single_deal", (None, 8)) == 0


def test_a_deal_below_the_cost_is_graded_1_and_one_above_the_budget_0():
    assert ended("single_deal", (23, 8)) == 1
    assert ended("single_deal", (107, 1)) == 0


def test_a_deal_after_the_buyer_s_deadline_counts_half():
    assert ended("asymmetric_pressure", (51, 5)) == pytest.approx(0.7)
    assert ended("asymmetric_pressure", (51, 6)) == pytest.approx(0.35)


def test_waiting_past_the_deadline_is_halved_in_play_too():
    played = get_task("classic/asymmetric_pressure")
    takes_fifth = script(*[Offer(29)] * 4, Accept())  # 60 less 4 x 5.4 is 38.4
    takes_sixth = script(*[Offer(29)] * 5, Accept())  # 60 less 5 x 5.4 is 33
    assert played.grade(rollout(played, takes_fifth, 0).final) == pytest.approx(61.6 / 70)
    assert played.grade(rollout(played, takes_sixth, 0).final) == pytest.approx(67 / 70 / 2)


def test_a_career_weighs_each_deal_by_1_less_0_3_of_its_rounds():
    assert ended("career_10", *[(51, 8)] * 10) == pytest.approx(0.7 * 0.7)
    assert ended("career_10", *[(51, 4)] * 5, *[(None, 3)] * 5) == pytest.approx(0.7 * 0.85 / 2)


def test_taking_every_opening_ask_of_a_career_is_graded_0_55():
    career = get_task("classic/career_10")
    # 40 of 70 rupees, times 1 - 0.3 / 8
    assert career.grade(rollout(career, script(Accept()), 0).final) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("price", "grade"),
    [
        (65, 0.5),  # the middle of the ZOPA: no bonus
        (47.5, 0.75 + 0.075),  # halfway from there to the cost: half of 0.15
        (37, 1.0),  # 0.9 + 0.15 x 0.8 is more
        (30, 1.0),
        (72, 0.4),
    ],
)
def test_reading_the_tells_earns_up_to_0_15_below_the_middle_at_most_1(price: float, grade: float):
    assert ended("read_the_tells", *[(price, 1)] * 5) == pytest.approx(grade)


def test_a_mean_is_over_all_deals_of_the_episode_and_not_only_those_played():
    assert ended("read_the_tells", (65, 1)) == pytest.approx(0.5 / 5)
    assert ended("career_10", (51, 8)) == pytest.approx(0.49 / 10)


# The published figures that have no standard error


@pytest.mark.parametrize(
    ("name", "buyer", "share", "grade"),
    [
        ("single_deal", "naive", 0.7000, 0.7000),
        ("asymmetric_pressure", "naive", 0.7000, 0.7000),
        ("career_10", "naive", 0.7000, 0.6475),
        ("impatient_seller", "naive", 0.7429, 0.7429),
        ("collaborative_seller", "naive", 0.7729, 0.7729),
        ("collaborative_seller", "smart", 0.7824, 0.7824),
        ("read_the_tells", "aggressive", 0.0, 0.0),
        ("single_deal", "wait", 0.9786, 0.9786),
        ("asymmetric_pressure", "wait", 0.9786, 0.4893),
        ("career_10", "wait", 0.9786, 0.7217),
        ("impatient_seller", "wait", 0.9786, 0.9786),
    ],
)
def test_a_published_figure_without_error_comes_out_at_every_seed(
    name: str, buyer: str, share: float, grade: float
):
    played = get_task(f"classic/{name}")
    for seed in range(30):
        final = rollout(played, get_policy(played, buyer), seed).final
        assert round(float(np.mean(shares(final, "buyer"))), 4) == share
        assert round(played.grade(final), 4) == grade


def test_waiting_gets_the_floor_of_31_50_after_seven_rounds():
    played = get_task("classic/single_deal")
    for seed in range(100):
        (deal,) = rollout(played, get_policy(played, "wait"), seed).final.table.past
        assert (deal.price, deal.rounds, deal.by) == (31.5, 7, "buyer")


# The listings


def test_a_listing_opens_at_its_list_price_which_is_the_budget_too():
    for seed in range(100):
        state = begin(get_task("classic/amazon_realistic"), seed).state
        item, seller = state.table.item, state.private["seller"]
        assert item in CATALOGUE
        assert state.private["buyer"]["reservation"] == item.list_price == seller["terms"].anchor
        assert seller["terms"].reserve == pytest.approx(1.05 * seller["reservation"])


def test_a_listing_s_cost_is_0_7_of_a_street_price_from_0_35_to_0_90_of_the_list_price():
    states = [begin(get_task("classic/amazon_realistic"), seed).state for seed in range(500)]
    cost = [s.private["seller"]["reservation"] / s.table.item.list_price for s in states]
    assert 0.245 <= min(cost) < 0.26
    assert 0.615 < max(cost) <= 0.63
    assert np.mean(cost) == pytest.approx(0.7 * 0.625, abs=0.02)


def test_listings_are_drawn_from_the_whole_catalogue():
    names = {
        begin(get_task("classic/amazon_realistic"), s).state.table.item.name for s in range(500)
    }
    assert len(names) > 250  # of 407, 500 draws meet about 288
    assert len({item.category for item in CATALOGUE if item.name in names}) == 12


# The seller's brief


def test_a_sale_at_the_asking_price_earns_the_whole_bonus():
    assert bonus(1000, 1000, 780) == 22
    assert bonus(1005, 1000, 780) == 22


def test_every_full_ten_rupees_above_the_reservation_price_earn_one():
    assert [bonus(p, 1000, 780) for p in (789, 790, 799.5, 800, 900)] == [0, 1, 1, 2, 12]


@pytest.mark.parametrize("price", [None, 0, 500, 779, 780])
def test_nothing_is_earned_without_a_sale_above_the_reservation_price(price: float | None):
    assert bonus(price, 1000, 780) == 0


def test_a_reservation_price_at_or_above_the_asking_price_leaves_nothing_to_earn():
    assert bonus(1000, 1000, 1000) == 0
    assert bonus(1200, 1000, 1100) == 0


def test_the_bonus_is_within_reach_and_at_most_a_tenth_for_every_item_of_the_catalogue():
    for item in CATALOGUE:
        ask = item.list_price
        reservation = round(RESERVATION_SHARE * ask)
        most = bonus(10 * ask, ask, reservation)
        assert bonus(ask, ask, reservation) == most
        assert 0 <= most <= (ask - reservation) / 10 < most + 1
        assert bonus(reservation, ask, reservation) == 0


def test_the_brief_draws_a_limit_of_its_own_for_the_buyer():
    limits = []
    for seed in range(300):
        state = begin(TASKS["bazaar/seller_brief"], seed).state
        ask = state.table.item.list_price
        assert state.private["seller"]["reservation"] == round(0.78 * ask)
        limits.append(state.private["buyer"]["reservation"] / ask)
    assert 0.84 < min(limits) < 0.87
    assert 1.13 < max(limits) < 1.16


def test_the_published_schedule_sells_the_brief_s_item_at_no_loss():
    brief = TASKS["bazaar/seller_brief"]
    games = [rollout(brief, get_policy(brief, "schedule"), seed) for seed in range(200)]
    assert min(game.payoffs["seller"] for game in games) == 0  # that of no deal
    assert sum(game.payoffs["seller"] > 0 for game in games) > 100
