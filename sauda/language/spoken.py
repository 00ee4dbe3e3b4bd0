"""Puts a decided move into words: a line from a table, checked before it is said.

A policy decides silently, for its grade. What is said comes after and changes no move, so that a
livelier speaker cannot win less. A line is refused where a listener would take it for another move,
or where it promises that no other price follows while one may. It reacts to the public table and
the other side's last words: no limit, no seed.

`retell` is what the chat says with a move that may have come with words of its own. Those are said
where they are in the chat's language, were not said before and promise no last price; a claim among
words that are not said is told in a sentence of its own, because policies read it too. Where any
words count they are told as they are or translated.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from env import Accept, Offer, Table, WalkAway, ear, rupees, speech
from env.language import money
from env.language.numerals import words
from sauda.language import phrases, read_rows
from sauda.language.lines import (
    CHAT_LINES,
    CLAIMS,
    ENGLISH,
    HINDI,
    LINES,
    corpus_language,
    name_in,
    translate_phrases,
    translation,
)
from sauda.language.phrases import language_of
from sauda.language.tells import read

Action = Offer | Accept | WalkAway
# The words of each phrase of an argument; a text has the phrase where it has all of them.
ARGUMENTS = {
    row["kind"]: [words(phrase) for phrase in row["phrases"].split(";")]
    for row in read_rows("arguments.csv")
}
# The other side's first price as a share of the list price: from here on it is far or absurd, up
# to here it is near. A seller's ask counts upwards, a buyer's bid downwards.
FAR = {"seller": 1.2, "buyer": 0.45}
ABSURD = {"seller": 3.0, "buyer": 0.1}
NEAR = {"seller": 0.85, "buyer": 0.8}
STEP = 0.08  # share of the list price from which a move of the other side is a "rise"


def situations(seen: Table, agent: str, action: Action, heard: str) -> tuple[str, ...]:
    """The keys of the lines that fit the `action` of `agent` at `seen`, the most fitting first."""
    if not isinstance(action, Offer):
        return ("accept",) if isinstance(action, Accept) else ("walk",)
    if is_last(seen):
        return ("last",)
    mine, theirs = prices_of(seen, agent)
    reacting = []
    anchor = _anchor(seen, agent, theirs)
    if anchor == "absurd":
        reacting.append(anchor)
    reacting += arguments_in(heard)[:1]
    if anchor in ("far", "near") and len(theirs) == 1:
        reacting.append(anchor)
    if not mine:
        return (*reacting, "first")
    nearer = action.price - mine[-1] if agent == "buyer" else mine[-1] - action.price
    return (*reacting, "more" if nearer > 0 else "less" if nearer < 0 else "hold")


def chat_situations(seen: Table, agent: str, action: Action, heard: str) -> tuple[str, ...]:
    """The keys of CHAT_LINES that fit an action: more than `situations` has.

    Every argument has a key, not the first alone, and so have "rise", "stuck" and "over". All but
    the last key react to what happened. An argument is reacted to in the last round too.
    """
    *anchors, plain = situations(seen, agent, action, heard="")
    if not isinstance(action, Offer):
        return (plain,)
    if seen.round >= seen.rounds:
        return ("over", plain)
    absurd, others = anchors.count("absurd"), [key for key in anchors if key != "absurd"]
    reacting = (*["absurd"] * absurd, *arguments_in(heard), *others)
    return (*reacting, *_step(seen, agent, plain), plain)


@lru_cache(maxsize=1024)  # a chat is put together anew at each move
def arguments_in(heard: str) -> tuple[str, ...]:
    """Every kind of argument in the other side's words."""
    spoken = {word.key for word in phrases.words(heard)}
    return tuple(kind for kind, listed in ARGUMENTS.items() if any(map(spoken.issuperset, listed)))


def _step(seen: Table, agent: str, plain: str) -> tuple[str, ...]:
    """ "rise" or "stuck" where the other side came a long way or named its last price again.

    Who stays at its own price does not thank for a rise, as if it answered with a step.
    """
    _, theirs = prices_of(seen, agent)
    if len(theirs) < 2 or plain == "last":
        return ()
    nearer = theirs[-1] - theirs[-2] if agent == "seller" else theirs[-2] - theirs[-1]
    if nearer >= STEP * seen.item.list_price:
        return ("rise",) if plain == "more" else ()
    return ("stuck",) if nearer == 0 else ()


def is_last(seen: Table) -> bool:
    """Whether no other price of the agent that moves at `seen` can be taken after this one."""
    return seen.rounds - seen.round <= 1


def prices_of(seen: Table, agent: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The prices that `agent` named so far, and those of the other side."""
    return (seen.asks, seen.bids) if agent == "seller" else (seen.bids, seen.asks)


def _anchor(seen: Table, agent: str, theirs: tuple[float, ...]) -> str:
    """How far the other side's last price is from the list price; empty where it is usual."""
    if not theirs:
        return ""
    other = "buyer" if agent == "seller" else "seller"
    share, sign = theirs[-1] / seen.item.list_price, 1 if other == "seller" else -1
    if sign * share >= sign * ABSURD[other]:
        return "absurd"
    if sign * share >= sign * FAR[other]:
        return "far"
    return "near" if sign * share <= sign * NEAR[other] else ""


LONGEST = 160  # characters


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


def line_faults(text: str, decided: Decided) -> tuple[str, ...]:
    """What keeps `text` from being said with the move, one sentence per fault."""
    wrong = []
    if not text.strip():
        wrong.append("it says nothing")
    if len(text) > LONGEST:
        wrong.append(f"it has {len(text)} characters, more than {LONGEST}")
    if " ".join(text.split()) != text or not text.isprintable():
        wrong.append("it is no single line of plain text")
    line = _insert_price(text, decided)
    named = {mention.amount for mention in money.prices(line)}
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
    """One of LINES for the situation, at first those that were not said yet; "" where none fits.

    A line that reacts is said before a plain one. Raises ValueError for a language without lines.
    """
    if decided.language not in LINES:
        raise ValueError(f"no lines in {decided.language!r}; there are {', '.join(LINES)}")
    lines = LINES[decided.language][decided.agent]
    shapes = set(map(shape, decided.said))
    keys = situations(decided.seen, decided.agent, decided.action, decided.heard)
    keys = keys if decided.reacts else keys[-1:]
    rng = np.random.default_rng(seed)
    for key in keys:
        fresh = [line for line in lines[key] if shape(line) not in shapes]
        for place in rng.permutation(len(fresh)):
            if not line_faults(fresh[place], decided):
                return _insert_price(fresh[place], decided)
    rest = [line for line in lines[keys[-1]] if not line_faults(line, decided)]
    return _insert_price(rest[rng.integers(len(rest))], decided) if rest else ""


@lru_cache(maxsize=2048)  # a chat is put together anew at each move
def announce(action: Offer | Accept | WalkAway) -> str:
    """The message of a move that has one, an offer's price before words that name none.

    The price of another shop is not the offer's.
    """
    _, outside = ear.act_in(action.message)
    named = {mention.amount for mention in money.prices(action.message)}
    if isinstance(action, Offer) and named <= {outside} - {action.price}:
        return f"{rupees(action.price)}: {action.message}"
    return action.message


def shape(text: str) -> str:
    """A line without its price, by which a line said before is known again."""
    return re.sub(r"₹\s?[\d,.]*\d|[#@]", "#", text)


def _insert_price(text: str, decided: Decided) -> str:
    return text if decided.price is None else text.replace("#", rupees(decided.price))


# What comes before new words of a seat: a bidding model's own words give way to less.
FIRST = {
    "seller": frozenset((*ARGUMENTS, "absurd", "far", "near", "rise", "stuck", "over")),
    "buyer": frozenset((*ARGUMENTS, "absurd")),
}
CLAIMED = {"deception": "rival", "confidence": "final", "urgency": "urgent", "sympathy": "loss"}
STOPS = re.compile(r"there I stop|that is it\b", re.IGNORECASE)  # beside LAST, in sellers' lines


def retell(decided: Decided, words: str, claimed: Collection[str], seed: int) -> str:
    """The chat's line for a decided move that came with `words`, "" for a silent one.

    `claimed` are the claims told before in this deal. Raises ValueError for a language without
    lines.
    """
    if decided.language not in CHAT_LINES:
        raise ValueError(f"no lines in {decided.language!r}; there are {', '.join(CHAT_LINES)}")
    read_of = decided.seen._replace(moves=(), past=(), rivals=())
    decided = replace(decided, seen=read_of, said=tuple(decided.said))
    return _retell(decided, words, frozenset(claimed), seed)


@lru_cache(maxsize=2048)  # a chat is put together anew at each move
def _retell(decided: Decided, words: str, claimed: frozenset[str], seed: int) -> str:
    if decided.seen.standing:
        return _market_words(words, decided) or chat_line(decided, seed)
    keys = chat_situations(decided.seen, decided.agent, decided.action, decided.heard)
    lines = CHAT_LINES[decided.language][decided.agent]
    first = [lines[key] for key in keys[:-1] if key in FIRST[decided.agent]]
    reaction = _fresh(decided, first, seed) if words and decided.reacts else ""
    retold = "" if reaction else _own_sentences(words, decided)
    if retold and retold == in_language(words, decided.language):
        return retold
    line = retold or chat_line(decided, seed)
    for tail in _tails(words, line, decided, claimed):
        if not line_faults(f"{line} {tail}", decided):
            line = f"{line} {tail}"
    return line


def _market_words(words: str, decided: Decided) -> str:
    """What was said with a move where any words count, in the chat's language.

    In an ask, a sentence of a model that only names the price becomes the bare price, and a
    courtesy is left out; a line that tells more in other words than the corpus' stays as it is.
    "" for other moves in words that are not the corpus'.
    """
    if corpus_language(words):
        return translate_phrases(words, decided.language)
    parts = []
    for sentence in _sentences(translate_phrases(words, decided.language)):
        if not _is_in(sentence, decided.language):
            prices = [rupees(mention.amount) for mention in money.prices(sentence)]
            if not isinstance(decided.action, Offer):
                return ""
            if len(prices) > 1 or ear.hear(sentence) != speech.Speech():
                return words
            sentence = f"{prices[0]}{'।' if decided.language == HINDI else '.'}" if prices else ""
        parts.append(sentence)
    return " ".join(filter(None, parts))


def _is_in(sentence: str, language: str) -> bool:
    """Whether a sentence, prices apart, is of the language alone; English ones a model says."""
    if language == HINDI:
        return not re.search("[A-Za-z]", sentence)
    bare = not re.search(r"[^\W\d]", sentence)
    return bare or language == ENGLISH or language_of(sentence) == language


def chat_line(decided: Decided, seed: int) -> str:
    """One of CHAT_LINES for the situation that was not said yet, reactions first.

    Where all were said, the one that was said longest ago.
    """
    keys = chat_situations(decided.seen, decided.agent, decided.action, decided.heard)
    lines = CHAT_LINES[decided.language][decided.agent]
    return _choose(decided, [lines[key] for key in (keys if decided.reacts else keys[-1:])], seed)


def _choose(decided: Decided, groups: Sequence[Sequence[str]], seed: int) -> str:
    """A line of the first of `groups` with a fresh one that fits, else the last's oldest; or ""."""
    line = _fresh(decided, groups, seed)
    if not line:
        places = {part: i for i, text in enumerate(decided.said) for part in _parts(text)}
        last_said = {line: max((places.get(part, -1) for part in _parts(line)), default=-1)
                     for line in groups[-1]}  # fmt: skip
        oldest = sorted(groups[-1], key=last_said.__getitem__)
        line = next((line for line in oldest if not line_faults(line, decided)), "")
    return _insert_price(line, decided)


@lru_cache(maxsize=4096)
def claim_of(words: str) -> str:
    """The kind of claim in a seller's words, as in CLAIMS; "" for none."""
    tells = [tell for tell in read(words) if tell.signal in CLAIMED]
    tells = [tell for tell in tells if "worth" not in tell.text.lower()]
    return CLAIMED[max(tells, key=lambda tell: tell.score).signal] if tells else ""


@lru_cache(maxsize=4096)
def in_language(words: str, language: str) -> str:
    """`words` where they are in `language` or can be translated into it; "" elsewhere."""
    if not words or language == ENGLISH:
        return words
    if translation_of := translation(words, language):
        return translation_of
    return words if language_of(words) in ("", language) else ""


def repeats(text: str, lines_before: Sequence[str]) -> bool:
    """Whether a sentence of `text`, prices apart, stands in one of `lines_before`."""
    parts = _parts(text)
    return any(not set(_parts(before)).isdisjoint(parts) for before in lines_before)


def _own_sentences(words: str, decided: Decided) -> str:
    """`words` in the chat's language without the sentences that were said before or promise.

    Empty where what is left does not say the move.
    """
    sentences = in_language(words, decided.language)
    opens = decided.agent == "seller" and not decided.said  # its first words are heard as they are
    binds = isinstance(decided.action, Offer) and not opens and not is_last(decided.seen)
    if binds and sentences != words and _promises(words):
        return ""  # a translation, whose sentences do not match those of `words`
    fresh = [part for part in _sentences(sentences) if not repeats(part, decided.said)]
    sentences = " ".join(part for part in fresh if not (binds and _promises(part)))
    plain = sentences
    for name in (decided.seen.item.name, name_in(decided.language, decided.seen.item.name)):
        plain = plain.replace(name, "it")  # a name may hold numbers that are no prices
    return "" if line_faults(plain, decided) else sentences


def _promises(words: str) -> bool:
    return bool(LAST.search(words) or STOPS.search(words))


def _tails(words: str, line: str, decided: Decided, claimed: Collection[str]) -> Iterator[str]:
    """What is told after `line` of the rest of `words`: sentences without a price, a claim."""
    if not isinstance(decided.action, Offer) or decided.agent != "seller":
        return
    lines_before, tails = (*decided.said, line), []
    for part in _sentences(words):
        says_more = any(pattern.search(part) for pattern in (LAST, AGREES, LEAVES, STOPS))
        text = in_language(part, decided.language)
        if text and not says_more and "₹" not in part and not repeats(text, lines_before):
            tails.append(part)
            yield text
    claim = claim_of(words.replace(decided.seen.item.name, "it"))
    if claim and claim not in claimed and claim not in map(claim_of, (line, *tails)):
        yield CLAIMS[decided.language]["seller"][claim][0]


def _fresh(decided: Decided, groups: Sequence[Sequence[str]], seed: int) -> str:
    """A line of the first of `groups` that has one which fits and was not said; "" for none."""
    rng = np.random.default_rng(seed)
    before = {part for text in decided.said for part in _parts(text)}
    for group in groups:
        lines = [line for line in group if before.isdisjoint(_parts(line))]
        for place in rng.permutation(len(lines)):
            if not line_faults(lines[place], decided):
                return lines[place]
    return ""


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!।…])\s+", text.strip()) if text.strip() else []


@lru_cache(maxsize=2048)
def _parts(text: str) -> tuple[str, ...]:
    """The sentences of a text without prices and marks, a bare price left out."""
    parts = (shape(part).strip(' .,:;?!।…"“”').lower() for part in _sentences(text))
    return tuple(part for part in parts if part.strip("# "))
