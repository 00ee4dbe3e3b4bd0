"""Two hidden buyers before one seller, recorded or live."""

import pytest

from env import IllegalAction
from sauda.llm.types import Reply
from sauda.sessions.spot import (
    answer_duel,
    ask_both,
    live_duel,
    make_guess,
    propose_to_both,
    without_open_ask,
)


def says(text):
    """A model that replies with `text` to everything."""
    return lambda messages, seed, schema=None: Reply(text, "canned", 9, "stop")


def asked(duel, price, *texts):
    """The duel after an ask and an answer of each side that is there."""
    duel = ask_both(duel, price)
    for number in duel.waiting:
        duel = answer_duel(duel, number, says(texts[number]))
    return duel


@pytest.fixture
def live():
    return live_duel(("mini", "sauda-mini"), 7)


def asks(duel):
    return [[turn.action.price for turn, *_ in side.exchanges()] for side in duel.sides]


def test_both_buyers_hear_the_same_ask_and_answer_it(live):
    price = live.item.list_price
    duel = asked(live, price, '{"offer":40}', '{"offer":60}')
    assert asks(duel) == [[price], [price]]
    (first,), (second,) = (side.exchanges() for side in duel.sides)
    assert first[1].action.price < second[1].action.price
    assert duel.has_more
    assert duel.can_guess


def test_nothing_can_be_guessed_before_both_have_answered(live):
    for duel in (live, ask_both(live, live.item.list_price)):
        assert not duel.can_guess
        with pytest.raises(IllegalAction, match="nothing to guess"):
            make_guess(duel, 0)


def test_an_ask_that_may_be_a_slip_is_heard_by_nobody_until_it_is_repeated(live):
    below = int(live.games[0].observation.reservation) - 1
    doubted = propose_to_both(live, below)
    assert (doubted.unconfirmed, doubted.waiting) == (below, ())
    again = propose_to_both(doubted, below)
    assert again.waiting == (0, 1)
    assert again.unconfirmed is None
    assert propose_to_both(doubted, live.item.list_price).waiting == (0, 1)


def test_an_ask_without_all_its_answers_can_be_taken_back(live):
    price = live.item.list_price
    first = asked(live, price, '{"offer":40}', '{"offer":41}')
    one = answer_duel(ask_both(first, price - 1), 0, says('{"offer":42}'))
    assert asks(without_open_ask(one)) == asks(first)
    assert without_open_ask(one).has_more
    assert without_open_ask(first) == first
