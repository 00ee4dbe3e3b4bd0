"""Two hidden buyers before one seller, recorded or live."""

import pytest

from env import IllegalAction
from sauda.llm.types import Reply
from sauda.sessions.spot import answer_duel, ask_both, live_duel, make_guess, without_open_ask


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


def test_nothing_can_be_guessed_before_both_have_answered(live):
    for duel in (live, ask_both(live, live.item.list_price)):
        assert not duel.can_guess
        with pytest.raises(IllegalAction, match="nothing to guess"):
            make_guess(duel, 0)


def test_an_ask_without_all_its_answers_can_be_taken_back(live):
    price = live.item.list_price
    first = asked(live, price, '{"offer":40}', '{"offer":41}')
    one = answer_duel(ask_both(first, price - 1), 0, says('{"offer":42}'))
    assert asks(without_open_ask(one)) == asks(first)
    assert without_open_ask(one).has_more
    assert without_open_ask(first) == first
