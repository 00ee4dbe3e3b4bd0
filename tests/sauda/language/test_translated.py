"""The lines of scripted sellers in Hinglish and Hindi say the same price and nothing in Latin."""

import re

import pytest

from env.bazaar.classic import LINES as CLASSIC
from env.bazaar.market import LINES as MARKET
from sauda.language import money
from sauda.language.lines import (
    ANSWERS,
    CHAT_LINES,
    ENGLISH,
    HINDI,
    HINGLISH,
    translated,
    translations,
)
from sauda.llm.seller import PERSONAS

CLOSERS = [closer for persona in PERSONAS.values() for closer in persona.closers]
TEMPLATES = CLOSERS + [
    line for kinds in (MARKET, *CLASSIC.values()) for lines in kinds.values() for line in lines
]
ITEM = "handwoven silk scarf"


def prices(text: str) -> list[float]:
    return [mention.amount for mention in money.prices(text)]


def test_every_line_of_a_seller_is_translated_and_no_other():
    assert set(translations()) == set(TEMPLATES)


@pytest.mark.parametrize("language", [HINGLISH, HINDI])
def test_a_translation_holds_the_price_and_in_hindi_no_latin_letter(language):
    for template in TEMPLATES:
        line = template.format(price="₹1,20,450", item=ITEM)
        said = translated(line, language)
        assert said != line
        assert prices(said) == prices(line)
        if language == HINDI:
            assert not re.search("[A-Za-z]", said), said


def test_a_pressing_seller_is_translated_line_by_line():
    pressing = "₹900. Decide. There is a queue behind you."
    assert translated(pressing, HINDI) == "₹900। बोलिए। आपके पीछे क़तार लगी है।"
    assert translated(pressing, ENGLISH) == pressing


def test_no_hindi_line_makes_the_name_of_an_item_agree():
    """Names are feminine, plural, or end in ा, which a postposition would change: "कुर्ते के"."""
    bends = re.compile(r"(?:यह|ये|इस|इन) \{item\}|\{item\} (?:का|के|की|को|से|में|पर|है)\b")
    lines = [row[HINDI] for row in translations().values()]
    for kinds in (*CHAT_LINES[HINDI].values(), *ANSWERS[HINDI].values()):
        lines += [line for several in kinds.values() for line in several]
    assert sum("{item}" in line for line in lines) > 8
    assert [line for line in lines if bends.search(line)] == []


@pytest.mark.parametrize("other", ["₹900, says the model.", "Decide. <b>now</b>", ""])
def test_what_is_no_line_of_theirs_stays_as_it_is(other):
    assert translated(other, HINDI) == other
