"""The quality of a language model's words as a seller."""

from typing import Literal

from pydantic import Field

from sauda.records.schemas.base import Interval, Number, Record


class SellerGame(Record):
    """One game as it was played; no buyer reads the words."""

    setting: Literal["published", "hard"] = Field(description="published or hostile buyers")
    buyer: str = Field(description="name of the buyer")
    persona: str = Field(description="persona of the seller")
    seed: int = Field(description="seed of the game")
    item: str = Field(description="name of the item")
    reservation: int = Field(description="the seller's reservation price, rupees")
    asks: list[int] = Field(description="the seller's asks, rupees")
    bids: list[int] = Field(description="the buyer's bids, rupees")
    kinds: list[str] = Field(description="kind of each of the seller's decisions")
    end: str = Field(description="how it ended")
    price: int | None = Field(description="price of the deal, rupees; null without one")


class _Sample(Record):
    n: int = Field(description="sample size")
    of: str = Field(description="what `n` counts")


class SellerCell(Interval, _Sample):  # a last base's fields come first in the file
    """One side's figure for a criterion."""

    meets: bool | None = Field(description="whether the target is met; null without a target")


class SellerRow(Record):
    """One criterion, for every side."""

    criterion: str = Field(description="name of the criterion")
    about: str = Field(description="what is counted, in words")
    test: Literal["published", "better"] = Field(description="the published test, or the harder")
    target: str = Field(description="the bound to meet, such as ≥ 0.90; empty without one")
    published: Number | None = Field(description="the published figure; null without one")
    sides: dict[str, SellerCell] = Field(description="figures by side")


class PersonaJudges(Record):
    """How often a judge trained on the words names each persona."""

    personas: list[str] = Field(description="personas, in the order of the tables")
    tables: dict[str, list[list[int]]] = Field(
        description="confusion counts by side: true persona by row, named persona by column"
    )


class SellerModel(Record):
    """The weights behind a side's words."""

    source: str = Field(description="base, adapter, precision and device in words")
    sha256: str = Field(description="digest of the weights")
    sampling: dict[str, Number] = Field(description="sampling parameters by name")
    prompt: str = Field(description="fingerprint of the prompt")
    check: str = Field(description="fingerprint of the check of a text against the decision")


class SellerQuality(Record):
    """A language model's words as a seller beside scripted lines, with every text."""

    games: list[SellerGame] = Field(description="games, in order")
    tries: dict[str, list[list[list[str]]]] = Field(
        description="texts by model, game, decision and try; the last is said if it has no fault"
    )
    answers: dict[str, list[str]] = Field(
        description="the model's answer to which persona spoke, one a published game"
    )
    rows: list[SellerRow] = Field(description="one row a criterion")
    judges: PersonaJudges = Field(description="personas told apart by a trained judge")
    faults: dict[str, dict[str, int]] = Field(description="faults found, by side and kind")
    models: dict[str, SellerModel] = Field(description="weights and sampling, by model")
