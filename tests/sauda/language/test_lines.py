"""What scripted sellers say, in each language: the same price, the same meaning, one script."""

import re

import pytest

from env import TYPES, speech
from env.bazaar.classic import LINES
from sauda.language import money
from sauda.language.lines import (
    HINDI,
    HINGLISH,
    market_line,
    translate,
    translations,
)

TEMPLATES = [line for kinds in LINES.values() for lines in kinds.values() for line in lines]
ITEM = "handwoven silk scarf"


def prices(text: str) -> list[float]:
    return [mention.amount for mention in money.prices(text)]


def test_every_line_of_a_seller_is_translated_and_no_other():
    assert set(translations()) == set(TEMPLATES)


@pytest.mark.parametrize("language", [HINGLISH, HINDI])
def test_a_translation_holds_the_price_and_in_hindi_no_latin_letter(language):
    for template in TEMPLATES:
        line = template.format(price="₹1,20,450", item=ITEM)
        said = translate(line, language)
        assert said != line
        assert prices(said) == prices(line)
        if language == HINDI:
            assert not re.search("[A-Za-z]", said), said


@pytest.mark.parametrize("other", ["₹900, says the model.", "Decide. <b>now</b>", ""])
def test_what_is_no_line_of_theirs_stays_as_it_is(other):
    assert translate(other, HINDI) == other


SAID = [
    speech.Speech(style, topic, content, cost, mark, reaction)
    for style, (topic, content, cost), mark, reaction in zip(
        (*TYPES, ""),
        (("cost", "price", 700), ("time", "short", 0), ("wear", "none", 0), ("", "", 0),
         ("rival", "yes", 0)),
        ("plain", "hedge", "swear", "plain", "plain"),
        ("pleased", "annoyed", "caught", "flat", ""),
        strict=True,
    )
]  # fmt: skip


@pytest.mark.parametrize("language", speech.LANGUAGES)
@pytest.mark.parametrize("spoken", speech.LANGUAGES)
@pytest.mark.parametrize("use", ["seen", "unseen"])
def test_a_market_seller_s_line_means_the_same_in_every_language(use, spoken, language):
    for said in SAID:
        for draw in (0.0, 0.5, 0.99):
            line = speech.say(said, 980, None, draw, spoken, use)
            told = market_line(line, language, asks=True)
            assert told == speech.say(said, 980, None, draw, language, use)


def test_a_model_s_line_is_told_with_all_that_it_says_or_as_it_is():
    line = "Someone else wants it, believe me. You can have this inverter for ₹20,400, sir."
    told = market_line(line, HINDI, asks=True)
    assert prices(told) == [20_400]
    assert speech.hear(told) == speech.hear(line)
    both = "It cost me ₹700, and I can give it for ₹980."
    assert market_line(both, HINDI, asks=True) == both
