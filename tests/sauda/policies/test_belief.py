"""The belief about a seller: what moves it, what it never sees, and the buyer that plays on it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from env import SELLER_TYPES, Item, Move, Offer, Table, Tells, WalkAway, get_task, rollout
from env.bazaar.market import LINES, SellerType, Stance, ask_at, claim_at, draw_chance, market_tells
from sauda.policies.belief import (
    Sample,
    belief_buyer,
    believe,
    claim_chances,
    claim_in,
    claim_likelihoods,
    manner_log_likelihood,
)
from sauda.policies.best_response import Sellers

LAMP = Item("lamp", "Lamps", "new", 1000)
CALM = Tells(verbal_urgency=0.15, verbal_confidence=0.8, verbal_deception_cue=0.2, fidget_level=0.1)


def table(
    asks: Sequence[float],
    bids: Sequence[float] = (),
    messages: Sequence[str] = (),
    tells: Sequence[Tells | None] = (),
    rounds: int = 8,
) -> Table:
    """A deal for a thing listed at 1,000 rupees, as far as it has come."""
    lines, manners = [*messages, *[""] * len(asks)], [None, *tells, *[None] * len(asks)]
    moves = [Move("seller", Offer(asks[0], lines[0]))] if asks else []
    for i, bid in enumerate(bids):
        moves.append(Move("buyer", Offer(bid)))
        if i + 1 < len(asks):
            moves.append(Move("seller", Offer(asks[i + 1], lines[i + 1]), manners[i + 1]))
    public = {"round": len(bids), "asks": tuple(asks), "bids": tuple(bids), "moves": tuple(moves)}
    return Table(LAMP, rounds, 1, 0, **public)


# The prior and the asks


def test_before_any_price_it_is_the_prior_of_the_market():
    belief = believe(table([]))
    assert belief.quantile(0.5) == pytest.approx(600, abs=10)  # uniform from 400 to 800
    assert belief.quantile([0.25, 0.75]) == pytest.approx([500, 700], abs=15)
    assert belief.types() == pytest.approx(dict.fromkeys(SELLER_TYPES, 0.25), abs=0.01)


def test_an_opening_ask_tells_the_types_that_could_have_made_it():
    assert believe(table([1450])).types()["bluffer"] > 0.98  # none else opens above 1.35
    assert believe(table([1020])).types()["hasty"] > 0.98  # none else under 1.05
    even = believe(table([1120])).types()
    assert even["bluffer"] < 0.01 < 0.2 < min(even["firm"], even["fair"], even["hasty"])


def test_no_seller_asks_less_than_its_reservation_price_and_a_lower_ask_lowers_the_belief():
    high, low = believe(table([1200, 1150], [600])), believe(table([1200, 800], [600]))
    assert low.quantile(1.0) <= 800
    assert low.quantile(0.5) < high.quantile(0.5)


# Manner and words


def test_a_seller_who_fidgets_and_doubts_is_believed_near_its_reservation_price():
    asks, bids = [1200, 1000], [500]
    calm = believe(table(asks, bids, tells=[CALM]))
    near = replace(CALM, fidget_level=0.7, verbal_confidence=0.45, posture="leaning_in")
    restless = believe(table(asks, bids, tells=[near]))
    assert restless.quantile(0.5) > calm.quantile(0.5) + 50
    alone = believe(table(asks, bids, tells=[near]), tells=False, words=False)
    assert alone.quantile(0.5) == believe(table(asks, bids)).quantile(0.5)


@pytest.mark.parametrize("kind", [*LINES])
def test_the_claims_of_the_markets_sellers_are_found_in_their_lines(kind: str):
    claims = {claim_in(line.format(price="₹450", item="lamp")) for line in LINES[kind]}
    if kind == "opening":
        claims -= {"final"}  # "it is worth more", which no opening says: it draws the first line
    assert claims - {""} <= {kind}
    assert kind in ("opening", "counter", "accept", "walk") or claims == {kind}


def test_the_likelihood_of_words_and_manner_is_that_of_the_game():
    """What the game draws of seller A, weighed by B's likelihood over A's, comes to 1."""
    types = [
        SellerType("bluffer", 0.5, 0.4, impatience, bluff, 1.2, 0.15, 0.4)
        for impatience, bluff in ((0.05, 0.6), (0.06, 0.7))
    ]
    fields = ([1, 1], [0.5, 0.52], [0.5] * 2, [0.4] * 2, [0.05, 0.06], [0.15] * 2, [0.4] * 2)
    pair = Sellers(*map(np.array, fields), rounds=8, whole=False)
    rates, nobody = np.array([0.6, 0.7]), np.zeros(2, bool)
    sample = Sample(pair, np.array([3, 3]), nobody, nobody, rates)
    stance, t = Stance(types[0], 500, 1000, 8, rival=False), 5
    ask = ask_at(stance, t, 700)
    before = table([1000, 990, 980, 970, 960], [700] * 5)
    rng, ratios = np.random.default_rng(0), []
    for _ in range(4000):
        own = {"stance": stance, "chance": draw_chance(rng, 8)}
        claims = claim_likelihoods(claim_chances(sample, t), claim_at(own, t)[0])
        shown = market_tells(before, own)
        a, b = manner_log_likelihood(shown, pair, t, ask / 1000, claims)
        ratios.append(np.exp(b - a))
    assert np.std(ratios) > 0.1
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)


# The buyer and its switches


def test_the_belief_reads_the_public_table_alone():
    task = get_task("bazaar/open")
    turn = rollout(task, belief_buyer, 3).trajectory("buyer")[-1]
    bare = replace(turn.observation, own={"reservation": 1.0})
    assert (
        belief_buyer.belief(bare).weights == belief_buyer.belief(turn.observation).weights
    ).all()


def test_the_buyer_leaves_where_the_belief_holds_no_gain():
    obs = rollout(get_task("bazaar/open"), belief_buyer, 0).trajectory("buyer")[0].observation
    poor = replace(obs, own={**obs.own, "reservation": round(0.2 * obs.table.item.list_price)})
    assert isinstance(belief_buyer(poor, np.random.default_rng(0)), WalkAway)
