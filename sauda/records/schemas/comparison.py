"""Comparisons of language models with scripts, and of a model before and after training."""

from typing import Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.arena import ArenaColumns, ArenaRow, ArenaWorlds
from sauda.records.schemas.base import Interval, ModelSource, Record
from sauda.records.schemas.evaluation import Columns, ModelEpisode, Row


class ModelRow(Row):
    """One policy on one task, with counts over all its episodes."""

    moves: int = Field(description="the learner's moves")
    invalid_replies: int = Field(description="completions that held no legal move")
    changed: int = Field(description="moves that a wrapper changed")
    tokens: int = Field(description="tokens generated; 0 for scripts")
    retreats: int = Field(description="bids below an earlier bid of its own")
    broken: int = Field(description="bids or acceptances above a price it called its last")
    over_limit: int = Field(description="bids or acceptances above its limit, at a loss")
    walk_due: int = Field(description="games with a position where the belief buyer walks away")
    walked: int = Field(description="of those, games where this policy walks in the first one")


class ModelColumns(Columns):
    """Columns of an evaluation, and the counts of `ModelRow` a game."""

    moves: list[int] = Field(description="the learner's moves")
    invalid_replies: list[int] = Field(description="completions that held no legal move")
    changed: list[int] = Field(description="moves that a wrapper changed")
    tokens: list[int] = Field(description="tokens generated")
    retreats: list[int] = Field(description="bids below an earlier bid of its own")
    broken: list[int] = Field(description="moves above a price it called its last")
    over_limit: list[int] = Field(description="moves above its limit, at a loss")
    walk_due: list[int] = Field(description="1 where the belief buyer walks in some position")
    walked: list[int] = Field(description="1 where this policy walks in the first of them")


class PairedDifference(Record):
    """A difference of mean grades on the same seeds."""

    task: str = Field(description="name of the task")
    n: int = Field(description="seeds")
    difference: FiniteFloat = Field(description="mean grade less the other's, paired by seed")
    low: FiniteFloat = Field(description="lower end of its 95 % interval")
    high: FiniteFloat = Field(description="upper end of its 95 % interval")

    @property
    def interval(self) -> Interval:
        """The difference with its interval."""
        return Interval(mean=self.difference, low=self.low, high=self.high)


class StageGain(PairedDifference):
    """What a training stage adds to the grade of the stage before, unwrapped, on the same seeds."""

    before: str = Field(description="the earlier stage")
    after: str = Field(description="the later stage")
    on: Literal["all", "unseen"] = Field(
        description="all seeds, or those whose seller type was kept out of training"
    )


class Rivalry(PairedDifference):
    """What a training stage wins more than another policy, unwrapped, on the same seeds."""

    policy: str = Field(description="the trained stage")
    rival: str = Field(description="the policy beside it")


class GapClosed(Record):
    """Share of the gap between the base model and the belief buyer that a stage closed."""

    task: str = Field(description="name of the task")
    policy: str = Field(description="the trained stage, unwrapped")
    n: int = Field(description="seeds")
    share: FiniteFloat = Field(description="0 at the base's mean grade, 1 at the belief buyer's")
    low: FiniteFloat = Field(description="lower end of the 95 % interval, seeds resampled")
    high: FiniteFloat = Field(description="upper end of the 95 % interval")


class ModelComparison(Record):
    """A language model bare, constrained and wrapped, beside no model, scripts and an oracle."""

    ends: dict[str, str] = Field(description="meaning of each letter of the columns' `end`")
    rows: list[ModelRow] = Field(description="one row a task and policy")
    stage_gains: list[StageGain] = Field(
        description="gain of each training stage, on all and on unseen sellers"
    )
    rivalries: list[Rivalry] = Field(description="each training stage beside other policies")
    gap_closed: list[GapClosed] = Field(
        description="share of the gap to the belief buyer, a task and stage"
    )
    episodes: dict[str, dict[str, ModelColumns]] = Field(description="columns by task and policy")
    models: dict[str, ModelSource] = Field(description="weights and sampling, by model name")


class ArenaModelRow(ArenaRow):
    """One policy as a lab, with counts over all its episodes."""

    invalid_replies: int = Field(description="completions that held no action")
    tokens: int = Field(description="tokens generated; 0 for scripts")


class ArenaModelColumns(ArenaColumns):
    """Columns of an arena evaluation, and the counts of `ArenaModelRow` an episode."""

    invalid_replies: list[int] = Field(description="completions that held no action")
    tokens: list[int] = Field(description="tokens generated")


class ArenaModelComparison(Record):
    """A language model as a lab on arena/market_round, bare, after each stage, beside scripts."""

    ends: dict[str, str] = Field(description="meaning of each letter of the columns' `end`")
    rows: list[ArenaModelRow] = Field(description="one row a policy")
    stage_gains: list[StageGain] = Field(description="gain of each training stage")
    rivalries: list[Rivalry] = Field(description="each training stage beside other policies")
    worlds: ArenaWorlds = Field(description="what each seed deals the learner")
    episodes: dict[str, ArenaModelColumns] = Field(description="columns by policy")
    models: dict[str, ModelSource] = Field(description="weights and sampling, by model name")


class ChosenPair(Record):
    """One seed played before and after training, chosen by the difference of its grades."""

    why: Literal["best", "10th", "50th", "90th"] = Field(
        description="the largest difference of a game with a deal after training, or the "
        "percentile of the difference among games with a ZOPA"
    )
    seed: int = Field(description="seed of both games")
    difference: FiniteFloat = Field(description="grade after less before")
    before: ModelEpisode = Field(description="the game before training")
    after: ModelEpisode = Field(description="the game after training")


class BeforeAfterTask(Record):
    """Both grades of every seed of a task, and the games shown."""

    task: str = Field(description="name of the task")
    seeds: list[int] = Field(description="seeds played on both sides")
    before: list[FiniteFloat] = Field(description="grade before training, one a seed")
    after: list[FiniteFloat] = Field(description="grade after training, one a seed")
    zopa: list[bool] = Field(description="whether buyer and seller can agree, one a seed")
    deals: list[bool] = Field(description="whether the game after training ends in a deal")
    chosen: list[ChosenPair] = Field(description="the games shown, by their difference")


class BeforeAfter(Record):
    """Games of a model before and after training on the same seeds, and some of them to show."""

    tasks: list[BeforeAfterTask] = Field(description="one entry a task")
    models: dict[str, ModelSource] = Field(description="weights and sampling, by model name")
