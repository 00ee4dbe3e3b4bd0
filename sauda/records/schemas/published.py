"""Figures that other sources report, and how ours compare with them."""

from typing import Literal

from pydantic import Field, FiniteFloat, model_validator

from sauda.records.schemas.base import Cell, Number, Record


class PublishedFigure(Record):
    """A table that a named source reports, transcribed by hand."""

    id: str = Field(min_length=1, description="short name of the figure")
    system: Literal["bazaar", "arena", "agreemate"] = Field(description="the published system")
    title: str = Field(description="what the figure shows")
    source: str = Field(min_length=1, description="document and place in it")
    n: int | None = Field(description="sample size; null where the source gives none")
    n_of: str = Field(description="what `n` counts")
    caveat: str = Field(min_length=1, description="what to mind when reading it")
    columns: list[str] = Field(description="names of the columns")
    rows: list[list[Cell]] = Field(description="cells, one list a row")

    @model_validator(mode="after")
    def _rows_are_as_wide_as_the_head(self) -> "PublishedFigure":
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.id!r} is not {len(self.columns)} cells wide")
        return self


class Published(Record):
    """Figures that the source documents report, each with its source, n and caveat."""

    figures: list[PublishedFigure] = Field(description="one entry a table")


class ComparedFigure(Record):
    """One published figure beside ours."""

    task: str = Field(description="task of the published game")
    policy: str = Field(description="policy of the published game")
    metric: Literal["surplus", "deal_rate", "longest"] = Field(
        description="mean share of the ZOPA, share of deals closed, rounds of the longest deal"
    )
    published: Number = Field(description="the published figure")
    measured: FiniteFloat = Field(description="ours")
    deals: int = Field(description="deals behind ours")
    error: FiniteFloat = Field(description="standard error of the difference")
    z: FiniteFloat | None = Field(description="difference in standard errors; null without error")
    equal: bool = Field(description="whether both agree to four decimals")


class Agreement(Record):
    """How many of the compared figures agree."""

    figures: int = Field(description="figures compared")
    without_error: int = Field(description="figures in which nothing varies")
    without_error_equal: int = Field(description="of those, figures equal to four decimals")
    within_two: int = Field(description="other figures within two standard errors")
    within_three: int = Field(description="other figures within three standard errors")


class SideOutcome(Record):
    """What a policy wins in one of the two games; null where its episodes do not end."""

    surplus: FiniteFloat | None = Field(description="mean share of the ZOPA")
    deal_rate: FiniteFloat | None = Field(description="share of deals closed")
    grade: FiniteFloat | None = Field(description="mean grade")


class Difference(Record):
    """What a deliberate difference of the rules changes for one policy."""

    difference: str = Field(description="name of the rule")
    task: str = Field(description="name of the task")
    policy: str = Field(description="name of the policy")
    deals: int = Field(description="deals played in ours")
    published: SideOutcome = Field(description="outcome in the published game")
    measured: SideOutcome = Field(description="outcome in ours")
    ends: dict[str, int] = Field(description="our deals by the way they ended")


class Rule(Record):
    """One deliberate difference in words."""

    name: str = Field(description="name of the rule")
    published: str = Field(description="the published rule")
    ours: str = Field(description="our rule and its reason")


class Reproduction(Record):
    """Our figures against those measured on the published game's own code."""

    rows: list[ComparedFigure] = Field(description="one row a task, policy and metric")
    agreement: Agreement = Field(description="how many rows agree")
    differences: list[Difference] = Field(description="outcomes where the rules differ on purpose")
    rules: list[Rule] = Field(description="those differences in words")
