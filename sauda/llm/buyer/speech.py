"""Puts a buyer's decided move into words: a line from a speaker, checked before it is said.

A policy decides silently, for its grade. What is said comes after and changes no move, so that a
livelier speaker cannot win less. A line is refused where a listener would take it for another move,
or where it promises that no other bid follows while one may.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from env import Accept, IllegalAction, Observation, Offer, WalkAway
from sauda.games.bazaar.behaviour import LAST
from sauda.games.bazaar.prompt import clean, completion, parse
from sauda.llm.buyer.lines import LINES, situation

LONGEST = 160  # characters
REGISTERS: Mapping[str, Mapping[str, str]] = {  # of LINES, by language and persona
    "en": {"plain": "plain", "warm": "warm"},
    "hinglish": {"plain": "hinglish", "street": "street"},
}
AGREES = re.compile(r"\b(agreed|i accept|i take it|sold|done|pakka|manzoor)\b", re.IGNORECASE)
LEAVES = re.compile(r"\b(goodbye|bye|no deal|i leave|i will leave|phir kabhi)\b", re.IGNORECASE)
SILENCE = "silence"  # the source where no speaker had a line


@dataclass(frozen=True)
class Decided:
    """A move that is decided, and what its line may depend on."""

    obs: Observation  # the history is in its table
    action: Offer | Accept | WalkAway
    persona: str = "plain"
    language: str = "en"
    said: Sequence[str] = ()  # the buyer's lines before it in this deal, silent moves left out


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


# Gives a line for a decision by a seed; "#" in it stands for the move's price.
Speaker = Callable[[Decided, int], str]


def spoken(decided: Decided, speakers: Mapping[str, Speaker], seed: int) -> Line:
    """The first line without faults, each speaker asked once and in turn; silence where none is."""
    refused: list[Refused] = []
    for source, speaker in speakers.items():
        text = speaker(decided, seed)
        if not (wrong := faults(text, decided)):
            return Line(_parsed(text, decided).message, source, tuple(refused))
        refused.append(Refused(source, text, wrong))
    return Line("", SILENCE, tuple(refused))


def faults(text: str, decided: Decided) -> tuple[str, ...]:
    """What keeps `text` from being said with the move, a sentence each."""
    wrong = []
    if not text.strip():
        wrong.append("it says nothing")
    if len(text) > LONGEST:
        wrong.append(f"it has {len(text)} characters, more than {LONGEST}")
    if clean(text) != text:
        wrong.append("it is no single line of plain text")
    try:
        _parsed(text, decided)
    except IllegalAction as error:
        wrong.append(f"it names a price that is not the move's: {error}")
    if isinstance(decided.action, WalkAway) and "#" in text:
        wrong.append("it names a price, and to walk away has none")
    bids = isinstance(decided.action, Offer)
    if bids and decided.obs.rounds_left > 1 and LAST.search(text):
        wrong.append("it promises that no other bid follows, and one may")
    if not isinstance(decided.action, Accept) and AGREES.search(text):
        wrong.append("it agrees, and the move does not")
    if not isinstance(decided.action, WalkAway) and LEAVES.search(text):
        wrong.append("it leaves, and the move does not")
    return tuple(wrong)


def from_lines(decided: Decided, seed: int) -> str:
    """A speaker: one of LINES for the situation, at first those that were not said yet.

    Raises ValueError for a language or a persona that has no lines.
    """
    personas = REGISTERS.get(decided.language)
    if personas is None or decided.persona not in personas:
        known = [f"{p} in {language}" for language, some in REGISTERS.items() for p in some]
        raise ValueError(
            f"no lines for a buyer who is {decided.persona} in {decided.language}; there are "
            f"{', '.join(known)}"
        )
    lines = LINES[personas[decided.persona]][situation(decided.obs, decided.action)]
    honest = [line for line in lines if not faults(line, decided)]
    said = set(map(_shape, decided.said))
    fresh = [line for line in honest if _shape(line) not in said]
    choice = fresh or honest
    return choice[np.random.default_rng(seed).integers(len(choice))] if choice else ""


def _parsed(text: str, decided: Decided) -> Offer | Accept | WalkAway:
    """The move with `text`, its # filled in; raises IllegalAction where they differ."""
    silent = replace(decided.action, message="")
    row = json.loads(completion(silent, decided.obs)) | {"say": text}
    return parse(json.dumps(row), decided.obs)


def _shape(text: str) -> str:
    """A line without its price, by which a line said before is known again."""
    return re.sub(r"₹\s?[\d,.]*\d|#", "#", text)
