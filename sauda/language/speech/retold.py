"""What the chat says with a move of the other side, which may have come with words of its own.

Those words enter the game as they are; the chat says them where they are in its language, were not
said before and promise no last price that another may follow. Where the other side has something to
react to, a line that reacts comes first. A claim in words that are not said, such as that another
buyer waits, is told in a sentence of its own, because policies read it too.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from env import Offer
from sauda.language.lines import CHAT_LINES, CLAIMS, ENGLISH
from sauda.language.speech.items import name_in
from sauda.language.speech.phrases import language_of
from sauda.language.speech.situations import ARGUMENTS, chat_situations, is_last
from sauda.language.speech.spoken import (
    AGREES,
    LAST,
    LEAVES,
    Decided,
    faults,
    shape,
    spoken,
)
from sauda.language.speech.translated import translation
from sauda.language.tells import read

# What comes before new words of a seat: a bidding model's own words give way to less.
FIRST = {
    "seller": frozenset((*ARGUMENTS, "absurd", "far", "near", "rise", "stuck", "over")),
    "buyer": frozenset((*ARGUMENTS, "absurd")),
}
CLAIMED = {"deception": "rival", "confidence": "final", "urgency": "urgent", "sympathy": "loss"}
STOPS = re.compile(r"there I stop|that is it\b", re.IGNORECASE)  # beside LAST, in sellers' lines


def retold(decided: Decided, words: str, claimed: Collection[str], seed: int) -> str:
    """The chat's line for a decided move that came with `words`, "" for a silent one.

    `claimed` are the claims told before in this deal. Raises ValueError for a language without
    lines.
    """
    if decided.language not in CHAT_LINES:
        names = ", ".join(CHAT_LINES)
        raise ValueError(f"no lines in {decided.language!r}; there are {names}")
    read_of = decided.seen._replace(moves=(), past=(), rivals=())
    decided = replace(decided, seen=read_of, said=tuple(decided.said))
    return _retold(decided, words, frozenset(claimed), seed)


@lru_cache(maxsize=2048)  # a chat is put together anew at each move
def _retold(decided: Decided, words: str, claimed: frozenset[str], seed: int) -> str:
    keys = chat_situations(decided.seen, decided.agent, decided.action, decided.heard)
    first = [key for key in keys[:-1] if key in FIRST[decided.agent]]
    reaction = _fresh(decided, first, seed) if words and decided.reacts else ""
    own = "" if reaction else _own(words, decided)
    if own and own == in_language(words, decided.language):
        return own
    line = own or spoken(decided, {"lines": chat_line}, seed).text
    for tail in _tails(words, line, decided, claimed):
        if not faults(f"{line} {tail}", decided):
            line = f"{line} {tail}"
    return line


def chat_line(decided: Decided, seed: int) -> str:
    """A speaker: one of CHAT_LINES for the situation that was not said yet, reactions first.

    Where all were said, the one that was said longest ago.
    """
    keys = chat_situations(decided.seen, decided.agent, decided.action, decided.heard)
    keys = keys if decided.reacts else keys[-1:]
    if line := _fresh(decided, keys, seed):
        return line
    oldest = sorted(_lines(decided, keys[-1]), key=lambda line: _last_place(line, decided.said))
    return next((line for line in oldest if not faults(line, decided)), "")


@lru_cache(maxsize=4096)
def claim_of(words: str) -> str:
    """The kind of claim in a seller's words, a key of CLAIMS; "" for none."""
    found = [tell for tell in read(words) if tell.signal in CLAIMED]
    found = [tell for tell in found if "worth" not in tell.text.lower()]
    return CLAIMED[max(found, key=lambda tell: tell.score).signal] if found else ""


@lru_cache(maxsize=4096)
def in_language(words: str, language: str) -> str:
    """`words` where they are in `language` or can be translated into it; "" elsewhere."""
    if not words or language == ENGLISH:
        return words
    if translation_of := translation(words, language):
        return translation_of
    return words if language_of(words) in ("", language) else ""


def repeats(text: str, said: Sequence[str]) -> bool:
    """Whether a sentence of `text`, prices apart, stands in one of the texts that were `said`."""
    return not _all_parts(said).isdisjoint(_parts(text))


def _all_parts(said: Sequence[str]) -> set[str]:
    return {part for text in said for part in _parts(text)}


def _own(words: str, decided: Decided) -> str:
    """`words` in the chat's language without the sentences that were said before or promise.

    Empty where what is left does not say the move.
    """
    own = in_language(words, decided.language)
    opens = (
        decided.agent == "seller" and not decided.said
    )  # whose first words are heard as they are
    binds = isinstance(decided.action, Offer) and not opens and not is_last(decided.seen)
    if binds and own != words and _promises(words):
        return ""  # a translation, whose sentences do not match those of `words`
    kept = [part for part in _sentences(own) if not repeats(part, decided.said)]
    own = " ".join(part for part in kept if not (binds and _promises(part)))
    plain = own
    for name in (decided.seen.item.name, name_in(decided.language, decided.seen.item.name)):
        plain = plain.replace(name, "it")  # a name may hold numbers that are no prices
    return "" if faults(plain, decided) else own


def _promises(words: str) -> bool:
    return bool(LAST.search(words) or STOPS.search(words))


def _tails(words: str, line: str, decided: Decided, claimed: Collection[str]) -> Iterator[str]:
    """What is told after `line` of the rest of `words`: sentences without a price, a claim."""
    if not isinstance(decided.action, Offer) or decided.agent != "seller":
        return
    said = (*decided.said, line)
    parts = [part for part in _sentences(words) if "₹" not in part]
    told = [part for part in parts if _is_tail(part, said, decided)]
    yield from (in_language(part, decided.language) for part in told)
    claim = claim_of(words.replace(decided.seen.item.name, "it"))
    if claim and claim not in claimed and claim not in map(claim_of, (line, *told)):
        yield CLAIMS[decided.language][claim]


def _is_tail(part: str, said: Sequence[str], decided: Decided) -> bool:
    text = in_language(part, decided.language)
    says_more = any(found.search(part) for found in (LAST, AGREES, LEAVES, STOPS))
    return bool(text) and not says_more and not repeats(text, said)


def _fresh(decided: Decided, keys: Sequence[str], seed: int) -> str:
    """A line of the first of `keys` that has one which fits and was not said; "" where none has."""
    rng = np.random.default_rng(seed)
    before = _all_parts(decided.said)
    for key in keys:
        lines = [line for line in _lines(decided, key) if before.isdisjoint(_parts(line))]
        for place in rng.permutation(len(lines)):
            if not faults(lines[place], decided):
                return lines[place]
    return ""


def _lines(decided: Decided, key: str) -> tuple[str, ...]:
    return CHAT_LINES[decided.language][decided.agent][key]


def _last_place(line: str, said: Sequence[str]) -> int:
    """The place in `said`, from 0, where a line was said last; -1 where it was not."""
    parts = set(_parts(line))
    return max((i for i, text in enumerate(said) if parts & set(_parts(text))), default=-1)


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!।…])\s+", text.strip()) if text.strip() else []


@lru_cache(maxsize=2048)
def _parts(text: str) -> tuple[str, ...]:
    """The sentences of a text without prices and marks, a bare price left out."""
    parts = (shape(part).strip(' .,:;?!।…"“”').lower() for part in _sentences(text))
    return tuple(part for part in parts if part.strip("# "))
