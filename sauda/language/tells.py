"""Tells in a message: urgency, deception, confidence, sympathy and the item's condition.

    urgency     the writer needs to close soon, or presses the other side to
    deception   a claim that presses and cannot be checked: rivals, scarcity, oaths, other shops
    confidence  the writer is firm on the price
    sympathy    an appeal to pity: little money, illness, a loss
    condition   what the writer says of the item's state, good or bad

`lexicon` finds the phrases; their `Scope` decides whether they are meant: a clause ends at a mark
or a conjunction, in English a negator denies what follows it, in Hindi what precedes it, within the
clause and a few words away, and every check looks at a bounded number of words. A phrase that is
denied ("koi jaldi nahi"), asked ("any scratches?"), reported ("he said it was urgent") or
hypothetical ("if I was in a hurry") is no tell; a denied fault still tells of the condition. Claims
are not verified: "deception" means that a phrase presses without proof, never that it is a lie.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sauda.language.lexicon import (
    GROUPS,
    NEGATORS,
    QUESTIONS,
    Found,
    Word,
    find,
    keys,
    words,
)
from sauda.language.numerals import word_list

FEWEST_WORDS = 2  # a message such as "final" alone may be a question

_STRONG = word_list("intensifiers")
_WEAK = word_list("softeners")
_STRONGER, _WEAKER = 1.25, 0.75  # factors of such a word on a score


@dataclass(frozen=True, slots=True)
class Tell:
    """A phrase, at [start:end] of the message in code points, that shows `signal`."""

    start: int
    end: int
    text: str
    signal: str  # one of lexicon.SIGNALS
    score: float  # how clearly, in [0, 1]; set by hand, no probability
    explanation: str


def read(text: str) -> tuple[Tell, ...]:
    """The tells of a message, in order. Spans of one signal do not overlap; signals may."""
    line = words(text)
    if sum(word.kind != "mark" for word in line) < FEWEST_WORDS:
        return ()
    around, tells = scope(line), []
    for phrase in filter(around.means, _longest(line, list(find(line)))):
        cue, explanation = phrase.cue, phrase.cue.explanation
        if cue.denied != "stays" and around.denies(phrase):
            if cue.denied != "flips":
                continue
            explanation = explanation.replace("Says", "Denies", 1)
        start, end = line[phrase.first].start, line[phrase.end - 1].end
        score = _score(line, phrase)
        tells.append(Tell(start, end, text[start:end], cue.signal, score, explanation))
    return tuple(sorted(tells, key=lambda tell: (tell.start, tell.end, tell.signal)))


def _longest(line: Sequence[Word], phrases: Sequence[Found]) -> Iterator[Found]:
    """The longest of overlapping phrases of one signal, without those that overlap a look-alike."""
    masked = [False] * len(line)
    for phrase in phrases:
        if phrase.cue.signal == "none":
            masked[phrase.first : phrase.end] = [True] * (phrase.end - phrase.first)
    plain = [f for f in phrases if f.cue.signal != "none" and not any(masked[f.first : f.end])]
    kept: dict[str, Found] = {}
    for phrase in sorted(plain, key=lambda f: (f.first, -f.end, -f.cue.score)):
        last = kept.get(phrase.cue.signal)
        if last and phrase.first < last.end:
            if phrase.end - phrase.first > last.end - last.first:
                kept[phrase.cue.signal] = phrase
            continue
        if last:
            yield last
        kept[phrase.cue.signal] = phrase
    yield from kept.values()


def _score(line: Sequence[Word], phrase: Found) -> float:
    before = {word.key for word in line[max(1, phrase.first - 2) : phrase.first]}
    score = phrase.cue.score
    score *= _STRONGER if before & _STRONG else 1
    score *= _WEAKER if before & _WEAK else 1
    return round(min(score, 1.0), 2)


# Whether a phrase is meant ------------------------------------------------------------------------

_AFTER = keys("nahi nahin nhi nahee nai mat नहीं मत")  # Hindi denies what stands before
_OTHERWISE = keys("to toh तो")  # "nahi to": or else
_VOCATIVES = keys("bro bhai bhaiya sir madam yaar dear boss thanks sorry भाई भैया")  # "no bro, 500"
_NOT_DENYING = keys("only just doubt wonder sirf")  # "not only", "no doubt"
_FINITE = keys("hai h he hain hu hun hoon hoo tha thi है हूँ था थी")  # a Hindi clause ends here
_FIRST_PERSON = keys("hu hun hoon hoo हूँ")
_NEAR = 12  # words before a phrase in which its "if" or its owner stands
_SCOPE = 4  # words between a negator and what it denies

_ENDS = frozenset(".!?।॥…\n") | {""}
_ASKS = frozenset("?？")
_QUOTES = frozenset('"“”')
_JOINS = word_list("joins")
_CONTRASTS = keys("but par lekin magar पर लेकिन मगर")
_REQUESTS = keys("can could will would shall may")
_YOU = keys("you u we i it")
_LISTENER = keys("you u we")
_INVERTED = {  # first words that ask when the second is one of these
    **{key: keys("it there this that the your anyone somebody someone anybody") for key in ["is"]},
    **{key: keys("you there these they the we others") for key in sorted(keys("are were"))},
    **{key: keys("you u i they we the") for key in sorted(keys("do did have"))},
    **{key: keys("it this that the he she") for key in sorted(keys("does was has"))},
    **dict.fromkeys(sorted(_REQUESTS), _YOU),
}
_HOW = keys("how what")
_MIDWAY = {  # what asks in the middle of a sentence too: "too high for me is there a way"
    **dict.fromkeys(sorted(keys("is are")), keys("there")),
    **dict.fromkeys(sorted(keys("do did have")), keys("you u")),
}
_TAGS = keys("is isnt are arent does doesnt did didnt right na no hai है ना")
_ANYWHERE = keys("kya kia kitna kitne kitni kaun kab क्या कितना कितने कितनी कौन कब")

_OTHERS = word_list("others")
_SELF = keys("i maine mene मैंने")
_SAY = word_list("say")
_IF = keys("if agar yadi अगर यदि")
_UNREAL = keys("were was had hota hoti hote होता होती होते")
_SAYING = keys("keh kah bol कह बोल")  # "aap keh rahe the"
_GOING_ON = keys("rahe raha rahi rhe rha rhi रहे रहा रही")
_EVEN = keys("even")
_SUPPOSED = ("deception", "condition", "sympathy")  # "if another buyer came"
_PAST_BEFORE = keys("was were")
_PAST_AFTER = keys("tha thi the था थी थे")
_YOURS = word_list("yours")
_THEIRS = word_list("theirs")
_FAMILY = keys(GROUPS["family"])
_OWN = keys("my our mera mere meri hamara hamare hamari मेरा मेरे मेरी हमारा हमारे हमारी")
_FORMER = word_list("former")  # "my last bike"


class _Clause(NamedTuple):
    start: int  # index of its first word
    end: int  # index after its last
    opens: int  # where its sentence starts
    is_asked: bool
    is_request: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The words of a text, with properties for each word."""

    line: Sequence[Word]
    clauses: Sequence[_Clause]
    unreal: Sequence[int]  # index from which the word's sentence is reported or hypothetical
    quoted: Sequence[bool]

    def means(self, phrase: Found) -> bool:
        """Whether a phrase is the writer's own and in the present, stated or denied."""
        first, last = self.clauses[phrase.first], self.clauses[phrase.end - 1]
        is_real = phrase.first < self.unreal[phrase.first] and not self.quoted[phrase.first]
        is_real &= not _is_supposed(self.line, phrase, first)
        is_own = not _is_of_others(self.line, phrase, first)
        is_now = not _is_past(self.line, phrase)
        return is_real and is_own and is_now and not _is_asked(phrase, first, last)

    def denies(self, phrase: Found) -> bool:
        """Whether the text denies a phrase that does not itself deny something."""
        first, last = self.clauses[phrase.first], self.clauses[phrase.end - 1]
        return not phrase.cue.negates and _is_denied(self.line, phrase, first, last)


def scope(line: Sequence[Word]) -> Scope:
    """The scope of the words `line`, which come from `lexicon.words(text)`."""
    clauses = _clauses(line)
    return Scope(line, clauses, _unreal(line, clauses), _mark_quotations(line))


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
    is_request = word.key in _REQUESTS and after.key in _YOU
    is_how = word.key in _HOW and after.key == "about"
    is_there = after.key in _MIDWAY.get(word.key, ())
    after_self = before.key in _FIRST_PERSON and word.key not in _ANYWHERE | _AFTER
    return word.key in _JOINS or is_request or is_how or is_there or after_self


def _sentence(line: Sequence[Word], cuts: Sequence[int], opens: int, asks: bool) -> list[_Clause]:
    """The clause of each word of a sentence that is cut at `cuts`."""
    spans = [(a, b) for a, b in pairwise(cuts) if b > a]
    spoken = [any(word.kind != "mark" for word in line[a:b]) for a, b in spans]
    last = max((k for k, is_spoken in enumerate(spoken) if is_spoken), default=-1)
    first = next((a for (a, _), is_spoken in zip(spans, spoken, strict=True) if is_spoken), opens)
    all_asked = asks and _opens_question(line, first) and line[first].key not in _REQUESTS
    clauses: list[_Clause] = []
    for k, (a, b) in enumerate(spans):
        at = a + (line[a].key in _JOINS)
        is_asked = all_asked or (asks and k == last) or _opens_question(line, at)
        is_asked |= any(word.key in _ANYWHERE for word in line[a:b])
        is_tagged = asks and k == last - 1 and _is_tag(line, *spans[last])
        is_request = line[at].key in _REQUESTS and line[at + 1].key in _LISTENER
        clause = _Clause(a, b, opens, is_asked or is_tagged, is_request)
        clauses += [clause] * (b - a)
    return clauses


def _is_tag(line: Sequence[Word], a: int, b: int) -> bool:
    """Whether a clause is only ", is it?"."""
    spoken = [word.key for word in line[a:b] if word.kind != "mark"]
    return 0 < len(spoken) <= 3 and spoken[0] in _TAGS


def _opens_question(line: Sequence[Word], i: int) -> bool:
    key, after = line[i].key, line[i + 1].key if i + 1 < len(line) else ""
    return key in QUESTIONS or after in _INVERTED.get(key, ())


def _unreal(line: Sequence[Word], clauses: Sequence[_Clause]) -> list[int]:
    """For each word, the index from which its sentence is reported or hypothetical.

    The length of the line if it is neither.
    """
    starts = [len(line)] * len(line)
    now, opens = len(line), -1
    for i, word in enumerate(line):
        clause = clauses[i]
        if clause.opens != opens or word.key in _CONTRASTS:
            now, opens = len(line), clause.opens
        if (word.key in _OTHERS or word.key in _SELF) and _says(line, i):
            now = min(now, i)
        if word.key in _IF and any(w.key in _UNREAL for w in line[i : min(clause.end, i + 12)]):
            now = min(now, i)
        starts[i] = now
    return starts


def _says(line: Sequence[Word], i: int) -> bool:
    """Whether what follows is reported speech of the person named at `i`."""
    following = [word.key for word in line[i + 1 : i + 5]]
    verb = next(
        (
            k
            for k, key in enumerate(following)
            if key in _SAY or (key in _SAYING and _GOING_ON.intersection(following[k + 1 : k + 2]))
        ),
        None,
    )
    if verb is None or "" in following[:verb]:
        return False
    doubts = any(key in NEGATORS or key in _ANYWHERE for key in following[:verb])
    return doubts or line[i].key in _OTHERS


def _mark_quotations(line: Sequence[Word]) -> list[bool]:
    """Whether each word is quoted. A quotation at the very start of the text does not count."""
    marks = [
        i
        for i, word in enumerate(line)
        if word.key in _QUOTES and line[i - 1].kind not in ("number", "price")  # not 27" for inches
    ]
    quoted = [False] * len(line)
    for opens, closes in zip(marks[::2], marks[1::2], strict=False):
        if opens > 1:
            quoted[opens:closes] = [True] * (closes - opens)
    return quoted


def _is_asked(phrase: Found, *clauses: _Clause) -> bool:
    """Whether a phrase is only asked. A request such as "Can you decide today?" still counts."""
    pressing = phrase.cue.signal in ("urgency", "sympathy")
    return not phrase.cue.asks and any(
        clause.is_asked and not (pressing and clause.is_request) for clause in clauses
    )


def _is_past(line: Sequence[Word], phrase: Found) -> bool:
    """Whether an urgency is over: "it was urgent"."""
    before = line[max(0, phrase.first - 3) : phrase.first]
    after = line[phrase.end : phrase.end + 2]
    return phrase.cue.signal == "urgency" and (
        any(word.key in _PAST_BEFORE for word in before)
        or any(word.key in _PAST_AFTER for word in after)
    )


def _is_supposed(line: Sequence[Word], phrase: Found, clause: _Clause) -> bool:
    """Whether a phrase is in an if-clause: "if another buyer came", "even if it is urgent"."""
    first = max(clause.start, phrase.first - _NEAR)
    start = next((i for i in range(first, phrase.first + 1) if line[i].key in _IF), None)
    if start is None:
        return False
    return phrase.cue.signal in _SUPPOSED or line[start - 1].key in _EVEN


def _is_of_others(line: Sequence[Word], phrase: Found, clause: _Clause) -> bool:
    """Whether a phrase is about somebody else, or about another item of the writer.

    "The buyer's rush", "my son is in a hurry"; "my last bike had a scratch".
    """
    pairs = list(pairwise(line[max(clause.start, phrase.first - _NEAR) : phrase.first + 1]))
    if phrase.cue.signal == "condition":
        return any(own.key in _OWN and then.key in _FORMER for own, then in pairs)
    if phrase.cue.signal == "deception":
        return False
    before = {word.key for word in line[max(clause.start, phrase.first - 2) : phrase.first]}
    if before & _THEIRS or (phrase.cue.signal != "confidence" and before & _YOURS):
        return True  # "that is your final price" is the writer's own
    return phrase.cue.signal == "urgency" and any(
        own.key in _OWN and then.key in _FAMILY for own, then in pairs[-5:]
    )


def _is_denied(line: Sequence[Word], phrase: Found, first: _Clause, last: _Clause) -> bool:
    """Whether a negator has the phrase in its scope: before it, in Hindi after it, or within."""
    if any(word.key in NEGATORS for word in line[phrase.first : phrase.end]):
        return True
    start = max(first.start, phrase.first - _SCOPE)
    for i in range(phrase.first - 1, start - 1, -1):
        if line[i].key in NEGATORS - _AFTER and not _is_interjection(line, i):
            return True
    for i in range(phrase.end, min(last.end, phrase.end + _SCOPE)):
        if line[i].key in _AFTER:
            return i + 1 >= len(line) or line[i + 1].key not in _OTHERWISE
        if line[i].key in _FINITE:
            break
    return False


def _is_interjection(line: Sequence[Word], i: int) -> bool:
    """Whether the negator at `i` answers, as in "no bro, 500", or denies nothing: "not only"."""
    after = line[i + 1]
    is_answer = line[i].key == "no" and (after.kind in ("price", "currency") or after.key == "no")
    return is_answer or after.key in _VOCATIVES or after.key in _NOT_DENYING
