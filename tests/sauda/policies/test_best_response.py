"""The best response to a known seller: small sellers by hand, then the solver against the rules."""

from dataclasses import replace

import numpy as np
import pytest

from env import TimeDependent, begin, get_task, rollout
from env.bazaar.market import LOW_BID, SellerType, Stance, ask_at, hazard_at, threshold_at
from env.bazaar.types import Instance, Item
from sauda.policies.best_response import (
    WALK,
    informed,
    informed_policy,
    informed_value,
    known_seller,
    rivals_in,
)

TASKS = ("bazaar/open", "bazaar/rushed")
deaf = SellerType("deaf", 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)  # its ask falls evenly to its floor


def deal(
    kind: SellerType, floor: int = 600, limit: int = 900, discount: float = 0.9, **own
) -> Instance:
    """A thing listed at 1,000 rupees, opened at that, four rounds; nobody's draw makes it walk."""
    stance = Stance(kind, floor, 1000, 4, rival=False)
    return Instance(
        Item("lamp", "Lamps", "new", 1000),
        buyer={"reservation": limit, "discount": discount, "purse": 1500, "deadline": None} | own,
        seller={"reservation": floor, "stance": stance, "chance": ((1.0,) * 5 + (0.0,) * 7,) * 4},
        rounds=4,
    )


def deals(name: str, seeds: range) -> list[Instance]:
    return [begin(get_task(name), seed).state.private["nature"][0] for seed in seeds]


def test_against_a_seller_who_only_waits_the_best_is_to_take_the_ask_at_the_best_time():
    """Asks after rounds 1 to 4: 900, 800, 700, 600; a bid at the next ask is taken at once."""
    asks = ((1, 900), (2, 800), (3, 700), (4, 600))
    gains = [0.9 ** (t - 1) * (900 - ask) / 300 for t, ask in asks]
    assert informed_value(deal(deaf)) == pytest.approx(max(gains)) == pytest.approx(0.9**3)


def test_where_there_is_no_zopa_the_buyer_leaves_at_once():
    crossed = deal(deaf, floor=700, limit=650)
    values, moves = informed(crossed).values, informed(crossed).moves
    assert values[0, -1] == 1
    assert moves[0, -1] == WALK


def test_the_least_bid_taken_meets_the_ask_that_it_brings_down_itself():
    """A seller that only echoes: a bid of 760 is 0.6 of the way, and its ask falls 0.6 of 400."""
    echo = replace(deaf, reciprocity=1.0)
    assert informed_value(deal(echo)) == pytest.approx((900 - 760) / 300)


# The solver against the rules


@pytest.mark.parametrize("name", TASKS)
def test_the_solver_knows_the_sellers_as_the_game_plays_them(name: str):
    for instance in deals(name, range(10)):
        stance = instance.seller["stance"]
        sellers = known_seller(instance)
        for t in range(1, stance.rounds + 1):
            for best in (1.0, 0.5 * stance.opening, 0.9 * stance.opening):
                at = np.array([[best]])
                ask = ask_at(stance, t, best)
                threshold = threshold_at(stance, t, ask)
                assert sellers.ask(t, at)[0, 0] == ask
                assert sellers.threshold(t, at)[0, 0] == pytest.approx(threshold)
                walks = sellers.walks(at, 0.8 * at, np.array([[threshold]]))
                assert walks[0, 0] == pytest.approx(hazard_at(stance, best, 0.8 * best, threshold))


@pytest.mark.nightly
@pytest.mark.parametrize("name", TASKS)
def test_the_informed_value_is_what_its_play_wins_on_average(name: str):
    """Exactly: one game where it never walks, times the chance of that by the game's own hazard."""
    task = get_task(name)
    for seed, instance in enumerate(deals(name, range(60))):
        calm = tuple((1.0, *draws[1:]) for draws in instance.seller["chance"])
        still = replace(instance, seller={**instance.seller, "chance": calm})
        steady = replace(task, env=replace(task.env, draw=lambda rng, still=still: (still,)))
        end = rollout(steady, informed_policy(steady, seed), seed).final
        stance, stays = instance.seller["stance"], 1.0
        bids = end.private["seller"].get("bids", end.table.bids)
        best = LOW_BID * stance.opening
        for t, bid in enumerate(bids, 1):
            threshold = threshold_at(stance, t, ask_at(stance, t, max(bids[:t])))
            stays *= 1 - hazard_at(stance, bid, best, threshold)
            best = max(bids[:t])
        expected = stays * task.grade(end)
        assert informed_value(instance, rivals_in(task)) == pytest.approx(expected, abs=1e-5)


RIVAL = {"reservation": 900, "purse": 1500, "discount": 0.9, "deadline": None}


def test_a_rival_is_outbid_by_a_rupee_where_that_pays():
    """The seller takes 600 at once; the rival opens at 675, three quarters of its limit."""
    early = deal(replace(deaf, exponent=1e12))
    assert informed_value(early) == pytest.approx(1)
    rival = TimeDependent(exponent=1e6, opening=0.75)
    contested = replace(early, rivals=(RIVAL,))
    assert informed_value(contested, (rival,)) == pytest.approx((900 - 676) / 300)
