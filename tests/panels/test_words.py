"""The tab's words in its three languages."""

import csv
import re

import pytest

from panels.haggle.words import ENGLISH, HINDI, HINGLISH, WORDS
from sauda.language.lexicon import SIGNALS
from tests.support.source import ROOT

LEXICON = ROOT / "sauda" / "language" / "lexicon.csv"
LATIN = re.compile(r"[A-Za-z]+")
NAMES = {"belief", "Results", "n", "f"}  # of a policy, a tab, a count


@pytest.mark.parametrize("language", [HINGLISH, HINDI])
def test_every_language_has_the_same_keys_with_the_same_places(language):
    english, other = WORDS[ENGLISH], WORDS[language]
    assert english.keys() == other.keys()
    for key in english:
        assert places(english[key]) == places(other[key]), key


def test_every_tell_of_the_lexicon_and_its_denial_has_words():
    with LEXICON.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["signal"] != "none"]
    said = {row["explanation"] for row in rows}
    said |= {row["explanation"].replace("Says", "Denies", 1) for row in rows
             if row["denied"] == "flips"}  # fmt: skip
    assert said | set(SIGNALS) <= WORDS[HINDI].keys()


def places(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)", text))


def test_hindi_is_wholly_in_devanagari_besides_names():
    for key, text in WORDS[HINDI].items():
        assert set(LATIN.findall(re.sub(r"{[^}]*}", "", text))) <= NAMES, key
