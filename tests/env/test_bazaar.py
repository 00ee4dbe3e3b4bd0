"""The bazaar: what holds in every game, the open market, and the published game.

Where several buyers bid under seal, moves are given round by round in the order buyer, rival_1,
rival_2, seller.
"""

import json
import time
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from env import (
    BAZAAR_TASKS,
    CATALOGUE,
    MARKETS,
    TYPES,
    Accept,
    EndReason,
    IllegalAction,
    Instance,
    Offer,
    Policy,
    Task,
    WalkAway,
    advance,
    begin,
    bonus,
    episode,
    get_task,
    market,
    move,
    rollout,
    shares,
)
from env.bazaar.sealed_bids import BUYERS, MultiBuyerState
from env.bazaar.speech import ACTS, LANGUAGES, Speech, act_in, buyer_line, hear, phrases, say
from sauda.players import get_policy, scripts_of
from sauda.policies import BUYERS as CONTESTANTS
from sauda.policies import SELLERS
from sauda.policies.bazaar import boulware, conceder, expert, linear, random, tit_for_tat, wait
from tests.support.cases import cases

BUYER_TASKS = [t for t in BAZAAR_TASKS.values() if t.learner == "buyer"]
SALE = get_task("bazaar/sell")
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
    name = draw(st.sampled_from(list(scripts_of(played))))
    return played, name, scripts_of(played)[name], draw(seeds)


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
    seats = {**SALE.opponents, "seller": SELLERS[seller], "buyer": ANY_PRICE[buyer]}
    assert episode(SALE, advance(SALE, seats, begin(SALE, seed))).payoffs["seller"] >= 0


@given(buyer_tasks, st.sampled_from([*OURS.values(), expert]), seeds)
def test_a_conceding_buyer_never_lowers_its_bid(played: Task, buyer: Policy, seed: int):
    deals: dict[int, list[float]] = {}
    for turn in rollout(played, buyer, seed).trajectory("buyer"):
        if isinstance(turn.action, Offer):
            deals.setdefault(len(turn.observation.table.past), []).append(turn.action.price)
    assert all(bids == sorted(bids) for bids in deals.values())


# The open market: bids stand, asks never rise, and what only words may tell stands in words


OPEN = get_task("bazaar/open")
HIDDEN = {field.name for field in fields(market.Stance)} - {"reservation", "deadline", "rounds"}
MARKET_TASKS = st.sampled_from([get_task(f"bazaar/{name}") for name in MARKETS])
BIDS = st.lists(st.floats(0.02, 1.0), min_size=1, max_size=12)
LINES = ("", *(buyer_line(act, 1200, 0.0) for act in ACTS))
WORDS = st.lists(st.sampled_from(LINES), min_size=1, max_size=4)


def bidder(bids, words=("",)):
    """A buyer that bids shares of its limit, each with some words, over and over."""

    def policy(obs, rng):
        price = max(1, int(bids[obs.round % len(bids)] * obs.budget))
        return Offer(price, words[obs.round % len(words)])

    return policy


@given(MARKET_TASKS, seeds, BIDS, WORDS)
def test_bids_stand_and_asks_never_rise(task, seed, bids, words):
    episode = rollout(task, bidder(bids, words), seed)
    table = episode.final.table
    (deal,) = table.past
    assert list(table.asks) == sorted(table.asks, reverse=True)
    assert all(ask > max(table.bids[:n], default=0) for n, ask in enumerate(table.asks))
    if deal.end is EndReason.AGREEMENT:
        assert deal.price == max(table.bids)
    assert not episode.turns[-1].error


@given(MARKET_TASKS, seeds, st.lists(st.floats(0.02, 1.0), min_size=12, max_size=12), WORDS)
def test_a_retreat_changes_nothing(task, seed, bids, words):
    rising = np.maximum.accumulate(bids).tolist()
    fell, held = (rollout(task, bidder(each, words), seed).final for each in (bids, rising))
    assert fell.table.past == held.table.past
    assert fell.table.asks == held.table.asks


@given(seeds, st.integers(1, 8), st.floats(-0.3, 0.5), st.floats(0, 0.99), st.floats(0, 0.2))
def test_a_better_bid_is_never_less_likely_to_be_taken(seed, t, mood, early, temper):
    s = begin(OPEN, seed).state.private["seller"]["stance"]
    bids = np.linspace(1, s.opening - 1, 60)
    least = market.threshold(s, t, market.ask_at(s, t, bids, early), mood)
    assert (np.diff((bids >= least).astype(int)) >= 0).all()
    walks = market.hazard(s, t, bids, 0.0, least, mood, temper)
    assert ((walks >= 0) & (walks <= 1)).all()
    assert (np.diff(walks) <= 1e-12).all()


@given(MARKET_TASKS, seeds, BIDS, WORDS)
def test_all_chance_is_drawn_at_reset(task, seed, bids, words):
    policy = bidder(bids, words)
    game = rollout(task, policy, seed)
    assert rollout(task, policy, seed).turns == game.turns
    for turn in game.trajectory("seller"):
        again = task.opponents["seller"](turn.observation, np.random.default_rng(seed + 1))
        assert again == turn.action


@given(MARKET_TASKS, seeds, WORDS)
def test_what_only_words_may_tell_is_in_no_field_that_a_buyer_sees(task, seed, words):
    game = rollout(task, bidder((0.2, 0.3, 0.4), words), seed)
    for turn in game.trajectory("buyer"):
        seen = turn.observation
        assert set(seen.own) == {"reservation", "discount", "purse", "deadline", "quote"}
        assert HIDDEN.isdisjoint({*seen.own, *seen.table._fields})
        assert not seen.table.seller_type
        assert all(made.tells is None for made in seen.table.moves)


@pytest.mark.parametrize("name", TYPES)
def test_each_type_is_moved_by_its_own_pitch_alone(name):
    kind = TYPES.index(name)
    gains = {act: float(market.effect(act, kind, 1, True, True)[0]) for act in market.MOODS}
    assert [act for act, gain in gains.items() if gain > 0] == [market.KEYS[name]]
    assert market.effect(market.KEYS[name], kind, 1, True, False)[0] < 0


def test_the_mute_market_hears_and_says_no_words():
    task = get_task("bazaar/mute")
    for seed in range(40):
        silent, spoken = (
            rollout(task, bidder((0.4, 0.6, 0.8), words), seed).final.table
            for words in (("",), LINES[1:])
        )
        assert (silent.asks, silent.past) == (spoken.asks, spoken.past)
        asked = [m.action for m in silent.moves if m.agent == "seller"]
        assert all(hear(a.message) == Speech() for a in asked if isinstance(a, Offer))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_a_buyer_is_read_as_its_act(language):
    for use in ("seen", "unseen"):
        for (family, act), options in phrases(language, use).items():
            for draw in np.linspace(0, 0.99, len(options)) if family == "buyer" else ():
                line = buyer_line(act, 1200, draw, language, use)
                for text in (line, f"₹450. {line}", f"{line} ₹450."):
                    assert act_in(text) == (act, 1200 if act == "outside" else 0), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_seen_phrase_of_a_seller_is_read_as_what_it_means(language):
    for (family, key), options in phrases(language, "seen").items():
        for draw in np.linspace(0, 0.99, len(options)):
            if family in ("time", "rival", "cost", "wear"):
                speech = Speech("firm", family, key, 96 if "#" in options[0] else 0, "swear")
                assert hear(say(speech, 122, None, draw, language, "seen")) == speech


TYPED = [(*row, price) for check, price in (("act", None), ("outside", 1200))
         for row in cases("typed_words.csv", check)]  # fmt: skip


@pytest.mark.parametrize(("text", "act", "price"), TYPED)
def test_what_people_type_is_read_and_the_price_of_another_shop_told_from_the_bid(text, act, price):
    read, named = act_in(json.loads(text))
    assert (read, named if price else None) == (act, price)


def test_an_item_s_name_beside_a_bid_is_no_act_unless_it_names_a_flaw():
    for item in CATALOGUE:
        for text in (f"450 for the {item.name}", f"{item.name}, 450 mein doge?"):
            assert act_in(text) == ("flaw" if "cracked" in item.name else "", 0)


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


def test_a_thousand_odd_texts_are_one_act_or_none_in_bounded_time():
    start = time.process_time()
    for text in odd_texts(1000):
        act, price = act_in(text)
        assert act in ("", *ACTS)
        assert price == 0 or act == "outside"
        hear(text)
    assert time.process_time() - start < 20  # a pattern that backtracks takes minutes


def test_odd_words_are_answered_as_the_plain_line_of_their_act_is():
    for seed, text in enumerate(odd_texts(300)):
        act, price = act_in(text)
        plain = buyer_line(act, price, 0.0) if act else ""
        odd, known = (
            rollout(OPEN, bidder((0.3, 0.4, 0.5), (words,)), seed).final.table
            for words in (text, plain)
        )
        assert (odd.asks, odd.bids, odd.past) == (known.asks, known.bids, known.past), text
        assert [m for m in odd.moves if m.agent == "seller"] == [
            m for m in known.moves if m.agent == "seller"
        ], text


# The published game: figures without error, and several buyers under seal


@pytest.mark.parametrize(("name", "buyer", "share", "grade"), cases("published_game.csv", "figure"))
def test_a_published_figure_without_error_comes_out_at_every_seed(name, buyer, share, grade):
    played = get_task(f"classic/{name}")
    for seed in range(30):
        final = rollout(played, get_policy(played, buyer), seed).final
        assert round(float(np.mean(shares(final, "buyer"))), 4) == float(share)
        assert round(played.grade(final), 4) == float(grade)


def test_every_full_ten_rupees_above_the_reservation_price_earn_one():
    assert [bonus(p, 1000, 780) for p in (789, 790, 799.5, 800, 900)] == [0, 1, 1, 2, 12]


SEALED = get_task("classic/marketplace_arena")
RULES = SEALED.env


def after(*moves: Any, seed: int = 0) -> MultiBuyerState:
    """The state after the seller asks 60 and these moves; a number is an ask or a bid."""
    state = RULES.step(begin(SEALED, seed).state, Offer(60))
    for each in moves:
        state = RULES.step(state, Offer(each) if isinstance(each, int | float) else each)
    return state


def sold(state: MultiBuyerState) -> tuple[str, float | None]:
    (deal,) = state.table.past
    return deal.buyer, deal.price


def test_the_best_bid_wins_and_pays_its_price():
    state = after(50, 40, 30, Accept())
    assert (sold(state), RULES.end(state)) == (("buyer", 50), EndReason.AGREEMENT)
    assert RULES.payoffs(state) == {"seller": 20, "buyer": 50, "rival_1": 0, "rival_2": 0}


def test_the_seller_must_ask_for_more_than_the_best_bid_of_the_round():
    state = after(50, 40, 30)
    with pytest.raises(IllegalAction, match="already bids ₹50"):
        RULES.step(state, Offer(50))
    assert RULES.step(after(50, 40, 30, 54, 20, 40, 30), Offer(45)).table.asks == (60, 54, 45)


def test_a_bid_shows_to_nobody_while_the_round_is_open():
    for watcher in ("rival_1", "rival_2", "seller"):
        views = [RULES.observe(after(*bids), watcher) for bids in ((), (50,), (WalkAway(),))]
        assert views[0] == views[1] == views[2]


def test_a_buyer_sees_how_often_its_rivals_bid_and_no_price():
    state = after(50.11, 40.22, 30.33, 54, 50.44, WalkAway(), 30.55)
    rivals = RULES.observe(state, "buyer").table.rivals
    assert [(r.name, r.active, r.bids) for r in rivals] == [
        ("rival_1", False, 1),
        ("rival_2", True, 2),
    ]
    seen = repr(RULES.observe(state, "buyer"))
    assert not any(price in seen for price in ("40.22", "30.33", "30.55"))


def test_a_buyer_learns_whether_it_was_outbid_once_the_round_closes():
    def outbid(state: MultiBuyerState) -> list[bool]:
        return [RULES.observe(state, buyer).table.outbid for buyer in BUYERS]

    assert outbid(after(20, 50)) == [False, False, False]
    assert outbid(after(20, 50, 50)) == [True, False, False]
    assert outbid(after(20, 50, 50, 54, 60, 50, 50)) == [False, True, True]


@pytest.mark.parametrize("name", CONTESTANTS)
def test_no_loser_of_a_played_market_holds_the_price_at_any_time(name: str):
    for seed in range(20):
        game = rollout(SEALED, CONTESTANTS[name], seed)
        winner, price = sold(game.final)
        for loser in set(BUYERS) - {winner}:
            own = game.final.private[loser]["bids"]
            last = RULES.observe(game.final, loser)
            for seen in [last, *(turn.observation for turn in game.trajectory(loser))]:
                assert all(deal.price is None for deal in seen.table.past)
                if price not in (*own, *game.final.table.asks):
                    assert price is None or repr(price) not in repr(seen)


def test_equal_bids_go_to_the_buyer_the_seller_likes_best():
    winners = set()
    for seed in range(30):
        state = after(40, 40, 40, Accept(), seed=seed)
        assert sold(state)[0] == state.private["seller"]["liking"][0]
        winners.add(sold(state)[0])
    assert winners == set(BUYERS)
