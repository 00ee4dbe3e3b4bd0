"""Recognises a text by short lists of words in English, Hinglish and Devanagari.

A list holds phrases separated by `;`. A phrase is found where a text has all its words, in any
order; a phrase that begins with `=` only where the text has no other word. A `PhraseTable` is read
from a CSV file, and its phrases are in order, as `lexicon.py` describes them; `=` stands before
one that is all of a text, `^` before one that begins it.
"""

import csv
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from sauda.language.lexicon import Element, Word, element_of, keys, phrase_end, words
from sauda.language.lines import ENGLISH, HINDI, HINGLISH
from sauda.language.numerals import Token, tokenize, word_list

WHOLE, FIRST = "=", "^"
Phrases = tuple[tuple[frozenset[str], bool], ...]  # the words, and whether no other may stand

_HINGLISH = word_list("hinglish")
_HINGLISH_NUMBERS = keys("sau hazaar karod/karor dedh dhai/adhai sava saade/saadhe/saarhe paune")
_ENGLISH_NUMBERS = keys("hundred/hundreds thousand/thousands million/millions half")


def phrases(listed: str) -> Phrases:
    """The phrases of a list."""
    texts = [text.strip() for text in listed.split(";")]
    return tuple((keys(text.removeprefix("=")), text.startswith("=")) for text in texts)


def table(listed: Mapping[str, str]) -> Mapping[str, Phrases]:
    """The phrases of each kind of a text, in the order of the kinds."""
    return {kind: phrases(texts) for kind, texts in listed.items()}


def kind_of(text: str, kinds: Mapping[str, Phrases]) -> str:
    """The first of `kinds` that has a phrase in `text`; empty where none has."""
    found = words(text)
    said = frozenset(word.key for word in found if word.kind != "mark")
    asked = said | {word.key for word in found if word.key == "?"}
    for kind, listed in kinds.items():
        if any(said == phrase if alone else asked >= phrase for phrase, alone in listed):
            return kind
    return ""


class _Phrase(NamedTuple):
    """A phrase of a table."""

    kind: tuple[int, str]  # its row and the row's kind
    spelled: bool
    anchor: str  # WHOLE, FIRST or ""
    places: tuple[Element, ...]


class PhraseTable:
    """The phrases of a CSV file: `en`, `hinglish` and `hi` hold those of a row's `kind`.

    A row that is `spelled` compares words letter by letter, another joins spellings as `fold` does.
    """

    def __init__(self, path: Path) -> None:
        self._by_word: dict[str, list[_Phrase]] = defaultdict(list)
        self._by_stem: list[_Phrase] = []
        self._rows: list[str] = []
        with path.open(encoding="utf-8", newline="") as lines:
            for place, row in enumerate(csv.DictReader(lines)):
                self._rows.append(row["kind"])
                listed = ";".join(row[language] for language in (ENGLISH, HINGLISH, HINDI))
                for phrase in filter(None, map(str.strip, listed.split(";"))):
                    self._add((place, row["kind"]), phrase, bool(row.get("spelled")))

    def _add(self, kind: tuple[int, str], phrase: str, spelled: bool) -> None:
        anchor = phrase[0] if phrase[0] in (WHOLE, FIRST) else ""
        place = _literal if spelled else _fold
        places = tuple(map(place, phrase.removeprefix(anchor).split()))
        entry = _Phrase(kind, spelled, anchor, places)
        for word in places[0].words:
            self._by_word[word].append(entry)
        if places[0].stems or places[0].kinds:
            self._by_stem.append(entry)

    def row(self, kind: str) -> int:
        """The first row of a kind."""
        return self._rows.index(kind)

    def whole(self, text: str) -> Iterator[tuple[int, str]]:
        """The row and the kind of each phrase that is all of `text`, marks aside."""
        bare = _without_marks(words(text))
        for phrase in self._starting(bare[0], bare[0]) if bare else ():
            if phrase.anchor == WHOLE and phrase_end(bare, 0, phrase.places, 0) == len(bare):
                yield phrase.kind

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """The row and the kind of each phrase in `text`."""
        line = words(text)
        first = next((i for i, word in enumerate(line) if word.kind != "mark"), 0)
        read = [
            word._replace(key=_fold_spelling(text[word.start : word.end]))
            if word.kind == "word"
            else word
            for word in line
        ]
        for i in range(len(line)):
            for phrase in self._starting(line[i], read[i]):
                heard = read if phrase.spelled else line
                fits = not phrase.anchor or (phrase.anchor == FIRST and i == first)
                if fits and phrase_end(heard, i, phrase.places, 0):
                    yield phrase.kind

    def longest(self, line: Sequence[Word], i: int) -> tuple[int, str]:
        """The end of the longest phrase that begins at word `i`, and its kind; (i, "") for none."""
        ends = (
            (phrase_end(line, i, phrase.places, 0), -phrase.kind[0], phrase.kind[1])
            for phrase in self._starting(line[i], line[i])
        )
        end, _, kind = max(ends, default=(0, 0, ""))
        return (end, kind) if end else (i, "")

    def _starting(self, folded: Word, read: Word) -> Iterator[_Phrase]:
        for spelled, word in ((False, folded), (True, read)):
            listed = self._by_word.get(word.key, ()) if word.key else ()
            yield from (entry for entry in listed if entry.spelled == spelled)
        yield from (entry for entry in self._by_stem if entry.places[0].fits(folded))


def _fold(place: str) -> Element:
    """A place as in the lexicon, or {ask} for a question mark."""
    return Element(frozenset("?")) if place == "{ask}" else element_of(place)


def _literal(place: str) -> Element:
    """A place whose words, or stems with "*", are compared letter by letter."""
    names = [_fold_spelling(name) for name in place.split("/")]
    stems = tuple(name[:-1] for name in names if name.endswith("*"))
    return Element(frozenset(name for name in names if not name.endswith("*")), stems)


def _fold_spelling(word: str) -> str:
    return unicodedata.normalize("NFKC", word.casefold())


def _without_marks(line: Sequence[Word]) -> list[Word]:
    """The words of a line, one that is said several times in a row once."""
    said = (word for word in line if word.kind not in ("mark", "currency"))
    return [next(same) for _, same in groupby(said, key=lambda word: word.key)]


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def language_of(text: str) -> str:
    """The language that a text is written in, number words included; "" for digits alone."""
    if any("\u0904" <= letter <= "\u0939" for letter in text):
        return HINDI
    said = {word.key for word in words(text) if word.kind == "word"}
    numbers = [token for token in tokenize(text) if token.is_number]
    if said & _HINGLISH or any(map(_is_hinglish, numbers)):
        return HINGLISH
    is_english = any(len(key) > 1 and key.isascii() for key in said)
    return ENGLISH if is_english or any(map(_is_english, numbers)) else ""


def _is_hinglish(number: Token) -> bool:
    """Whether a number word is of Hinglish alone; "do", "char" and "sat" are English words too."""
    in_hindi = number.kind == "hindi" and number.value >= 10
    return in_hindi or number.key in _HINGLISH_NUMBERS


def _is_english(number: Token) -> bool:
    return number.kind == "english" or number.key in _ENGLISH_NUMBERS
