"""Figures of artifacts: as text, as tables to sort, search and save, as rows of points.

A row of points has its label above it, so that a phone has its whole width for the figure.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.look import (
    PALETTE,
    PARTS,
    SERIES,
    Cell,
    style_figure,
    table,
    whiskers,
    with_minus_signs,
)
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


# Rows of points -----------------------------------------------------------------------------------

PITCH = 32  # px from one row to the next: a line of text, then its bar or point
HEAD = 0.85  # of a pitch, for the title of a group
# No line crosses the text, and a phone has room for a label with its numbers.
ON_SURFACE = {"showarrow": False, "bgcolor": PALETTE["surface"][0], "font": {"size": 12}}
CEILING = 0.77  # pitches from a point to the rule above its label, which parts it from other rows
RULE = {"color": PALETTE["line"][0], "width": 1}
FOOT = 64  # px below the rows: ticks and the title of the axis


@dataclass(frozen=True)
class WhiskerRow:
    """One row of a figure: a mean with its interval."""

    label: str
    interval: Interval
    role: str  # key of SERIES


def whisker_rows(groups: Mapping[str, Sequence[WhiskerRow]], axis: str, form: str) -> go.Figure:
    """Points with whiskers under titles, the first group on top; every row shows its numbers."""
    figure, place = go.Figure(), 0.0  # pitches below the top edge
    for title, rows in groups.items():
        place += HEAD
        _add_text(figure, -place, f"<b>{title}</b>", shift=-4)
        for row in rows:
            place += 1
            numbers = with_interval(row.interval, form)
            figure.add_hline(-place + CEILING, line=RULE, layer="below")
            _add_text(figure, -place, f"{row.label}: {numbers}", shift=7)
            _add_point(figure, -place, row)
        place += 0.2
    cells = [row.interval for rows in groups.values() for row in rows]
    ends = [0.0, *(end for cell in cells for end in (cell.low, cell.high))]
    room = 0.03 * (max(ends) - min(ends) or 1)
    figure = style_figure(figure, height=round(PITCH * (place + 0.4)) + FOOT)
    figure.update_layout(showlegend=False, margin={"l": 16, "t": 4, "b": FOOT - 16})
    figure.update_xaxes(
        title=axis, range=[min(ends) - room, max(ends) + room], showgrid=True, zeroline=True
    )
    return figure.update_yaxes(
        range=[-place - 0.4, 0], showticklabels=False, showgrid=False, zeroline=False
    )


def _add_point(figure: go.Figure, y: float, row: WhiskerRow) -> None:
    series = SERIES[row.role]
    marker = {"color": series.light, "symbol": series.marker or "line-ns-open", "size": 9}
    if not series.marker:
        marker |= {"size": 14, "line": {"color": series.light, "width": 2}}
    figure.add_scatter(
        x=[row.interval.mean],
        y=[y],
        error_x=whiskers([row.interval]) | {"color": series.light, "thickness": 2, "width": 5},
        mode="markers",
        marker=marker,
        name=row.label,
        hoverinfo="skip",  # the label holds the numbers
    )


def _add_text(figure: go.Figure, y: float, text: str, shift: int) -> None:
    figure.add_annotation(
        **{"x": 0, "xref": "paper", "xanchor": "left", "y": y, "yanchor": "bottom"},
        yshift=shift,
        text=text,
        **ON_SURFACE,
    )
