"""What holds whatever the task, the policies and the seed; the same cases at each run."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from env import (
    BAZAAR_TASKS,
    Accept,
    EndReason,
    Episode,
    Instance,
    Offer,
    Policy,
    Task,
    Turn,
    advance,
    begin,
    episode,
    get_task,
    move,
    rollout,
)
from sauda.games import policies_of
from sauda.policies import SELLERS
from sauda.policies.bazaar import boulware, conceder, linear, random, tit_for_tat, wait
from sauda.policies.expert import expert

BUYER_TASKS = [t for t in BAZAAR_TASKS.values() if t.learner == "buyer"]
BRIEF = get_task("bazaar/seller_brief")
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


def play(played: Task, seats: Mapping[str, Policy], seed: int) -> Episode:
    return episode(played, advance(played, {**played.opponents, **seats}, begin(played, seed)))


def prices(game: Episode, agent: str) -> list[list[float]]:
    """The prices an agent named, deal by deal."""
    deals: dict[int, list[float]] = {}
    for turn in game.trajectory(agent):
        if isinstance(turn.action, Offer):
            deals.setdefault(len(turn.observation.table.past), []).append(turn.action.price)
    return list(deals.values())


# Replay


@given(games(), st.floats(0, 1))
def test_playing_on_from_any_state_gives_the_same_rest_of_the_game(drawn, share: float):
    played, _, policy, seed = drawn
    whole = rollout(played, policy, seed)
    taken_up = begin(played, seed)
    for turn in whole.turns[: round(share * len(whole.turns))]:
        taken_up = move(played, taken_up, turn.action)
    seats = {**played.opponents, played.learner: policy}
    assert episode(played, advance(played, seats, taken_up)) == whole


# Reason


@given(games(buyer_tasks))
def test_a_buyer_never_pays_more_than_its_own_reservation_price(drawn):
    played, name, policy, seed = drawn
    assume(name not in PUBLISHED or not in_the_market(played))
    game = rollout(played, policy, seed)
    assert game.end is not EndReason.FORFEIT
    for deal, instance in zip(game.final.table.past, game.final.private["nature"], strict=True):
        assert deal.price is None or deal.price <= limit_of(instance, deal.buyer)
    assert game.payoffs["buyer"] >= 0


def in_the_market(played: Task) -> bool:
    return played in BUYER_TASKS and played.name.startswith("bazaar/")


def limit_of(instance: Instance, buyer: str) -> float:
    """The reservation price of the one who bought; rivals may have their own."""
    if buyer == "buyer" or not instance.rivals:
        return instance.buyer["reservation"]
    return instance.rivals[int(buyer.removeprefix("rival_")) - 1]["reservation"]


@given(st.sampled_from(list(SELLERS)), st.sampled_from(list(ANY_PRICE)), seeds)
def test_a_seller_never_sells_below_its_own_reservation_price(seller: str, buyer: str, seed: int):
    game = play(BRIEF, {"seller": SELLERS[seller], "buyer": ANY_PRICE[buyer]}, seed)
    assert game.payoffs["seller"] >= 0


# Concessions


@given(buyer_tasks, st.sampled_from([*OURS.values(), expert]), seeds)
def test_a_conceding_buyer_never_lowers_its_bid(played: Task, buyer: Policy, seed: int):
    for bids in prices(rollout(played, buyer, seed), "buyer"):
        assert all(earlier <= later for earlier, later in pairwise(bids))


# Scale


def scaled(played: Task, factor: int) -> Task:
    """The task with every price of its instances times `factor`."""

    def draw(rng: np.random.Generator) -> tuple[Instance, ...]:
        return tuple(bigger(instance) for instance in played.env.draw(rng))

    def bigger(instance: Instance) -> Instance:
        return replace(
            instance,
            item=replace(instance.item, list_price=instance.item.list_price * factor),
            buyer=dearer(instance.buyer),
            seller=dearer(instance.seller),
            rivals=tuple(dearer(rival) for rival in instance.rivals),
        )

    def dearer(own: Mapping[str, Any]) -> dict[str, Any]:
        money = {key: own[key] * factor for key in ("reservation", "purse") if key in own}
        money |= {key: stance_times(own[key]) for key in ("terms", "stance") if key in own}
        return {**own, **money}

    def stance_times(stance: Any) -> Any:
        prices = {"cost", "anchor", "reserve", "reservation", "opening"} & set(dir(stance))
        return replace(stance, **{name: getattr(stance, name) * factor for name in prices})

    return replace(played, env=replace(played.env, draw=draw))


@given(
    buyer_tasks,
    st.sampled_from(list(STEADY)),
    st.integers(0, 10_000),
    st.sampled_from([10, 100]),
)
def test_our_buyers_bid_ten_times_as_much_where_all_is_ten_times_as_dear(
    played: Task, buyer: str, seed: int, factor: int
):
    base = 1 if played.env.decimals else 100  # whole rupees round too coarsely on cheap goods
    small = rollout(scaled(played, base), STEADY[buyer], seed)
    large = rollout(scaled(played, base * factor), STEADY[buyer], seed)
    must_agree(first_deal(small), first_deal(large), factor, step=10**-played.env.decimals)


def first_deal(game: Episode) -> list[Turn]:
    """The learner's turns; in later deals a hair's rounding may be a soft deal more or less."""
    learner = get_task(game.task).learner
    return [turn for turn in game.trajectory(learner) if not turn.observation.table.past]


def must_agree(small: list[Turn], large: list[Turn], factor: int, step: float = 0.01) -> None:
    """The same prices up to three steps of money; a tie so near may end one of the two earlier."""
    for before, after in zip(small, large, strict=False):
        price, dear = price_named(before), price_named(after)
        assert (price is None) == (dear is None)
        assert price is None or abs(dear - factor * price) <= 3 * step * factor


def price_named(turn: Turn) -> float | None:
    """The price of an offer, or the one accepted; None of one who leaves."""
    if isinstance(turn.action, Accept):
        return turn.observation.ask if turn.agent == "buyer" else turn.observation.bid
    return turn.action.price if isinstance(turn.action, Offer) else None
