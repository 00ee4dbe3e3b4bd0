"""Phrases around a number that say how it is meant: tables of them, and where they fit a text.

The phrases are written as in `lexicon.py`, with these elements besides:

    ...           is up to 14 other words of the same sentence
    *ending       is any word with that ending; {group} is one of `cue_groups.csv` too
    #             is a number, a price or not; ₹ a price; @ a price that might be a year
    !a/b          is any word but a and b
    .             is a mark
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sauda.language import lexicon
from sauda.language.lexicon import Word
from sauda.language.money import Mention
from sauda.language.numerals import fold

_ENDS = frozenset(".!?।॥\n") | {""}
_SILENT = frozenset("'’‘\"“”`*_")  # marks that part no words
_GAPS = {"..": (3, False), "...": (14, True)}  # most words, and whether a comma may stand there
_YEARS = range(1950, 2036)
_NUMBERS = ("#", "₹", "@")
with Path(__file__).with_name("cue_groups.csv").open(encoding="utf-8", newline="") as _lines:
    GROUPS = lexicon.GROUPS | {row["group"]: row["words"] for row in csv.DictReader(_lines)}


class _Place(NamedTuple):
    """One place of a phrase: words that fit, or a gap of up to `gap` words."""

    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    optional: bool = False
    excludes: bool = False
    gap: int = 0
    wide: bool = False

    def fits(self, word: Word) -> bool:
        if self.excludes:
            return word.kind in ("word", "number") and word.key not in self.words
        is_word = word.key in self.words or word.kind in self.kinds
        return is_word or word.key.startswith(self.stems) or word.key.endswith(self.endings)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a table: its meaning, and its places before, at and after its number."""

    meaning: str
    before: tuple[_Place, ...]  # the nearest first
    number: _Place | None  # None: all places stand in `after`
    after: tuple[_Place, ...]
    needs: tuple[_Place, ...]  # places that some word of a text has to fit

    def at(self, line: Sequence[Word], i: int) -> tuple[int, int] | None:
        """The first word and the end of the phrase whose number, or start, is word `i`."""
        if self.number is None:
            end = _match(line, i, 1, self.after)
            return None if end is None else (i, end)
        if not self.number.fits(line[i]):
            return None
        start, end = _match(line, i - 1, -1, self.before), None
        if start is not None:
            end = _match(line, i + 1, 1, self.after)
        return None if end is None else (start + 1, end)


def phrases(path: Path) -> tuple[Phrase, ...]:
    """The phrases of the table at `path`, whose first column is their meaning, in its order."""
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(
            _phrase(row[0], phrase.split())
            for row in list(csv.reader(lines))[1:]
            for phrase in ";".join(row[1:]).split(";")
            if phrase.strip()
        )


def line_of(text: str, mentions: Sequence[Mention]) -> list[Word]:
    """The words and marks of `text`, between edges, each of the prices `mentions` one word."""
    line, following = [], deque(mentions)
    for word in lexicon.words(text):
        while following and following[0].end <= word.start and word.start:
            following.popleft()
        if following and following[0].start < word.end and word.start < following[0].end:
            if word.start <= following[0].start or not line or line[-1].start < following[0].start:
                line.append(_price(text, following[0]))
        elif word.key not in _SILENT:
            line.append(word._replace(kind="number") if word.kind == "price" else word)
    return line


def live(table: Iterable[Phrase], line: Sequence[Word]) -> list[Phrase]:
    """The phrases whose words all stand somewhere in `line`."""
    words = list({word.key: word for word in line}.values())
    kinds = list({word.kind: word for word in line}.values())
    fitting = [*words, *kinds]
    return [p for p in table if all(any(map(place.fits, fitting)) for place in p.needs)]


def found(line: Sequence[Word], listed: Sequence[Phrase]) -> Iterator[tuple[Phrase, int, int]]:
    """Where each of `listed` stands in `line`: the phrase, its first word, its end."""
    for phrase in listed:
        for i in range(len(line)):
            if span := phrase.at(line, i):
                yield phrase, *span


def _price(text: str, mention: Mention) -> Word:
    is_year = mention.amount in _YEARS and text[mention.start : mention.end].isdecimal()
    kind = "year" if is_year else "price"
    return Word("", mention.start, mention.end, kind)


def _phrase(meaning: str, names: Sequence[str]) -> Phrase:
    places = list(map(_place, names))
    at = next((k for k, name in enumerate(names) if name in _NUMBERS), None)
    needs = tuple(p for p in places if not (p.gap or p.optional or p.kinds or p.excludes))
    if at is None:
        return Phrase(meaning, (), None, tuple(places), needs)
    before = tuple(reversed(places[:at]))
    return Phrase(meaning, before, places[at], tuple(places[at + 1 :]), needs)


def _place(name: str) -> _Place:
    if name in _GAPS:
        most, wide = _GAPS[name]
        return _Place(gap=most, wide=wide)
    words, stems, endings, kinds = set(), [], [], []
    for each in name.removesuffix("?").removeprefix("!").split("/"):
        if each in _NUMBERS:
            kinds += {"#": ("number", "price", "year"), "₹": ("price", "year"), "@": ("year",)}[
                each
            ]
        elif each == ".":
            kinds.append("mark")
        elif each.startswith("{"):
            words |= lexicon.keys(GROUPS[each[1:-1]])
        elif each.endswith("*"):
            stems.append(fold(each[:-1]))
        elif each.startswith("*"):
            endings.append(fold(each[1:]))
        else:
            words.add(fold(each))
    optional, excludes = name.endswith("?"), name.startswith("!")
    sets = (tuple(stems), tuple(endings), tuple(kinds))
    return _Place(frozenset(words), *sets, optional, excludes)


def _match(line: Sequence[Word], i: int, step: int, places: Sequence[_Place]) -> int | None:
    """The word past the `places` that stand from word `i` on, going by `step`; None if none do.

    A gap holds no price and ends no sentence.
    """
    if not places:
        return i
    place, rest = places[0], places[1:]
    if place.gap:
        for j in range(i, i + step * (place.gap + 1), step):
            if (past := _match(line, j, step, rest)) is not None:
                return past
            if not 0 <= j < len(line) or line[j].kind in ("price", "year"):
                return None
            if line[j].kind == "mark" and not (place.wide and line[j].key not in _ENDS):
                return None
        return None
    fits = 0 <= i < len(line) and place.fits(line[i])
    if fits and (past := _match(line, i + step, step, rest)) is not None:
        return past
    return _match(line, i, step, rest) if place.optional else None
