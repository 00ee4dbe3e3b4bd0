"""Prices of the past are told from offers, in three languages."""

import csv
from pathlib import Path

import pytest

from sauda.language import money
from sauda.language.stances import read

LABELLED = Path(money.__file__).parent
QUOTES = """
someone already offered me 5200 for it
the shop next door is selling the same thing for 400
I swear I saw this on another app for 900
I can get the same guitar for 1500 across the road
My cousin bought the exact same watch for 650 last week
Even my own cost is 600 madam
Sir at 400 I lose money already, cant go lower
Others pay 1300 without a word. Fixed price.
I saw your ad, it says 999
the dealer across town quoted 3400 for it
ek banda 8000 de raha tha, maine mana kar diya
bagal wali dukan pe yahi 250 me mil raha hai
amazon pe 1100 ka dikha raha hai yahi cheez
mere dost ne yehi 900 mein liya tha pichle hafte
mere bhai ko kal dealer ne 14000 bola tha
बगल वाली दुकान में यही 250 में मिल रहा है
मंडी में यही आलू 180 का बिक रहा है
लागत ही 520 है, कमाऊँगा क्या
सामने वाला शोरूम 4700 में दे रहा है
I've got another guy driving over at 4 to look at it, just so you know.
I'm already taking a big loss at 200, I paid way more than that.
im getting same thing on olx for 2200
bagal wali dukan pe 300 me mil raha hai
aap hi ne kaha tha ki last price 500 hai
सामने वाली दुकान में यही ढाई सौ का है
सौ-डेढ़ सौ में मिल जाएगा
sector 21 me gali no 3
The unit is 700 sq ft, second floor, laundry in the basement.
A lady offered me 45 for it an hour ago but I liked your message better.
एक और आदमी हज़ार देने को तैयार है
"""  # that name a price which nobody offers


def offered(text: str) -> float | None:
    """The price that `text` offers beside those of the past."""
    try:
        return money.price(read(text).offered)
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


def test_of_the_labelled_messages_only_those_that_offer_nothing_lose_their_price():
    lost = set()
    for sheet in ("labelled.csv", "labelled_blind.csv"):
        with (LABELLED / sheet).open(encoding="utf-8", newline="") as lines:
            texts = [row["text"] for row in csv.DictReader(lines)]
        lost |= {t for t in texts if money.find_price(t) is not None and offered(t) is None}
    assert lost == set(QUOTES.strip().splitlines())


def test_each_of_many_prices_of_the_past_is_blanked():
    text = "I paid 500, " * 150
    assert money.prices(read(text).offered) == ()
