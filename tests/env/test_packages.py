"""Bids of a price and extras: which bid stands, what sellers say of extras, who plans packages."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import (
    EXTRAS,
    Accept,
    EndReason,
    IllegalAction,
    Offer,
    Turn,
    WalkAway,
    begin,
    ear,
    get_task,
    market,
    move,
    rollout,
    shares,
)
from sauda.games.bazaar_words import from_json, in_words, to_json
from sauda.policies.packages import (
    SAMPLE,
    Packager,
    cost_sample,
    in_prices,
    weigh_costs,
    worth_of_asking,
)
from sauda.records.seeds import deal_at
from sauda.serve import game as served
from tests.support.bazaar_games import bids

PACKAGE, MUTE = get_task("bazaar/package"), get_task("bazaar/package-mute")
SEEDS = st.integers(0, 10**6)
SHARES = st.lists(st.floats(0.05, 1.3), min_size=1, max_size=12)
HELD = st.lists(st.frozensets(st.sampled_from(EXTRAS)), min_size=1, max_size=4)


@given(SEEDS, SHARES, HELD)
def test_a_deal_earns_the_buyers_share_of_what_there_is_to_share(seed, prices, packages):
    final = bids(PACKAGE, seed, prices, packages=packages, overbids=True).final
    (deal,), (instance,) = final.table.past, final.private["nature"]
    values, costs = instance.buyer["values"], instance.seller["costs"]
    limit = instance.buyer["reservation"]
    width = limit - instance.seller["reservation"]
    width += sum(max(0, values[name] - costs[name]) for name in EXTRAS)
    if deal.price is None:
        expected = instance.buyer["discount"] ** (deal.rounds - 1) * (width <= 0)
    else:
        gain = limit + sum(values[name] for name in deal.extras) - deal.price
        if width > 0 and gain >= 0:
            expected = instance.buyer["discount"] ** (deal.rounds - 1) * gain / width
            assert shares(final, "buyer")[0] == pytest.approx(gain / width)
        else:
            expected = max(-1.0, gain / instance.item.list_price)
    assert PACKAGE.grade(final) == pytest.approx(expected)
    assert -1 <= PACKAGE.grade(final) <= 1


# Words


def test_a_seller_tells_one_story_of_each_extra(spoken):
    question, honest, numbers = "What would delivery cost you?", [], 0
    assert ear.act_in(question)[0] == "ask_delivery"
    for seed in range(80):
        own = bids(PACKAGE, seed, [0.4], words=(question, "")).final.private["seller"]
        told, cost = own["told"]["delivery"], own["costs"]["delivery"]
        honest.append((own["stance"].type == "bluffer", told.honest))
        for speech, _ in spoken:
            if speech.topic == "delivery":
                content = {"price": "price", "evade": "evade"}.get(
                    speech.content, "dear" if told.dear else "cheap"
                )
                assert speech.content == content
                assert speech.cost == (told.amount if content == "price" else 0)
                numbers += content == "price"
        if told.honest:
            assert cost - 1 <= told.amount <= 1.15 * cost + 1
        elif told.amount:
            assert told.amount > cost + 0.17 * deal_at(PACKAGE, seed).item.list_price
        for name in EXTRAS:
            claims = [s for s, _ in spoken if s.topic == name and s.content in ("dear", "cheap")]
            assert len(claims) <= market.CLAIMS
        spoken.clear()
    bluffers, others = (np.mean([h for b, h in honest if b == kind]) for kind in (True, False))
    assert bluffers < 0.5 < others
    assert numbers > 50


def test_a_seller_that_sells_no_extras_has_no_answer_on_them(spoken):
    question = "What would delivery cost you?"
    game = bids(get_task("bazaar/open-3"), 3, [0.5], words=(question,))
    assert not {speech.topic for speech, _ in spoken} & set(EXTRAS)
    own = game.final.private["seller"]
    heard = market.listen(own["stance"], game.final.table.moves, own["chance"], None,
                          market.reader(game.final.table))  # fmt: skip
    assert (heard.act, heard.temper) == ("", 0)


def test_each_change_of_the_package_tries_the_temper():
    changing = bids(MUTE, 5, [0.3], packages=[frozenset(), frozenset({"later"})])
    own, table = changing.final.private["seller"], changing.final.table
    heard = market.listen(own["stance"], table.moves, own["chance"], None, market.hear_nothing)
    changes = sum(move.agent == "buyer" for move in table.moves) - 1
    assert changes > 1
    assert heard.temper == pytest.approx(market.CHANGED * changes)
    assert heard.mood == 0


# Bad input


@pytest.mark.parametrize(
    ("task", "extras", "message"),
    [
        ("bazaar/package", frozenset({"gift"}), "extras are of delivery, warranty, later"),
        ("bazaar/package", frozenset({"gift", 3}), "and 3, gift is none of them"),
        ("bazaar/package", ["delivery"], "extras are a frozenset of names"),
        ("bazaar/open-3", frozenset({"delivery"}), "has no extras"),
        ("classic/single_deal", frozenset({"delivery"}), "has no extras"),
        ("classic/marketplace_arena", frozenset({"delivery"}), "has no extras"),
    ],
)
def test_an_extra_that_is_not_there_is_refused_in_a_sentence(task, extras, message):
    obs = rollout(get_task(task), lambda obs, rng: WalkAway(), 1).trajectory("buyer")[0].observation
    price = obs.priced(obs.budget / 2)

    def policy(seen, rng):
        return Offer(price, "", extras)

    game = rollout(get_task(task), policy, 1)
    assert game.end is EndReason.FORFEIT
    assert message in next(turn.error for turn in game.turns if turn.error)


def test_an_ask_has_no_extras():
    play = begin(PACKAGE, 1)
    with pytest.raises(IllegalAction, match="has no extras"):
        PACKAGE.env.step(play.state, Offer(500, "", frozenset({"delivery"})))


def test_a_bid_is_checked_against_the_purse_by_its_price():
    own = begin(PACKAGE, 1).state.private["buyer"]
    high = Offer(own["purse"] + 1, "", frozenset(EXTRAS))
    assert rollout(PACKAGE, lambda obs, rng: high, 1).end is EndReason.FORFEIT


# As rows, in words, for programs


@given(st.integers(1, 10**6), st.frozensets(st.sampled_from(EXTRAS)), st.sampled_from(["", "Hm."]))
def test_a_move_is_recorded_with_its_extras(price, extras, message):
    action = Offer(price, message, extras)
    row = to_json(action)
    assert from_json(row) == action
    assert ("extras" in row) == bool(extras)


@pytest.mark.parametrize("extras", ["delivery", 3, [3], {"delivery": 1}])
def test_a_record_with_other_extras_is_refused(extras):
    with pytest.raises(ValueError, match="an offer's extras are a list of names"):
        from_json({"action": "offer", "price": 5, "extras": extras})
    with pytest.raises(ValueError, match="extras"):
        from_json({"action": "accept", "extras": ["delivery"]})


@pytest.mark.parametrize(
    ("extras", "words"),
    [
        ((), "bids ₹800"),
        (("delivery",), "bids ₹800 with delivery"),
        (("later", "delivery"), "bids ₹800 with delivery and later payment"),
        (EXTRAS, "bids ₹800 with delivery, warranty and later payment"),
    ],
)
def test_a_bid_says_in_words_what_it_includes(extras, words):
    obs = rollout(PACKAGE, lambda obs, rng: WalkAway(), 1).trajectory("buyer")[0].observation
    turn = Turn("buyer", obs, Offer(800, "", frozenset(extras)))
    assert in_words(turn) == words


def test_a_program_sends_extras_and_sees_its_values():
    game = served.start(PACKAGE.name, 3, "a", 0.0)
    bid = {"action_type": "offer", "price": 300, "extras": ["later", "delivery"]}
    after = served.act(game, served.SentAction.model_validate(bid), 0.0)
    assert not after.error
    first = next(m for m in after.observation.table.moves if m.agent == "buyer")
    assert first.action.extras == {"later", "delivery"}
    for wrong in ({"extras": ["gift"]}, {"extras": "later"}, {"extras": [4]}):
        sent = served.SentAction.model_validate(bid | wrong)
        assert served.act(game, sent, 0.0).error
    accept = served.SentAction.model_validate({"action_type": "accept", "extras": ["later"]})
    assert served.act(game, accept, 0.0).error == "only an offer has extras"
    assert "own.values" in served.briefing(PACKAGE)
    assert "own.values" not in served.briefing(get_task("bazaar/open-3"))
    asks = ["Ask a seller" in served.briefing(task) for task in (PACKAGE, MUTE)]
    assert asks == [True, False]


# The planner


def test_what_is_said_moves_the_belief_as_far_as_it_is_believed():
    cost = cost_sample()[0]

    def mean(content, honesty, amount=0):
        speech = ear.Speech(topic="later", content=content, cost=amount)
        return float(weigh_costs([speech], honesty, 1000) @ cost)

    prior = float(weigh_costs([], 0.5, 1000) @ cost)
    assert mean("cheap", 0.9) < 0.05 < prior < mean("dear", 0.9)
    assert mean("dear", 0.9) > mean("dear", 0.2) > prior
    assert mean("price", 0.95, 280) > 0.2 > mean("price", 0.1, 280)
    assert mean("price", 0.5, 20) < 0.05
    assert mean("evade", 0.9) == pytest.approx(prior)


def test_a_question_is_worth_most_where_the_answer_may_change_the_package():
    blank = np.full(SAMPLE, 1 / SAMPLE)
    worth = [worth_of_asking(blank, 0.85, value) for value in (0.02, 0.18, 0.18)]
    assert worth[1] > worth[0] >= 0
    assert worth_of_asking(blank, 0.85, 0.18) > worth_of_asking(blank, 0.2, 0.18) >= -1e-9
    known = weigh_costs([ear.Speech(topic="later", content="price", cost=20)], 0.9, 1000)
    assert worth_of_asking(known, 0.9, 0.18) < 0.2 * worth[1]


def test_in_prices_a_package_is_a_bid_for_the_bare_thing():
    package = frozenset({"delivery", "later"})
    obs = bids(PACKAGE, 6, [0.5], packages=[package]).trajectory("buyer")[1].observation
    costs = {"delivery": 30, "warranty": 9, "later": 5}
    seen = in_prices(obs, costs, package)
    assert seen.table.bids == (obs.table.bids[0] - 35,)
    values = obs.own["values"]
    assert seen.own["bonus"] == values["delivery"] + values["later"] - 35
    assert seen.own["purse"] == obs.own["purse"] - 35


def test_the_planner_bids_for_what_is_worth_more_than_it_costs():
    for seed in range(12):
        deal = deal_at(PACKAGE, seed)
        table = rollout(PACKAGE, Packager(costs=deal.seller["costs"]), seed).final.table
        best = {name for name in EXTRAS if deal.buyer["values"][name] > deal.seller["costs"][name]}
        assert all(offer.extras == best for offer in table.offers)


def test_a_tie_keeps_the_earlier_bid():
    seed = 2
    costs = deal_at(MUTE, seed).seller["costs"]
    price = round(0.9 * begin(MUTE, seed).state.private["seller"]["stance"].opening)
    first = Offer(price - costs["delivery"])
    tie = Offer(price, "", frozenset({"delivery"}))
    play = begin(MUTE, seed)
    play = move(MUTE, play, MUTE.opponents["seller"](MUTE.env.observe(play.state, "seller"), None))
    for offer in (tie, replace(first, message="Again.")):
        state = MUTE.env.step(play.state, offer)
        play = replace(play, state=replace(state, turn="buyer"))
    closed = MUTE.env.step(replace(play.state, turn="seller"), Accept())
    (deal,) = closed.table.past
    assert (deal.price, deal.extras) == (price, ("delivery",))
