"""Lines of both sides fit the decided move, promise nothing that may change, do not repeat."""

import re

import pytest

from env import Accept, Item, Offer, Table, WalkAway, corpus, speech
from env.bazaar import classic, goods
from env.language import money
from sauda.language.lines import (
    CHAT_LINES,
    HINDI,
    HINGLISH,
    LINES,
    translate_phrases,
    translation,
    translations,
)
from sauda.language.spoken import LAST, Decided, chat_situations, line_faults, retell, situations
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


def ask(words, language, action=None, said=()):
    """A move of an open-market seller in its own `words`."""
    table = seen((900,), (600,))._replace(standing=True)
    move = action or Offer(850, words)
    return retell(Decided(table, "seller", move, language, "some tea?", said), words, (), 0)


@pytest.mark.parametrize("language", LINES)
@pytest.mark.parametrize("spoken", speech.LANGUAGES)
def test_a_seller_s_words_are_told_in_sentences_that_mean_the_same(spoken, language):
    for meant in (
        speech.Speech("firm", "cost", "price", 500, "hedge"),
        speech.Speech("hasty", "time", "short", reaction="pleased"),
    ):
        line = corpus.line(meant, 850, None, 0.5, spoken, "evaluation", LAMP)
        told = ask(line, language, said=(line,))
        assert {*prices(told)} == {850, *([meant.cost] if meant.cost else [])}
        assert bool(re.search("[\u0900-\u097f]", told)) == (language == "hi")


def test_a_model_s_words_are_told_with_all_that_they_say():
    both = "I swear it cost me ₹500, but have it for ₹850."
    for language in LINES:
        assert {*prices(ask(both, language))} == {500, 850}


@pytest.mark.parametrize("language", LINES)
def test_a_market_seller_closes_in_the_language_of_the_chat(language):
    for words in ("Done, ₹600.", "चलो, ₹600 पक्का।"):
        told = ask(words, language, Accept(words))
        assert {*prices(told)} == {600}
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
