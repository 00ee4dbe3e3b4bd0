"""Sellers that answer as people do: what they take, refuse and say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import (
    Accept,
    EndReason,
    Move,
    Offer,
    WalkAway,
    begin,
    corpus,
    ear,
    get_task,
    market,
    people,
    rollout,
)

PEOPLE = get_task("bazaar/people")
SEEDS = st.integers(0, 10**6)
SHARES = st.lists(st.floats(0.05, 1.2), min_size=1, max_size=6)
WORDS = st.sampled_from(["", *(corpus.buyer_line(act, 900, 0.3) for act in ear.ACTS)])


def bids(seed, shares, words):
    """The game of a buyer that bids these shares of the opening ask, with these words."""

    def policy(obs, rng):
        if obs.round >= len(shares):
            return WalkAway()
        price = max(1, round(min(obs.budget, shares[obs.round] * obs.opening_ask)))
        return Offer(price, words[obs.round % len(words)])

    return rollout(PEOPLE, policy, seed)


@given(SEEDS, SHARES, st.lists(WORDS, min_size=1, max_size=3))
def test_asks_never_rise_and_stay_above_the_standing_bid(seed, shares, words):
    table = bids(seed, shares, words).final.table
    assert list(table.asks) == sorted(table.asks, reverse=True)
    for number, ask in enumerate(table.asks[1:], 1):
        assert ask > max(table.bids[:number])


@given(SEEDS, SHARES, st.lists(WORDS, min_size=1, max_size=3))
def test_nobody_sells_below_the_own_limit_or_above_the_own_ask(seed, shares, words):
    final = bids(seed, shares, words).final
    (deal,), (instance,) = final.table.past, final.private["nature"]
    if deal.price is not None:
        assert deal.price == max(final.table.bids)
        assert deal.price >= instance.seller["reservation"]


@given(SEEDS, st.floats(0.3, 0.9), WORDS, WORDS)
def test_nobody_refuses_the_price_that_it_asks(seed, share, first, second):
    game = bids_then_ask(seed, share, first, second)
    offers = [turn.action for turn in game.turns if turn.agent == "buyer"]
    if len(offers) == 2:
        ask = game.final.table.asks[1]
        assert (game.end, game.final.table.past[-1].price) == (EndReason.AGREEMENT, ask)


def bids_then_ask(seed, share, first, second):
    """The game of a buyer that bids a share of the opening ask, then whatever is asked."""

    def policy(obs, rng):
        price = obs.ask if obs.round else max(1, round(share * obs.ask))
        return Offer(min(price, obs.own["purse"]), second if obs.round else first)

    return rollout(PEOPLE, policy, seed)


@given(SEEDS, st.floats(0.2, 1.0), st.floats(0.01, 0.3))
def test_a_better_bid_is_never_refused_where_a_lower_one_is_taken(seed, share, more):
    def taken(part):
        return bids(seed, [part], [""]).end is EndReason.AGREEMENT

    assert taken(share) <= taken(share + more)


def test_rises_soften_a_seller_and_a_repeated_bid_only_tries_its_patience():
    (instance,) = people.draw(np.random.default_rng(3))
    s = instance.seller["stance"]
    ask, low = s.opening, 0.6 * s.opening
    first = people.after_bid(people.Course(), s.opening, ask, low, True)
    rose = people.after_bid(first, s.opening, ask, 0.8 * s.opening, False)
    stood = people.after_bid(first, s.opening, ask, low, False)
    twice = people.after_bid(stood, s.opening, ask, low, False)
    least = [float(people.threshold(s, ask, course, 0.0)) for course in (first, rose, stood)]
    assert least[1] < least[0] == least[2]
    risk = [float(people.hazard(s, course, False, 0.0, 0.0)) for course in (rose, stood, twice)]
    assert risk[0] <= risk[1] < risk[2] or s.patience == people.PATIENCES.index("high")
    assert people.chance_to_give(s, rose) > people.chance_to_give(s, stood)


def leaving_games(count=60):
    games = (bids(seed, [0.4] * 6, ["You are a thief."]) for seed in range(count))
    return [game for game in games if isinstance(game.turns[-1].action, WalkAway)
            and game.turns[-1].agent == "seller"]  # fmt: skip


def test_whoever_leaves_says_why_in_a_sentence_of_the_corpus():
    games, reasons = leaving_games(), set()
    assert games
    for game in games:
        own = game.final.private["seller"]
        meant = {
            key
            for key in ("patience", "rival", "talk")
            if game.turns[-1].action.message
            in corpus.sentences(own["language"], "evaluation")["walk", key]
        }
        assert len(meant) == 1
        reasons |= meant
        assert meant != {"rival"} or own["stance"].rival
    assert len(reasons) > 1


def seller_lines(seeds):
    for seed in seeds:
        game = bids(seed, [0.5, 0.6, 0.7, 0.8], ["What did you pay for it yourself?", ""])
        yield game, [turn for turn in game.turns if turn.agent == "seller"]


def test_measured_games_draw_evaluation_sentences_alone():
    training = {row.text for row in corpus.rows("seller", "training") if row.family == "style"}
    for _, turns in seller_lines(range(20)):
        for turn in turns:
            assert not any(text in turn.action.message for text in training)


def test_a_named_cost_contradicts_neither_the_ask_nor_the_standing_bid(monkeypatch):
    said = []
    line = corpus.line
    monkeypatch.setattr(
        corpus,
        "line",
        lambda speech, ask, *rest: said.append((speech, ask)) or line(speech, ask, *rest),
    )
    for game, _ in seller_lines(range(60)):
        for (speech, ask), bid in zip(said[1:], game.final.table.bids, strict=False):
            assert not speech.cost or bid < speech.cost <= ask
        topics = [speech.topic for speech, _ in said if speech.topic == "limit"]
        assert len(topics) <= 2
        said.clear()


def test_a_mute_seller_says_prices_and_is_deaf():
    mute = people.people_task(mute=True)

    def policy(message):
        return lambda obs, rng: Offer(max(1, round(0.6 * obs.opening_ask)), message)

    for seed in range(10):
        silent, loud = (rollout(mute, policy(text), seed) for text in ("", "You are a thief."))
        assert silent.final.table.asks == loud.final.table.asks
        for turn in silent.turns:
            assert turn.agent == "buyer" or not ear.hear(turn.action.message).topic


def test_a_seller_is_moved_by_a_fresh_sentence_of_its_key():
    fresh = "Bhaiya, paise jeb mein hain, abhi ke abhi le lo"
    assert (ear.act_in(fresh), market.KEYS["hasty"]) == (("cash", 0), "cash")
    gains = []
    for seed in range(30):
        own = begin(PEOPLE, seed).state.private["seller"]
        if own["stance"].type == "hasty":
            bid = Move("buyer", Offer(round(0.8 * own["stance"].opening), fresh))
            heard = market.listen(own["stance"], [bid], own["chance"], None, ear.act_in)
            gains.append(heard.gain)
    assert gains
    assert min(gains) > 0


@pytest.mark.parametrize("action", [Accept(), WalkAway()])
def test_a_game_can_be_ended_at_once(action):
    game = rollout(PEOPLE, lambda obs, rng: action, 4)
    assert game.end in (EndReason.AGREEMENT, EndReason.WALKAWAY)
