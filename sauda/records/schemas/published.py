"""Figures that other sources report."""

from typing import Literal

from pydantic import Field, model_validator

from sauda.records.schemas.base import Cell, Record


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
