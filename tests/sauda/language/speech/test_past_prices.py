"""Prices of the past are told from offers, in three languages."""

import csv
from pathlib import Path

import pytest

from sauda.language import money
from sauda.language.speech.past_prices import without_past_prices

LABELLED = Path(money.__file__).parent


def offered(text: str) -> float | None:
    """The price that `text` offers beside those of the past."""
    try:
        return money.price(without_past_prices(text))
    except ValueError:
        return None


@pytest.mark.parametrize(
    "texts",
    [
        "I paid 10800 for it last year|paid Rs. 500 for this|500 was what I paid|500 last year",
        "I bought it for 500|bought this lamp for 900 rupees|I got it for 500|it was 500 new",
        "it cost me nine hundred|it usually sells for ₹900|I have sold one for 500",
        "500 mein khareeda tha|maine ye 500 rupaye mein naya liya tha|khareeda tha 500 mein",
        "500 ka tha|paanch sau diye the|amazon pe 500 mein milta hai",
        "500 में ख़रीदा था|500 का लिया था|मैंने 500 में खरीदा था|पाँच सौ में लिया था",
    ],
)
def test_a_price_of_the_past_is_no_offer(texts):
    for text in texts.split("|"):
        assert offered(text) is None, text


@pytest.mark.parametrize(
    ("price", "texts"),
    [
        (500, "I'll pay 500|I want to get paid 500|what if I paid 500?|I got 500|sold for 500"),
        (500, "I will take it for 500|my price was 500|the last price is 500|500 for it"),
        (500, "500 mein de do|500 milega?|500 mein le lo|500 do maine naya liya tha|500 लीजिए"),
        (
            500,
            "I paid 800, give me 500|500 because I paid 300|it cost me 900 but I give it for 500",
        ),
        (500, "800 mein liya tha 500 de do|500 do, 800 mein liya tha|800 में लिया था, 500 दीजिए"),
    ],
)
def test_an_offer_is_read_beside_a_price_of_the_past(price, texts):
    for text in texts.split("|"):
        assert offered(text) == price, text


def test_of_the_labelled_messages_only_one_that_tells_of_a_purchase_loses_its_price():
    changed = set()
    for sheet in ("labelled.csv", "labelled_blind.csv"):
        with (LABELLED / sheet).open(encoding="utf-8", newline="") as lines:
            texts = [row["text"] for row in csv.DictReader(lines)]
        changed |= {text for text in texts if without_past_prices(text) != text}
    assert changed == {"mere dost ne yehi 900 mein liya tha pichle hafte"}


def test_each_of_many_prices_of_the_past_is_blanked():
    text = "I paid 500, " * 150
    assert money.prices(without_past_prices(text)) == ()
