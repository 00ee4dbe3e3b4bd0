"""The tab's words in its three languages."""

import csv
import re

import pytest

from env import CATALOGUE
from panels.haggle.choices import BUY, MARKETS, SELL, market_choices
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, WORDS
from sauda.language.lexicon import SIGNALS
from tests.support.source import ROOT

LEXICON = ROOT / "sauda" / "language" / "lexicon.csv"
LATIN = re.compile(r"[A-Za-z]+")
NAMES = {"belief", "Results", "n", "f"}  # of a policy, a tab, a count


ALIKE = {  # what Hinglish says with the English words
    # Words of the bazaar and the game that a speaker of Hinglish says in English.
    "market", "seller", "buyer", "quick_accept", "rounds", "list_price", "bonus", "time", "deal",
    "rival", "chart_round", "chart_seller", "chart_buyer",
    "spot_buyer",  # Its verdicts say "buyer A" inside a sentence.
    "daily_months",  # The months have their English names in Hinglish.
    "daily_full_stop",
    "daily_sauda", "title",  # names
    "whatif_move",  # a template without words
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "alike"), [(HINGLISH, ALIKE), (HINDI, {"whatif_move"})], ids=["Hinglish", "Hindi"]
)
def test_no_language_says_in_english_what_it_can_say_itself(language, alike):
    english, other = WORDS[ENGLISH], WORDS[language]
    assert {key for key in english if english[key] == other[key]} == alike


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


def test_every_market_and_item_has_a_hindi_name_of_its_own():
    for seat, count in ((BUY, len(MARKETS)), (SELL, len(CATALOGUE) + 1)):
        labels = [label for label, _ in market_choices(seat, HINDI)]
        assert len(set(labels)) == count
        assert not any(LATIN.search(label) for label in labels)
