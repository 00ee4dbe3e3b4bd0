"""Dialogues in words, and how well acts are read."""

from typing import Literal

from pydantic import Field

from sauda.records.schemas.base import Interval, Number, Record

Part = Literal["tuning", "held_out"]


class AgentInfo(Record):
    """The two agents of a dialogue; each list has one entry an agent."""

    Role: list[str] = Field(description="buyer or seller")
    Target: list[Number | None] = Field(description="private target price, or null")
    Bottomline: list[str | None] = Field(description="private limit as digits, or None")


class DialogueActs(Record):
    """The annotated acts; each list has one entry an event."""

    intent: list[str | None] = Field(description="name of the act; empty where not annotated")
    price: list[Number | None] = Field(description="its price; -1 without one")


class Posting(Record):
    """The item for sale; each list has one entry an agent."""

    Category: list[str] = Field(description="category of the item")
    Title: list[str] = Field(description="title of the posting")
    Description: list[str] = Field(description="text of the posting")
    Price: list[Number] = Field(description="list price")
    Images: list[str | None] = Field(description="names of pictures")


class DialogueRow(Record):
    """One dialogue; an event without words is a pressed button."""

    agent_info: AgentInfo = Field(description="roles and private values")
    agent_turn: list[int] = Field(description="index of the speaker, one an event")
    utterance: list[str] = Field(description="words, one an event; empty for a button")
    dialogue_acts: DialogueActs = Field(description="annotated acts")
    items: Posting = Field(description="what is for sale")


class Dialogues(Record):
    """Dialogues of scripted policies in words, for development without a network."""

    currency: str = Field(description="currency of all prices")
    rows: list[DialogueRow] = Field(description="the dialogues")


class ActRow(Record):
    """One act in one part of the dialogues; intervals are Wilson's, over turns."""

    part: Part = Field(description="seen while the rules were written, or held out")
    intent: str = Field(description="name of the act")
    annotated: int = Field(description="turns with words that are annotated so")
    read: int = Field(description="turns that are read so")
    right: int = Field(description="turns of both kinds")
    precision: Interval | None = Field(description="right of read; null where none is read")
    recall: Interval | None = Field(description="right of annotated; null where none is")


class ActPart(Record):
    """One part of the dialogues as a whole."""

    part: Part = Field(description="seen while the rules were written, or held out")
    dialogues: int = Field(description="dialogues")
    n: int = Field(description="turns with words")
    right: int = Field(description="turns whose act is read as annotated")
    accuracy: Interval = Field(description="right of n; the interval resamples dialogues")
    usual: str = Field(description="the act that is annotated most often in the tuning part")
    usual_accuracy: Interval = Field(description="accuracy of always reading the usual act")
    turns_of: list[int] = Field(description="turns with words, one entry a dialogue")
    right_of: list[int] = Field(description="of those, read rightly")
    usual_of: list[int] = Field(description="of those, annotated as the usual act")


class Confusion(Record):
    """How often one act is read as another."""

    part: Part = Field(description="seen while the rules were written, or held out")
    annotated: str = Field(description="name of the annotated act")
    read: str = Field(description="name of the act that is read")
    n: int = Field(description="turns with words")


class ActPrices(Record):
    """The prices of the annotated acts, beside the amounts found in the words of their turns."""

    part: Part = Field(description="seen while the rules were written, or held out")
    currency: str = Field(description="the declared currency of the texts")
    n: int = Field(description="turns with words whose act is annotated with a price")
    found: int = Field(description="turns in whose words that amount is found")
    found_rate: Interval = Field(description="found of n, Wilson's interval")


class Acts(Record):
    """How well dialogue acts are read, against the annotated acts of human dialogues."""

    parts: list[ActPart] = Field(description="accuracy, one row a part")
    rows: list[ActRow] = Field(description="precision and recall, one row a part and act")
    confusion: list[Confusion] = Field(description="counts by annotated and read act")
    prices: list[ActPrices] = Field(description="amounts found, by declared currency")
    counts: dict[str, int] = Field(description="lines of the file: used, and left out by reason")
