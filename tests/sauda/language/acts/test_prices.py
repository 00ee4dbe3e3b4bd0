"""Amounts of a declared currency."""

import pytest

from sauda.language import money
from sauda.language.acts import DOLLARS, RUPEES, amounts, as_rupees, written


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I could do $1,250.", [(1250, True)]),
        ("1500$ at most", [(1500, True)]),
        ("how about 90 dollars", [(90, True)]),
        ("90 USD", [(90, True)]),
        ("would 90 do?", [(90, False)]),
        ("$1.5k or $1600", [(1500, True), (1600, True)]),
        ("it has 2 doors", []),
    ],
)
def test_dollars_are_found_in_a_text_that_declares_them(text, found):
    assert amounts(text, DOLLARS) == found


def test_a_dollar_stays_foreign_in_a_text_of_rupees():
    assert amounts("I could do $1,250.", RUPEES) == []
    with pytest.raises(ValueError, match="Prices are in rupees"):
        money.price("I could do $1,250.")


def test_the_text_keeps_its_length_and_the_places_of_its_numbers():
    text = "$90, 90 dollars, 1 dollar or 90 usd"
    assert as_rupees(text, DOLLARS) == "₹90, 90 rupees , 1 rupee  or 90 inr"
    assert len(as_rupees(text, DOLLARS)) == len(text)


def test_an_amount_is_written_in_its_currency():
    assert [written(1250, DOLLARS), written(12.5, DOLLARS)] == ["$1,250", "$12.50"]
    assert written(120000, RUPEES) == "₹1,20,000"


def test_an_unknown_currency_is_refused_by_name():
    with pytest.raises(ValueError, match="no currency 'EUR'; currencies are INR, USD"):
        amounts("90", "EUR")
