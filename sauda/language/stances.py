"""How a visitor means the prices in a text: as an offer, or refused, quoted, past, supposed.

`stances.csv` holds the phrases by which it is told, in three languages; the first that fits counts,
so the specific stand before the general. Text of people only: a model's reply says what it offers.

`relative.csv` holds those of prices that are named by others on the table: "meet in the middle",
"10 % off", "200 more". What is taken off counts from the seller's price and what is added from the
buyer's, unless the text names another base.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import NamedTuple

from env import Table
from env.language.money import YEARS, Mention, prices, without_code
from env.language.numerals import WORDS, tokenize
from sauda.language import phrases
from sauda.language.phrases import BETWEEN_PRICES, SENTENCE_ENDS, Found, Phrase, PhraseTable, Word
from sauda.language.spoken import prices_of

_SILENT = frozenset("'’‘\"“”`*_")  # marks that part no words


def line_of(text: str, mentions: Sequence[Mention]) -> list[Word]:
    """The words and marks of `text`, between edges, each of the prices `mentions` one word."""
    line, following = [], deque(mentions)
    for word in phrases.words(text):
        while following and following[0].end <= word.start and word.start:
            following.popleft()
        if following and following[0].start < word.end and word.start < following[0].end:
            start, end, amount = astuple(following[0])
            if word.start <= start or not line or line[-1].start < start:
                is_year = amount in YEARS and text[start:end].isdecimal()
                line.append(Word("", start, end, "year" if is_year else "price"))
        elif word.key not in _SILENT:
            line.append(word._replace(kind="number") if word.kind == "price" else word)
    return line


# Stances; `stances.csv` has the others. A row of it without a kind says nothing of its price.
OWN, LISTED, NUMBER, EACH = "own", "listed", "number", "each"
_STANCES = PhraseTable("stances.csv", BETWEEN_PRICES)


class Reading(NamedTuple):
    """What is offered in a text, and how its first price that is no offer is meant."""

    offered: str  # the text with every price that is no offer blanked out
    stance: str  # of `stances.csv`; "" where every price may be an offer


@lru_cache(maxsize=1024)  # a text is read by its move and by its answer
def read_stances(text: str, standing: float | None = None, is_answer: bool = False) -> Reading:
    """The offers in a text, and the stance of what is no offer.

    `standing` is the other side's last price; who puts it in question does not offer it. In an
    answer to a question for a number, such as "how old is it?", a bare number is no price.
    """
    plain = without_code(text)
    mentions = prices(plain)
    meant = stances(plain, mentions, standing)
    if is_answer:
        meant = [
            stance or ("" if _is_marked(plain[mention.start : mention.end]) else NUMBER)
            for stance, mention in zip(meant, mentions, strict=True)
        ]
    drops = [stance not in ("", OWN) for stance in meant]
    others = [stance for stance in meant if stance and stance != OWN]
    pieces, end = [], 0
    for mention, drop in zip(mentions, drops, strict=True):
        if drop:
            pieces += [plain[end : mention.start], " " * (mention.end - mention.start)]
            end = mention.end
    rest = "".join([*pieces, plain[end:]])
    return Reading(rest if pieces else text, others[0] if others else "")


def _is_marked(amount: str) -> bool:
    return any(token.kind == "currency" for token in tokenize(amount))


def stances(text: str, mentions: Sequence[Mention], standing: float | None = None) -> list[str]:
    """The stance of each price; "" where the text does not say."""
    if not mentions:
        return []
    line = line_of(text, mentions)
    listed = _STANCES.live(line)
    places = [i for i, word in enumerate(line) if word.kind in ("price", "year")]
    meant = [next((p.kind for p in listed if p.at(line, i)), "") for i in places]
    for k, mention in enumerate(mentions):
        if meant[k] == "" and mention.amount == standing and _is_asked(line, places[k]):
            meant[k] = LISTED
    for k, mention in enumerate(mentions):
        parts = (mentions[n].amount for n in range(k, len(meant)) if meant[n] == EACH)
        if meant[k] in ("", OWN) and any(mention.amount <= part for part in parts):
            meant[k] = EACH  # "500 now and 500 every month" has no total
    offers = [k for k, stance in enumerate(meant) if stance in ("", OWN)]
    if len(offers) == 2:
        first, last = offers
        between = line[places[first] : places[last]]
        is_own_last = (meant[first], meant[last]) == ("", OWN)
        if any(word.key in WORDS.contrasts for word in between) or (
            is_own_last and any(word.kind == "mark" for word in between)
        ):
            meant[first] = LISTED  # "1,800 is on the tag, but 1,500": the speaker's own comes last
    return meant


def _is_asked(line: Sequence[Word], place: int) -> bool:
    """Whether the sentence of the price at `place` ends in a question mark."""
    ends = (word.key for word in line[place:] if word.kind == "mark" and word.key in SENTENCE_ENDS)
    return next(ends) == "?"


_RELATIVE = PhraseTable("relative.csv", BETWEEN_PRICES)
_BASES = ("own_base", "list_base")
_OF = re.compile(r"\bof\b", re.IGNORECASE)  # which a fold does not tell from "off"


class NoBase(ValueError):
    """The price that a relative one counts from was not named yet: "own" or "theirs"."""


@dataclass(frozen=True, slots=True)
class Relative:
    """A way to work a price out: from what, and by how much."""

    way: str  # middle, half, less, more, same, percent_less, percent_more or percent_of
    amount: float = 0.0  # rupees or percent
    base: str = ""  # own, list, or "" for the usual one

    @property
    def kind(self) -> str:
        """The way in a word: middle, half, less, more or same."""
        return {"percent_of": "less"}.get(self.way, self.way.removeprefix("percent_"))

    def price(self, table: Table, seat: str) -> float:
        """The price in the smallest money of `table`; NoBase where the other price is missing."""
        mine, theirs = prices_of(table, seat)
        counts_from = {"less": "seller", "more": "buyer"}.get(self.way.removeprefix("percent_"))
        if self.way == "middle":
            amount = (_last(mine, "own") + _last(theirs, "theirs")) / 2
        elif self.way == "same":
            amount = _last(mine, "own")
        elif self.base == "list":
            amount = self._change(table.item.list_price)
        elif self.base == "own" or counts_from == seat:
            amount = self._change(_last(mine, "own"))
        else:
            amount = self._change(_last(theirs, "theirs"))
        return _round(amount, table.decimals)

    def _change(self, base: float) -> float:
        share = self.amount / 100
        changes = {
            "half": base / 2,
            "less": base - self.amount,
            "more": base + self.amount,
            "percent_less": base * (1 - share),
            "percent_more": base * (1 + share),
            "percent_of": base * share,
        }
        return changes[self.way]


@lru_cache(maxsize=1024)  # a text is read by its move, its question and its answer
def relative(text: str) -> Relative | None:
    """The way that a text names its price by others; None where it names a price itself or none."""
    plain = without_code(text)
    mentions = prices(plain)
    line = line_of(plain, mentions)
    listed = _RELATIVE.live(line)
    ways = [phrase for phrase in listed if phrase.kind not in _BASES]
    for phrase, first, end in _find(line, ways):
        span = range(line[first].start, line[end - 1].end)
        says_of = bool(_OF.search(plain, span.start, span.stop))
        if says_of == (phrase.kind == "percent_of") or phrase.number is None:
            break
    else:
        return None
    for mention, stance in zip(mentions, stances(plain, mentions), strict=True):
        is_offer = mention.start not in span and stance in ("", OWN)
        if is_offer or (mention.start in span and stance not in ("", OWN, "press")):
            return None
    if _is_denied(line, first, end):
        return None
    bases = [base for base in listed if base.kind in _BASES]
    base = next((place.kind.removesuffix("_base") for place in _find(line, bases)), "")
    numbers = (line[i] for i in range(first, end) if phrase.number and phrase.number.fits(line[i]))
    number = next(numbers, None)
    amounts = prices(f"₹{plain[number.start : number.end]}") if number else ()
    if number and not amounts:
        return None
    return Relative(phrase.kind, amounts[0].amount if amounts else 0.0, base)


def _find(line: Sequence[Word], listed: Sequence[Phrase]) -> Iterator[Found]:
    for phrase in listed:
        for i in range(len(line)):
            if span := phrase.at(line, i):
                yield Found(phrase, *span)


def _is_denied(line: Sequence[Word], first: int, end: int) -> bool:
    """Whether the clause of line[first:end] denies it: "I can't go 500 lower"."""
    start = max((i for i in range(first) if line[i].kind == "mark"), default=-1) + 1
    for i in range(start, first):
        is_asked = {line[i - 1].key, line[i + 1].key} & WORDS.asked_back
        if line[i].key in WORDS.negations and not is_asked:
            return True
    stop = next((i for i in range(end, len(line)) if line[i].kind == "mark"), len(line))
    return any(word.key in WORDS.nahi for word in line[first:stop])


def _last(named: Sequence[float], whose: str) -> float:
    if not named:
        raise NoBase(whose)
    return named[-1]


def _round(amount: float, decimals: int) -> float:
    """`amount` to `decimals`, half up; whole prices as int, as the rules count rupees."""
    scale = 10**decimals
    rounded = int(amount * scale + 0.5) / scale
    return int(rounded) if rounded == int(rounded) else rounded
