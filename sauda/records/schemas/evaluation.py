"""The bazaar: evaluations with one value an episode or a deal, and episodes move by move."""

from typing import Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Hashes, Metric, Number, Record


class Columns(Record):
    """The episodes of one task and policy; seeds run up from the split's first.

    A career is an episode of several deals, which follow each other in a column of deals.
    """

    end: str = Field(description="how each deal ended, one letter a deal, explained by `ends`")
    price: list[Number | None] = Field(
        description="rupees the learner paid or got, a deal; null without a deal of its own"
    )
    rounds: list[int] = Field(description="rounds a deal took; 0 where a forfeit cut it off")
    share: list[FiniteFloat] = Field(description="share of the ZOPA the learner won, a deal")
    grade: list[FiniteFloat] = Field(description="the task's grade, an episode")


class Row(Record):
    """One policy on one task, computed from its columns."""

    task: str = Field(description="name of the task")
    policy: str = Field(description="name of the policy in the learner's seat")
    n: int = Field(description="episodes")
    deals: int = Field(description="deals in those episodes, made or not")
    share: Metric = Field(description="share of the ZOPA won, a failure counting 0")
    grade: Metric = Field(description="the task's grade")
    deal_rate: FiniteFloat = Field(description="share of deals that the learner closed")
    success_rate: FiniteFloat = Field(description="share of episodes at the success threshold")
    rounds: FiniteFloat = Field(description="mean rounds a deal")
    ends: dict[str, int] = Field(description="deals by the way they ended")
    hashes: Hashes = Field(description="fingerprints of what was played")


class Evaluation(Record):
    """Scripted policies on bazaar tasks over the seeds of one split."""

    ends: dict[str, str] = Field(description="meaning of each letter of the columns' `end`")
    rows: list[Row] = Field(description="one row a task and policy")
    episodes: dict[str, dict[str, Columns]] = Field(description="columns by task and policy")


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
