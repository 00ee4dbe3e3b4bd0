"""Dialogues in words."""

from sauda.records.schemas.base import Number, Record


class AgentInfo(Record):
    """The two agents of a dialogue; each list has one entry per agent."""

    Role: list[str]  # buyer or seller
    Target: list[Number | None]  # private target price, or null
    Bottomline: list[str | None]  # private limit as digits, or None


class DialogueActs(Record):
    """The annotated acts; each list has one entry per event."""

    intent: list[str | None]  # name of the act; empty where not annotated
    price: list[Number | None]  # its price; -1 without one


class Posting(Record):
    """The item for sale; each list has one entry per agent."""

    Category: list[str]  # category of the item
    Title: list[str]  # title of the posting
    Description: list[str]  # text of the posting
    Price: list[Number]  # list price
    Images: list[str | None]  # names of pictures


class DialogueRow(Record):
    """One dialogue; an event without words is a pressed button."""

    agent_info: AgentInfo  # roles and private values
    agent_turn: list[int]  # index of the speaker, one per event
    utterance: list[str]  # words, one per event; empty for a button
    dialogue_acts: DialogueActs  # annotated acts
    items: Posting  # what is for sale


class Dialogues(Record):
    """Scripted buyers and the sellers of version 1 of the market in words, for training roles."""

    currency: str  # currency of all prices
    rows: list[DialogueRow]  # the dialogues
