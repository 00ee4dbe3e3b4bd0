"""Dialogues in words."""

from pydantic import Field

from sauda.records.schemas.base import Number, Record


class AgentInfo(Record):
    """The two agents of a dialogue; each list has one entry per agent."""

    Role: list[str] = Field(description="buyer or seller")
    Target: list[Number | None] = Field(description="private target price, or null")
    Bottomline: list[str | None] = Field(description="private limit as digits, or None")


class DialogueActs(Record):
    """The annotated acts; each list has one entry per event."""

    intent: list[str | None] = Field(description="name of the act; empty where not annotated")
    price: list[Number | None] = Field(description="its price; -1 without one")


class Posting(Record):
    """The item for sale; each list has one entry per agent."""

    Category: list[str] = Field(description="category of the item")
    Title: list[str] = Field(description="title of the posting")
    Description: list[str] = Field(description="text of the posting")
    Price: list[Number] = Field(description="list price")
    Images: list[str | None] = Field(description="names of pictures")


class DialogueRow(Record):
    """One dialogue; an event without words is a pressed button."""

    agent_info: AgentInfo = Field(description="roles and private values")
    agent_turn: list[int] = Field(description="index of the speaker, one per event")
    utterance: list[str] = Field(description="words, one per event; empty for a button")
    dialogue_acts: DialogueActs = Field(description="annotated acts")
    items: Posting = Field(description="what is for sale")


class Dialogues(Record):
    """Scripted buyers and the sellers of version 1 of the market in words, for training roles."""

    currency: str = Field(description="currency of all prices")
    rows: list[DialogueRow] = Field(description="the dialogues")
