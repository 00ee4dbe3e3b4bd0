"""Figures of artifacts: as text, and as rows of points.

A row of points has its label above it, so that a phone has its whole width for the figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from panels.ui.look import PALETTE, SERIES, style_figure, whiskers, with_minus_signs
from sauda.records.schemas.base import Interval

MISSING = "–"


def with_interval(figures: Interval, form: str = "z.3f") -> str:
    """A mean with its interval: "0.412 [0.395, 0.430]"."""
    mean, low, high = (format(getattr(figures, key), form) for key in ("mean", "low", "high"))
    return with_minus_signs(f"{mean} [{low}, {high}]")


def points(difference: Interval, form: str = "+.1f") -> str:
    """A difference of grades in percentage points, with its interval."""
    ends = (difference.mean, difference.low, difference.high)
    mean, low, high = (format(100 * end, form) for end in ends)
    return with_minus_signs(f"{mean} [{low}, {high}]")


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
        title=axis,
        range=[min(ends) - room, max(ends) + room],
        showgrid=True,
        zeroline=True,
        tickformat=".2~p" if form.endswith("%") else "",
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
