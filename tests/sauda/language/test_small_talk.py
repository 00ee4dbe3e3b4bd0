"""Prices and talk as people type them: what is read in both seats, how fast, what is answered."""

import re
from contextlib import suppress
from time import process_time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from env import Item, Table, rupees
from env.arena.pitch import claims
from env.core import read_rows
from env.language import money, numerals
from env.language.money import HIGHEST_PRICE, find_price, price, prices, without_code
from sauda.language import phrases, stances, tells
from sauda.language.acts import Context, parse_act
from sauda.language.heard import Heard, extras_in
from sauda.language.lines import ANSWERS
from sauda.language.phrases import language_of
from sauda.language.small_talk import answer_to, kind_of_talk, read_closing, slip, small_talk
from sauda.language.stances import read_stances
from sauda.sessions.bazaar import start
from tests.support.arena_games import market
from tests.support.cases import each, rows

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
            assert language != "hi" or not re.search(r"[A-Za-z]", text)
        said: list[str] = []  # what must come again is what was said longest ago
        for seed in range(40):
            said.append(answer_to(kind, OPENED, seat, language, said, seed))
        several = len(set(said))
        assert several > 1, kind
        assert all(len(set(said[i : i + several])) == several for i in range(40 - several)), kind


ANY_TEXT = st.text(st.characters() | st.sampled_from("0123456789₹-.,ek/% "), max_size=200)
WHOLE_PRICES = st.integers(1, 10_00_00_000)


@each("money.csv", "price")
def test_a_price_is_read_as_a_person_would_read_it(text, expect):
    assert price(text) == float(expect)


@each("money.csv", "prices")
def test_every_price_of_a_text_is_read_in_order(text, expect):
    assert [mention.amount for mention in prices(text)] == [float(x) for x in expect.split()]


@each("money.csv", "refused")
def test_a_message_without_one_good_price_is_told_what_was_read(text, expect):
    with pytest.raises(ValueError, match=re.escape(expect)):
        price(text)


@each("money.csv", "found")
def test_the_one_price_that_is_meant_is_found_in_whole_rupees(text, expect):
    assert repr(find_price(text)) == (expect or "None")


def test_a_huge_message_is_refused_with_its_length():
    with pytest.raises(ValueError, match="this message has 1,00,00,000"):
        price("₹1," * 3_333_333 + "₹")


@given(ANY_TEXT)
def test_any_text_is_a_whole_price_or_none_and_a_price_or_a_refusal(text):
    amount = find_price(text)
    assert amount is None or 0 < amount <= HIGHEST_PRICE
    with suppress(ValueError):
        assert 0 < price(text) <= HIGHEST_PRICE


@given(WHOLE_PRICES)
def test_a_price_reads_back_as_it_was_written(amount):
    for text in (rupees(amount), f"{amount}", f"{amount:,}", f"{float(amount)}"):
        assert price(text) == amount
    assert price(rupees(amount / 100)) == amount / 100


def number_words(kind: str) -> list[str]:
    """The usual word of each number of a kind, in order."""
    rows = read_rows("language/number_words.csv")
    return [row["words"].split()[0] for row in rows if row["kind"] == kind]


HINDI, DEVANAGARI = number_words("hindi")[:100], number_words("hindi")[100:]
ONES, TENS = number_words("english")[:20], number_words("english")[20:]
ENGLISH = ONES + [
    tens if ones == "zero" else f"{tens} {ones}" for tens in TENS for ones in ONES[:10]
]


@pytest.mark.parametrize(
    ("below_hundred", "multipliers", "currency"),
    [
        (ENGLISH, ("crore", "lakh", "thousand", "hundred"), "rupees"),
        (HINDI, ("crore", "lakh", "hazaar", "sau"), "rupaye"),
        (DEVANAGARI, ("करोड़", "लाख", "हज़ार", "सौ"), "रुपये"),
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


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "₹0"), (999, "₹999"), (120_000, "₹1,20,000"), (31.5, "₹31.50"), (0.999, "₹1"),
     (-31.25, "−₹31.25"), (-0.001, "₹0")],
)  # fmt: skip
def test_rupees_are_written_the_indian_way(amount, text):
    assert rupees(amount) == text


# The time of a reader -----------------------------------------------------------------------------

SHORT, TIMES = 250, 16
MOST = 80  # between 16 and 256: what looks ahead a bounded way takes more at first
UNITS = (
    *("12 ", "1 000 ", "1,", "1-", "half and a ", "ek lakh ", "&lt;", "<%", "{", "a(", "select a "),
    *("a.b@", "1;", "not 500 ", "I paid 500, ", "if it were 500 ", "200 more ", "if he said ", '"'),
    *("deal, ", "ok ", "that price ", "pakka ", "if ", "theek hai, ", "are you ", "x. "),
)


TABLE = start("classic/single_deal", "", 5).observation.table
CONTEXT, GAME = Context("buyer", 500.0), market([], {}).market
READERS = {
    "tokens": numerals.tokenize,
    "prices": money.prices,
    "code": without_code,
    "lexicon": lambda text: list(tells.LEXICON.places(phrases.words(text))),
    "tells": tells.read,
    "stances": stances.read_stances.__wrapped__,
    "relative": stances.relative.__wrapped__,
    "closing": read_closing.__wrapped__,
    "kind of talk": kind_of_talk.__wrapped__,
    "language": language_of.__wrapped__,
    "slip": slip,
    "small talk": lambda text: small_talk(text, TABLE, "seller"),
    "acts": lambda text: parse_act(text, CONTEXT),
    "claims": lambda text: claims(GAME, "lab_1", text),
}


def seconds(read, text: str) -> float:
    """The least time of two readings; caches of what a reader calls are passed by."""
    took = []
    for k in range(2):
        began = process_time()
        read(text + " " * k)
        took.append(process_time() - began)
    return min(took)


@pytest.mark.nightly
@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name):
    for unit in UNITS:
        short, long = (unit * (length // len(unit)) for length in (SHORT, SHORT * TIMES))
        read = READERS[name]
        ratios = (seconds(read, long) / seconds(read, short) for _ in range(3))
        assert any(ratio <= MOST for ratio in ratios), (name, unit)  # where the machine is busy


# The one reading of a text, in both seats


SEEN = Table(LAMP, 8, 1, 0, asks=(950.0, 800.0), bids=(300.0,), extras=("delivery", "warranty"))


@pytest.mark.parametrize("row", rows("heard.csv"), ids=lambda row: row["text"])
def test_a_text_is_a_price_or_a_closing_or_talk(row):
    heard = Heard(row["text"], SEEN, row["hearer"])
    assert heard.price == (float(row["price"]) if row["price"] else None)
    assert (heard.closing, heard.act) == (row["closing"], row["act"])
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


@pytest.mark.parametrize("row", rows("extras.csv"), ids=lambda row: row["text"])
def test_a_bid_asks_for_what_it_names_and_else_for_what_the_last_one_held(row):
    assert extras_in(row["text"], tuple(row["held"].split())) == set(row["extras"].split())
