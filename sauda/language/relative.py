"""Prices that a visitor names by those on the table: "meet in the middle", "10 % off", "200 more".

`relative.csv` holds the phrases, in three languages. What is taken off counts from the seller's
price and what is added from the buyer's, unless the text names another base.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from env import Table
from sauda.language import cues
from sauda.language.cues import Word, line_of, live, phrases
from sauda.language.lexicon import keys
from sauda.language.money import prices, without_code
from sauda.language.stances import OWN, stances

_TABLE = phrases(Path(__file__).with_name("relative.csv"))
_BASES = ("own_base", "list_base")
_NOT, _AFTER = keys(cues.GROUPS["not"]), keys(cues.GROUPS["nahi"])
_OF = re.compile(r"\bof\b", re.IGNORECASE)  # which a fold does not tell from "off"
_ASKED = keys("you u we why")  # "can't you", "why not": no denial


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
        own, theirs = (table.asks, table.bids) if seat == "seller" else (table.bids, table.asks)
        if self.way == "middle":
            amount = (_last(own, "own") + _last(theirs, "theirs")) / 2
        elif self.way == "same":
            amount = _last(own, "own")
        else:
            amount = self._change(self._base(table, seat))
        return _rounded(amount, table.decimals)

    def _base(self, table: Table, seat: str) -> float:
        if self.base == "list":
            return table.item.list_price
        own, theirs = (table.asks, table.bids) if seat == "seller" else (table.bids, table.asks)
        counts_from = {"less": "seller", "more": "buyer"}.get(self.way.removeprefix("percent_"))
        is_own = self.base == "own" or counts_from == seat
        return _last(own, "own") if is_own else _last(theirs, "theirs")

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
    listed = live(_TABLE, line)
    ways = [phrase for phrase in listed if phrase.meaning not in _BASES]
    for phrase, first, end in cues.found(line, ways):
        span = range(line[first].start, line[end - 1].end)
        says_of = bool(_OF.search(plain, span.start, span.stop))
        if says_of == (phrase.meaning == "percent_of") or phrase.number is None:
            break
    else:
        return None
    for mention, stance in zip(mentions, stances(plain, mentions), strict=True):
        is_offer = mention.start not in span and stance in ("", OWN)
        if is_offer or (mention.start in span and stance not in ("", OWN, "press")):
            return None
    if _is_denied(line, first, end):
        return None
    bases = [base for base in listed if base.meaning in _BASES]
    base = next((b.meaning.removesuffix("_base") for b, *_ in cues.found(line, bases)), "")
    numbers = (line[i] for i in range(first, end) if phrase.number and phrase.number.fits(line[i]))
    number = next(numbers, None)
    amounts = prices(f"₹{plain[number.start : number.end]}") if number else ()
    if number and not amounts:
        return None
    return Relative(phrase.meaning, amounts[0].amount if amounts else 0.0, base)


def _is_denied(line: Sequence[Word], first: int, end: int) -> bool:
    """Whether the clause of line[first:end] denies it: "I can't go 500 lower"."""
    for i in range(first - 1, -1, -1):
        if line[i].kind == "mark":
            break
        is_asked = line[i + 1].key in _ASKED or line[i - 1].key in _ASKED
        if line[i].key in _NOT and not is_asked:
            return True
    for i in range(first, len(line)):
        if i >= end and line[i].kind == "mark":
            break
        if line[i].key in _AFTER:
            return True
    return False


def _last(named: Sequence[float], whose: str) -> float:
    if not named:
        raise NoBase(whose)
    return named[-1]


def _rounded(amount: float, decimals: int) -> float:
    """`amount` to `decimals`, half up; whole prices as int, as the rules count rupees."""
    scale = 10**decimals
    rounded = int(amount * scale + 0.5) / scale
    return int(rounded) if rounded == int(rounded) else rounded
