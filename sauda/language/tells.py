"""Tells in a message: urgency, deception, confidence, sympathy and the item's condition.

    urgency     the writer needs to close soon, or presses the other side to
    deception   a claim that presses and cannot be checked: rivals, scarcity, oaths, other shops
    confidence  the writer is firm on the price
    sympathy    an appeal to pity: little money, illness, a loss
    condition   what the writer says of the item's state, good or bad

`lexicon.csv` lists the phrases; their `Scope` decides whether they are meant: a clause ends at a
mark or a conjunction, in English a negator denies what follows it, in Hindi what precedes it,
within the clause and a few words away, and every check looks at a bounded number of words. A phrase
that is denied ("koi jaldi nahi"), asked ("any scratches?"), reported ("he said it was urgent") or
hypothetical ("if I was in a hurry") is no tell; a denied fault still tells of the condition. Claims
are not verified: "deception" means that a phrase presses without proof, never that it is a lie.
Scores are set by hand, from 0.4 for a weak sign to 0.9 for a clear one; they rank phrases and are
no probabilities. The signal "none" marks look-alikes: "rush" within "rush hour" does not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from env.language.numerals import WORDS, fold
from sauda.language.phrases import Found, PhraseTable, Word, words

SIGNALS = ("urgency", "deception", "confidence", "sympathy", "condition")
FEWEST_WORDS = 2  # a message such as "final" alone may be a question
STRONGER, WEAKER = 1.25, 0.75  # factors of an intensifier and of a softener on a score
LEXICON = PhraseTable("lexicon.csv")


@dataclass(frozen=True, slots=True)
class Tell:
    """A phrase, at [start:end] of the message in code points, that shows `signal`."""

    start: int
    end: int
    text: str
    signal: str  # one of SIGNALS
    score: float  # how clearly, in [0, 1]; set by hand, no probability


def read(text: str) -> tuple[Tell, ...]:
    """The tells of a message, in order. Spans of one signal do not overlap; signals may."""
    line = words(text)
    if sum(word.kind != "mark" for word in line) < FEWEST_WORDS:
        return ()
    around, tells = Scope(line), []
    for place in filter(around.means, _longest(list(LEXICON.places(line)))):
        row = place.phrase.cells
        if row["denied"] == "drops" and around.denies(place):
            continue
        start, end = line[place.first].start, line[place.end - 1].end
        score = _score(line, place)
        tells.append(Tell(start, end, text[start:end], place.kind, score))
    return tuple(sorted(tells, key=lambda tell: (tell.start, tell.end, tell.signal)))


def _longest(phrases: Sequence[Found]) -> Iterator[Found]:
    """The longest of overlapping phrases of one signal, without those that overlap a look-alike."""
    masked = {i for place in phrases if place.kind == "none"
              for i in range(place.first, place.end)}  # fmt: skip
    plain = [f for f in phrases if masked.isdisjoint(range(f.first, f.end))]
    last_of: dict[str, Found] = {}
    for place in sorted(plain, key=lambda f: (f.first, -f.end, -_listed_score(f))):
        last = last_of.get(place.kind)
        if last and place.first < last.end:
            if place.end - place.first > last.end - last.first:
                last_of[place.kind] = place
            continue
        if last:
            yield last
        last_of[place.kind] = place
    yield from last_of.values()


def _score(line: Sequence[Word], place: Found) -> float:
    before = {word.key for word in line[max(1, place.first - 2) : place.first]}
    score = _listed_score(place)
    score *= STRONGER if before & WORDS.intensifiers else 1
    score *= WEAKER if before & WORDS.softeners else 1
    return round(min(score, 1.0), 2)


def _listed_score(place: Found) -> float:
    return float(place.phrase.cells["score"])


# Whether a phrase is meant ------------------------------------------------------------------------

NEAR = 12  # words before a phrase in which its "if" or its owner stands
SCOPE = 4  # words between a negator and what it denies
_ENDS = frozenset(".!?।॥…\n") | {""}
_ASKS = frozenset("?？")
_QUOTES = frozenset('"“”')


def _openings(rows: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    """By a word those that make a question of it where they follow."""
    return {fold(key): frozenset(map(fold, listed.split()))
            for keys, listed in rows.items() for key in keys.split()}  # fmt: skip


_INVERTED = _openings(
    {
        "is": "it there this that the your anyone somebody someone anybody",
        "are were": "you there these they the we others",
        "do did have": "you u i they we the",
        "does was has": "it this that the he she",
        "can could will would shall may": "you u we i it",
    }
)
# What asks in the middle of a sentence too: "too high for me is there a way".
_MIDWAY = _openings({"is are": "there", "do did have": "you u"})


class _Clause(NamedTuple):
    start: int  # index of its first word
    end: int  # index after its last
    opens: int  # where its sentence starts
    is_asked: bool
    is_request: bool


class Scope:
    """What the words of a text, as `phrases.words` gives them, say of a phrase among them."""

    def __init__(self, line: Sequence[Word]) -> None:
        self.line = line
        self.clauses = _clauses(line)  # of each word
        self.unreal = _unreal(line, self.clauses)
        self.quoted = _find_quoted(line)

    def means(self, place: Found) -> bool:
        """Whether a phrase is the writer's own and in the present, stated or denied."""
        if place.first >= self.unreal[place.first] or place.first in self.quoted:
            return False
        rules = (self._is_supposed, self._is_of_others, self._is_past, self._is_asked)
        return not any(rule(place) for rule in rules)

    def denies(self, place: Found) -> bool:
        """Whether a negator has a phrase without one in its scope.

        It stands before the phrase, in Hindi after it, or within.
        """
        if place.phrase.holds(WORDS.negators):
            return False
        line = self.line
        if _said(line[place.first : place.end]) & WORDS.negators:
            return True
        start = max(self.clauses[place.first].start, place.first - SCOPE)
        if any(
            line[i].key in WORDS.negators - WORDS.after and not _is_interjection(line, i)
            for i in range(start, place.first)
        ):
            return True
        for i in range(place.end, min(self.clauses[place.end - 1].end, place.end + SCOPE)):
            if line[i].key in WORDS.after:
                return i + 1 >= len(line) or line[i + 1].key not in WORDS.otherwise
            if line[i].key in WORDS.finite:
                break
        return False

    def _is_asked(self, place: Found) -> bool:
        """Whether a phrase is only asked. A request such as "Can you decide today?" counts."""
        pressing = place.kind in ("urgency", "sympathy")
        clauses = self.clauses[place.first], self.clauses[place.end - 1]
        return not place.phrase.holds(WORDS.questions) and any(
            clause.is_asked and not (pressing and clause.is_request) for clause in clauses
        )

    def _is_past(self, place: Found) -> bool:
        """Whether an urgency is over: "it was urgent"."""
        before = _said(self.line[max(0, place.first - 3) : place.first])
        after = _said(self.line[place.end : place.end + 2])
        is_over = before & WORDS.past_before or after & WORDS.past_after
        return place.kind == "urgency" and bool(is_over)

    def _is_supposed(self, place: Found) -> bool:
        """Whether a phrase is in an if-clause: "if another buyer came", "even if urgent"."""
        for i in range(self._near(place), place.first + 1):
            if self.line[i].key in WORDS.if_words:
                is_claim = place.kind in ("deception", "condition", "sympathy")
                return is_claim or self.line[i - 1].key == "even"
        return False

    def _is_of_others(self, place: Found) -> bool:
        """Whether a phrase is about somebody else, or about another item of the writer.

        "The buyer's rush", "my son is in a hurry"; "my last bike had a scratch".
        """
        pairs = list(pairwise(self.line[self._near(place) : place.first + 1]))
        following = {then.key for first, then in pairs if first.key in WORDS.own}
        if place.kind == "condition":
            return bool(following & WORDS.former)
        if place.kind == "deception":
            return False
        start = max(self.clauses[place.first].start, place.first - 2)
        before = _said(self.line[start : place.first])
        if before & WORDS.theirs or (place.kind != "confidence" and before & WORDS.yours):
            return True  # "that is your final price" is the writer's own
        following = {then.key for first, then in pairs[-5:] if first.key in WORDS.own}
        return place.kind == "urgency" and bool(following & WORDS.family)

    def _near(self, place: Found) -> int:
        """The first word of the phrase's clause that is near it."""
        return max(self.clauses[place.first].start, place.first - NEAR)


def _said(line: Sequence[Word]) -> set[str]:
    return {word.key for word in line}


def _clauses(line: Sequence[Word]) -> list[_Clause]:
    """The clause of each word. Marks, conjunctions and "can you" begin a new one."""
    of_word: list[_Clause] = []
    cuts, opens = [0], 0
    for i in range(1, len(line)):
        word, before = line[i], line[i - 1]
        if before.kind == "mark" or _begins(line, i):
            cuts.append(i)
        if word.kind == "mark" and (word.key in _ENDS or word.key in _ASKS):
            of_word += _sentence(line, [*cuts, i + 1], opens, word.key in _ASKS)
            cuts, opens = [i + 1], i + 1
    return of_word


def _begins(line: Sequence[Word], i: int) -> bool:
    before, word, after = line[i - 1], line[i], line[min(i + 1, len(line) - 1)]
    is_request = word.key in WORDS.requests and after.key in WORDS.you_and_i
    is_how = word.key in WORDS.how and after.key == "about"
    is_there = after.key in _MIDWAY.get(word.key, ())
    after_self = before.key in WORDS.first_person and word.key not in WORDS.anywhere | WORDS.after
    return word.key in WORDS.joins or is_request or is_how or is_there or after_self


def _sentence(line: Sequence[Word], cuts: Sequence[int], opens: int, asks: bool) -> list[_Clause]:
    """The clause of each word of a sentence that is cut at `cuts`."""
    spans = [(a, b) for a, b in pairwise(cuts) if b > a]
    spoken = [k for k, (a, b) in enumerate(spans) if any(w.kind != "mark" for w in line[a:b])]
    last = spoken[-1] if spoken else -1
    first = spans[spoken[0]][0] if spoken else opens
    all_asked = asks and _opens_question(line, first) and line[first].key not in WORDS.requests
    clauses: list[_Clause] = []
    for k, (a, b) in enumerate(spans):
        at = a + (line[a].key in WORDS.joins)
        is_asked = all_asked or (asks and k == last) or _opens_question(line, at)
        is_asked |= bool(_said(line[a:b]) & WORDS.anywhere)
        is_asked |= asks and k == last - 1 and _is_tag(line, *spans[last])
        is_request = line[at].key in WORDS.requests and line[at + 1].key in WORDS.listener
        clauses += [_Clause(a, b, opens, is_asked, is_request)] * (b - a)
    return clauses


def _is_tag(line: Sequence[Word], a: int, b: int) -> bool:
    """Whether a clause is only ", is it?"."""
    spoken = [word.key for word in line[a:b] if word.kind != "mark"]
    return 0 < len(spoken) <= 3 and spoken[0] in WORDS.tags


def _opens_question(line: Sequence[Word], i: int) -> bool:
    key, after = line[i].key, line[i + 1].key if i + 1 < len(line) else ""
    return key in WORDS.questions or after in _INVERTED.get(key, ())


def _unreal(line: Sequence[Word], clauses: Sequence[_Clause]) -> list[int]:
    """For each word, the index from which its sentence is reported or hypothetical, or the end."""
    starts: list[int] = []
    now, opens = len(line), -1
    for i, word in enumerate(line):
        clause = clauses[i]
        if clause.opens != opens or word.key in WORDS.contrasts:
            now, opens = len(line), clause.opens
        if (word.key in WORDS.others or word.key in WORDS.self) and _says(line, i):
            now = min(now, i)
        if word.key in WORDS.if_words and _said(line[i : min(clause.end, i + 12)]) & WORDS.unreal:
            now = min(now, i)
        starts.append(now)
    return starts


def _says(line: Sequence[Word], i: int) -> bool:
    """Whether what follows is reported speech of the person named at `i`."""
    between: list[str] = []
    for word, after in pairwise([*line[i + 1 : i + 5], Word("", 0, 0, "mark")]):
        goes_on = word.key in WORDS.saying and after.key in WORDS.going_on
        if word.key in WORDS.say or goes_on:
            doubts = any(key in WORDS.negators | WORDS.anywhere for key in between)
            return "" not in between and (doubts or line[i].key in WORDS.others)
        between.append(word.key)
    return False


def _find_quoted(line: Sequence[Word]) -> set[int]:
    """The words that are quoted. A quotation at the very start of the text does not count."""
    marks = [
        i
        for i, word in enumerate(line)
        if word.key in _QUOTES and line[i - 1].kind not in ("number", "price")  # not 27" for inches
    ]
    spans = zip(marks[::2], marks[1::2], strict=False)
    return {i for opens, closes in spans if opens > 1 for i in range(opens, closes)}


def _is_interjection(line: Sequence[Word], i: int) -> bool:
    """Whether the negator at `i` answers, as in "no bro, 500", or denies nothing: "not only"."""
    after = line[i + 1]
    is_answer = line[i].key == "no" and (after.kind in ("price", "currency") or after.key == "no")
    return is_answer or after.key in WORDS.vocatives | WORDS.not_denying
