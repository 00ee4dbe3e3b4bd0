"""Prices as people type them: what counts, what does not, and what a visitor is told."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from env import rupees
from sauda.language import numerals
from sauda.language.money import (
    HIGHEST_PRICE,
    LONGEST_MESSAGE,
    Mention,
    find_price,
    price,
    prices,
)

WHOLE_PRICES = st.integers(1, 10_00_00_000)

DIGITS = [
    ("₹1,20,000", 120_000),
    ("Rs. 450/-", 450),
    ("rs450", 450),
    ("450rs", 450),
    ("450₹", 450),
    ("INR 1,200.50", 1_200.5),
    ("1.2 lakh", 120_000),
    ("1.15 lakh", 115_000),
    ("1.5k", 1_500),
    ("12 k", 12_000),
    ("12 hazaar", 12_000),
    ("5sau", 500),
    ("2 lakh 40 hazaar", 240_000),
    ("1 lakh 25 thousand 500", 125_500),
    ("2.5 cr", 25_000_000),
    ("1½ lakh", 150_000),
    ("2 point 5 lakh", 250_000),
    ("120,000", 120_000),
    ("12,34,567", 1_234_567),
    ("₹.50", 0.5),
    ("32 rupees 50 paise", 32.5),
    ("1e5", 100_000),
    ("４５０", 450),
    ("₹１，２００", 1_200),
    ("\u0664\u0665\u0660", 450),
    ("450.", 450),
    ("450/piece", 450),
    ("450 per kg", 450),
    ("450 kam hai", 450),
    ("450 way too high", 450),
    ("450 k liye", 450),
    ("32mein de do", 32),
    ("bhai 32 mein de do", 32),
    ("thoda kam karo, 39 pe finalize?", 39),
    ("can you do ₹450?", 450),
    ("can you do 3 thousand", 3_000),
    ("450 and I pay for 2 pieces", 450),
    ("12 works for me", 12),
    ("350 se upar ek paisa nahi dunga", 350),
    ("620 से एक पैसा कम नहीं", 620),
    ("1 rupee only", 1),
    ("450 after 2 days", 450),
    ("iPhone 13 for 40000", 40_000),
    ("450 ya 450", 450),
    ("₹500, yes 0.5k", 500),
    ("4k2", 4_200),
    ("18 so mein de do", 1_800),
    ("2.5L", 250_000),
    ("3lkh", 300_000),
    ("700ish", 700),
]
ENGLISH = [
    ("thirty two", 32),
    ("thirty-two", 32),
    ("four hundred and fifty", 450),
    ("four fifty", 450),
    ("twelve fifty", 1_250),
    ("one twenty five", 125),
    ("twelve hundred", 1_200),
    ("twelve thousand", 12_000),
    ("a hundred", 100),
    ("half a lakh", 50_000),
    ("two and a half thousand", 2_500),
    ("two hundred fifty thousand", 250_000),
    ("rupees four hundred only", 400),
    ("I'll take it for sixty", 60),
    ("six-fifty", 650),
    ("nine-ninety-nine", 999),
    ("three and a quarter thousand", 3_250),
    ("two grand", 2_000),
    ("a lakh and a half", 150_000),
]
HINGLISH = [
    ("pachaas", 50),
    ("pachpan le lo", 55),
    ("paanch sau", 500),
    ("panch sou", 500),
    ("do sau rupaye", 200),
    ("do hazaar paanch sau", 2_500),
    ("ek hajar do sau", 1_200),
    ("barah sau pachas", 1_250),
    ("saade teen hazaar", 3_500),
    ("sadhe saat sau", 750),
    ("dedh sau", 150),
    ("derh lakh", 150_000),
    ("dhai sau", 250),
    ("adhai hazar", 2_500),
    ("paune do sau", 175),
    ("paune sau", 75),
    ("sava sau", 125),
    ("sawa do sau", 225),
    ("hazaar mein de do", 1_000),
    ("sau rupaye", 100),
    ("sau mein de do", 100),
    ("do rupaye", 2),
    ("kar do paanch sau", 500),
    ("paanch sau do", 500),
    ("paanch sau do rupaye", 502),
    ("bata do teen sau", 300),
    ("saath rupaye", 60),
]
DEVANAGARI = [
    ("₹४५०", 450),
    ("रु. ४५०/-", 450),
    ("४५० रुपये", 450),
    ("५,००,०००", 500_000),
    ("पाँच सौ", 500),
    ("पांच सौ पचास रुपए", 550),
    ("ढाई सौ", 250),
    ("बारह सौ", 1_200),
    ("बत्तीस", 32),
    ("बत्तीस में दे दो", 32),
    ("सौ में दे दो", 100),
    ("साढ़े तीन हज़ार", 3_500),
    ("साढ़े तीन हज़ार", 3_500),
    ("डेढ़ लाख", 150_000),
    ("पौने दो सौ", 175),
    ("सवा सौ", 125),
    ("तीन लाख चालीस हजार", 340_000),
    ("पाँच सौ दे दो", 500),
]


@pytest.mark.parametrize(("text", "amount"), DIGITS + ENGLISH + HINGLISH + DEVANAGARI)
def test_a_price_is_read_as_a_person_would_read_it(text, amount):
    assert price(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        *("a few hundred", "a couple of thousand", "kuch hazaar", "a grand piano", "2L bottle"),
        *("glad to do so.", "98200 01800"),
        *("hello", "2 litre", "5 years old", "a 2-year-old bike", "90%", "100 percent original"),
        *("10 per cent", "10 din", "2 pieces", "2 aur log", "2-3 din", "two or three days"),
        *("3 other offers", "3 buyers", "3 log", "4 buttons missing", "12 of them", "6 feet"),
        *("1st", "2nd hand", "S23", "A4", "iPhone 13", "PS-5", "WH-1000XM4", "i5 8GB", "4K TV"),
        *("9876543210", "98765 43210", "+91 98765-43210", "555-555-5555", "5:30", "at 5 pm"),
        *("5 baje", "12/05/2024", "2024-05-12", "5 March", "since 2015", "bought in 2019"),
        *("2019 model", "a 2009 Toyota", "size 9", "9/10", "4.5/5", "24/7", "version 2.0.1", "#7"),
        *("$450", "50 dollars", "500 off", "500 kam karo", "500 rupees discount"),
        *(
            "ek rupya bhi kam nahi karunga",
            "not one rupee less",
            "एक पैसा कम नहीं",
            "aadhe mein de do",
        ),
        *("आधे में दे दो", "call me after 7", "before 11"),
        *("one", "one more", "no one", "a", "ek baar", "ek dam sahi", "do", "de do", "kar do na"),
        *("sau", "sau percent", "bees", "saath chalo", "dedh", "half price", "hundred times"),
        *("दो", "दे दो", "एक बार", "दो लोग", "५ साल", "१२ बजे", "10 किलो", "nan", "inf", "٪"),
    ],
)
def test_a_number_that_is_no_price_is_not_read(text):
    assert prices(text) == ()
    with pytest.raises(ValueError, match="Say one price in rupees, such as ₹450"):
        price(text)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("450 or 500", [450, 500]),
        ("450-500", [450, 500]),
        ("450 -500", [450, 500]),
        ("450rs-500rs", [450, 500]),
        ("₹450 ₹500", [450, 500]),
        ("60000-65000", [60_000, 65_000]),
        ("40,45,50", [40, 45, 50]),
        ("2-3 hazaar", [2_000, 3_000]),
        ("50 se 60k", [50_000, 60_000]),
        ("do teen sau", [200, 300]),
        ("sau do sau", [100, 200]),
        ("paanch sau chhe sau", [500, 600]),
        ("fifteen twenty", [15, 20]),
        ("ek lakh bees", [100_000, 20]),
        ("do hazaar 2 din mein", [2_000]),
        ("450 rs 2 din mein", [450]),
        ("₹54? I can do 32. Not lower.", [54, 32]),
        ("बारह सौ नहीं, हज़ार", [1_200, 1_000]),
    ],
)
def test_every_price_of_a_text_is_read_in_order(text, amounts):
    assert [mention.amount for mention in prices(text)] == amounts


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("Bhaiya, Rs. 450/- mein?", "Rs. 450/-"),
        ("nahi, do hazaar paanch sau.", "do hazaar paanch sau"),
        ("बस ढाई सौ रुपये दूंगा", "ढाई सौ रुपये"),
        ("ठीक, ₹ ４５０!", "₹ ４５０"),
        ("no: -₹50", "-₹50"),
    ],
)
def test_a_mention_says_where_its_price_stands(text, span):
    (mention,) = prices(text)
    assert text[mention.start : mention.end] == span


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Say one price in rupees, such as ₹450; the message is empty."),
        (" \n", "Say one price in rupees, such as ₹450; the message is empty."),
        ("hello", "Say one price in rupees, such as ₹450; I read none in “hello”."),
        ("450 or 500", "Say one price, such as ₹450; I read two: ₹450 and ₹500."),
        ("1 2 3", "Say one price, such as ₹450; I read three: ₹1, ₹2 and ₹3."),
        ("450 ya ₹-50", "Say one price, such as ₹450; I read two: ₹450 and −₹50."),
        ("-50", "Say a price above ₹0, such as ₹450; I read −₹50."),
        ("minus 50", "Say a price above ₹0, such as ₹450; I read −₹50."),
        ("₹-50", "Say a price above ₹0, such as ₹450; I read −₹50."),
        ("−₹1,200", "Say a price above ₹0, such as ₹450; I read −₹1,200."),
        ("-1e2", "Say a price above ₹0, such as ₹450; I read −₹100."),
        ("0", "Say a price above ₹0, such as ₹450; I read ₹0."),
        ("1e-9", "Say a price above ₹0, such as ₹450; I read ₹0."),
        ("1e308", "Say a price up to ₹10,00,00,000; I read “1e308”."),
        ("-1e999", "Say a price up to ₹10,00,00,000; I read “-1e999”."),
        ("11 crore", "Say a price up to ₹10,00,00,000; I read “11 crore”."),
        ("₹10,00,00,001", "Say a price up to ₹10,00,00,000; I read “₹10,00,00,001”."),
        ("₹" + "9" * 1_900, f"Say a price up to ₹10,00,00,000; I read “₹{'9' * 39}…”."),
        ("a" * 2_001, "Write at most 2,000 characters; this message has 2,001."),
    ],
)
def test_a_message_without_one_good_price_is_told_what_was_expected_and_what_came(text, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        price(text)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        *(("not 500, 450", 450), ("500 instead of 600", 500), ("scratch that 600, 550", 550)),
        *(("500, sorry, 450", 450), ("500... I mean 450", 450), ("make it 450, not 500", 450)),
        *(("I said 300 earlier, now I can do 350", 350), ("drop it from 500 to 450", 450)),
        *(("I typed 174 instead of 164", 164), ("600 is too much, I'll give 450", 450)),
        *(("pehle 500 bola, ab 450", 450), ("500 nahi bhai, 450", 450), ("500 ki jagah 450", 450)),
        *(("galti se 5000 likh diya, 500", 500), ("500 se 550 kar deta hu", 550)),
        *(("पाँच सौ नहीं, चार सौ", 400), ("मैंने 500 कहा था, 550 कर दूँगा", 550)),
        *(("why not 500?", 500), ("500 nahi chalega?", 500), ("500 nahi to rehne do", 500)),
        *(("500, no less", 500), ("not less than 500", 500), ("2 for 900", 900)),
        *(("900 for 2", 900), ("I said 800 earlier but now 850", 850)),
        *(("3 chairs for 1,200", 1_200), ("teen ke 600", 600), ("350 each", 350)),
        *(("all 4 for 2,400 final", 2_400), ("1200 for all 3", 1_200), ("1 20 000", 120_000)),
        *(("14 500", 14_500), ("₹ 1 250 only", 1_250), ("22\u00a0000 de dunga", 22_000)),
        *(("100 000", 100_000), ("iPhone 13 500 mein", 500), ("15kmein", 15_000)),
        *(("1500ko le jao", 1_500), ("500se kam nahi", 500)),
        *(("९००में", 900), ("450dunga", 450), ("<b>450</b> final", 450)),
        *(("{{name}}, 950", 950), ('32" TV, 8000', 8_000), ('"500"', 500)),
        *(("2019 model, 45000", 45_000), ("450 at most", 450)),
        *(("I'll reach at 5 with 700", 700), ("house no 14 pe aao, 1500", 1_500)),
        *(("there is a scratch, 666", 666), ("ok there is a small scratch so 666", 666)),
        *(("it has a scratch. 400", 400), ("scratch: 700", 700), ("scratch hai, 700", 700)),
        *(("a scratch that costs me 90", 90), ("small scratch 500", 500)),
        *(("no, scratch that 600, 550", 550), ("sorry scratch the 600, 550 ok", 550)),
        *(("scratch my 600, say 550", 550), ("900, scratch that, 850", 850)),
        *(("900 scratch that 850", 850), ("scratch that, 700", 700)),
        *(("450, it has a scratch that shows, 450 only", 450),),
        *(("2000 me dedo", 2_000), ("₹4,000, about $50", 4_000), ("10 sounds good", 10)),
    ],
)  # fmt: skip
def test_the_price_that_a_message_leaves_standing_is_read(text, amount):
    assert price(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        *("{{7*7}}", "hello ${price}", "{450}", "<img src=x onerror=alert(1)>", "<h2>15</h2>"),
        *("<script>alert(1)</script>", "' OR 1=1 --", "SELECT * FROM offers LIMIT 10;", "x = 1"),
        *("1; DROP TABLE offers", "https://a.in/item/450", "&lt;5&gt;", "2021 mein kharida tha"),
        *("2015 Honda City", "2020 मॉडल", '32" hai', "15.6” screen", "only <b>2</b> pieces left"),
        *(
            "3 wooden chairs",
            "5 kitabein hain",
            "6 mahine",
            "back in 5",
            "driven 30000",
            "covid 19",
        ),
        *("500 nahi dunga", "not 450", "not 450 or 500", "120 each for 5", "4 pieces, 300 each"),
        *("sector 18", "my pin is 110092", "flat no 302", "45000 se 50000", "do dhai hazaar"),
    ],
)
def test_numbers_of_something_else_are_no_offer(text):
    assert find_price(text) is None


@pytest.mark.parametrize(
    ("text", "amount"),
    [("$450", "$450"), ("50 dollars please", "50 dollars"), ("only USD 150", "USD 150"),
     ("€ 20.50", "€ 20.50"), ("I can do 80 AED", "80 AED"), ("४० डॉलर", "४० डॉलर")],
)  # fmt: skip
def test_another_currency_is_answered_with_what_was_read_and_what_to_write(text, amount):
    sentence = f"Prices are in rupees; I read “{amount}”. Say one price in rupees, such as ₹450."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        price(text)


@pytest.mark.parametrize("text", ["4-5k", "4k to 5k", "chaar paanch hazaar", "4-5 हज़ार"])
def test_a_range_in_thousands_is_answered_with_both_ends(text):
    sentence = "Say one price, such as ₹450; I read two: ₹4,000 and ₹5,000."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        price(text)


def test_a_price_for_each_of_several_is_asked_for_as_one():
    with pytest.raises(ValueError, match=r"one price for everything, .* I read ₹120 for each"):
        price("120 each, I need 5 pieces")


def test_a_huge_message_is_refused_with_its_length():
    with pytest.raises(ValueError, match="this message has 1,00,00,000"):
        price("₹1," * 3_333_333 + "₹")


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n", "hello", "nahi bhai", "🙏", "a" * 2_001),
        *("I'm 45", "I am 45.", "age 45", "aged 30", "umar 60", "मेरी उम्र ४५ है", "45 saal"),
        *("25 years old", "मैं ४५ साल का हूँ", "my mother is 60 years"),
        *("9876543210", "call 98765 43210", "+91 98765-43210", "022-23456789", "022 2345 6789"),
        *("size 42", "XL 42 size chahiye", "42 inch", "5.5 feet", "6 ft", "साइज़ 9 number"),
        *("3 pieces", "do kilo", "paanch log", "दो लोग", "2-3 din", "4 buttons missing", "2 bhk"),
        *("12/05/2024", "5 March", "5:30", "7 baje", "bought in 2019", "born 1985"),
        *("10%", "99.9%", "fifty percent", "बीस प्रतिशत", "500 off", "500 kam karo"),
        *("100 kB", "100kB", "64 GB", "PIN code 560034", "pincode 110001", "otp 4521", "room 12"),
        *("450 or 500", "2-3 hazaar", "do teen sau", "₹54? I can do 32.", "9 out of 10"),
        *("1.2e15", "1e400", "₹10,00,00,001", "-50", "minus sau rupaye", "0", "₹0.49", "$450"),
    ],
)
def test_where_no_single_price_is_meant_none_is_found(text):
    assert find_price(text) is None


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,20,000", 120_000),
        ("50k", 50_000),
        ("1.2 lakh", 120_000),
        ("dhai hazaar", 2_500),
        ("saadhe teen sau", 350),
        ("sava lakh", 125_000),
        ("dedh sau rupaye", 150),
        ("सवा सौ", 125),
        ("साढ़े तीन सौ में दे दो", 350),
        ("४५०", 450),
        ("१,२०,०००", 120_000),
        ("I am at 45", 45),
        ("I'm 45 final", 45),
        ("mobile 9876543210, 500 dunga", 500),
        ("main 25 saal ka hoon, 300 dunga", 300),
        ("2 pieces, 900 for both", 900),
        ("bought in 2019 for 40,000", 40_000),
        ("450.49", 450),
        ("₹32.50", 33),
        ("₹0.50", 1),
    ],
)
def test_the_one_price_is_found_in_whole_rupees(text, amount):
    assert (find_price(text), type(find_price(text))) == (amount, int)


@given(st.text(st.characters() | st.sampled_from("0123456789₹-.,ek/% "), max_size=200))
def test_any_text_is_a_whole_price_or_none(text):
    amount = find_price(text)
    assert amount is None or 0 < amount <= HIGHEST_PRICE


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "9",
            "1,",
            "1.1",
            "1e",
            "1e9",
            "2-3-",
            "1/",
            "5k ",
            "k ",
            "- ",
            "-",
            "₹-",
            "rs. ",
            "rs.  ",
        ),
        *("hundred ", "lakh half ", "lakh hazaar sau ek ", "do ya ", "one and a half ", "thirty-"),
        *("<", "<a ", "{", "{{", "alert(", "select a ", "1 2", "1 000 ", "not 5 ", "&lt;", '5"'),
        *("point 5 ", "A-1", "+91 ", "5½", "a", "क़", "ः", "\u200d", "ﷺ", " ", "\n", "per cent"),
    ],
)
def test_a_hostile_message_is_read_to_its_end(piece):
    text = (piece * LONGEST_MESSAGE)[:LONGEST_MESSAGE]
    assert all(0 <= mention.start < mention.end <= len(text) for mention in prices(text))


@given(st.text(st.characters() | st.sampled_from("0123456789₹-.,ek/% "), max_size=200))
def test_any_text_gets_a_price_or_a_refusal(text):
    try:
        amount = price(text)
    except ValueError:
        return
    assert 0 < amount <= HIGHEST_PRICE


@given(st.text(st.sampled_from("0123456789₹-.,ek/% दोsau"), max_size=60))
def test_mentions_are_ordered_and_lie_within_the_text(text):
    ends = [0]
    for mention in prices(text):
        assert isinstance(mention, Mention)
        assert ends[-1] <= mention.start < mention.end <= len(text)
        ends.append(mention.end)


@given(WHOLE_PRICES)
def test_a_whole_price_reads_back_as_it_was_written(amount):
    assert price(rupees(amount)) == amount
    assert price(f"{amount}") == amount
    assert price(f"{amount:,}") == amount
    assert price(f"{float(amount)}") == amount


@given(st.integers(1, 10_00_00_000))
def test_a_price_with_paise_reads_back_as_it_was_written(paise):
    assert price(rupees(paise / 100)) == paise / 100


HINDI = [names.split("/")[0] for names in numerals.ROMAN.split()]
DEVANAGARI_WORDS = [names.split("/")[0] for names in numerals.DEVANAGARI.split()]
ENGLISH_ONES = numerals.ONES.split()
ENGLISH_TENS = [names.split("/")[0] for names in numerals.TENS.split()]
ENGLISH_WORDS = ENGLISH_ONES + [
    tens if ones == "zero" else f"{tens} {ones}"
    for tens in ENGLISH_TENS
    for ones in ENGLISH_ONES[:10]
]


@pytest.mark.parametrize(
    ("below_hundred", "multipliers", "currency"),
    [
        (ENGLISH_WORDS, ("crore", "lakh", "thousand", "hundred"), "rupees"),
        (HINDI, ("crore", "lakh", "hazaar", "sau"), "rupaye"),
        (DEVANAGARI_WORDS, ("करोड़", "लाख", "हज़ार", "सौ"), "रुपये"),
    ],
)
@given(amount=WHOLE_PRICES)
def test_a_price_in_words_reads_as_its_amount(below_hundred, multipliers, currency, amount):
    assume(not 0 < amount % 100_000 < 100 or amount < 100_000)  # "ek lakh bees" is refused
    number_words, rest = [], amount
    for multiplier, worth in zip(multipliers, (10_000_000, 100_000, 1_000, 100), strict=True):
        times, rest = divmod(rest, worth)
        number_words += [below_hundred[times], multiplier] if times else []
    number_words += [below_hundred[rest]] if rest else []
    assert price(" ".join([*number_words, currency])) == amount


def test_every_number_below_a_hundred_has_its_words():
    assert len(HINDI) == len(DEVANAGARI_WORDS) == len(ENGLISH_WORDS) == 100
    for words in (HINDI, DEVANAGARI_WORDS, ENGLISH_WORDS):
        assert [price(f"₹{word}") for word in words[1:]] == list(range(1, 100))


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "₹0"),
        (999, "₹999"),
        (1_000, "₹1,000"),
        (120_000, "₹1,20,000"),
        (10_00_00_000, "₹10,00,00,000"),
        (31.5, "₹31.50"),
        (0.999, "₹1"),
        (-500, "−₹500"),
        (-31.25, "−₹31.25"),
        (-0.001, "₹0"),
    ],
)
def test_rupees_are_written_the_indian_way(amount, text):
    assert rupees(amount) == text


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), float("-inf")])
def test_rupees_refuses_what_is_no_amount(amount):
    with pytest.raises(ValueError, match="expected a finite amount"):
        rupees(amount)
