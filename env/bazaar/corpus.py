"""The sentences that are said while haggling, by what they mean: `sentences.csv`.

Each meaning has sentences in three languages and six kinds, split into those that an ear and a
model learn from ("training"), those by which it is tuned ("development"), and those that measured
games are played with ("evaluation"). "#" stands for an amount. A use may be narrowed to a kind, as
in "evaluation/voice"; a meaning without a fitting sentence of that kind keeps those of every kind.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ..amounts import rupees
from ..core import read_rows
from .goods import fits
from .speech import Speech
from .types import Item

STOPS = {"en": ".", "hinglish": ".", "hi": "।"}  # what closes a sentence
KINDS = ("plain", "chatty", "terse", "typo", "voice", "indirect")
USES = ("training", "development", "evaluation")


class Row(NamedTuple):
    """A sentence of the corpus; who says it, what it means, how it is said."""

    seat: str  # buyer or seller
    family: str  # of its meaning; "none" where it bears none
    key: str
    language: str
    kind: str
    use: str
    text: str

    @property
    def meaning(self) -> str:
        """What an ear should hear; a sentence that only goes with a bid bears no meaning."""
        return "none/none" if self.family == "bid" else f"{self.family}/{self.key}"


@cache
def rows(seat: str, use: str) -> tuple[Row, ...]:
    """The sentences of a seat for one use, in the order of the file."""
    every = (Row(**row) for row in read_rows("bazaar/sentences.csv"))
    return tuple(row for row in every if row.seat == seat and row.use == use)


Sentences = Mapping[tuple[str, str], tuple[str, ...]]  # by family and key


@cache
def sentences(language: str, use: str) -> Sentences:
    """The sentences of a language for one use, by family and key."""
    by_meaning: dict[tuple[str, str], list[str]] = {}
    for row in read_rows("bazaar/sentences.csv"):
        uses = row["use"], f"{row['use']}/{row['kind']}"
        if row["language"] == language and use in uses:
            by_meaning.setdefault((row["family"], row["key"]), []).append(row["text"])
    return {meaning: tuple(texts) for meaning, texts in by_meaning.items()}


@lru_cache(maxsize=10_000)
def fitting(
    language: str, use: str, family: str, key: str, item: Item | None = None
) -> tuple[str, ...]:
    """The sentences of a meaning that fit an item, or any item: they name no other goods."""
    texts = sentences(language, use).get((family, key), ())
    fit = tuple(text for text in texts if fits(text, item))
    every, _, kind = use.partition("/")
    return fit if fit or not kind else fitting(language, every, family, key, item)


def pick(
    language: str, use: str, family: str, key: str, draw: float, item: Item | None, price: int = 0
) -> str:
    """The sentence of a meaning that `draw` in [0, 1) chooses, with `price` for its "#".

    Without a price it is one that names none.
    """
    options = fitting(language, use, family, key, item)
    if not price:
        options = tuple(text for text in options if "#" not in text) or options
    return options[int(draw * len(options))].replace("#", rupees(price))


def closed(text: str, language: str) -> str:
    """The text with a mark at its end that closes a sentence."""
    return text if text[-1] in ".!?।" else text + STOPS[language]


def line(
    speech: Speech, ask: int, standing: int | None, draw: float, language: str, use: str, item: Item
) -> str:
    """A seller's line with an `ask`; `standing` is the bid that it reminds the buyer of."""
    stop = STOPS[language]

    def part(family: str, key: str, price: int = 0) -> str:
        return closed(pick(language, use, family, key, draw, item, price), language)

    parts = [part("remind", "bid", standing)] if standing else []
    if speech.reaction:
        parts.append(part("reaction", speech.reaction))
    if speech.topic:
        claim = part(speech.topic, speech.content, speech.cost)
        if speech.mark != "plain":
            claim = f"{claim[:-1]}, {pick(language, use, 'mark', speech.mark, draw, item)}{stop}"
        parts.append(claim)
    parts.append(f"{rupees(ask)}{stop}")
    if speech.style:
        parts.append(part("style", speech.style))
    return " ".join(parts)


def buyer_line(
    act: str, price: int, draw: float, language: str = "en", item: Item | None = None
) -> str:
    """A buyer's line for an act, of the training sentences; `price` is that of another shop."""
    return pick(language, "training", "buyer", act, draw, item, price)
