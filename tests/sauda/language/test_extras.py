"""The extras that a bid asks for are read in what people type."""

import pytest

from sauda.language.extras import extras_in

ASKED = {
    "600 with delivery": "delivery",
    "700, delivery ke saath": "delivery",
    "600, डिलीवरी के साथ": "delivery",
    "650 with delivery and a guarantee": "delivery warranty",
    "₹650 mein warranty bhi do": "warranty",
    "I'll pay you next month, 700": "later",
    "700 udhaar mein": "later",
    "What does delivery cost you? 600": "",
    "warranty ka kya lagta hai? 600": "",
    "700, no warranty or delivery": "",
    "640": "",
}


@pytest.mark.parametrize(("text", "extras"), ASKED.items())
def test_a_bid_asks_for_what_it_names(text, extras):
    assert extras_in(text) == set(extras.split())


@pytest.mark.parametrize(
    ("text", "extras"),
    [
        ("640", "delivery warranty"),
        ("640 with delivery", "delivery"),
        ("640 and pay later too", "delivery warranty later"),
        ("640, udhaar bhi", "delivery warranty later"),
        ("640 without delivery", "warranty"),
        ("delivery nahi chahiye, 640", "warranty"),
        ("640 बिना वारंटी", "delivery"),
        ("no delivery, but pay later, 640", "warranty later"),
    ],
)
def test_what_the_last_bid_held_stays_where_no_other_extras_are_named(text, extras):
    assert extras_in(text, ["delivery", "warranty"]) == set(extras.split())
