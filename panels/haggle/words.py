"""The words of the Haggle tab in English, Hinglish and Hindi: `words.csv`, a row per key.

A cell without words takes the English ones, such as "Market"; those of the offers' chart stand in
`panels.ui.offers`. A mistake that the page tells in red is known by its key.
"""

import csv
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from env import IllegalAction
from panels.ui.offers import CHART_WORDS
from sauda.language.lines import ENGLISH, HINDI, HINGLISH
from sauda.llm.types import ReplyError, ReplyRefused, ReplyTimeout
from sauda.sessions.daily import BadLink

LANGUAGES = [("English", ENGLISH), ("Hinglish", HINGLISH), ("हिन्दी", HINDI)]  # (label, value)
SENTENCES = (  # of errors that have none of their own in each language
    (ReplyRefused, "reply_refused"),
    (ReplyTimeout, "reply_late"),
    (ReplyError, "reply_failed"),
    (BadLink, "daily_bad_link"),
)
Translate = Callable[..., str]


def _read() -> dict[str, dict[str, str]]:
    """By language, then by key."""
    words = {language: {} for _, language in LANGUAGES}
    chart = {f"chart_{key}": text for key, text in CHART_WORDS.items()}
    with Path(__file__).with_name("words.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            english = row[ENGLISH] or chart[row["key"]]
            for language, texts in words.items():
                texts[row["key"]] = row[language] or english
    return words


WORDS: Mapping[str, Mapping[str, str]] = _read()


def _translate(words: Mapping[str, str], key: str, **values: object) -> str:
    return words[key].format(**values)


TRANSLATORS = {language: partial(_translate, words) for language, words in WORDS.items()}


def translator(language: str) -> Translate:
    """`translate(key, **values)` for `language`; English where the language is unknown."""
    return TRANSLATORS.get(language, TRANSLATORS[ENGLISH])


class Trouble(IllegalAction):
    """A mistake by the key of its sentence in the page's words; as a text, in English."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(translator(ENGLISH)(key, **values))
        self.key, self.values = key, values


def translate_error(error: Exception, language: str, other: str = "not_possible") -> Exception:
    """The error with a sentence in the visitor's language; that of `other` where it has none there.

    English keeps the error's own sentence, which may say more.
    """
    if language == ENGLISH:
        return error
    translate = translator(language)
    if isinstance(error, Trouble):
        return IllegalAction(translate(error.key, **error.values))
    key = next((key for kind, key in SENTENCES if isinstance(error, kind)), other)
    return IllegalAction(translate(key))
