"""Rows of artifacts as pandas tables: sortable ones for the page, CSV files, text cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import pandas as pd
from pandas.io.formats.style import Styler

from panels.ui.look import downloads

MISSING = "–"


@dataclass(frozen=True)
class Column:
    """One column of a sortable table; a cell is a number, a text, or None where nothing is."""

    heading: str
    value: Callable[[Mapping[str, Any]], object]  # from a row of the artifact
    form: str = ""  # format specification of numbers, such as ".3f"; texts have none


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One line per row; nested figures become columns such as `grade_mean`."""
    return pd.json_normalize(list(rows), sep="_")


def comparison(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> Styler:
    """The rows as a value of `sortable_table`: cells sort by number and show their format."""
    cells = {column.heading: [column.value(row) for row in rows] for column in columns}
    formats = {column.heading: f"{{:{column.form}}}" for column in columns if column.form}
    return pd.DataFrame(cells).style.format(formats, na_rep=MISSING)


def sortable_table(value: Styler, label: str, elem_id: str) -> gr.Dataframe:
    """A table that a visitor can sort by any column and search; called inside a layout."""
    return gr.Dataframe(
        value,
        label=label,
        elem_id=elem_id,
        elem_classes="sauda-compare",
        interactive=False,
        show_search="search",
        wrap=True,
        buttons=[],
        pinned_columns=1,
    )


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV text with a byte-order mark for spreadsheets; missing cells are empty."""
    return "\ufeff" + table.to_csv(index=False, lineterminator="\n")


def csv_file(table: pd.DataFrame, name: str) -> str:
    """The path of a fresh CSV file `name` in the download folder."""
    path = downloads() / name.replace("/", "-").replace(" ", "-")
    path.write_text(to_csv(table), encoding="utf-8")
    return str(path)


def with_interval(figures: Mapping[str, float], form: str = ".3f") -> str:
    """A mean with its interval: "0.412 [0.395, 0.430]"."""
    mean, low, high = (format(figures[key], form) for key in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"
