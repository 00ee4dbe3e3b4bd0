"""Finds the phrases of `lexicon.csv` in a text.

A row of the table is one meaning: a signal, a score, an explanation, and the phrases that express
it in English, Hinglish and Devanagari, separated by `;`. Scores are set by hand, from 0.4 for a
weak sign to 0.9 for a clear one; they rank phrases and are no probabilities. In a phrase

    word          stands for all the spellings that `numerals.fold` joins
    a/b           is a or b
    stem*         is any word with that stem
    a?            may be left out (not the first)
    ..            is up to three other words of the same clause
    #, ₹          are a number, and a number that may be a price
    {group}       is any word of a group in `cue_groups.csv`

The signal "none" marks look-alikes: "rush" within "rush hour" does not count.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sauda.language import numerals
from sauda.language.numerals import fold, number_at, read_rows, word_list

SIGNALS = ("urgency", "deception", "confidence", "sympathy", "condition")
NEGATORS, QUESTIONS = word_list("negators"), word_list("questions")
GROUPS = {row["group"]: row["words"] for row in read_rows("cue_groups.csv")}
LONGEST_GAP = 3  # words
SMALLEST_PRICE = 20  # rupees; "2 left" counts, "200 left" may be money


class Word(NamedTuple):
    """A word, number or mark, at `text[start:end]`."""

    key: str  # folded; "" for a number of several words
    start: int
    end: int
    kind: str  # word, number, price, currency or mark


class Cue(NamedTuple):
    """A row of the lexicon with the properties of one of its phrases."""

    signal: str
    score: float
    explanation: str
    denied: str  # effect of a denial: "drops" the tell, "flips" its meaning, or "stays"
    negates: bool  # the phrase contains a negation, as "will not go lower"
    asks: bool  # the phrase contains a question word, as "where do I get"


class Found(NamedTuple):
    """A phrase of the lexicon found in a text."""

    cue: Cue
    first: int  # index of its first word
    end: int  # index after its last word


class Element(NamedTuple):
    """One element of a phrase; an empty one is a gap."""

    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    optional: bool = False

    def fits(self, word: Word) -> bool:
        return (
            word.key in self.words
            or word.kind in self.kinds
            or (bool(self.stems) and word.key.startswith(self.stems))
        )


_GAP = Element()
_KINDS = {"#": ("number", "price"), "₹": ("price",)}


def keys(names: str) -> frozenset[str]:
    """The folded words of `names`, where `/` joins the spellings of one word."""
    return numerals.words(names.replace("/", " "))


def words(text: str) -> list[Word]:
    """The words of `text`, with an empty mark at either end.

    "don't" is one word, "saat sau" one number.
    """
    line = numerals.tokenize(text)
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


def _is_inside(line: Sequence[numerals.Token], i: int) -> bool:
    """Whether token `i` joins two words without a space, as in "semi-final"."""
    before, token, after = line[i - 1 : i + 2]
    joins = before.touches(token) and token.touches(after)
    return joins and before.kind != "mark" and after.kind not in ("mark", "digits", "edge")


def find(line: Sequence[Word]) -> Iterator[Found]:
    """Every phrase in `line`, ordered by its first word; takes linear time."""
    for i, word in enumerate(line):
        for elements, cue in _phrases_from(word):
            if end := phrase_end(line, i, elements, 0):
                yield Found(cue, i, end)


def _phrases_from(word: Word) -> Iterator[tuple[tuple[Element, ...], Cue]]:
    if word.key:
        yield from _BY_WORD.get(word.key, ())
        yield from (row for row in _BY_STEM.get(word.key[:3], ()) if row[0][0].fits(word))
    yield from _BY_KIND.get(word.kind, ())


def phrase_end(line: Sequence[Word], i: int, elements: Sequence[Element], k: int) -> int:
    """The end of the phrase whose element `k` is at word `i`; 0 if it does not match."""
    if k == len(elements):
        return i
    if i >= len(line):
        return 0
    element = elements[k]
    if element is _GAP:
        for j in range(i, min(i + LONGEST_GAP + 1, len(line))):
            if end := phrase_end(line, j, elements, k + 1):
                return end
            if line[j].kind == "mark":
                return 0
        return 0
    if element.fits(line[i]):
        after = i + 1
        after += bool(element.kinds) and after < len(line) and line[after].kind == "currency"
        if end := phrase_end(line, after, elements, k + 1):
            return end
    return phrase_end(line, i, elements, k + 1) if element.optional else 0


def element_of(place: str) -> Element:
    if place == "..":
        return _GAP
    names, stems, kinds = set(), [], set()
    for name in place.removesuffix("?").split("/"):
        if name in _KINDS:
            kinds.update(_KINDS[name])
        elif name.startswith("{"):
            names |= keys(GROUPS[name[1:-1]])
        elif name.endswith("*"):
            stems.append(fold(name[:-1]))
        else:
            names.add(fold(name))
    return Element(frozenset(names), tuple(stems), frozenset(kinds), place.endswith("?"))


def phrases(path: Path) -> Iterator[tuple[tuple[Element, ...], Cue]]:
    """The elements and the cue of each phrase in the table at `path`."""
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            for phrase in ";".join(row[column] for column in ("en", "hinglish", "hi")).split(";"):
                elements = tuple(map(element_of, phrase.split()))
                used = frozenset().union(*(element.words for element in elements))
                negates, asks = bool(used & NEGATORS), bool(used & QUESTIONS)
                score, explanation, denied = row["score"], row["explanation"], row["denied"]
                cue = Cue(row["signal"], float(score), explanation, denied, negates, asks)
                yield elements, cue


_BY_WORD: dict[str, list] = defaultdict(list)
_BY_STEM: dict[str, list] = defaultdict(list)
_BY_KIND: dict[str, list] = defaultdict(list)
for _row in phrases(Path(__file__).with_name("lexicon.csv")):
    for _name in sorted(_row[0][0].words):  # the same order in every run
        _BY_WORD[_name].append(_row)
    for _name in _row[0][0].stems:
        _BY_STEM[_name[:3]].append(_row)
    for _name in sorted(_row[0][0].kinds):
        _BY_KIND[_name].append(_row)
