"""Small talk is recognised, and answered from public facts alone."""

import re

import pytest

from env import Item, Table
from sauda.language import money
from sauda.language.lines import ANSWERS
from sauda.language.money import prices
from sauda.language.phrases import language_of
from sauda.language.small_talk import answer_to, small_talk
from sauda.language.stances import read_stances
from tests.support.cases import each

LAMP = Item("brass oil lamp", "Handicrafts and decor", "like_new", 900)
OPENED = Table(LAMP, 8, 1, 0, asks=(950.0,), bids=(300.0,))
SEATS = ("buyer", "seller")


@each("talk.csv", "kind")
def test_the_kind_of_talk_is_recognised(text, expect):
    assert small_talk(text, OPENED, "seller") == expect


@each("talk.csv", "language")
def test_number_words_tell_the_language_and_digits_tell_none(text, expect):
    assert language_of(text) == expect


@each("talk.csv", "past")
def test_a_price_of_the_past_is_told_from_an_offer(text, expect):
    if expect:
        assert money.price(read_stances(text).offered) == float(expect)
    else:
        with pytest.raises(ValueError, match="Say"):
            money.price(read_stances(text).offered)


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.parametrize("seat", SEATS)
def test_an_answer_names_public_prices_alone_and_asks_for_one(language, seat):
    public = {LAMP.list_price, 10 * LAMP.list_price, OPENED.asks[-1], OPENED.bids[-1], 0}
    for kind in [*ANSWERS[language]["both"], *ANSWERS[language][seat]]:
        for seed in range(5):
            text = answer_to(kind, OPENED, seat, language, (), seed)
            assert {mention.amount for mention in prices(text)} <= public, text
            assert not re.search(r"[{}#]", text)
            if language == "hi":
                assert not re.search(r"[A-Za-z]", text)


@pytest.mark.parametrize("language", ANSWERS)
@pytest.mark.parametrize("seat", SEATS)
def test_an_answer_that_must_come_again_is_the_one_said_longest_ago(language, seat):
    for kind in [*ANSWERS[language]["both"], *ANSWERS[language][seat]]:
        said: list[str] = []
        for seed in range(40):
            said.append(answer_to(kind, OPENED, seat, language, said, seed))
        several = len(set(said))
        assert several > 1, kind
        assert all(len(set(said[i : i + several])) == several for i in range(40 - several)), kind
