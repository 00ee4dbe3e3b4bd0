"""What scripted sellers say, in each language: the same price, the same meaning, one script."""

import re

import pytest

from env.bazaar.classic import LINES
from sauda.language import money
from sauda.language.lines import HINDI, HINGLISH, translation, translations

TEMPLATES = [line for lines in LINES.values() for line in lines]
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
