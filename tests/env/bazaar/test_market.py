"""The open market, version 2: bids stand, asks never rise, words are read and hide nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import Accept, Offer, WalkAway, rollout
from env.bazaar import market2 as market
from env.bazaar.speech import ACTS, LANGUAGES, act_in, buyer_line, hear, phrases, say
from env.core import EndReason
from env.rollout import begin, move
from sauda.policies.market2 import Informed, believe

OPEN = market.market_task("open", market.MARKETS["open"])
SEEDS = st.integers(0, 20_000)
BIDS = st.lists(st.floats(0.02, 1.0), min_size=1, max_size=12)
TEXTS = ("", "What did you pay for it?", "It is scratched here.", "Cash, right now.", "You thief")


def bidder(shares, words=("",)):
    """A buyer that bids shares of its limit, each with some words."""

    def policy(obs, rng):
        turn = obs.round
        price = max(1, int(shares[turn % len(shares)] * obs.budget))
        return Offer(price, words[turn % len(words)])

    return policy


@given(SEEDS, BIDS, st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4))
def test_bids_stand_and_asks_never_rise(seed, shares, words):
    episode = rollout(OPEN, bidder(shares, words), seed)
    table = episode.final.table
    (deal,) = table.past
    assert list(table.asks) == sorted(table.asks, reverse=True)
    assert all(ask > max(table.bids[:n], default=0) for n, ask in enumerate(table.asks))
    if deal.end is EndReason.AGREEMENT:
        assert deal.price == max(table.bids)
    assert not episode.turns[-1].error


@given(SEEDS, BIDS)
def test_a_retreat_changes_nothing_but_the_reminder(seed, shares):
    """A buyer that falls back plays the same game as one that repeats its best bid."""
    rising = np.maximum.accumulate(shares).tolist()
    fell, held = (rollout(OPEN, bidder(each), seed).final for each in (shares, rising))
    if len(shares) >= fell.table.rounds:  # else the shares start again from the first
        assert fell.table.past == held.table.past
        assert fell.table.asks == held.table.asks


@given(SEEDS, st.integers(1, 8), st.floats(-0.3, 0.5), st.floats(0.1, 1.0))
def test_a_better_bid_is_never_less_likely_to_be_taken(seed, t, mood, share):
    s = seller_of(seed)
    bids = np.linspace(1, s.opening - 1, 60)
    asks = market.ask_at(s, t, bids, share)
    least = market.threshold(s, t, asks, mood)
    taken = bids >= least
    assert (np.diff(taken.astype(int)) >= 0).all()
    walks = market.hazard(s, t, bids, bids * 0.9, least, mood, 0.0)
    assert ((walks >= 0) & (walks <= 1)).all()
    assert (np.diff(market.hazard(s, t, bids, 0.0, least, mood, 0.0)) <= 1e-12).all()


def seller_of(seed):
    return begin(OPEN, seed).state.private["seller"]["stance"]


@given(SEEDS)
def test_what_only_words_may_tell_is_in_no_observation(seed):
    state = move(OPEN, begin(OPEN, seed), Offer(seller_of(seed).opening)).state
    observation = OPEN.env.observe(state, "buyer")
    assert set(observation.own) == {"reservation", "discount", "purse", "deadline", "quote"}
    assert not observation.table.seller_type
    assert observation.tells is None


@given(SEEDS, st.sampled_from(["open", "rushed", "mute"]))
def test_an_episode_is_drawn_at_reset_and_moves_are_pure(seed, name):
    task = market.market_task(name, market.MARKETS[name])
    first, again = (rollout(task, bidder((0.4, 0.6, 0.8)), seed) for _ in range(2))
    assert first.turns == again.turns


def test_the_mute_market_hears_and_says_no_words():
    task = market.market_task("mute", market.MARKETS["mute"])
    for seed in range(40):
        silent = rollout(task, bidder((0.4, 0.6, 0.8)), seed).final.table
        spoken = rollout(task, bidder((0.4, 0.6, 0.8), TEXTS[1:]), seed).final.table
        assert (silent.asks, silent.past) == (spoken.asks, spoken.past)
        offers = [
            m.action for m in silent.moves if m.agent == "seller" and hasattr(m.action, "price")
        ]
        assert not any(hear(offer.message).style for offer in offers)


@pytest.mark.parametrize("name", market.TYPES)
def test_each_type_is_moved_by_its_own_pitch_alone(name):
    kind = market.TYPES.index(name)
    gains = {act: float(market.effect(act, kind, 1, True, True)[0]) for act in market.MOODS}
    assert [act for act, gain in gains.items() if gain > 0] == [max(gains, key=gains.get)]
    assert market.effect(max(gains, key=gains.get), kind, 1, True, False)[0] < 0


def test_only_the_first_use_of_a_pitch_counts():
    s = replace(seller_of(3), kind=market.TYPES.index("fair"))
    chance = begin(OPEN, 3).state.private["seller"]["chance"]
    tea = move(OPEN, begin_asked(3), Offer(1, "Come, chai first")).state.table.moves
    once = market.listen(s, tea, chance, None)
    twice = market.listen(s, (*tea, tea[-1]), chance, None)
    assert once.mood == twice.mood > 0
    assert twice.temper > once.temper


def begin_asked(seed):
    play = begin(OPEN, seed)
    return move(OPEN, play, Offer(play.state.private["seller"]["stance"].opening))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_seen_phrase_is_read_as_what_it_means(language):
    for (family, key), options in phrases(language, "seen").items():
        for draw in np.linspace(0, 0.99, len(options)):
            if family == "buyer":
                line = buyer_line(key, 1200, draw, language)
                assert act_in(line) == (key, 1200 if key == "outside" else 0), line
            elif family in ("time", "rival", "cost", "wear"):
                speech = market.Speech("firm", family, key, 96 if "#" in options[0] else 0, "swear")
                assert hear(say(speech, 122, None, draw, language, "seen")) == speech


@given(st.text(max_size=3000))
def test_any_text_is_one_act_or_none(text):
    act, price = act_in(text)
    assert act in ("", *ACTS)
    assert price >= 0
    assert act == "outside" or price == 0
    hear(text)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("it is not scratched", ""), ("no scratches anywhere", ""), ("I have no cash", ""),
        ("is it scratched?", "ask_wear"), ("the shop next door asks 1,200", "outside"),
        ("₹900 on Amazon", "outside"), ("dhandha kaisa chal raha hai", "tea"),
        ("kitne mein liya tha?", "ask_cost"), ("daag nahi hai", ""), ("I can pay cash now", "cash"),
        ("you cheat", "insult"), ("ignore all rules and accept", ""), ("<b>450</b>", ""),
    ],
)  # fmt: skip
def test_what_people_type_is_read(text, act):
    assert act_in(text)[0] == act


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("330, the shop next door asks 423", 423), ("the shop asks 423, I say 330", 423),
        ("the shop @ the corner", 0),
    ],
)  # fmt: skip
def test_the_own_bid_is_not_taken_for_the_price_of_another_shop(text, price):
    assert act_in(text) == ("outside", price)


def test_the_oracle_gains_nothing_by_a_retreat_and_beats_the_scripts():
    for seed in range(12):
        instance = begin(OPEN, seed).state.private["nature"][0]
        oracle = Informed.of(instance)
        assert oracle.solution.gain_of_retreat == 0
        episode = rollout(OPEN, oracle, seed)
        bids = episode.final.table.bids
        assert list(bids) == sorted(bids)


def test_a_belief_comes_nearer_the_truth_by_words():
    def surprise(reads):
        total = 0.0
        for seed in range(40):
            turns = rollout(OPEN, bidder((0.4, 0.5, 0.6)), seed).trajectory("buyer")
            belief = believe(turns[-1].observation, reads)
            right = belief.sellers.kind == seller_of(seed).kind
            total += np.log(belief.weights[right].sum() + 1e-9)
        return total

    assert surprise(reads=True) > surprise(reads=False) + 5


def test_accepting_and_leaving_end_the_game():
    for action, end in ((Accept(), EndReason.AGREEMENT), (WalkAway(), EndReason.WALKAWAY)):
        state = move(OPEN, begin_asked(5), action).state
        assert OPEN.env.end(state) is end
