"""Mistakes and failures are told in the visitor's language."""

import re

import pytest

from env import IllegalAction
from panels.haggle.talk.trouble import Trouble, translated
from panels.haggle.words import ENGLISH, HINDI
from sauda.llm.types import ReplyError, ReplyRefused, ReplyTimeout

ERRORS = [
    Trouble("old_button"),
    Trouble("too_long", most="2,000", length="2,001"),
    ReplyRefused("8 visitors are waiting", 9.0),
    ReplyTimeout("too slow"),
    ReplyError("no route to host"),
    IllegalAction("the page was restarted"),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_an_error_is_told_in_hindi_and_in_english_with_its_own_sentence(error):
    assert translated(error, ENGLISH) is error
    assert re.search(r"[\u0904-\u0939]", str(translated(error, HINDI)))
    assert not re.search(r"[A-Za-z]", str(translated(error, HINDI)))


def test_each_error_has_a_sentence_of_its_own():
    assert len({str(translated(error, HINDI)) for error in ERRORS}) == len(ERRORS)
