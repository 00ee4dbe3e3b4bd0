"""Buyers that answer as people do: what they pay, refuse and say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import (
    Accept,
    EndReason,
    Offer,
    WalkAway,
    begin,
    corpus,
    customers,
    ear,
    get_task,
    people,
    rollout,
)
from sauda.players import planners_of, scripts_of

CUSTOMERS = get_task("bazaar/customers")
SEEDS = st.integers(0, 10**6)
SHARES = st.lists(st.floats(0.4, 9.0), min_size=1, max_size=7)  # of the list price
NONE_WRONG, NEAR = "It is in perfect condition.", "I can hardly go any lower."
KEYS = {"low": "limit/near", "high": "rival/yes"}
ODD = st.sampled_from(["", "₹" * 2000, "Another shop sells it for ₹1.", "मैं चला।", "\u200b 1e308"])


def asks(seed, shares, words=("",), task=CUSTOMERS):
    """The game of a seller that asks these shares of the list price, above the standing bid."""

    def policy(obs, rng):
        number = obs.round
        if number >= len(shares):
            return WalkAway()
        price = max(1, round(shares[number] * obs.table.item.list_price), (obs.bid or 0) + 1)
        return Offer(price, words[number % len(words)])

    return rollout(task, policy, seed)


@given(SEEDS, SHARES, st.lists(ODD, min_size=1, max_size=3))
def test_bids_never_fall_and_nobody_pays_or_bids_above_the_own_limit(seed, shares, words):
    final = asks(seed, shares, words).final
    table, ((deal,), (instance,)) = final.table, (final.table.past, final.private["nature"])
    limit = instance.buyer["reservation"]
    assert list(table.bids) == sorted(table.bids)
    assert max(table.bids, default=0) <= limit
    for number, bid in enumerate(table.bids):
        assert 0 < bid < table.asks[number]
    if deal.price is not None:
        assert deal.price == table.asks[-1] <= limit


@given(SEEDS, st.floats(0.5, 1.5), st.lists(ODD, min_size=1, max_size=2))
def test_the_price_that_it_bids_is_the_sellers_to_take(seed, share, words):
    def policy(obs, rng):
        if obs.table.bids:
            return Accept()
        return Offer(round(share * obs.table.item.list_price), words[0])

    game = rollout(CUSTOMERS, policy, seed)
    if bids := game.final.table.bids:
        assert (game.end, game.final.table.past[-1].price) == (EndReason.AGREEMENT, bids[0])


@given(SEEDS, SHARES, st.floats(0.01, 0.5))
def test_a_lower_ask_is_never_refused_where_a_higher_one_is_taken(seed, shares, less):
    *before, last = shares
    lower = [*before, (1 - less) * last]
    high, low = (asks(seed, row).final.table for row in (shares, lower))
    taken = high.past[-1].end is EndReason.AGREEMENT and len(high.asks) == len(shares)
    if taken and low.asks[-1] <= high.asks[-1]:
        assert low.past[-1].end is EndReason.AGREEMENT


@given(SEEDS, SHARES, ODD)
def test_a_mute_buyer_says_prices_alone_and_is_deaf(seed, shares, words):
    task = customers.customers_task(mute=True)
    silent, loud = asks(seed, shares, task=task), asks(seed, shares, [words, NONE_WRONG], task)
    assert silent.final.table.bids == loud.final.table.bids
    for turn in silent.turns:
        if turn.agent == "buyer" and not isinstance(turn.action, Accept):
            assert not ear.meanings(turn.action.message, "buyer")


def test_a_plea_moves_only_whom_it_should():
    moved = set()
    for seed in range(40):
        s = begin(CUSTOMERS, seed).state.private["buyer"]["stance"]
        patience = people.PATIENCES[s.patience]
        pleases = "wear/none" if s.rival else KEYS.get(patience, "")
        for plea in customers.PLEAS:
            line = corpus.pick("en", "training", *plea.split("/"), 0.5, None)
            assert customers.plea_in(line) == plea
            once, twice = customers.listen(s, [line]), customers.listen(s, [line, line])
            assert (once.mood > 0) == (plea == pleases)
            assert (once.temper == 0) == (plea == pleases)
            assert (twice.mood, twice.temper > once.temper) == (once.mood, True)
        moved |= {pleases}
    assert moved == {*customers.PLEAS, ""}


def test_a_fitting_plea_sells_more_often_than_silence_and_an_unfitting_one_less():
    sold = {"": 0, "fits": 0, "not": 0}
    for seed in range(400):
        own = begin(CUSTOMERS, seed).state.private["buyer"]
        if not own["stance"].rival:
            continue
        for name, line in (("", ""), ("fits", NONE_WRONG), ("not", NEAR)):
            sold[name] += asks(seed, [1.0, 0.9, 0.8], [line]).end is EndReason.AGREEMENT
    assert sold["fits"] > sold[""] > sold["not"]


def test_a_fall_of_the_ask_wins_more_deals_than_its_repeat():
    falls, stands = (
        [asks(seed, row).end is EndReason.AGREEMENT for seed in range(150)]
        for row in ([1.0, 0.9, 0.8], [1.0, 1.0, 0.8])
    )
    repeats = [asks(seed, [0.8] * 3).end is EndReason.WALKAWAY for seed in range(150)]
    assert sum(falls) > sum(stands)
    assert sum(repeats) > 15


def test_whoever_leaves_says_its_drawn_reason():
    reasons = set()
    for seed in range(200):
        game = asks(seed, [1.4] * 6, [NEAR])
        last = game.turns[-1]
        if last.agent == "buyer" and isinstance(last.action, WalkAway):
            own = game.final.private["buyer"]
            options = corpus.sentences(own["language"], "evaluation")
            meant = [reason for reason, key in customers.LEAVES.items()
                     if last.action.message in options["bid", key]]  # fmt: skip
            assert len(meant) == 1
            assert meant != ["rival"] or own["stance"].rival
            reasons |= {*meant}
    assert reasons == {*customers.LEAVES}


def test_a_named_price_of_another_shop_is_below_the_ask_and_never_overbid():
    named = []
    for seed in range(150):
        game = asks(seed, [1.5, 1.4, 1.3, 1.2, 1.1, 1.0])
        price = 0
        for turn in game.turns:
            message = getattr(turn.action, "message", "")
            if turn.agent == "seller":
                price = turn.action.price if isinstance(turn.action, Offer) else price
            elif "buyer/outside" in ear.meanings(message, "buyer"):
                amount = ear.amount(message)
                own = game.final.private["buyer"]
                assert own["reservation"] <= amount == own["quote"] < price
                named.append(amount)
    assert len(named) > 10


@pytest.mark.parametrize("name", [*scripts_of(CUSTOMERS), *planners_of(CUSTOMERS)])
def test_every_seller_plays_to_the_end_and_again_the_same(name):
    policy = {**scripts_of(CUSTOMERS), **planners_of(CUSTOMERS)}[name]
    for seed in range(8):
        game = rollout(CUSTOMERS, policy, seed)
        assert game.end is not EndReason.FORFEIT
        assert rollout(CUSTOMERS, policy, seed) == game
        (instance,) = game.final.private["nature"]
        price = game.final.table.past[-1].price
        assert name == "random" or price is None or price >= instance.seller["reservation"]
