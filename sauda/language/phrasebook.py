"""The lines of the open market in the visitor's language, phrase by phrase.

A seller speaks one of three languages, drawn with its deal; its phrases stand in all three in one
table. What they tell is the same in each, so the chat says them in the visitor's.
"""

import re
from collections.abc import Mapping
from functools import cache

from env import speech

PRICE = re.compile(r"₹(?:\d[\d,]*)?\d")


@cache
def in_language(line: str, language: str) -> str:
    """The line with every phrase that the table has put into `language`; the rest stays."""
    spoken = speech.language_of(line)
    if spoken == language:
        return line
    book = _book(spoken, language)
    said = _phrases(spoken, language).sub(lambda found: _translate(found[0], book), line)
    return re.sub(r"[.।](?=\s|$)", "।" if language == "hi" else ".", said)


def _translate(phrase: str, book: Mapping[str, str]) -> str:
    prices = iter(PRICE.findall(phrase))
    return re.sub("#", lambda _: next(prices), book[PRICE.sub("#", phrase)])


@cache
def _book(spoken: str, language: str) -> Mapping[str, str]:
    """Every phrase of one language and the same one in another, "#" for a price."""
    return {
        phrase: other
        for use in ("unseen", "seen")
        for key, options in speech.phrases(spoken, use).items()
        for phrase, other in zip(options, speech.phrases(language, use)[key], strict=True)
    }


@cache
def _phrases(spoken: str, language: str) -> re.Pattern[str]:
    """Finds a phrase as a whole, the longest that fits."""
    phrases = sorted(_book(spoken, language), key=len, reverse=True)
    listed = "|".join(re.escape(phrase).replace(r"\#", PRICE.pattern) for phrase in phrases)
    return re.compile(rf"(?<![^\s])(?:{listed})(?![^\s.,।!?])")
