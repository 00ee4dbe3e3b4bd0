"""The extras that a bid asks for are read in what people type."""

import pytest

from sauda.language.extras import extras_in

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
