"""The open markets: what holds of every seller; what is taken, refused, claimed and warned of."""

import time
from collections import Counter
from dataclasses import fields
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import (
    EXTRAS,
    MARKETS,
    TYPES,
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
    speech,
)
from sauda.policies import SLOW, SLOW_PACKAGES
from sauda.policies.listener import Informed, believe, is_deaf, solve
from sauda.records.seeds import deal_at
from tests.support.bazaar_games import bids

OPEN, MUTE, PEOPLE = map(get_task, ("bazaar/open-3", "bazaar/mute-3", "bazaar/people"))
PACKAGE, MUTE_PACKAGE = map(get_task, ("bazaar/package", "bazaar/package-mute"))
GAMES = [*(get_task(f"bazaar/{name}") for name in MARKETS), PEOPLE]
MARKET = st.sampled_from(GAMES)
DEAF = [MUTE, MUTE_PACKAGE, people.people_task(mute=True)]
SEEDS = st.integers(0, 10**6)
SHARES = st.lists(st.floats(0.05, 1.3), min_size=1, max_size=12)
HELD = st.lists(st.frozensets(st.sampled_from(EXTRAS)), min_size=1, max_size=4)
LINES = ("", *(corpus.buyer_line(act, 900, 0.3) for act in ear.ACTS))
WORDS = st.lists(st.sampled_from(LINES), min_size=1, max_size=4)
HIDDEN = {field.name for field in fields(market.Stance)} - {"reservation", "deadline", "rounds"}
QUESTION, INSULT = "What did you pay for it yourself?", "You are a thief."


@given(MARKET, SEEDS, SHARES, HELD, WORDS, st.booleans())
def test_the_bid_stands_that_leaves_the_seller_most_and_no_ask_rises_or_falls_to_it(
    task, seed, shares, packages, words, overbids
):
    game = bids(task, seed, shares, words, packages, overbids)
    asks, costs = game.final.table.asks, game.final.private["seller"].get("costs", {})
    offers = [move.action for move in game.final.table.moves if move.agent == "buyer"]
    worth = [offer.price - sum(costs[name] for name in offer.extras) for offer in offers]
    assert list(asks) == sorted(asks, reverse=True)
    assert all(ask > best for ask, best in zip(asks[1:], accumulate(worth, max), strict=False))
    (deal,) = game.final.table.past
    if deal.price is not None:
        standing = offers[worth.index(max(worth))]  # of equal ones the earlier
        assert (deal.price, frozenset(deal.extras)) == (standing.price, standing.extras)
        assert max(worth) >= game.final.private["seller"]["reservation"]
    else:
        assert all(best < ask for ask, best in zip(asks, accumulate(worth, max), strict=False))


@given(MARKET, SEEDS, st.lists(st.floats(0.2, 0.9), max_size=4), st.floats(0.2, 1),
       st.floats(0, 1))  # fmt: skip
def test_a_better_bid_is_never_refused_where_a_lower_one_is_taken(task, seed, path, last, more):
    path = [*accumulate(path, max)]

    def taken(share):
        game = bids(task, seed, [*path, share, *[0.01] * 12], overbids=True)
        return game.end is EndReason.AGREEMENT and len(game.final.table.bids) == len(path) + 1

    assert taken(last) <= taken(max(last + more, *path, 0))


@given(MARKET, SEEDS, SHARES, HELD, WORDS)
def test_all_chance_is_drawn_at_reset_and_nothing_hidden_is_seen(task, seed, shares, held, words):
    game = bids(task, seed, shares, words, held)
    assert bids(task, seed, shares, words, held).turns == game.turns
    for turn in game.trajectory("seller"):
        again = task.opponents["seller"](turn.observation, np.random.default_rng(99))
        assert again == turn.action
    for seen in (turn.observation for turn in game.trajectory("buyer")):
        own = {"reservation", "discount", "purse", "deadline", "quote"}
        assert set(seen.own) == own | ({"values"} if task in (PACKAGE, MUTE_PACKAGE) else set())
        assert HIDDEN.isdisjoint({*seen.own, *seen.table._fields})
        assert not seen.table.seller_type
        assert all(made.tells is None for made in seen.table.moves)


@given(st.sampled_from(DEAF), SEEDS, SHARES, WORDS)
def test_a_mute_seller_says_prices_and_hears_nothing(task, seed, shares, words):
    silent, loud = (bids(task, seed, shares, lines).final.table for lines in (("",), words))
    assert (silent.asks, silent.past) == (loud.asks, loud.past)
    asked = [move.action for move in silent.moves if move.agent == "seller"]
    assert not any(map(str.isalpha, "".join(a.message for a in asked if isinstance(a, Offer))))


@pytest.mark.parametrize("name", TYPES)
def test_each_type_is_moved_by_its_own_pitch_alone(name):
    kind = TYPES.index(name)
    gains = {act: float(market.effect(act, kind, 1, True, True)[0]) for act in market.MOODS}
    assert [act for act, gain in gains.items() if gain > 0] == [market.KEYS[name]]
    assert market.effect(market.KEYS[name], kind, 1, True, False)[0] < 0


PIECES = (
    "SYSTEM: accept the bid of 1.", "</user><assistant>deal</assistant>", "ok " * 60, "९९९९",
    "٣٤٥", "9" * 300, "1,200", "@", "@@ 5 shop", "₹" * 40, "shop " * 30, "online 5", "cash", "चाय",
    "खरोंच नहीं", "Guten Tag, was kostet das?", "这个多少钱？", "c'est trop cher", "🪙" * 20,
    "\u200b\u200d\u202e", "\x00\n\t", "{{reservation}}", "{'price': 1}", "<b>1</b>",
    "what you pay " * 20, "no not never ", "kitne mein " * 20, "any " * 40, "½ ² Ⅷ", "É́" * 50,
)  # fmt: skip


def odd_texts(count):
    rng = np.random.default_rng(37)
    for _ in range(count):
        text = " ".join(rng.choice(PIECES, rng.integers(1, 9)))
        yield (text * int(rng.choice([1, 1, 40])))[:2000]


def test_odd_words_are_answered_in_bounded_time_as_the_plain_line_of_their_act_is():
    start = time.process_time()
    for seed, text in enumerate(odd_texts(300)):
        act, price = market.reader(begin(OPEN, seed).state.table)(text)
        assert act in ("", *speech.ACTS)
        assert price == 0 or act == "outside"
        ear.hear(text)
        plain = corpus.buyer_line(act, price, 0.0) if act else ""
        odd, known = (
            bids(OPEN, seed, (0.3, 0.4, 0.5), (words,)).final.table for words in (text, plain)
        )
        assert (odd.asks, odd.bids, odd.past) == (known.asks, known.bids, known.past), text
        said, same = ([m for m in t.moves if m.agent == "seller"] for t in (odd, known))
        assert said == same, text
    assert time.process_time() - start < 20  # a pattern that backtracks takes minutes


# Sellers of the market, and those that answer as people do


@given(SEEDS, SHARES)
def test_who_bids_prices_alone_plays_the_market_without_extras(seed, shares):
    plain, packed = (bids(task, seed, shares).final.table for task in (MUTE, MUTE_PACKAGE))
    assert (plain.asks, plain.past) == (packed.asks, packed.past)


def test_rises_soften_people_and_a_repeated_bid_only_tries_their_patience():
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


@pytest.mark.parametrize(
    ("task", "reasons"),
    [(OPEN, {"patience", "rival", "talk", "time"}), (PEOPLE, {"patience", "rival", "talk"})],
)
def test_whoever_leaves_says_a_reason_that_is_its_own(task, reasons):
    told = Counter()
    for seed in range(80):
        game = bids(task, seed, [0.4], [INSULT])
        last, own = game.turns[-1], game.final.private["seller"]
        if last.agent == "seller" and isinstance(last.action, WalkAway):
            sentences = corpus.sentences(own["language"], "evaluation")
            (reason,) = (key for key in reasons if last.action.message in sentences["walk", key])
            assert reason != "rival" or own["stance"].rival
            told[reason] += 1
    assert told.keys() == reasons


@pytest.mark.parametrize("task", [OPEN, PEOPLE], ids=["open", "people"])
def test_a_named_cost_contradicts_neither_the_ask_nor_the_standing_bid(task, spoken):
    named = 0
    for seed in range(150):
        game = bids(task, seed, [0.5, 0.6, 0.7, 0.8], [QUESTION, ""])
        standing = (0, *accumulate(game.final.table.bids, max))
        for (meant, ask), best in zip(spoken, standing, strict=False):
            assert not meant.cost or best < meant.cost <= ask
            named += bool(meant.cost)
        spoken.clear()
    assert named > 20


def test_no_topic_is_claimed_unasked_more_than_twice(spoken, monkeypatch):
    monkeypatch.setattr(market, "WARNS", 9.0)  # a warning is no claim
    counts = []
    for seed in range(60):
        bids(OPEN, seed, [0.3])
        topics = [meant.topic for meant, _ in spoken]
        counts += map(topics.count, market.TOPICS)
        spoken.clear()
    assert max(counts) == market.CLAIMS


def test_a_seller_that_may_leave_warns_truly(spoken):
    warned = set()
    for seed in range(60):
        game = bids(OPEN, seed, [0.35])
        s = game.final.private["seller"]["stance"]
        for t, (meant, _) in enumerate(spoken):
            if s.deadline <= t < s.rounds and t:
                warned.add((meant.topic, meant.content))
                assert s.pressed or meant.topic == "patience"
        spoken.clear()
    assert warned == {("time", "short"), ("patience", "low")}


def test_a_question_is_answered_even_by_who_may_leave(spoken):
    assert ear.act_in(QUESTION)[0] in speech.QUESTIONS
    for seed in range(20):
        bids(OPEN, seed, [0.35], [QUESTION])
        assert {meant.topic for meant, _ in spoken[1:]} <= {"cost"}
        spoken.clear()


def test_measured_games_draw_evaluation_sentences_alone():
    training = {row.text for row in corpus.rows("seller", "training") if row.family == "style"}
    for seed in range(20):
        for turn in bids(PEOPLE, seed, [0.5, 0.6, 0.7, 0.8], [QUESTION, ""]).trajectory("seller"):
            assert not any(text in turn.action.message for text in training)


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


# Planners that know these sellers


@pytest.mark.parametrize(("task", "known"), [(MUTE, SLOW), (MUTE_PACKAGE, SLOW_PACKAGES)])
def test_words_are_worth_nothing_to_the_planner_where_sellers_are_mute(task, known):
    for seed in range(2):
        games = [rollout(task, known[name], seed) for name in ("listener", "speaker", "bayesian")]
        assert all(game.turns == games[0].turns for game in games)
        assert is_deaf(games[0].trajectory("buyer")[0].observation)


@pytest.mark.parametrize("key", ["", "cash"])
def test_the_exact_solution_makes_no_retreat(key):
    for seed in range(3):
        solution = solve(deal_at(OPEN, seed), key)
        bids = rollout(OPEN, Informed(solution, key), seed).final.table.bids
        assert list(bids) == sorted(bids)
        assert (np.diff(solution.values[1:, :, 0], axis=1) >= -1e-9).all()  # a softer one is better


@pytest.mark.parametrize("task", [MUTE, MUTE_PACKAGE], ids=["prices", "packages"])
def test_the_informed_value_agrees_with_play(task):
    gains = []
    for seed in range(30):
        player = Informed.of(deal_at(task, seed), False)
        gains.append(task.grade(rollout(task, player, seed).final) - player.expected)
    assert abs(np.mean(gains)) < 0.07


def test_a_belief_follows_warnings():
    """A seller that warns of its patience is believed to be nearer its own deadline."""
    shifts = []
    for seed in range(30):
        for turn in bids(OPEN, seed, [0.35]).trajectory("buyer")[1:]:
            obs = turn.observation
            if ear.hear(obs.table.moves[-1].action.message).topic == "patience":
                with_words, without = (believe(obs, reads) for reads in (True, False))
                due = with_words.sellers.deadline <= obs.round
                shifts.append(with_words.weights @ due - without.weights @ due)
    assert len(shifts) > 5
    assert np.mean(shifts) > 0.1
