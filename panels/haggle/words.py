"""The words of the Haggle tab in English, Hinglish and Hindi: `words.csv`, a row per key.

A cell without words takes the English ones, such as "Market"; those of the offers' chart stand in
`panels.ui.offers`.
"""

import csv
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from panels.ui.offers import CHART_WORDS
from sauda.language.lines import ENGLISH, HINDI, HINGLISH

LANGUAGES = [("English", ENGLISH), ("Hinglish", HINGLISH), ("हिन्दी", HINDI)]  # (label, value)
Translate = Callable[..., str]


def _read() -> dict[str, dict[str, str]]:
    """By language, then by key."""
    words = {language: {} for _, language in LANGUAGES}
    chart = {f"chart_{key}": text for key, text in CHART_WORDS.items()}
    with Path(__file__).with_name("words.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            english = row[ENGLISH] or chart[row["key"]]
            for language, own in words.items():
                own[row["key"]] = row[language] or english
    return words


WORDS: Mapping[str, Mapping[str, str]] = _read()


def translator(language: str) -> Translate:
    """`translate(key, **values)` for `language`; English where the language is unknown."""
    return partial(_translate, WORDS.get(language, WORDS[ENGLISH]))


def _translate(words: Mapping[str, str], key: str, **values: object) -> str:
    return words[key].format(**values)
