"""The words of a text, and phrases in it, as CSV files list them in three languages.

A cell of a file holds phrases separated by `;`. In a phrase

    word          stands for all the spellings that `numerals.fold` joins
    a/b           is a or b
    stem*         is any word with that stem, *ending any with that ending
    a?            may be left out (not the first)
    !a/b          is any word but a and b
    ..            is up to three other words of the same clause
    ...           is up to 14 other words of the same sentence
    #, ₹, @       are a number, one that may be a price, a price that might be a year
    .             is a mark
    {list}        is any word of a list in `word_lists.csv`
    = or ^        before it: it is all of a text, or begins it
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from env.language.numerals import LISTS, WORDS, Token, fold, number_at, tokenize
from sauda.language import read_rows
from sauda.language.lines import ENGLISH, HINDI, HINGLISH

SMALLEST_PRICE = 20  # rupees; "2 left" counts, "200 left" may be money
WHOLE, FIRST = "=", "^"


class Word(NamedTuple):
    """A word, number or mark, at `text[start:end]`."""

    key: str  # folded; "" for a number of several words
    start: int
    end: int
    kind: str  # word, number, price, currency or mark; in a line of prices also year
    spelled: str = ""  # letter by letter


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
            start, stop = token.start, line[end - 1].end
            spelled = _fold_spelling(text[start:stop]) if kind == "word" else key
            cut.append(Word(key, start, stop, kind, spelled))
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
    spelled: bool = False  # words are compared letter by letter

    def fits(self, word: Word) -> bool:
        key = word.spelled if self.spelled else word.key
        if self.excludes:
            return word.kind in ("word", "number") and key not in self.words
        is_word = key in self.words or word.kind in self.kinds
        return is_word or key.startswith(self.stems) or key.endswith(self.endings)

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
Gaps = Mapping[str, Gap]
SENTENCE_ENDS = frozenset(".!?।॥\n") | {""}
_IN_CLAUSE: Gaps = {"..": Gap(3, ("mark",))}
BETWEEN_PRICES: Gaps = {
    "..": Gap(3, ("price", "year", "mark")),
    "...": Gap(14, ("price", "year", "mark"), wide=True),
}
_NUMBERS = {"#": ("number", "price", "year"), "₹": ("price", "year"), "@": ("year",)}
_KINDS = {**_NUMBERS, ".": ("mark",)}


def _element(place: str, spelled: bool) -> Element:
    names, stems, endings, kinds = set(), [], [], set()
    read = _fold_spelling if spelled else fold
    for name in place.removesuffix("?").removeprefix("!").split("/"):
        if name in _KINDS:
            kinds.update(_KINDS[name])
        elif name.startswith("{"):
            names |= LISTS[name[1:-1]]
        elif name.endswith("*"):
            stems.append(read(name[:-1]))
        elif name.startswith("*"):
            endings.append(read(name[1:]))
        else:
            names.add(read(name))
    optional, excludes = place.endswith("?"), place.startswith("!")
    shape = frozenset(names), tuple(stems), tuple(endings), frozenset(kinds)
    return Element(*shape, optional, excludes, spelled)


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
    cells: Mapping[str, str]  # of that row
    anchor: str  # WHOLE, FIRST or ""
    places: tuple[Place, ...]
    pivot: int  # which of its places is its first number; 0 where it has none
    number: Element | None  # that place
    needs: tuple[Element, ...]  # places that some word of a text has to fit

    @property
    def kind(self) -> str:
        """The first cell of its row."""
        return next(iter(self.cells.values()))

    def holds(self, words: frozenset[str]) -> bool:
        """Whether one of `words` may stand in it."""
        return any(place.words & words for place in self.places if isinstance(place, Element))

    def at(self, line: Sequence[Word], i: int) -> tuple[int, int] | None:
        """The first word and the end of the phrase whose number, or start, is word `i`."""
        end = match(line, i, self.places[self.pivot :])
        before = None if end is None else match(line, i - 1, self.places[: self.pivot][::-1], -1)
        return None if before is None else (before + 1, end)


class Found(NamedTuple):
    """A phrase in a text."""

    phrase: Phrase
    first: int  # index of its first word
    end: int  # index after its last word

    @property
    def kind(self) -> str:
        return self.phrase.kind


class PhraseTable:
    """The phrases of a CSV file, whose columns `en`, `hinglish` and `hi` hold those of a row.

    The first column says of what kind a row is. A row that is `spelled` compares words letter by
    letter, another joins spellings as `fold` does.
    """

    def __init__(self, file: str, gaps: Gaps = _IN_CLAUSE) -> None:
        self.rows = read_rows(file)
        self.phrases: list[Phrase] = []
        # By a word, a stem's three letters or a kind that they begin with.
        self._by_start = defaultdict[str, list[Phrase]](list)
        for number, row in enumerate(self.rows):
            listed = ";".join(row[language] for language in (ENGLISH, HINGLISH, HINDI))
            for text in filter(None, map(str.strip, listed.split(";"))):
                self._add(number, text, gaps)

    def _add(self, number: int, text: str, gaps: Gaps) -> None:
        row = self.rows[number]
        anchor = text[0] if text[0] in (WHOLE, FIRST) else ""
        names, spelled = text.removeprefix(anchor).split(), bool(row.get("spelled"))
        places = tuple(gaps.get(name) or _element(name, spelled) for name in names)
        pivot = next((k for k, name in enumerate(names) if name in _NUMBERS), None)
        at = (pivot or 0, None if pivot is None else places[pivot])
        needs = tuple(
            place
            for place in places
            if isinstance(place, Element) and not (place.optional or place.kinds or place.excludes)
        )
        phrase = Phrase(number, row, anchor, places, *at, needs)
        self.phrases.append(phrase)
        stems = [stem[:3] + "*" for stem in places[0].stems]
        for start in (*places[0].words, *stems, *(f"#{kind}" for kind in places[0].kinds)):
            self._by_start[start].append(phrase)

    def row(self, kind: str) -> int:
        """The first row of a kind."""
        return next(number for number, row in enumerate(self.rows) if row["kind"] == kind)

    def whole(self, text: str) -> Iterator[tuple[int, str]]:
        """The row and the kind of each phrase that is all of `text`.

        Marks are left out, and a word that is said several times in a row counts once.
        """
        spoken = (word for word in words(text) if word.kind not in ("mark", "currency"))
        bare = [next(same) for _, same in groupby(spoken, key=lambda word: word.key)]
        for phrase in self._starting(bare[0]) if bare else ():
            if phrase.anchor == WHOLE and match(bare, 0, phrase.places) == len(bare):
                yield phrase.row, phrase.kind

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """The row and the kind of each phrase in `text`."""
        return ((place.phrase.row, place.kind) for place in self.places(words(text)))

    def places(self, line: Sequence[Word]) -> Iterator[Found]:
        """Every phrase in `line`, in order."""
        first = next((i for i, word in enumerate(line) if word.kind != "mark"), 0)
        for i, word in enumerate(line):
            for phrase in self._starting(word):
                fits = not phrase.anchor or (phrase.anchor == FIRST and i == first)
                if fits and (end := match(line, i, phrase.places)):
                    yield Found(phrase, i, end)

    def longest(self, line: Sequence[Word], i: int) -> tuple[int, str]:
        """The end of the longest phrase that begins at word `i`, and its kind; (i, "") for none."""
        candidates = self._starting(line[i])
        ends = ((match(line, i, phrase.places) or 0, -phrase.row) for phrase in candidates)
        end, row = max(ends, default=(0, 0))
        return (end, self.rows[-row]["kind"]) if end else (i, "")

    def live(self, line: Sequence[Word]) -> list[Phrase]:
        """The phrases whose words all stand somewhere in `line`."""
        keys = {word.key for word in line}
        return [p for p in self.phrases if all(need.is_among(keys) for need in p.needs)]

    def _starting(self, word: Word) -> Iterator[Phrase]:
        key, spelled = word.key, word.spelled
        starts = (key, f"{key[:3]}*", f"#{word.kind}", spelled, f"{spelled[:3]}*")
        for start in dict.fromkeys(starts):
            yield from self._by_start.get(start, ())


def _fold_spelling(word: str) -> str:
    return unicodedata.normalize("NFKC", word.casefold())


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def language_of(text: str) -> str:
    """The language that a text is written in, number words included; "" for digits alone."""
    if any("\u0904" <= letter <= "\u0939" for letter in text):
        return HINDI
    spoken = {word.key for word in words(text) if word.kind == "word"}
    numbers = [token for token in tokenize(text) if token.is_number]
    # Of the small numbers "do", "char" and "sat" are English words too.
    in_hindi = any(number.kind == "hindi" and number.value >= 10 for number in numbers)
    keys = {number.key for number in numbers}
    if in_hindi or spoken & WORDS.hinglish or keys & WORDS.hinglish_numbers:
        return HINGLISH
    in_english = keys & WORDS.english_numbers or any(each.kind == "english" for each in numbers)
    return ENGLISH if in_english or any(len(key) > 1 and key.isascii() for key in spoken) else ""
