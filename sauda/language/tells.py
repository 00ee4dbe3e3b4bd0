"""What a message gives away: urgency, deception, confidence, sympathy and the item's condition.

    urgency     the writer needs to close soon, or presses the other side to
    deception   a claim that presses and cannot be checked: rivals, scarcity, oaths, other shops
    confidence  the writer is firm on the price
    sympathy    an appeal to pity: little money, illness, a loss
    condition   what the writer says of the item's state, good or bad

`lexicon` finds the phrases; `scope` tells whether they are meant. A phrase that is denied ("koi
jaldi nahi"), asked ("any scratches?"), reported ("he said it was urgent") or imagined ("if I was
in a hurry") is no tell; a denied fault still tells of the condition. A claim is read, not tested:
"deception" says that a phrase presses without proof, never that it is a lie.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sauda.language.lexicon import SIGNALS, Found, Word, find, keys, words
from sauda.language.scope import scope

HALF_LIFE = 3  # messages; of the 8 to 12 a side in a bargain, the first still counts at the end

FEWEST_WORDS = 2  # "final" alone may be a question or a search

_STRONG = keys(
    "very really so extremely super too totally absolutely bahut bohot bahot kafi ekdum bilkul "
    "behad बहुत काफी एकदम बिल्कुल बेहद सच"
)
_WEAK = keys(
    "little bit slightly somewhat maybe perhaps kinda thoda thodi zara shayad थोड़ा ज़रा शायद"
)
_STRONGER, _WEAKER = 1.25, 0.75  # what such a word does to a score


@dataclass(frozen=True, slots=True)
class Tell:
    """`text` stands at [start:end] of the message, in code points, and gives `signal` away."""

    start: int
    end: int
    text: str
    signal: str  # one of SIGNALS
    score: float  # how plainly, in [0, 1]; set by hand, no probability
    explanation: str


def read(text: str) -> tuple[Tell, ...]:
    """The tells of a message, in order. Spans of one signal do not overlap; signals may."""
    return tuple(tell for tell, denied in _heard(text) if not denied)


def memory(messages: Sequence[str]) -> dict[str, float]:
    """How strongly each signal is remembered after one side's messages, in [0, 1].

    A level is that of the strongest tell, halved every `HALF_LIFE` messages. Taking it back ("no
    hurry any more") clears it.
    """
    levels = dict.fromkeys(SIGNALS, 0.0)
    for message in messages:
        heard = _heard(message)
        for signal in SIGNALS:
            said = [tell.score for tell, denied in heard if tell.signal == signal and not denied]
            taken_back = not said and any(tell.signal == signal for tell, _ in heard)
            kept = 0.0 if taken_back else levels[signal] * 0.5 ** (1 / HALF_LIFE)
            levels[signal] = max([kept, *said])
    return levels


def _heard(text: str) -> list[tuple[Tell, bool]]:
    """Every tell, in order, and whether it is denied."""
    line = words(text)
    if sum(word.kind != "mark" for word in line) < FEWEST_WORDS:
        return []
    around = scope(line)
    heard = []
    for found in filter(around.means, _longest(line, list(find(line)))):
        cue, explanation = found.cue, found.cue.explanation
        denied = cue.denied != "stays" and around.denies(found)
        if denied and cue.denied == "flips":
            denied, explanation = False, explanation.replace("Says", "Denies", 1)
        start, end = line[found.first].start, line[found.end - 1].end
        score = _score(line, found)
        heard.append((Tell(start, end, text[start:end], cue.signal, score, explanation), denied))
    return sorted(heard, key=lambda tell: (tell[0].start, tell[0].end, tell[0].signal))


def _longest(line: Sequence[Word], founds: Sequence[Found]) -> Iterator[Found]:
    """Of overlapping phrases of one signal the longest; none that meets a look-alike."""
    masked = [False] * len(line)
    for found in founds:
        if found.cue.signal == "none":
            masked[found.first : found.end] = [True] * (found.end - found.first)
    plain = [f for f in founds if f.cue.signal != "none" and not any(masked[f.first : f.end])]
    kept: dict[str, Found] = {}
    for found in sorted(plain, key=lambda f: (f.first, -f.end, -f.cue.score)):
        last = kept.get(found.cue.signal)
        if last and found.first < last.end:
            if found.end - found.first > last.end - last.first:
                kept[found.cue.signal] = found
            continue
        if last:
            yield last
        kept[found.cue.signal] = found
    yield from kept.values()


def _score(line: Sequence[Word], found: Found) -> float:
    before = {word.key for word in line[max(1, found.first - 2) : found.first]}
    score = found.cue.score
    score *= _STRONGER if before & _STRONG else 1
    score *= _WEAKER if before & _WEAK else 1
    return round(min(score, 1.0), 2)
