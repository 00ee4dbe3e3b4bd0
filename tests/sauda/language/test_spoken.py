"""Lines of both sides fit the decided move, promise nothing that may change, do not repeat."""

import re

import pytest

from env import Accept, Item, Offer, Table, WalkAway, corpus, speech
from env.bazaar import classic, goods
from env.language import money
from sauda.language.lines import (
    ACT_LINES,
    CHAT_LINES,
    HINDI,
    HINGLISH,
    LINES,
    translate_phrases,
    translation,
    translations,
)
from sauda.language.spoken import (
    LAST,
    Decided,
    announce,
    chat_situations,
    line_faults,
    repeats,
    retell,
    situations,
)
from tests.support.cases import cases

LAMP = Item("brass lamp", "Handicrafts", "good", 900)
PRICES = (1, 31.5, 450, 1090, 120_000)
SEATS = ("buyer", "seller")
MANNERS = [(language, seat) for language in LINES for seat in SEATS]


def seen(asks=(), bids=(), round_=3, item=LAMP) -> Table:
    return Table(item, 8, 1, 0, round=round_, asks=tuple(asks), bids=tuple(bids))


@pytest.mark.parametrize("lines", [LINES, CHAT_LINES], ids=["games", "chat"])
@pytest.mark.parametrize(("language", "seat"), MANNERS)
@pytest.mark.parametrize("price", PRICES)
def test_every_line_is_its_move_at_every_price(lines, language, seat, price):
    other = {"asks": (price,)} if seat == "buyer" else {"bids": (price,)}
    moves = {"accept": Accept(), "walk": WalkAway()}
    for key, line in ((key, line) for key, several in lines[language][seat].items()
                      for line in several):  # fmt: skip
        last = key in ("last", "over")
        table = seen(**({"asks": (5,), "bids": (3,)} | other), round_=7 if last else 3)
        assert line_faults(line, Decided(table, seat, moves.get(key, Offer(price)))) == (), line
        assert last or key in moves or not LAST.search(line), line


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


@pytest.mark.parametrize(
    ("check", "agent", "asks", "bids", "price", "round_", "heard", "expected"),
    [(check, *row) for check in ("line", "chat") for row in cases("situations.csv", check)],
)
def test_a_line_reacts_to_what_happened(check, agent, asks, bids, price, round_, heard, expected):
    table, action = seen(numbers(asks), numbers(bids), int(round_)), Offer(int(price))
    if check == "line":
        assert situations(table, agent, action, heard) == tuple(expected.split())
    else:
        assert chat_situations(table, agent, action, heard)[0] == expected


@pytest.mark.parametrize(("text", "fault"), cases("spoken.csv", "fault"))
def test_a_line_that_is_another_move_is_not_said(text, fault):
    decided = Decided(seen((5,), (3,)), "buyer", Offer(450))
    assert any(fault in wrong for wrong in line_faults(text, decided))


def counter(price=850, said=("For this brass lamp, ₹900.",), heard="", language="en", **table):
    """A seller's counter-offer at `price` after what it `said`."""
    standing = {"asks": (900,), "bids": (600,)} | table
    return Decided(seen(**standing), "seller", Offer(price), language, heard, said)


@pytest.mark.parametrize(
    "words",
    ["Fine, ₹850, and there I stop.", "₹850, my last word.", "₹850. I cannot go under that."],
)
@pytest.mark.parametrize("language", LINES)
def test_a_last_price_is_promised_in_the_last_round_alone(words, language):
    text = retell(counter(language=language), words, ("final",), 0)
    assert not LAST.search(text)
    assert "there I stop" not in text
    assert retell(counter(round_=7), words, (), 0) == words


def bid(price, message="", language="en", said=(), round_=3, heard=""):
    """A buyer's bid in the open market, with the words that enter the game."""
    table = seen((900,), (), round_)._replace(standing=True)
    return Decided(table, "buyer", Offer(price, message), language, heard, said)


ACTS = [act for act in speech.ACTS if act != "insult"]


@pytest.mark.parametrize("spoken", speech.LANGUAGES)
@pytest.mark.parametrize("language", LINES)
@pytest.mark.parametrize("act", ACTS)
def test_a_bid_with_an_act_is_said_as_that_act_at_that_price(act, language, spoken):
    for price in PRICES:
        shop = round(1.3 * price + 2)
        message = speech.buyer_line(act, shop, 0.0, spoken)
        outside = {shop} if act == "outside" else set()
        said: list[str] = []
        for seed in range(len(ACT_LINES[language]["buyer"][act])):
            text = retell(bid(price, message, language, said), announce(Offer(price, message)),
                          (), seed)  # fmt: skip
            assert speech.act_in(text) == speech.act_in(message)
            assert {mention.amount for mention in money.prices(text)} == {price} | outside
            assert not repeats(text, said)
            said.append(text)


def test_a_line_that_a_seller_takes_for_another_act_is_refused():
    cash = bid(450, "Cash, right now.")
    assert line_faults("Cash, right now: #.", cash) == ()
    for wrong in ("Come, chai first. #.", "I say #."):
        assert any("another act" in fault for fault in line_faults(wrong, cash))
    assert any("another act" in fault for fault in line_faults("Cash, right now: #.", bid(450)))


def ask(words, language, action=None, said=()):
    """A move of an open-market seller in its own `words`."""
    table = seen((900,), (600,))._replace(standing=True)
    move = action or Offer(850, words)
    return retell(Decided(table, "seller", move, language, "some tea?", said), words, (), 0)


@pytest.mark.parametrize("language", LINES)
@pytest.mark.parametrize("spoken", speech.LANGUAGES)
@pytest.mark.parametrize("use", ["seen", "unseen"])
def test_a_market_seller_s_words_are_told_though_they_were_said_before(use, spoken, language):
    for family, key in speech.phrases("en", use):
        if family not in ("style", "reaction", *speech.READ[1:5]):
            continue
        parts = {"style": {"style": key}, "reaction": {"reaction": key}}
        topic = {"topic": family, "content": key, "cost": 500, "mark": "hedge"}
        said = speech.Speech(**parts.get(family, topic))
        for draw in (0.0, 0.5, 0.99):
            line = speech.say(said, 850, None, draw, spoken, use)
            told = speech.say(said, 850, None, draw, language, use)
            assert ask(line, language, said=(line, told)) == told


@pytest.mark.parametrize("language", LINES)
def test_a_model_s_words_are_told_with_all_that_they_say_or_as_they_are(language):
    line = "Someone else wants it, believe me. You can have this inverter for ₹850, sir."
    told = ask(line, language)
    assert {mention.amount for mention in money.prices(told)} == {850}
    assert speech.hear(told) == speech.hear(line)
    assert speech.language_of(told) == language
    both = "I swear it cost me ₹500, but have it for ₹850."
    assert {mention.amount for mention in money.prices(ask(both, language))} == {500, 850}


@pytest.mark.parametrize("language", LINES)
def test_a_market_seller_closes_in_the_language_of_the_chat(language):
    for words in ("Done, ₹600.", "Yes, ₹600 for the pan. It is yours.", "चलो, ₹600 पक्का।"):
        told = ask(words, language, Accept(words))
        assert {mention.amount for mention in money.prices(told)} == {600}
        assert bool(re.search("[\u0900-\u097f]", told)) == (language == "hi")


TEMPLATES = [line for lines in classic.LINES.values() for line in lines]
ITEM = "handwoven silk scarf"


def prices(text: str) -> list[float]:
    return [mention.amount for mention in money.prices(text)]


def test_every_line_of_a_seller_is_translated_and_no_other():
    assert set(translations()) == set(TEMPLATES)


@pytest.mark.parametrize("language", [HINGLISH, HINDI])
def test_a_translation_holds_the_price_and_in_hindi_no_latin_letter(language):
    for template in TEMPLATES:
        line = template.format(price="₹1,20,450", item=ITEM)
        said = translation(line, language)
        assert prices(said) == prices(line)
        if language == HINDI:
            assert not re.search("[A-Za-z]", said), said


@pytest.mark.parametrize("other", ["₹900, says the model.", "Decide. <b>now</b>", ""])
def test_what_is_no_line_of_theirs_has_no_translation(other):
    assert translation(other, HINDI) == ""


@pytest.mark.parametrize("language", speech.LANGUAGES)
def test_a_translated_sentence_of_the_corpus_names_no_other_goods(language):
    for spoken in speech.LANGUAGES:
        for (family, _), texts in corpus.sentences(spoken, "evaluation").items():
            for text in texts if family != "none" else ():
                line = text.replace("#", "₹900")
                assert goods.named(translate_phrases(line, language)) <= goods.named(line)
