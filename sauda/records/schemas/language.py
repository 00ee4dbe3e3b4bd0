"""How well prices and tells are read in labelled sentences."""

from typing import Literal

from pydantic import Field

from sauda.records.schemas.base import Interval, Number, Record

Split = Literal["dev", "held_out"]


class _Part(Record):
    reader: str = Field(description="name of the reader")
    split: Split = Field(description="development or held-out sentences")
    language: str = Field(description="language of the sentences, or all")


class _KindPart(_Part):
    kind: str = Field(description="kind of sentence, or all")


class ReadingRow(_Part):
    """One reader's detection of one signal in one part of the sentences."""

    n: int = Field(description="sentences")
    signal: str = Field(description="name of the signal, or all")
    true_positives: int = Field(description="true positives")
    false_positives: int = Field(description="false positives")
    false_negatives: int = Field(description="false negatives")
    precision: Interval | None = Field(description="precision; null where nothing was read")
    recall: Interval | None = Field(description="recall; null where nothing was there")
    f1: Interval | None = Field(description="F1; null where there is no label")


class _Prices(Record):
    n: int = Field(description="sentences")
    priced: int = Field(description="sentences that put one price on the table")
    exact: int = Field(description="of those, read exactly")
    other: int = Field(description="of those, read as another price")
    missed: int = Field(description="of those, read as no price")
    unpriced: int = Field(description="sentences that put no single price on the table")
    false_positives: int = Field(description="of those, read as a price")
    exact_rate: Interval | None = Field(
        description="share of prices read exactly; null without any"
    )
    false_positive_rate: Interval | None = Field(
        description="share of unpriced sentences read as a price"
    )


class PriceRow(_Prices, _Part):  # a last base's fields come first in the file
    """One reader's prices in one part of the sentences."""


class BlindPriceRow(_Prices, _KindPart):
    """The same for one kind of the blind writer's sentences."""


class ReadSentence(Record):
    """A labelled sentence, and what both readers read in it."""

    text: str = Field(description="the sentence")
    language: str = Field(description="its language")
    split: Split = Field(description="development or held-out")
    signals: str = Field(description="labelled signals, separated by spaces")
    price: Number | None = Field(description="labelled price in rupees, or null")
    sauda_signals: str = Field(description="signals that our reader reads")
    keywords_signals: str = Field(description="signals that the list of keywords reads")
    sauda_price: Number | None = Field(description="price that our reader reads")
    keywords_price: Number | None = Field(description="price that the first digits give")


class BlindSentence(ReadSentence):
    """The same for a sentence of the blind writer."""

    kind: str = Field(description="kind of sentence")


class BlindLanguage(Record):
    """The figures on sentences by a writer who never saw the reader."""

    rows: list[ReadingRow] = Field(description="signals by reader, split and language")
    prices: list[BlindPriceRow] = Field(description="prices by reader, split and kind")
    sentences: list[BlindSentence] = Field(description="every sentence")


class Language(Record):
    """How well prices and tells are read in labelled sentences, beside a list of keywords."""

    rows: list[ReadingRow] = Field(description="signals by reader, split and language")
    prices: list[PriceRow] = Field(description="prices by reader, split and language")
    sentences: list[ReadSentence] = Field(description="every sentence")
    blind: BlindLanguage = Field(description="the same on the blind writer's sentences")
