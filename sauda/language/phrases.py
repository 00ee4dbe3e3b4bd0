"""The words of a text, and phrases in it, as CSV files list them in three languages.

A cell of a file holds phrases separated by `;`. In a phrase

    word          stands for all the spellings that `numerals.fold` joins
    a/b           is a or b
    stem*         is any word with that stem, *ending any with that ending
    a?            may be left out (not the first)
    !a/b          is any word but a and b
    ..            is up to three other words of the same clause
    #, ₹          are a number, and a number that may be a price
    {list}        is any word of a list in `word_lists.csv`
    = or ^        before it: it is all of a text, or begins it

`stances.py` has elements of its own besides. The phrases of a `table` are simpler: one is found
where a text has all its words, in any order.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from sauda.language.lines import ENGLISH, HINDI, HINGLISH
from sauda.language.numerals import LISTS, WORDS, Token, fold, number_at, read_rows, tokenize

SMALLEST_PRICE = 20  # rupees; "2 left" counts, "200 left" may be money
WHOLE, FIRST = "=", "^"


class Word(NamedTuple):
    """A word, number or mark, at `text[start:end]`."""

    key: str  # folded; "" for a number of several words
    start: int
    end: int
    kind: str  # word, number, price, currency or mark


def words(text: str) -> list[Word]:
    """The words of `text`, with an empty mark at either end.

    "don't" is one word, "saat sau" one number.
    """
    line = tokenize(text)
    cut = [Word("", 0, 0, "mark")]
    i = 1
    while line[i].kind != "edge":
        token, number = line[i], number_at(line, i) if line[i].is_number else None
        end = i + 1
        if number and number.end > i:
            end = number.end
            is_price = number.value >= SMALLEST_PRICE and line[end].kind != "unit"
            key = token.key if end == i + 1 else ""
            kind = "price" if is_price and line[end].key != "%" else "number"
        elif token.kind in ("mark", "currency"):
            key, kind = token.key, token.kind
        else:
            key, kind = token.key, "word"
            while line[end].key in ("'", "’") and _is_inside(line, end):
                key, end = key + line[end + 1].key, end + 2
        hidden = kind == "mark" and key == "-" and _is_inside(line, i)
        if not hidden:
            cut.append(Word(key, token.start, line[end - 1].end, kind))
        i = end
    return [*cut, Word("", len(text), len(text), "mark")]


def _is_inside(line: Sequence[Token], i: int) -> bool:
    """Whether token `i` joins two words without a space, as in "semi-final"."""
    before, token, after = line[i - 1 : i + 2]
    joins = before.touches(token) and token.touches(after)
    return joins and before.kind != "mark" and after.kind not in ("mark", "digits", "edge")


class Element(NamedTuple):
    """One word of a phrase."""

    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    optional: bool = False
    excludes: bool = False  # any word but these fits

    def fits(self, word: Word) -> bool:
        if self.excludes:
            return word.kind in ("word", "number") and word.key not in self.words
        is_word = word.key in self.words or word.kind in self.kinds
        return is_word or word.key.startswith(self.stems) or word.key.endswith(self.endings)

    def is_among(self, keys: Set[str]) -> bool:
        """Whether one of these words fits an element that names words and no kinds of words."""
        if not self.words.isdisjoint(keys):
            return True
        ends = (key.startswith(self.stems) or key.endswith(self.endings) for key in keys)
        return bool(self.stems or self.endings) and any(ends)


class Gap(NamedTuple):
    """Up to `most` other words, none of a kind in `ends`."""

    most: int
    ends: tuple[str, ...]
    wide: bool = False  # a mark within a sentence may stand among them

    def goes_on(self, word: Word) -> bool:
        is_inner = self.wide and word.kind == "mark" and word.key not in SENTENCE_ENDS
        return is_inner or word.kind not in self.ends


Place = Element | Gap
SENTENCE_ENDS = frozenset(".!?।॥\n") | {""}
_GAP = Gap(3, ("mark",))
_KINDS = {"#": ("number", "price"), "₹": ("price",)}


def element_of(place: str, kinds_of: Mapping[str, Sequence[str]] = _KINDS) -> Element:
    """The element written as `place`; `kinds_of` has the kinds of word that a sign stands for."""
    names, stems, endings, kinds = set(), [], [], set()
    for name in place.removesuffix("?").removeprefix("!").split("/"):
        if name in kinds_of:
            kinds.update(kinds_of[name])
        elif name.startswith("{"):
            names |= LISTS[name[1:-1]]
        elif name.endswith("*"):
            stems.append(fold(name[:-1]))
        elif name.startswith("*"):
            endings.append(fold(name[1:]))
        else:
            names.add(fold(name))
    optional, excludes = place.endswith("?"), place.startswith("!")
    shape = tuple(stems), tuple(endings), frozenset(kinds)
    return Element(frozenset(names), *shape, optional, excludes)


def match(line: Sequence[Word], i: int, places: Sequence[Place], step: int = 1) -> int | None:
    """The word past the `places` that stand from word `i` on, going by `step`; None if none do.

    A number takes the currency behind it with it.
    """
    if not places:
        return i
    place, rest = places[0], places[1:]
    if isinstance(place, Gap):
        for j in range(i, i + step * (place.most + 1), step):
            if (past := match(line, j, rest, step)) is not None:
                return past
            if not (0 <= j < len(line) and place.goes_on(line[j])):
                return None
        return None
    if 0 <= i < len(line) and place.fits(line[i]):
        after = i + step
        if place.kinds and 0 <= after < len(line) and line[after].kind == "currency":
            after += step
        if (past := match(line, after, rest, step)) is not None:
            return past
    return match(line, i, rest, step) if place.optional else None


class Phrase(NamedTuple):
    """A phrase of a table."""

    row: int  # of the table
    anchor: str  # WHOLE, FIRST or ""
    places: tuple[Place, ...]

    def holds(self, words: frozenset[str]) -> bool:
        """Whether one of `words` may stand in it."""
        return any(place.words & words for place in self.places if isinstance(place, Element))


class PhraseTable:
    """The phrases of a CSV file, whose columns `en`, `hinglish` and `hi` hold those of a row.

    A row that is `spelled` compares words letter by letter, another joins spellings as `fold` does.
    """

    def __init__(self, file: str) -> None:
        self.rows = read_rows(file)
        # Spelled ones and others, by a word, a stem's three letters or a kind that they begin with.
        self._by_start: dict[bool, dict[str, list[Phrase]]] = {}
        for place, row in enumerate(self.rows):
            listed = ";".join(row[language] for language in (ENGLISH, HINGLISH, HINDI))
            for phrase in filter(None, map(str.strip, listed.split(";"))):
                self._add(place, phrase, bool(row.get("spelled")))

    def _add(self, row: int, phrase: str, spelled: bool) -> None:
        anchor = phrase[0] if phrase[0] in (WHOLE, FIRST) else ""
        place = _literal if spelled else element_of
        names = phrase.removeprefix(anchor).split()
        places = tuple(_GAP if name == ".." else place(name) for name in names)
        begin = places[0]
        starts = [stem[:3] + "*" for stem in begin.stems] + [f"#{kind}" for kind in begin.kinds]
        for start in (*begin.words, *starts):
            listed = self._by_start.setdefault(spelled, defaultdict(list))
            listed[start].append(Phrase(row, anchor, places))

    def row(self, kind: str) -> int:
        """The first row of a kind."""
        return next(place for place, row in enumerate(self.rows) if row["kind"] == kind)

    def whole(self, text: str) -> Iterator[tuple[int, str]]:
        """The row and the kind of each phrase that is all of `text`, marks aside."""
        bare = _without_marks(words(text))
        for _, phrase in self._starting(bare[0], bare[0]) if bare else ():
            if phrase.anchor == WHOLE and match(bare, 0, phrase.places) == len(bare):
                yield phrase.row, self.rows[phrase.row]["kind"]

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
            for spelled, phrase in self._starting(line[i], read[i]):
                fits = not phrase.anchor or (phrase.anchor == FIRST and i == first)
                if fits and match(read if spelled else line, i, phrase.places):
                    yield phrase.row, self.rows[phrase.row]["kind"]

    def places(self, line: Sequence[Word]) -> Iterator[tuple[Phrase, int, int]]:
        """Every phrase without an anchor in `line`, with its first word and its end, in order."""
        for i, word in enumerate(line):
            for _, phrase in self._starting(word, word):
                if end := match(line, i, phrase.places):
                    yield phrase, i, end

    def longest(self, line: Sequence[Word], i: int) -> tuple[int, str]:
        """The end of the longest phrase that begins at word `i`, and its kind; (i, "") for none."""
        found = self._starting(line[i], line[i])
        ends = ((match(line, i, phrase.places) or 0, -phrase.row) for _, phrase in found)
        end, row = max(ends, default=(0, 0))
        return (end, self.rows[-row]["kind"]) if end else (i, "")

    def _starting(self, folded: Word, read: Word) -> Iterator[tuple[bool, Phrase]]:
        """The phrases that may begin with a word, and whether they are spelled."""
        for spelled, listed in self._by_start.items():
            word = read if spelled else folded
            for start in (word.key, f"{word.key[:3]}*", f"#{word.kind}"):
                if start and start in listed:
                    for phrase in listed[start]:
                        yield spelled, phrase


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


Kinds = Mapping[str, Sequence[frozenset[str]]]


def table(listed: Mapping[str, str]) -> Kinds:
    """The words of each phrase, by kind of a text."""
    return {
        kind: [frozenset(map(fold, phrase.split())) for phrase in phrases.split(";")]
        for kind, phrases in listed.items()
    }


def kind_of(text: str, kinds: Kinds) -> str:
    """The first of `kinds` that has a phrase in `text`; empty where none has."""
    said = {word.key for word in words(text) if word.kind != "mark" or word.key == "?"}
    return next((kind for kind in kinds if any(said >= phrase for phrase in kinds[kind])), "")


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def language_of(text: str) -> str:
    """The language that a text is written in, number words included; "" for digits alone."""
    if any("\u0904" <= letter <= "\u0939" for letter in text):
        return HINDI
    said = {word.key for word in words(text) if word.kind == "word"}
    numbers = [token for token in tokenize(text) if token.is_number]
    # Of the small numbers "do", "char" and "sat" are English words too.
    in_hindi = any(number.kind == "hindi" and number.value >= 10 for number in numbers)
    keys = {number.key for number in numbers}
    if in_hindi or said & WORDS.hinglish or keys & WORDS.hinglish_numbers:
        return HINGLISH
    in_english = keys & WORDS.english_numbers or any(one.kind == "english" for one in numbers)
    return ENGLISH if in_english or any(len(key) > 1 and key.isascii() for key in said) else ""
