"""What holds whatever the task, the policies and the seed; the same cases at each run."""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from env import (
    BAZAAR_TASKS,
    EndReason,
    Instance,
    Offer,
    Policy,
    Task,
    advance,
    begin,
    episode,
    get_task,
    move,
    rollout,
)
from sauda.games import policies_of
from sauda.policies import SELLERS
from sauda.policies.bazaar import boulware, conceder, expert, linear, random, tit_for_tat, wait

BUYER_TASKS = [t for t in BAZAAR_TASKS.values() if t.learner == "buyer"]
BRIEF = get_task("bazaar/sell")
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
    name = draw(st.sampled_from(list(policies_of(played))))
    return played, name, policies_of(played)[name], draw(seeds)


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
    seats = {**BRIEF.opponents, "seller": SELLERS[seller], "buyer": ANY_PRICE[buyer]}
    assert episode(BRIEF, advance(BRIEF, seats, begin(BRIEF, seed))).payoffs["seller"] >= 0


@given(buyer_tasks, st.sampled_from([*OURS.values(), expert]), seeds)
def test_a_conceding_buyer_never_lowers_its_bid(played: Task, buyer: Policy, seed: int):
    deals: dict[int, list[float]] = {}
    for turn in rollout(played, buyer, seed).trajectory("buyer"):
        if isinstance(turn.action, Offer):
            deals.setdefault(len(turn.observation.table.past), []).append(turn.action.price)
    assert all(bids == sorted(bids) for bids in deals.values())
