"""The open market: its best values, what its sellers give away, and the belief buyer's belief."""

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Interval, Record


class SignalRow(Record):
    """How much one signal of the seller's manner tells of each hidden cause."""

    signal: str = Field(description="name of the signal")
    cause: str | None = Field(description="the cause it is drawn from; null for a public one")
    r2: dict[str, FiniteFloat] = Field(description="partial R² given public history, by cause")
    low: dict[str, FiniteFloat] = Field(description="lower end of the 95 % interval, by cause")
    high: dict[str, FiniteFloat] = Field(description="upper end of the 95 % interval, by cause")


class Manner(Record):
    """What the sellers' manner tells in one task."""

    task: str = Field(description="name of the task")
    games: int = Field(description="games with at least one counter-offer")
    replies: int = Field(description="counter-offers observed")
    signals: list[SignalRow] = Field(description="one row a signal")


class WordLeakage(Record):
    """How well a listener guesses the reservation price: R² out of sample."""

    n: int = Field(description="games guessed")
    prices: Interval = Field(description="R² from prices alone")
    with_words: Interval = Field(description="R² from prices and words")
    gain: Interval = Field(description="what words add")


class Market(Record):
    """What the open market's sellers give away by manner and word."""

    manner: list[Manner] = Field(description="signals, one entry a task")
    words: WordLeakage = Field(description="what words tell of the reservation price")
