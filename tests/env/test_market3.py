"""The third version of the open market: what is taken, refused, claimed and warned of."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import (
    MARKETS_3,
    Accept,
    EndReason,
    Offer,
    WalkAway,
    corpus,
    ear,
    get_task,
    market,
    rollout,
)
from env.bazaar.speech import QUESTIONS
from sauda.policies import SLOW
from sauda.policies.listener import Informed, believe, is_deaf, solve
from sauda.records.seeds import deal_at

OPEN, MUTE = get_task("bazaar/open-3"), get_task("bazaar/mute-3")
TASKS = st.sampled_from([get_task(f"bazaar/{name}") for name in MARKETS_3])
SEEDS = st.integers(0, 10**6)
SHARES = st.lists(st.floats(0.05, 1.3), min_size=1, max_size=12)
LINES = ("", *(corpus.buyer_line(act, 900, 0.3) for act in ear.ACTS))
WORDS = st.lists(st.sampled_from(LINES), min_size=1, max_size=4)


def bids(task, seed, shares, words=("",), overbids=False):
    """The game of a buyer that bids these shares of the opening ask, with these words, over again.

    Within its purse, and below the ask unless it `overbids`.
    """

    def policy(obs, rng):
        most = min(obs.own["purse"], obs.opening_ask if overbids else obs.ask - 1)
        price = round(shares[obs.round % len(shares)] * obs.opening_ask)
        return Offer(max(1, min(price, most)), words[obs.round % len(words)])

    return rollout(task, policy, seed)


@given(TASKS, SEEDS, SHARES, WORDS)
def test_no_bid_at_or_above_the_ask_is_refused(task, seed, shares, words):
    final = bids(task, seed, shares, words, overbids=True).final
    for ask, best in zip(final.table.asks[:-1], accumulate(final.table.bids, max), strict=False):
        assert best < ask
    if max(final.table.bids) >= final.table.asks[-1]:
        assert final.end is EndReason.AGREEMENT


@given(TASKS, SEEDS, SHARES, WORDS)
def test_asks_never_rise_and_stay_above_the_standing_bid(task, seed, shares, words):
    table = bids(task, seed, shares, words).final.table
    assert list(table.asks) == sorted(table.asks, reverse=True)
    for number, ask in enumerate(table.asks[1:], 1):
        assert ask > max(table.bids[:number])


@given(TASKS, SEEDS, st.lists(st.floats(0.2, 0.9), max_size=4), st.floats(0.2, 1), st.floats(0, 1))
def test_a_better_bid_is_never_refused_where_a_lower_one_is_taken(task, seed, path, last, more):
    path = [*accumulate(path, max)]

    def taken(share):
        game = bids(task, seed, [*path, share])
        return game.end is EndReason.AGREEMENT and len(game.final.table.bids) == len(path) + 1

    if not any(taken(share) for share in path):
        lower, higher = (
            bids(task, seed, [*path, share, *[0.01] * 12]) for share in (last, last + more)
        )
        rounds = [len(game.final.table.bids) for game in (lower, higher)]
        if lower.end is EndReason.AGREEMENT and rounds[0] == len(path) + 1:
            assert higher.end is EndReason.AGREEMENT
            assert rounds[1] == rounds[0]


@given(TASKS, SEEDS, SHARES, WORDS)
def test_all_chance_is_drawn_at_reset(task, seed, shares, words):
    game = bids(task, seed, shares, words)
    assert bids(task, seed, shares, words).turns == game.turns
    for turn in game.trajectory("seller"):
        other = task.opponents["seller"](turn.observation, np.random.default_rng(99))
        assert other == turn.action


def test_the_deals_are_those_of_the_second_version():
    for seed in range(20):
        assert deal_at(OPEN, seed) == deal_at(get_task("bazaar/open"), seed)


def test_rises_soften_a_seller_and_time_alone_does_not():
    s = deal_at(OPEN, 1).seller["stance"]
    rising = [500, 500, 600, 605, 700, 650]
    assert [market.rises_in(rising[:n], 1000) for n in range(7)] == [0, 0, 0, 1, 1, 2, 2]
    least = [
        market.threshold(s, market.softness(s, t, rises, 3), s.opening, 0.0)
        for t, rises in ((1, 0), (6, 0), (6, 2), (6, 4), (6, 9))
    ]
    assert least[0] == least[1] > least[2] > least[3] == least[4]


def test_whoever_leaves_says_the_reason_that_was_drawn(monkeypatch):
    drawn, reason_drawn = [], market.reason_drawn
    monkeypatch.setattr(
        market, "reason_drawn", lambda *given: drawn.append(reason_drawn(*given)) or drawn[-1]
    )
    reasons = set()
    for seed in range(80):
        game = bids(OPEN, seed, [0.4], ["You are a thief."])
        last = game.turns[-1]
        if last.agent == "seller" and isinstance(last.action, WalkAway):
            language = game.final.private["seller"]["language"]
            sentences = corpus.sentences(language, "evaluation")["walk", drawn[-1]]
            assert last.action.message in sentences
            reasons.add(drawn[-1])
    assert reasons == {"patience", "rival", "talk", "time"}


@pytest.fixture
def spoken(monkeypatch):
    """What sellers mean to say, as (speech, ask, standing bid), in order."""
    said, line = [], corpus.line

    def listened(speech, ask, *rest):
        said.append((speech, ask))
        return line(speech, ask, *rest)

    monkeypatch.setattr(corpus, "line", listened)
    return said


def test_a_named_cost_contradicts_neither_the_ask_nor_the_standing_bid(spoken):
    named = 0
    for seed in range(150):
        words = ["What did you pay for it yourself?", ""]
        game = bids(OPEN, seed, [0.5, 0.6, 0.7, 0.8], words)
        standing = (0, *accumulate(game.final.table.bids, max))
        for (speech, ask), best in zip(spoken, standing, strict=False):
            assert not speech.cost or best < speech.cost <= ask
            named += bool(speech.cost)
        spoken.clear()
    assert named > 20


def test_no_topic_is_claimed_unasked_more_than_twice(spoken, monkeypatch):
    monkeypatch.setattr(market, "WARNS", 9.0)  # a warning is no claim
    counts = []
    for seed in range(60):
        bids(OPEN, seed, [0.3])
        for topic in market.TOPICS:
            counts.append([speech.topic for speech, _ in spoken].count(topic))
        spoken.clear()
    assert max(counts) == market.CLAIMS


def test_a_seller_that_may_leave_warns_truly(spoken):
    warned = set()
    for seed in range(60):
        game = bids(OPEN, seed, [0.35])
        s = game.final.private["seller"]["stance"]
        for t, (speech, _) in enumerate(spoken):
            if s.deadline <= t < s.rounds and t:
                warned.add((speech.topic, speech.content))
                assert (speech.topic, speech.content) in (("time", "short"), ("patience", "low"))
                assert s.pressed or speech.topic == "patience"
        spoken.clear()
    assert len(warned) == 2


def test_a_question_is_answered_even_by_who_may_leave(spoken):
    for seed in range(20):
        bids(OPEN, seed, [0.35], ["What did you pay for it yourself?"])
        topics = {speech.topic for speech, _ in spoken[1:]}
        assert topics <= {"cost"}
        spoken.clear()
    assert ear.act_in("What did you pay for it yourself?")[0] in QUESTIONS


@given(SEEDS, SHARES, WORDS)
def test_a_mute_seller_says_prices_and_hears_nothing(seed, shares, words):
    silent, loud = (bids(MUTE, seed, shares, lines) for lines in (("",), words))
    assert silent.final.table.asks == loud.final.table.asks
    assert silent.final.table.past == loud.final.table.past
    for turn in silent.trajectory("seller"):
        assert not any(map(str.isalpha, getattr(turn.action, "message", ""))) or isinstance(
            turn.action, Accept
        )


def test_words_are_worth_nothing_to_the_planner_where_sellers_are_mute():
    for seed in range(4):
        games = [rollout(MUTE, policy, seed) for policy in SLOW.values()]
        assert all(game.turns == games[0].turns for game in games)
        assert is_deaf(games[0].trajectory("buyer")[0].observation)


def test_odd_texts_are_harmless():
    rng = np.random.default_rng(5)
    odd = (*range(32, 127), *range(0x900, 0x980), 0x200B, 0x1F600, 0, 10, 0xFFFD)
    letters = [chr(code) for code in odd]
    for number in range(1000):
        text = "".join(rng.choice(letters, int(rng.integers(0, 300))))
        if number % 2:
            text = f"{LINES[number % len(LINES)]} {text} {rng.integers(10**9)}"
        game = bids(OPEN, number % 7, [0.5, 0.6], [text])
        assert game.end is not EndReason.FORFEIT
        heard = market.listen(
            game.final.private["seller"]["stance"], game.final.table.moves,
            game.final.private["seller"]["chance"], None, ear.act_in,
        )  # fmt: skip
        assert market.MOOD[0] <= heard.mood <= market.MOOD[1]
        assert 0 <= heard.temper <= 12 * 0.1


@pytest.mark.parametrize("key", ["", "cash"])
def test_the_exact_solution_gains_nothing_by_a_retreat(key):
    for seed in range(3):
        solution = solve(deal_at(OPEN, seed), key, 3)
        assert solution.gain_of_retreat <= 1e-9
        assert (np.diff(solution.values[1:, :, 0], axis=1) >= -1e-9).all()  # a softer one is better


def test_the_informed_value_agrees_with_play():
    gains = []
    for seed in range(30):
        player = Informed.of(deal_at(MUTE, seed), False, 3)
        gains.append(MUTE.grade(rollout(MUTE, player, seed).final) - player.expected)
    assert abs(np.mean(gains)) < 0.06


def test_a_belief_follows_warnings():
    """A seller that warns of its patience is believed to be nearer its own deadline."""
    shifts = []
    for seed in range(30):
        game = bids(OPEN, seed, [0.35])
        for turn in game.trajectory("buyer")[1:]:
            obs = turn.observation
            if ear.hear(obs.table.moves[-1].action.message).topic == "patience":
                with_words, without = (believe(obs, reads) for reads in (True, False))
                due = with_words.sellers.deadline <= obs.round
                shifts.append(with_words.weights @ due - without.weights @ due)
    assert len(shifts) > 5
    assert np.mean(shifts) > 0.1
