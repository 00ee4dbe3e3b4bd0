"""Whether a text accepts the price that stands, leaves, or only nods.

`closings.csv` lists what people say by its force. A text is cut into clauses, and a clause counts
only where its phrases cover all of it: "what a deal!" and "deal with it" accept nothing.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from sauda.language.lexicon import Word, words
from sauda.language.money import prices
from sauda.language.speech.kinds import NO, kind_of_talk
from sauda.language.speech.phrases import PhraseTable

ACCEPT = "accept"  # names the deal: "you have a deal"
AGREE = "agree"  # agrees with what was said: "that works for me"
LIKELY = "likely"  # agrees among other words
YES = "yes"  # may answer anything
NOD = "nod"  # "great", "sure": no acceptance by itself
CONDITION = "condition"  # "deal, if you bring it here"
LEAVE = "leave"
# A text that accepts in one clause and says this in another accepts nothing.
COUNTERS = frozenset(
    ("bargain", "limit", "too_far", "refusal", "price", "press", "insult", "several")
)
_ENDS = frozenset(".!?,;:।()–—\n")
_END = Word("", 0, 0, "mark")  # after a clause: a last word that may be left out needs one
_TABLE = PhraseTable(Path(__file__).with_name("closings.csv"))
_FIRM, _SOFT, _SURE, _REFUSE = "firm", "soft", "sure", "refuse"
_IF, _TERM, _BREAK, _ASKS = "if", "term", "break", "asks"
_PARTING = (_IF, _TERM, _BREAK)  # part a clause in two


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def closing(text: str, standing: float | None = None) -> str:
    """What `text` does to the other side's last price, `standing`: one of the above or "".

    A text that names another price closes nothing.
    """
    if {mention.amount for mention in prices(text)} - {standing}:
        return ""
    said: set[str] = set()
    plainly: set[str] = set()  # in a clause of its own
    rest: list[str] = []  # what else is said
    apart: list[str] = []  # of it, in clauses of their own
    for clause, end in _clauses(words(text)):
        parts = [clause] if _kinds(clause) else [part for part in _parts(clause) if part]
        others = [_text(text, part) + end for part in parts if not _kinds(part)]
        kinds = set[str]().union(*map(_kinds, parts))
        said |= kinds
        plainly |= kinds if not others else set()
        rest += others
        apart += others if len(others) == len(parts) else []
    if LEAVE in said:
        return LEAVE if not rest and said.isdisjoint((_FIRM, _SOFT, YES, _SURE, NOD)) else ""
    found = {kind for _, kind in _TABLE.found(text)}
    conditional = not found.isdisjoint((_IF, _TERM))
    if _FIRM in said and conditional:
        return CONDITION
    if _REFUSE in said or any(map(_counters, apart)):
        return ""
    if _FIRM in plainly:
        return ACCEPT
    if _TERM in found and {_SOFT, YES, _SURE} & said and "?" not in text:
        return "" if any(map(_counters, rest)) else CONDITION
    if {_FIRM, _SOFT} & said:
        is_talk = conditional or any("?" in other for other in rest)
        return "" if is_talk else LIKELY if rest else AGREE
    if rest or not said & {YES, _SURE, NOD}:
        return ""
    return NOD if said & {_SURE, NOD} else YES


def asks_something(message: str, standing: float | None) -> bool:
    """Whether the other side's `message` asks a question that is not about its price."""
    return any(
        end == "?"
        and clause
        and not {mention.amount for mention in prices(_text(message, clause))} & {standing}
        and not _kinds(clause) & {_FIRM, _SOFT, YES, _SURE, _ASKS}
        for clause, end in _clauses(words(message), frozenset(".!?।\n"))
    )


def confirms(text: str) -> bool:
    """Whether a text confirms what the visitor was asked back about."""
    return closing(text) in (YES, NOD, AGREE)


def _text(message: str, clause: Sequence[Word]) -> str:
    return message[clause[0].start : clause[-1].end]


def _counters(clause: str) -> bool:
    first = next((word.key for word in words(clause) if word.kind != "mark"), "")
    return first in NO or kind_of_talk(clause) in COUNTERS


def _clauses(
    line: Sequence[Word], ends: frozenset[str] = _ENDS
) -> Iterator[tuple[list[Word], str]]:
    """The words of each clause, and the mark after it."""
    clause: list[Word] = []
    for word in line:
        if word.kind == "mark" and (word.key in ends or not word.key):
            yield clause, word.key
            clause = []
        elif word.kind != "mark":
            clause.append(word)


def _parts(clause: list[Word]) -> Iterator[list[Word]]:
    """A clause cut at its conjunctions."""
    part, i, line = [], 0, [*clause, _END]
    while i < len(clause):
        end, kind = _TABLE.longest(line, i)
        if kind in _PARTING:
            yield part
            part, i = [], end
        else:
            part, i = [*part, clause[i]], i + 1
    yield part


def _kinds(clause: Sequence[Word]) -> set[str]:
    """The kinds of the phrases that cover a clause; empty where a word is left over."""
    kinds, i, line = set(), 0, [*clause, _END]
    while i < len(clause):
        end, kind = _TABLE.longest(line, i)
        if kind in _PARTING or (not kind and clause[i].kind not in ("price", "currency")):
            return set()
        kinds.add(kind)
        i = max(end, i + 1)
    return kinds
