"""Rows of artifacts as tables: sortable ones for the page, pandas frames for CSV files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup

from panels.ui.downloads import offered, text_file
from panels.ui.look import with_minus_signs
from sauda.records.schemas.base import Interval, Record

MISSING = "–"
TALLEST = 400  # px of a sortable table, which scrolls beyond


@dataclass(frozen=True)
class Cell:
    """A number of a sortable table: the text that is shown, and the value that sorting compares."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Column:
    """One column of a sortable table; a cell without a number is plain text."""

    heading: str
    cell: Callable[[Any], Cell | str]  # from a row of the artifact


def number(value: float | None, form: str = ".3f") -> Cell:
    """A number in the given format; a dash where there is none."""
    return Cell(MISSING if value is None else with_minus_signs(format(value, form)), value)


def estimate(figures: Interval | None, form: str = ".3f") -> Cell:
    """A mean with its interval, sorted by the mean; a dash where there is none."""
    if figures is None:
        return Cell(MISSING, None)
    return Cell(with_interval(figures, form), figures.mean)


def with_interval(figures: Interval, form: str = ".3f") -> str:
    """A mean with its interval: "0.412 [0.395, 0.430]"."""
    mean, low, high = (format(getattr(figures, key), form) for key in ("mean", "low", "high"))
    return with_minus_signs(f"{mean} [{low}, {high}]")


def comparison(columns: Sequence[Column], rows: Iterable[Any]) -> dict[str, Any]:
    """The value of a `sortable_table`, as Gradio's Dataframe takes it: one line per row."""
    cells = [[column.cell(row) for column in columns] for row in rows]
    numbers = [[isinstance(cell, Cell) for cell in line] for line in cells]
    return {
        "headers": [column.heading for column in columns],
        "data": [[c.value if isinstance(c, Cell) else c for c in line] for line in cells],
        "metadata": {
            "display_value": [[c.text if isinstance(c, Cell) else c for c in x] for x in cells],
            "styling": [["text-align: right" if n else "" for n in line] for line in numbers],
        },
    }


def sortable_table(value: dict[str, Any], label: str, elem_id: str) -> gr.Dataframe:
    """A table that a visitor can sort by any column and search. Called inside a layout.

    The first row says which columns are numbers; without rows all are text.
    """
    texts = [value["headers"], *value["metadata"]["display_value"]]
    first = value["data"][0] if value["data"] else [""] * len(value["headers"])
    widths = [min(300, 28 + 8 * max(map(len, column))) for column in zip(*texts, strict=True)]
    return gr.Dataframe(
        value,
        label=label,
        elem_id=elem_id,
        elem_classes="sauda-sortable",
        datatype=["number" if isinstance(cell, int | float) else "str" for cell in first],
        column_widths=widths,  # px; 8 a character
        interactive=False,
        show_search="search",
        wrap=True,
        buttons=[],
        max_height=TALLEST,
    )


def frame(rows: Iterable[Record]) -> pd.DataFrame:
    """One line per row; nested figures become columns such as `grade_mean`."""
    return pd.json_normalize([row.as_json() for row in rows], sep="_")


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV text with a byte-order mark for spreadsheets; missing cells are empty."""
    return "\ufeff" + table.to_csv(index=False, lineterminator="\n")


def offered_csv(table: pd.DataFrame, name: str) -> tuple[str | None, Markup]:
    """The path of a file `name` with the table as CSV; or None and the sentence on why not."""
    return offered(lambda: text_file(name, to_csv(table)))


def offer_csv(table: pd.DataFrame, name: str) -> tuple[gr.HTML, gr.DownloadButton]:
    """Lay out the button that downloads the table as the CSV file `name`; or why it cannot."""
    csv, problem = offered_csv(table, name)
    return (
        gr.HTML(problem, visible=bool(problem)),
        gr.DownloadButton("Download these numbers as CSV", value=csv, size="sm", scale=0),
    )
