"""The bazaar: what holds in every game, and the published game.

Where several buyers bid under seal, moves are given round by round in the order buyer, rival_1,
rival_2, seller.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from env import (
    BAZAAR_TASKS,
    Accept,
    EndReason,
    IllegalAction,
    Instance,
    Offer,
    Policy,
    Task,
    WalkAway,
    advance,
    begin,
    bonus,
    episode,
    get_task,
    move,
    rollout,
    shares,
)
from env.bazaar.sealed_bids import BUYERS, MultiBuyerState
from sauda.players import get_policy, scripts_of
from sauda.policies import BUYERS as CONTESTANTS
from sauda.policies import SELLERS
from sauda.policies.bazaar import boulware, conceder, expert, linear, random, tit_for_tat, wait
from tests.support.cases import cases

BUYER_TASKS = [t for t in BAZAAR_TASKS.values() if t.learner == "buyer"]
SALE = get_task("bazaar/sell")
OURS = {"boulware": boulware, "linear": linear, "conceder": conceder, "tit_for_tat": tit_for_tat}
PUBLISHED = {"rule_based", "smart", "aggressive", "naive"}  # in the open market: at a loss too
STEADY = {**OURS, "random": random, "wait": wait}  # where a hair's rounding moves a bid by a hair
ANY_PRICE = {**STEADY, "expert": expert}  # the expert's scale is tested move by move, beside it

seeds = st.integers(0, 2**64)
tasks = st.sampled_from(list(BAZAAR_TASKS.values()))
buyer_tasks = st.sampled_from(BUYER_TASKS)


@st.composite
def games(draw: Any, of: Any = tasks) -> tuple[Task, str, Policy, int]:
    """A task, one of its contestants by name, and a seed."""
    played = draw(of)
    name = draw(st.sampled_from(list(scripts_of(played))))
    return played, name, scripts_of(played)[name], draw(seeds)


@given(games(), st.floats(0, 1))
def test_playing_on_from_any_state_gives_the_same_rest_of_the_game(drawn, share: float):
    played, _, policy, seed = drawn
    whole = rollout(played, policy, seed)
    taken_up = begin(played, seed)
    for turn in whole.turns[: round(share * len(whole.turns))]:
        taken_up = move(played, taken_up, turn.action)
    seats = {**played.opponents, played.learner: policy}
    assert episode(played, advance(played, seats, taken_up)) == whole


@given(games(buyer_tasks))
def test_a_buyer_never_pays_more_than_its_own_reservation_price(drawn):
    played, name, policy, seed = drawn
    assume(name not in PUBLISHED or not played.name.startswith("bazaar/"))
    game = rollout(played, policy, seed)
    assert game.end is not EndReason.FORFEIT
    for deal, instance in zip(game.final.table.past, game.final.private["nature"], strict=True):
        assert deal.price is None or deal.price <= limit_of(instance, deal.buyer)
    assert game.payoffs["buyer"] >= 0


def limit_of(instance: Instance, buyer: str) -> float:
    """The reservation price of the one who bought; rivals may have their own."""
    if buyer == "buyer" or not instance.rivals:
        return instance.buyer["reservation"]
    return instance.rivals[int(buyer.removeprefix("rival_")) - 1]["reservation"]


@given(st.sampled_from(list(SELLERS)), st.sampled_from(list(ANY_PRICE)), seeds)
def test_a_seller_never_sells_below_its_own_reservation_price(seller: str, buyer: str, seed: int):
    seats = {**SALE.opponents, "seller": SELLERS[seller], "buyer": ANY_PRICE[buyer]}
    assert episode(SALE, advance(SALE, seats, begin(SALE, seed))).payoffs["seller"] >= 0


@given(buyer_tasks, st.sampled_from([*OURS.values(), expert]), seeds)
def test_a_conceding_buyer_never_lowers_its_bid(played: Task, buyer: Policy, seed: int):
    deals: dict[int, list[float]] = {}
    for turn in rollout(played, buyer, seed).trajectory("buyer"):
        if isinstance(turn.action, Offer):
            deals.setdefault(len(turn.observation.table.past), []).append(turn.action.price)
    assert all(bids == sorted(bids) for bids in deals.values())


# The published game: figures without error, and several buyers under seal


@pytest.mark.parametrize(("name", "buyer", "share", "grade"), cases("published_game.csv", "figure"))
def test_a_published_figure_without_error_comes_out_at_every_seed(name, buyer, share, grade):
    played = get_task(f"classic/{name}")
    for seed in range(30):
        final = rollout(played, get_policy(played, buyer), seed).final
        assert round(float(np.mean(shares(final, "buyer"))), 4) == float(share)
        assert round(played.grade(final), 4) == float(grade)


def test_every_full_ten_rupees_above_the_reservation_price_earn_one():
    assert [bonus(p, 1000, 780) for p in (789, 790, 799.5, 800, 900)] == [0, 1, 1, 2, 12]


SEALED = get_task("classic/marketplace_arena")
RULES = SEALED.env


def after(*moves: Any, seed: int = 0) -> MultiBuyerState:
    """The state after the seller asks 60 and these moves; a number is an ask or a bid."""
    state = RULES.step(begin(SEALED, seed).state, Offer(60))
    for each in moves:
        state = RULES.step(state, Offer(each) if isinstance(each, int | float) else each)
    return state


def sold(state: MultiBuyerState) -> tuple[str, float | None]:
    (deal,) = state.table.past
    return deal.buyer, deal.price


def test_the_best_bid_wins_and_pays_its_price():
    state = after(50, 40, 30, Accept())
    assert (sold(state), RULES.end(state)) == (("buyer", 50), EndReason.AGREEMENT)
    assert RULES.payoffs(state) == {"seller": 20, "buyer": 50, "rival_1": 0, "rival_2": 0}


def test_the_seller_must_ask_for_more_than_the_best_bid_of_the_round():
    state = after(50, 40, 30)
    with pytest.raises(IllegalAction, match="already bids ₹50"):
        RULES.step(state, Offer(50))
    assert RULES.step(after(50, 40, 30, 54, 20, 40, 30), Offer(45)).table.asks == (60, 54, 45)


def test_a_bid_shows_to_nobody_while_the_round_is_open():
    for watcher in ("rival_1", "rival_2", "seller"):
        views = [RULES.observe(after(*bids), watcher) for bids in ((), (50,), (WalkAway(),))]
        assert views[0] == views[1] == views[2]


def test_a_buyer_sees_how_often_its_rivals_bid_and_no_price():
    state = after(50.11, 40.22, 30.33, 54, 50.44, WalkAway(), 30.55)
    rivals = RULES.observe(state, "buyer").table.rivals
    assert [(r.name, r.active, r.bids) for r in rivals] == [
        ("rival_1", False, 1),
        ("rival_2", True, 2),
    ]
    seen = repr(RULES.observe(state, "buyer"))
    assert not any(price in seen for price in ("40.22", "30.33", "30.55"))


def test_a_buyer_learns_whether_it_was_outbid_once_the_round_closes():
    def outbid(state: MultiBuyerState) -> list[bool]:
        return [RULES.observe(state, buyer).table.outbid for buyer in BUYERS]

    assert outbid(after(20, 50)) == [False, False, False]
    assert outbid(after(20, 50, 50)) == [True, False, False]
    assert outbid(after(20, 50, 50, 54, 60, 50, 50)) == [False, True, True]


@pytest.mark.parametrize("name", CONTESTANTS)
def test_no_loser_of_a_played_market_holds_the_price_at_any_time(name: str):
    for seed in range(20):
        game = rollout(SEALED, CONTESTANTS[name], seed)
        winner, price = sold(game.final)
        for loser in set(BUYERS) - {winner}:
            own = game.final.private[loser]["bids"]
            last = RULES.observe(game.final, loser)
            for seen in [last, *(turn.observation for turn in game.trajectory(loser))]:
                assert all(deal.price is None for deal in seen.table.past)
                if price not in (*own, *game.final.table.asks):
                    assert price is None or repr(price) not in repr(seen)


def test_equal_bids_go_to_the_buyer_the_seller_likes_best():
    winners = set()
    for seed in range(30):
        state = after(40, 40, 40, Accept(), seed=seed)
        assert sold(state)[0] == state.private["seller"]["liking"][0]
        winners.add(sold(state)[0])
    assert winners == set(BUYERS)
