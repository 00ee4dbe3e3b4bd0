"""Judged negotiation: advocates pitch to a judge in each round of an arena market."""

from typing import Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Interval, Number, Record


class AdvocateRow(Record):
    """One advocate over all seeds."""

    advocate: str = Field(description="name of the advocate")
    label: str = Field(description="what it does, in words")
    n: int = Field(description="negotiations, one a seed")
    win_rate: Interval = Field(description="share of rounds won")
    total: Interval = Field(description="mean total from the judge")
    early_win_rate: Interval = Field(description="win rate in the early rounds")
    late_win_rate: Interval = Field(description="win rate in the later rounds")
    difference: Interval = Field(description="win rate less the control's, paired by seed")
    lies: FiniteFloat = Field(description="false claims a pitch")


class RoundCurve(Record):
    """An advocate's figures round by round."""

    won: list[Interval] = Field(description="share of seeds in which the round is won")
    total: list[Interval] = Field(description="mean total from the judge")


class Finding(Record):
    """One claim of a pitch, as the judge checked it."""

    dimension: str = Field(description="what the claim is about")
    status: Literal["holds", "false", "repeated", "promise", "other", "unheard"] = Field(
        description="what the check gave"
    )
    start: int = Field(description="first character of the claim in the pitch")
    end: int = Field(description="character after its last")
    reason: str = Field(description="the check in words")
    points: Number = Field(description="what it adds to the score of its dimension")


class Verdict(Record):
    """The judge's verdict on one pitch."""

    text: str = Field(description="the pitch")
    scores: dict[str, Number] = Field(description="score by dimension, 0 to 1")
    total: Number = Field(description="weighted total")
    lies: int = Field(description="false claims")
    findings: list[Finding] = Field(description="one entry a claim")
    reasons: dict[str, str] = Field(description="the score in words, by dimension")


class JudgedRound(Record):
    """One round of a negotiation: the pitches and the award."""

    round: int = Field(description="round, from 0")
    strategy: str = Field(description="strategy of the learner's pitch")
    winner: str | None = Field(description="lab that won; null where none did")
    reason: str = Field(description="the award in words")
    margins: dict[str, Number] = Field(description="total less the best other's, by lab")
    reputations: dict[str, Number] = Field(description="public reputation, by lab")
    shocks: list[str] = Field(description="supply shocks of the round, in words")
    verdicts: dict[str, Verdict] = Field(description="the judge's verdict, by lab")


class ShownGame(Record):
    """A negotiation shown in full."""

    seed: int = Field(description="its seed")
    why: Literal["best", "median", "worst"] = Field(description="its rank by wins over the control")
    wins: int = Field(description="rounds the adapting advocate won")
    control_wins: int = Field(description="rounds the control won at the same seed")
    rounds: list[JudgedRound] = Field(description="every round")


class Pitching(Record):
    """Judged negotiation: an adapting advocate, a control, hostile pitches; rounds to read."""

    learner: str = Field(description="the lab that the advocates speak for")
    control: str = Field(description="name of the control")
    arms: list[str] = Field(description="strategies to choose from")
    early_rounds: int = Field(description="rounds in which each strategy is used once")
    rows: list[AdvocateRow] = Field(description="one row an advocate")
    learning: Interval = Field(description="gain over the control, late less early rounds")
    curves: dict[str, RoundCurve] = Field(description="figures by round, by advocate")
    frequencies: dict[str, dict[str, list[FiniteFloat]]] = Field(
        description="share of seeds that chose a strategy in each round, by advocate and strategy"
    )
    wins: dict[str, list[int]] = Field(description="rounds won, one a seed, by advocate")
    shown: list[ShownGame] = Field(description="negotiations shown in full")
