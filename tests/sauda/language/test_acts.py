"""The price in a line is the price of the move it goes with, for every line there is."""

import re

import pytest

from env import CATALOGUE, Accept, Offer, WalkAway, rupees
from sauda.language.acts import LINES, line
from sauda.language.money import price as price_in

PRICES = (1, 31.5, 450, 1090, 120000)
NUMBERS = range(2 * max(len(lines) for seat in LINES.values() for lines in seat.values()))

every_seat = pytest.mark.parametrize("seat", LINES)
every_price = pytest.mark.parametrize("amount", PRICES)


@every_seat
@every_price
def test_an_offer_is_worded_with_its_own_price_and_no_other(seat: str, amount: float):
    for number in NUMBERS:
        words = line(Offer(amount), seat, 999, "brass oil lamp", number)
        assert price_in(words) == amount, words
        assert re.findall(r"₹[\d,.]*\d", words) == [rupees(amount)]


@every_seat
@every_price
def test_an_acceptance_is_worded_with_the_other_sides_price(seat: str, amount: float):
    for number in NUMBERS:
        words = line(Accept(), seat, amount, "brass oil lamp", number)
        assert price_in(words) == amount, words


@every_seat
def test_leaving_names_no_price(seat: str):
    for number in NUMBERS:
        words = line(WalkAway(), seat, 450, "brass oil lamp", number)
        assert words in LINES[seat]["walk"]
        assert not re.search(r"\d|₹", words)


@every_seat
def test_every_line_comes_up(seat: str):
    for kind, action in (("more", Offer(450)), ("accept", Accept()), ("walk", WalkAway())):
        words = {line(action, seat, 450, "lamp", number) for number in range(1, 1 + len(NUMBERS))}
        assert len(words) == len(LINES[seat][kind])


def test_a_seller_opens_with_the_price_and_the_name_of_every_item():
    for item in CATALOGUE:
        words = line(Offer(item.list_price), "seller", None, item.name, 0)
        assert rupees(item.list_price) in words
        assert item.name in words


def test_a_rival_speaks_as_a_buyer():
    assert line(Offer(450), "rival_1", 999, "lamp", 0) == line(Offer(450), "buyer", 999, "lamp", 0)


def test_an_offer_whose_own_words_name_no_price_is_told_with_it():
    assert line(Offer(450, "theek hai?"), "buyer", 450, "lamp", 3) == "₹450: theek hai?"


@pytest.mark.parametrize("action", [Offer(450, "mine, ₹450"), Accept("mine"), WalkAway("mine")])
def test_a_move_that_brings_its_own_words_keeps_them(action):
    assert line(action, "buyer", 450, "lamp", 3) == action.message
