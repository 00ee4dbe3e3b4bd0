"""Figures of artifacts as text and as tables that a visitor sorts, searches and saves."""

import re
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter, itemgetter
from typing import Any

from markupsafe import Markup

from panels.ui.look import PARTS, Cell, table, with_minus_signs
from sauda.records.schemas.base import Interval

MISSING = "–"

Column = str | Callable[[Any], Any]  # an attribute of a table's rows, or a function of a row


def with_interval(figures: Interval, form: str = "z.3f") -> str:
    """A mean with its interval: "0.412 [0.395, 0.430]"."""
    mean, low, high = (format(getattr(figures, key), form) for key in ("mean", "low", "high"))
    return with_minus_signs(f"{mean} [{low}, {high}]")


def data_table(
    rows: Iterable[Any],
    caption: str,
    form: str = "z.3f",
    forms: Mapping[str, str] | None = None,
    columns: Mapping[str, Column] | None = None,
    file: str = "",
) -> Markup:
    """A table of numbers, intervals and texts; tables.js sorts it, searches it and saves it.

    `columns` are by heading; without them a row is a mapping from headings. `form` is the format of
    fractions and intervals, `forms` are others by heading. The CSV file called `file` has all
    digits, and an interval in three columns. Without `rows` it is empty.
    """
    rows, forms = list(rows), forms or {}
    if not rows:
        return Markup("")
    columns = columns or {head: itemgetter(head) for head in rows[0]}
    gets = {h: attrgetter(of) if isinstance(of, str) else of for h, of in columns.items()}
    values = {head: [get(row) for row in rows] for head, get in gets.items()}
    heads, align = [], ""
    for head, column in values.items():
        kinds = set(map(type, column))
        heads.append(_head(head, any(issubclass(kind, Interval) for kind in kinds)))
        align += "l" if kinds <= {str, Markup} else "r"
    cells = ([_cell(value, forms.get(head, form)) for value in of] for head, of in values.items())
    drawn = table(heads, zip(*cells, strict=True), align, caption)
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
