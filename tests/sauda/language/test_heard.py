"""The one reading of a person's text, in both seats."""

import pytest

from env import Item, Table
from sauda.language.heard import Heard, extras_in

LAMP = Item("brass oil lamp", "Handicrafts and decor", "like_new", 900)
SEEN = Table(LAMP, 8, 1, 0, asks=(950.0, 800.0), bids=(300.0,), extras=("delivery", "warranty"))


@pytest.mark.parametrize(
    ("text", "hearer", "price", "closing", "act"),
    [
        ("450", "seller", 450, "", ""),
        ("The other shop sells it for 700. I can do 600", "seller", 600, "", "outside"),
        ("800 is too much", "seller", None, "", ""),
        ("deal", "seller", None, "accept", ""),
        ("deal", "buyer", None, "accept", ""),
        ("pakka, 300", "buyer", 300, "accept", ""),
        ("alvida", "buyer", None, "leave", ""),
        ("Rs.5oo", "seller", None, "", ""),
        ("What did you pay for it?", "seller", None, "", "ask_cost"),
    ],
)
def test_a_text_is_a_price_or_a_closing_or_talk(text, hearer, price, closing, act):
    heard = Heard(text, SEEN, hearer)
    assert (heard.price, heard.closing, heard.act) == (price, closing, act)
    assert heard.price is not None or heard.talk


def test_a_price_by_another_one_takes_none_that_stands():
    heard = Heard("10 % off and it is a deal", SEEN, "seller")
    assert heard.relative.price(SEEN, "buyer") == 720
    assert heard.price is None
    assert heard.closing == ""


def test_extras_belong_to_tables_that_have_them():
    text = "600 with delivery. What does a warranty cost you?"
    assert Heard(text, SEEN, "seller").extras() == {"delivery"}
    assert Heard(text, SEEN._replace(extras=()), "seller").extras() == set()
    assert Heard("Is the warranty expensive for you?", SEEN, "seller").asks_cost


def test_the_language_is_that_of_the_words():
    languages = [Heard(text, SEEN, "seller").language for text in ("450", "teen sau do", "fine")]
    assert languages == ["", "hinglish", "en"]


FIRST, AFTER_TWO = (), ("delivery", "warranty")  # what the last bid held


@pytest.mark.parametrize(
    ("held", "text", "extras"),
    [
        (FIRST, "600 with delivery", "delivery"),
        (FIRST, "700, delivery ke saath", "delivery"),
        (FIRST, "600, डिलीवरी के साथ", "delivery"),
        (FIRST, "650 with delivery and a guarantee", "delivery warranty"),
        (FIRST, "₹650 mein warranty bhi do", "warranty"),
        (FIRST, "I'll pay you next month, 700", "later"),
        (FIRST, "700 udhaar mein", "later"),
        (FIRST, "What does delivery cost you? 600", ""),
        (FIRST, "warranty ka kya lagta hai? 600", ""),
        (FIRST, "700, no warranty or delivery", ""),
        (FIRST, "640", ""),
        (AFTER_TWO, "640", "delivery warranty"),
        (AFTER_TWO, "640 with delivery", "delivery"),
        (AFTER_TWO, "640 and pay later too", "delivery warranty later"),
        (AFTER_TWO, "640, udhaar bhi", "delivery warranty later"),
        (AFTER_TWO, "640 without delivery", "warranty"),
        (AFTER_TWO, "delivery nahi chahiye, 640", "warranty"),
        (AFTER_TWO, "640 बिना वारंटी", "delivery"),
        (AFTER_TWO, "no delivery, but pay later, 640", "warranty later"),
    ],
)
def test_a_bid_asks_for_what_it_names_and_else_for_what_the_last_one_held(held, text, extras):
    assert extras_in(text, held) == set(extras.split())
