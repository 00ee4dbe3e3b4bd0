"""Acts put into words, which are read back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import Accept, IllegalAction, Offer, WalkAway, begin, get_task, move
from sauda.language.acts import (
    INTENTS,
    RUPEES,
    TALK,
    Act,
    Context,
    act_of,
    context_of,
    move_of,
    parse,
    realised,
    talked,
)
from sauda.language.lines import LINES
from sauda.language.spoken import Decided

TASK = get_task("bazaar/open")
ASK, BID = 400, 200
STARTED = move(TASK, move(TASK, begin(TASK, 3), Offer(ASK)), Offer(BID))  # the seller is next
TABLE = STARTED.state.table
GAME = context_of(TABLE, "seller")
FACTS = {"item": "brass lamp", "condition": "very good"}


@pytest.mark.parametrize(
    ("action", "act"),
    [
        (Offer(ASK), f"insist({ASK})"),
        (Offer(ASK - 1), f"counter-price({ASK - 1})"),
        (Offer(BID), f"offer({BID})"),
        (Accept(), f"accept({BID})"),
        (WalkAway(), "reject"),
    ],
)
def test_a_move_is_an_act_and_the_act_is_that_move(action, act):
    assert str(act_of(action, GAME)) == act
    assert move_of(act_of(action, GAME)) == action


def test_the_first_price_on_the_table_is_an_init_price():
    fresh = begin(TASK, 3).state.table
    assert str(act_of(Offer(300), context_of(fresh, "seller"))) == "init-price(300)"


@pytest.mark.parametrize("language", LINES)
@pytest.mark.parametrize("agent", ["buyer", "seller"])
@given(price=st.integers(1, 10**7), seed=st.integers(0, 2**32 - 1))
def test_what_is_said_is_read_as_what_was_meant(language, agent, price, seed):
    context = context_of(TABLE, agent)
    for action in (Offer(price), Accept(), WalkAway()):
        act = act_of(action, context)
        text = realised(act, context, Decided(TABLE, agent, action, language), seed)
        assert parse(text, context) == act
        assert move_of(parse(text, context), text) == replace(action, message=text)


def test_paise_survive_the_words():
    act = act_of(Offer(31.5), GAME)
    text = realised(act, GAME, Decided(TABLE, "seller", Offer(31.5)), 0)
    assert parse(text, GAME).price == 31.5


def test_lines_of_the_speaker_are_said_and_not_only_plain_ones():
    decided = Decided(TABLE, "seller", Offer(350))
    said = {realised(act_of(Offer(350), GAME), GAME, decided, seed) for seed in range(40)}
    assert len(said) > 3
    assert "₹350." not in said


def test_a_price_that_nobody_reads_is_refused():
    huge = Offer(10**10)
    with pytest.raises(IllegalAction, match="no words for counter-price"):
        realised(act_of(huge, GAME), GAME, Decided(TABLE, "seller", huge), 0)


@pytest.mark.parametrize("intent", TALK)
def test_talk_is_read_as_its_act(intent):
    context = Context(
        "buyer", 500.0, first=intent == "intro", asked=intent == "inform", currency=RUPEES,
        has_buttons=True,
    )  # fmt: skip
    for seed in range(5):
        text = talked(Act(intent), context, FACTS, seed)
        assert parse(text, context) == Act(intent)


def test_talk_without_words_is_refused():
    with pytest.raises(ValueError, match="no words for inform here"):
        talked(Act("inform"), GAME, FACTS, 0)  # nobody asked


def test_every_act_is_said_or_pressed():
    said = {"init-price", "counter-price", "insist", "offer", "accept", "reject", "quit"}
    assert said | set(TALK) == set(INTENTS)


def test_talk_makes_no_move():
    with pytest.raises(IllegalAction, match="inquire makes no move"):
        move_of(Act("inquire"))


def test_an_object_that_is_no_move_has_no_act():
    with pytest.raises(IllegalAction, match="expected an Offer"):
        act_of("₹400", GAME)
