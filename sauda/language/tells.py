"""Tells in a message: urgency, deception, confidence, sympathy and the item's condition.

    urgency     the writer needs to close soon, or presses the other side to
    deception   a claim that presses and cannot be checked: rivals, scarcity, oaths, other shops
    confidence  the writer is firm on the price
    sympathy    an appeal to pity: little money, illness, a loss
    condition   what the writer says of the item's state, good or bad

`lexicon` finds the phrases; `scope` decides whether they are meant. A phrase that is denied ("koi
jaldi nahi"), asked ("any scratches?"), reported ("he said it was urgent") or hypothetical ("if I
was in a hurry") is no tell; a denied fault still tells of the condition. Claims are not verified:
"deception" means that a phrase presses without proof, never that it is a lie.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sauda.language.lexicon import SIGNALS, Found, Word, find, words
from sauda.language.numerals import word_list
from sauda.language.scope import scope

HALF_LIFE = 3  # messages; a side sends 8 to 12, so the first still counts at the end

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
    signal: str  # one of SIGNALS
    score: float  # how clearly, in [0, 1]; set by hand, no probability
    explanation: str


def read(text: str) -> tuple[Tell, ...]:
    """The tells of a message, in order. Spans of one signal do not overlap; signals may."""
    return tuple(tell for tell, denied in _candidates(text) if not denied)


def signal_levels(messages: Sequence[str]) -> dict[str, float]:
    """The level of each signal after one side's messages, in [0, 1].

    It is the score of the strongest tell, halved every `HALF_LIFE` messages. A message that takes
    the tell back ("no hurry any more") resets it to 0.
    """
    levels = dict.fromkeys(SIGNALS, 0.0)
    for message in messages:
        candidates = _candidates(message)
        for signal in SIGNALS:
            scores = [
                tell.score for tell, denied in candidates if tell.signal == signal and not denied
            ]
            taken_back = not scores and any(tell.signal == signal for tell, _ in candidates)
            kept = 0.0 if taken_back else levels[signal] * 0.5 ** (1 / HALF_LIFE)
            levels[signal] = max([kept, *scores])
    return levels


def _candidates(text: str) -> list[tuple[Tell, bool]]:
    """Every tell, in order, with whether it is denied."""
    line = words(text)
    if sum(word.kind != "mark" for word in line) < FEWEST_WORDS:
        return []
    around = scope(line)
    candidates = []
    for phrase in filter(around.means, _longest(line, list(find(line)))):
        cue, explanation = phrase.cue, phrase.cue.explanation
        denied = cue.denied != "stays" and around.denies(phrase)
        if denied and cue.denied == "flips":
            denied, explanation = False, explanation.replace("Says", "Denies", 1)
        start, end = line[phrase.first].start, line[phrase.end - 1].end
        score = _score(line, phrase)
        candidates.append(
            (Tell(start, end, text[start:end], cue.signal, score, explanation), denied)
        )
    return sorted(candidates, key=lambda tell: (tell[0].start, tell[0].end, tell[0].signal))


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
