"""Figures of artifacts as text and as tables that a visitor sorts, searches and saves."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from panels.ui.look import PARTS, Cell, table, with_minus_signs
from sauda.records.schemas.base import Interval

MISSING = "–"

Line = Mapping[str, Any]  # one row of a table: a value per heading


def with_interval(figures: Interval, form: str = ".3f") -> str:
    """A mean with its interval: "0.412 [0.395, 0.430]"."""
    mean, low, high = (format(getattr(figures, key), form) for key in ("mean", "low", "high"))
    return with_minus_signs(f"{mean} [{low}, {high}]")


def data_table(
    lines: Sequence[Line],
    caption: str,
    form: str = "z.3f",
    forms: Mapping[str, str] | None = None,
    file: str = "",
) -> Markup:
    """A table of numbers, intervals and texts; tables.js sorts it, searches it and saves it.

    `form` is the format of fractions and intervals, `forms` are others by heading. The CSV file
    called `file` has all digits, and an interval in three columns. Without `lines` it is empty.
    """
    if not lines:
        return Markup("")
    heads, forms = list(lines[0]), forms or {}
    rows = [[_cell(line[head], forms.get(head, form)) for head in heads] for line in lines]
    kinds = {head: {type(line[head]) for line in lines} for head in heads}
    drawn = table(
        [_head(head, any(issubclass(kind, Interval) for kind in kinds[head])) for head in heads],
        rows,
        "".join("l" if kinds[head] <= {str, Markup} else "r" for head in heads),
        caption,
    )
    file = file or re.sub(r"\W+", "-", caption[:40]).strip("-").lower() + ".csv"
    return PARTS.data(file, drawn)


def _head(text: str, in_three: bool) -> Cell:
    name = text.replace('"', "")
    names = [f'"{name} {end}"' for end in ("mean", "low", "high")] if in_three else [f'"{name}"']
    return Cell(
        Markup('<button type="button">{}</button>').format(text), {"data-csv": ",".join(names)}
    )


def _cell(value: Any, form: str) -> Cell | str:
    if value is None:
        return Cell(MISSING, {"data-csv": ""})
    if isinstance(value, Interval):
        digits = ",".join(repr(getattr(value, end)) for end in ("mean", "low", "high"))
        return Cell(with_interval(value, form), {"data-csv": digits})
    if isinstance(value, int):
        return Cell(f"{value:,}", {"data-csv": value})
    if isinstance(value, float):
        return Cell(with_minus_signs(format(value, form)), {"data-csv": repr(float(value))})
    return value
