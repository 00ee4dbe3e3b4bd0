"""The ear of both seats: which meaning a sentence bears, by a linear classifier over n-grams.

It learnt from the training sentences of `sentences.csv`; `python -m sauda train ear` writes its
weights, `ear.npz`. A word counts as it sounds, so that Hindi in either script is one language, and
an amount counts as an amount. Below a margin it hears nothing.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from ..core import read_rows
from .speech import ACTS as PRICE_ACTS
from .speech import Speech
from .types import EXTRAS

SEATS = ("buyer", "seller")  # who speaks
BUCKETS = 1 << 15  # columns of the weights, to which n-grams are hashed
LENGTHS = (3, 4)  # of n-grams of characters, within a word with its borders
ACROSS = 5  # characters of the n-grams that cross from one word to the next
LONGEST = 400  # characters of a text that are read
CLAUSE = 3  # words, at least, of what is heard beside a price in its sentence
FILE = Path(__file__).parent / "ear.npz"

# Words --------------------------------------------------------------------------------------------

_AMOUNT = re.compile(
    r"(?:₹|\brs\.? ?|\binr ?|\$)?(\d[\d,]*)(?:\.\d+)?(k?)\b"
    r"(?: ?(?:rupees?|rupaye|rs|bucks|रुपये|रुपए)\b)?",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u00ad\u093c\u200b-\u200f\u2060\ufeff]")  # invisible, and the nukta
_WORD = re.compile(r"[\w\u0900-\u0963]+(?:'\w+)?|#|\?|!")
_LETTERS = {row["letter"]: row for row in read_rows("bazaar/letters.csv")}
_SOUNDS = (  # one spelling of what is spelt in many ways
    ("aa+", "a"), ("ee+|y\\b", "i"), ("oo+", "u"), ("ai", "e"), ("au|ou", "o"), ("ph", "f"),
    ("chh", "ch"), ("sh", "s"), ("w", "v"), ("z", "j"), (r"(.)\1+", r"\1"), (r"n\b", ""),
)  # fmt: skip


@lru_cache(maxsize=50_000)
def sound(word: str) -> str:
    """A word as it sounds, in Latin letters: one spelling of Hindi in either script."""
    letters = []
    for letter, follows in zip(word, [*word[1:], ""], strict=True):
        row, after = _LETTERS.get(letter), _LETTERS.get(follows)
        letters.append(row["sound"] if row else letter)
        if row and row["kind"] == "consonant" and after and after["kind"] in ("consonant", "vowel"):
            letters.append("a" * bool(after["sound"]))  # none before a virama
    spelt = "".join(letters)
    for pattern, plain in _SOUNDS:
        spelt = re.sub(pattern, plain, spelt)
    return spelt


def spelt(text: str) -> list[str]:
    """The words of a text; an amount is "#", and marks that end a sentence count."""
    text = unicodedata.normalize("NFKC", text[:LONGEST]).casefold().replace("’", "'")
    text = _AMOUNT.sub(" # ", _UNSEEN.sub("", text))
    return _WORD.findall(text)


def words(text: str) -> list[str]:
    """The words of a text as they sound."""
    return [sound(word) for word in spelt(text)]


def grams(text: str) -> Iterator[str]:
    """The n-grams of a text: its words, pairs of words, pieces of a word and of its joints."""
    row = words(text)
    for word in row:
        yield word
        edged = f"<{word[:20]}>"
        for n in LENGTHS:
            for at in range(len(edged) - n + 1):
                yield edged[at : at + n]
    for pair in zip(["^", *row], [*row, "$"], strict=True):
        yield " ".join(pair)
    for pair in zip(row, row[2:], strict=False):
        yield " _ ".join(pair)
    joined = " ".join(row)
    for at in range(len(joined) - ACROSS + 1):
        if " " in joined[at : at + ACROSS]:
            yield f"~{joined[at : at + ACROSS]}"


def features(text: str) -> np.ndarray:
    """The columns that a text's n-grams fall into, each once, rising."""
    return np.unique([zlib.crc32(gram.encode()) % BUCKETS for gram in grams(text)])


# Meanings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Weights:
    """The classifier of one seat: c meanings, as "family/key", "none/none" among them."""

    meanings: tuple[str, ...]
    rarity: np.ndarray  # (BUCKETS,): the inverse document frequency of an n-gram
    weights: np.ndarray  # (c, BUCKETS) int8
    scale: np.ndarray  # (c,): of the weights
    bias: np.ndarray  # (c,)
    margin: float  # least probability that is heard

    def chances(self, text: str) -> np.ndarray:
        """The probability of each meaning, (c,)."""
        at = features(text)
        rare = self.rarity[at].astype(float)
        scores = self.weights[:, at] @ (rare / np.sqrt(max(1e-9, rare @ rare))) * self.scale
        scores = scores + self.bias
        chances = np.exp(scores - scores.max())
        return chances / chances.sum()


@cache
def load(seat: str) -> Weights:
    """The weights of a seat."""
    with np.load(FILE) as file:
        return Weights(
            tuple(file[f"{seat}_meanings"].tolist()),
            *(file[f"{seat}_{name}"] for name in ("rarity", "weights", "scale", "bias")),
            float(file[f"{seat}_margin"]),
        )


_MARKUP = re.compile("[{}<>|]")  # of code and tables, which nobody says


@lru_cache(maxsize=50_000)
def meaning(sentence: str, seat: str) -> tuple[str, str, float]:
    """Family, key and probability of a sentence's likeliest meaning; "" for what is not heard."""
    ear = load(seat)
    if not any(map(str.isalpha, sentence)) or _MARKUP.search(sentence):
        return "", "", 0.0
    chances = ear.chances(sentence)
    best = int(chances.argmax())
    family, key = ear.meanings[best].split("/")
    if family == "none" or chances[best] < ear.margin:
        return "", "", float(chances[best])
    return family, key, float(chances[best])


_SENTENCE, _CLAUSE = re.compile(r"(?<=[.!?।])\s+"), re.compile(r"[,;]\s+")


def around_price(sentence: str, seat: str) -> tuple[str, str, float]:
    """The meaning of a sentence, or of its clauses without an amount where it bears none.

    People say "400, it is scratched": most sentences with an amount only bid it. What is shorter
    than CLAUSE words, as in "You win, 400", tells too little.
    """
    heard, clauses = meaning(sentence, seat), _CLAUSE.split(sentence)
    others = ", ".join(clause for clause in clauses if not _AMOUNT.search(clause))
    tells = len(others) < len(sentence) and len(others.split()) >= CLAUSE
    return meaning(others, seat) if tells and not heard[0] else heard


def meanings(text: str, seat: str) -> set[str]:
    """What the sentences of a text mean, as "family/key"; marks of candour left out."""
    parts = filter(None, _SENTENCE.split(text[:LONGEST].strip()))
    heard = (around_price(part, seat)[:2] for part in parts)
    return {"/".join(pair) for pair in heard if pair[0] not in ("", "mark")}


TOPICS = ("cost", "time", "wear", "rival", "limit", "patience", *EXTRAS)
ACTS = (*PRICE_ACTS, *(f"ask_{extra}" for extra in EXTRAS))


def hear(text: str) -> Speech:
    """What a seller's line means, each of its sentences by its likeliest meaning."""
    return _hear(text[:LONGEST])


@lru_cache(maxsize=50_000)
def _hear(text: str) -> Speech:
    style = topic = content = reaction = ""
    mark, cost = "plain", 0
    for sentence in filter(None, _SENTENCE.split(text.strip())):
        family, key, _ = meaning(sentence, "seller")
        body, _, tail = sentence.rpartition(",")
        marked = meaning(tail, "seller") if body else ("", "", 0.0)
        if marked[0] == "mark":
            family, key, _ = meaning(body, "seller")
        if family == "style":
            style = key
        elif family == "reaction":
            reaction = key
        elif family in TOPICS:
            priced = key in ("price", "about")
            if priced and not amount(sentence):
                continue
            topic, content, cost = family, key, amount(sentence) if priced else 0
            mark = marked[1] if marked[0] == "mark" else "plain"
    return Speech(style, topic, content, cost, mark, reaction)


def amount(text: str) -> int:
    """The first amount that a text names, in rupees; 0 for none."""
    named = _AMOUNT.search(text)
    return int(named[1].replace(",", "")[:12] or 0) * (1000 if named[2] else 1) if named else 0


def act_in(text: str, acts: tuple[str, ...] = ACTS) -> tuple[str, int]:
    """Which of `acts` a buyer's line is, "" for none, and the outside price in rupees, or 0."""
    return _act_in(text[:LONGEST], acts)


@lru_cache(maxsize=50_000)
def _act_in(text: str, acts: tuple[str, ...]) -> tuple[str, int]:
    best = ("", 0.0, 0)
    for sentence in _SENTENCE.split(text.strip()):
        _, key, chance = around_price(sentence, "buyer")
        if key in acts and chance > best[1]:
            best = key, chance, amount(sentence) if key == "outside" else 0
    return best[0], best[2]
