"""Puts a decided move into words: a line from a speaker, checked before it is said.

A policy decides silently, for its grade. What is said comes after and changes no move, so that a
livelier speaker cannot win less. A line is refused where a listener would take it for another move,
or where it promises that no other price follows while one may.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from env import Accept, Offer, Table, WalkAway, rupees
from sauda.language import money
from sauda.language.lines import ENGLISH, LINES
from sauda.language.speech.situations import is_last, prices_of, situations

LONGEST = 160  # characters
SILENCE = "silence"  # the source where no speaker had a line


def _any_of(listed: str) -> re.Pattern[str]:
    """Finds one of the words as a whole; Python's own word end splits Devanagari words."""
    letter = r"[\w\u0900-\u0963]"
    return re.compile(f"(?<!{letter})({listed})(?!{letter})", re.IGNORECASE)


LAST = _any_of(
    "last|final|at most|no more|not a rupee|cannot (?:go|pass)|must go|all i have|aakhri|akhri|"
    "warna|phir jaate|आख़िरी|आखिरी|अंतिम|वरना|फ़ाइनल|फिर चलते"
)
AGREES = _any_of("agreed|i accept|i take it|deal at|sold|done|pakka|manzoor|पक्का|मंज़ूर|मंजूर|बात बन गई")
LEAVES = _any_of(
    "goodbye|bye|no deal|i leave|i will leave|phir kabhi|rehne do|अलविदा|फिर कभी|रहने दो|रहने दीजिए"
)


@dataclass(frozen=True)
class Decided:
    """A move that is decided, and what its line may depend on: nothing that is hidden."""

    seen: Table  # before the move
    agent: str  # "buyer" or "seller"
    action: Offer | Accept | WalkAway
    language: str = ENGLISH
    heard: str = ""  # the other side's words since the agent's move before
    said: Sequence[str] = ()  # the agent's lines before it in this game
    reacts: bool = True  # False for a plain line, which has no opinion on what happened

    @property
    def price(self) -> float | None:
        """The price that the move names or takes; None where it walks away."""
        if isinstance(self.action, Offer):
            return self.action.price
        _, theirs = prices_of(self.seen, self.agent)
        return theirs[-1] if isinstance(self.action, Accept) and theirs else None


@dataclass(frozen=True)
class Refused:
    """A line that was not said, and what is wrong with it."""

    source: str
    text: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """What is said with a move, by whom, and the lines that were refused before."""

    text: str  # prices in rupees; "" for a silent move
    source: str
    refused: tuple[Refused, ...] = ()


# Gives a line for a decision by a seed, in the voice of its persona where it has one; "#" in it
# stands for the move's price.
Speaker = Callable[[Decided, int], str]


def spoken(decided: Decided, speakers: Mapping[str, Speaker], seed: int) -> Line:
    """The first line without faults, each speaker asked once and in turn; silence where none is."""
    refused: list[Refused] = []
    for source, speaker in speakers.items():
        text = speaker(decided, seed)
        if not (wrong := faults(text, decided)):
            return Line(_priced(text, decided), source, tuple(refused))
        refused.append(Refused(source, text, wrong))
    return Line("", SILENCE, tuple(refused))


def faults(text: str, decided: Decided) -> tuple[str, ...]:
    """What keeps `text` from being said with the move, a sentence each."""
    wrong = []
    if not text.strip():
        wrong.append("it says nothing")
    if len(text) > LONGEST:
        wrong.append(f"it has {len(text)} characters, more than {LONGEST}")
    if " ".join(text.split()) != text or not text.isprintable():
        wrong.append("it is no single line of plain text")
    named = {mention.amount for mention in money.prices(_priced(text, decided))}
    if named - {decided.price}:
        wrong.append("it names a price that is not the move's")
    if decided.price is None and "#" in text:
        wrong.append("it names a price, and to walk away has none")
    if isinstance(decided.action, Offer) and decided.price not in named:
        wrong.append("it leaves out the price that it offers")
    if isinstance(decided.action, Offer) and not is_last(decided.seen) and LAST.search(text):
        wrong.append("it promises that no other price follows, and one may")
    if not isinstance(decided.action, Accept) and AGREES.search(text):
        wrong.append("it agrees, and the move does not")
    if not isinstance(decided.action, WalkAway) and LEAVES.search(text):
        wrong.append("it leaves, and the move does not")
    return tuple(wrong)


def from_lines(decided: Decided, seed: int) -> str:
    """A speaker: one of LINES for the situation, at first those that were not said yet.

    A line that reacts is said before a plain one. Raises ValueError for a language without lines.
    """
    if decided.language not in LINES:
        raise ValueError(f"no lines in {decided.language!r}; there are {', '.join(LINES)}")
    lines = LINES[decided.language][decided.agent]
    said = set(map(shape, decided.said))
    keys = situations(decided.seen, decided.agent, decided.action, decided.heard)
    keys = keys if decided.reacts else keys[-1:]
    rng = np.random.default_rng(seed)
    for key in keys:
        fresh = [line for line in lines[key] if shape(line) not in said]
        for place in rng.permutation(len(fresh)):
            if not faults(fresh[place], decided):
                return fresh[place]
    rest = [line for line in lines[keys[-1]] if not faults(line, decided)]
    return rest[rng.integers(len(rest))] if rest else ""


@lru_cache(maxsize=2048)  # a chat is put together anew at each move
def named(action: Offer | Accept | WalkAway) -> str:
    """The message of a move that has one, an offer's price before words that name none."""
    if isinstance(action, Offer) and not money.prices(action.message):
        return f"{rupees(action.price)}: {action.message}"
    return action.message


def shape(text: str) -> str:
    """A line without its price, by which a line said before is known again."""
    return re.sub(r"₹\s?[\d,.]*\d|#", "#", text)


def _priced(text: str, decided: Decided) -> str:
    """The text with the move's price in rupees."""
    return text if decided.price is None else text.replace("#", rupees(decided.price))
