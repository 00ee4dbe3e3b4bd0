"""Whole episodes of the bazaar, move by move."""

from typing import Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Number, Record


class Move(Record):
    """One move of a bazaar episode."""

    agent: str = Field(description="who moved")
    action: Literal["offer", "accept", "walk", "forfeit"] = Field(description="what kind of move")
    price: Number = Field(None, description="rupees; of an offer")
    message: str = Field(None, description="what was said with the move")
    error: str = Field(None, description="the rule that was broken; of a forfeit")


class EpisodeRecord(Record):
    """A complete episode, from which it can be played again."""

    task: str = Field(description="name of the task")
    policy: str = Field(description="name of the policy in the learner's seat")
    seed: int = Field(description="seed of the episode")
    end: str = Field(description="how it ended")
    payoffs: dict[str, Number] = Field(description="surplus over the BATNA in rupees, by agent")
    grade: FiniteFloat = Field(description="the task's grade of the learner")
    moves: list[Move] = Field(description="every move, in order")


class ModelEpisode(EpisodeRecord):
    """An episode of a language model, with its texts."""

    replies: list[str] = Field(description="the model's completion at each of its own turns")


class Episodes(Record):
    """Whole episodes of four policies at one seed a task, to read and to play again."""

    episodes: list[EpisodeRecord] = Field(description="one entry a task and policy")
