"""How the page looks: one palette in two modes, the figures' template, small HTML parts.

Colours are pairs (light, dark). Type, theme and stylesheet are made from them in `theme.py`.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from panels.ui.terms import shown_round, term, title, with_tooltips
from sauda.records.schemas.base import Interval

PALETTE: Mapping[str, tuple[str, str]] = {
    "paper": ("#FAF7F0", "#14131A"),
    "surface": ("#FFFFFF", "#1D1C26"),
    "line": ("#E3DDD0", "#34323F"),
    "edge": ("#8A8474", "#7A7688"),  # borders of what can be typed in or pressed: 3.0
    "ink": ("#1D1B26", "#EFEBE2"),
    "subdued": ("#5B5868", "#B5B0A6"),
    "indigo": ("#3B3A8F", "#B1AFFA"),
    "indigo-strong": ("#2C2B73", "#C6C4FC"),  # the primary button under the pointer
    "indigo-soft": ("#ECEBF7", "#2A2942"),
    "on-indigo": ("#FEFDFB", "#14131A"),
    "marigold": ("#9A5200", "#F2A541"),
    "marigold-soft": ("#FBEFD9", "#37291A"),
    "good": ("#0B6B50", "#4CC9A0"),
    "bad": ("#B3261E", "#FF8A80"),
}
# What an event is given that answers at once and is no part of the page's API. Even where progress
# is hidden, Gradio's browser side updates it on every component of `show_progress_on`, by default
# all outputs of all events, each found by a walk through the whole page: half of an opening's time.
QUIET: Mapping[str, object] = {
    "queue": False, "show_progress": "hidden", "show_progress_on": (), "api_visibility": "private",
}  # fmt: skip
# What an event is given that may take seconds. Threads are few: each such group of events has a
# `concurrency_id` and a `concurrency_limit` of its own.
QUEUED: Mapping[str, object] = {**QUIET, "queue": True}
# QUIET for a picker whose choices change: a value of the former choices may be under way, and
# Gradio would answer it with a bare 500 where the event itself has a sentence.
QUIET_UNCHECKED: Mapping[str, object] = {**QUIET, "preprocess": False}


# Series -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """One meaning in every chart. Figures are drawn in `light`; the page's CSS swaps in `dark`."""

    light: str
    dark: str
    dash: str = "solid"  # plotly's names
    marker: str = "circle"  # plotly's names; "" for none
    width: float = 2.25  # px


SERIES: Mapping[str, Series] = {
    "scripted": Series("#7A7785", "#A29FAE", "dot", "circle"),
    "base": Series("#2F8FC9", "#7CC6F2", "dash", "square"),
    "sft": Series("#0072B2", "#3FA0E0", "solid", "diamond"),
    "distill": Series("#7A6F00", "#C9BC3F", "solid", "pentagon"),
    "grpo": Series("#008A64", "#2FBE91", "solid", "triangle-up"),
    "dpo": Series("#B5569A", "#E08CC8", "solid", "cross"),
    "visitor": Series("#D55E00", "#FF8A3D", "solid", "star"),
    "oracle": Series(*PALETTE["ink"], dash="dashdot", marker="", width=1.25),
    "published": Series(*PALETTE["subdued"], dash="longdash", marker="circle"),
    "buyer": Series(*PALETTE["indigo"], dash="solid", marker="circle"),
    "seller": Series(*PALETTE["marigold"], dash="solid", marker="square"),
}


def line_style(role: str) -> dict:
    """`line`, `marker` and `mode` of a `go.Scatter` for this role; published figures are hollow."""
    series, hollow = SERIES[role], "-open" if role == "published" else ""
    style: dict = {"line": {"color": series.light, "dash": series.dash, "width": series.width}}
    if not series.marker:
        return style | {"mode": "lines"}
    marker = {"color": series.light, "symbol": series.marker + hollow, "size": 8}
    return style | {"mode": "lines+markers", "marker": marker}


def whiskers(cells: Sequence[Interval]) -> dict:
    """Error bars that reach from each mean to both ends of its interval."""
    return {
        "array": [cell.high - cell.mean for cell in cells],
        "arrayminus": [cell.mean - cell.low for cell in cells],
        "symmetric": False,
    }


# Figures ----------------------------------------------------------------------------------------

_CLEAR = "rgba(0,0,0,0)"
_AXIS = {
    "gridcolor": PALETTE["line"][0],
    "zerolinecolor": PALETTE["edge"][0],
    "linecolor": PALETTE["edge"][0],
    "zerolinewidth": 1,
    "ticks": "",
    "automargin": True,
    "ticklabelstandoff": 4,  # so that the first labels of both axes do not meet
    "title": {"standoff": 10, "font": {"size": 13}},
}
TEMPLATE = go.layout.Template(
    layout={
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"family": "Inter, sans-serif", "size": 13, "color": PALETTE["ink"][0]},
        "colorway": [SERIES[role].light for role in ("sft", "grpo", "dpo", "base", "visitor")],
        "margin": {"l": 56, "r": 16, "t": 12, "b": 44},
        "xaxis": _AXIS | {"showgrid": False, "zeroline": False},
        "yaxis": _AXIS,
        "dragmode": False,
        "hoverlabel": {
            "bgcolor": PALETTE["surface"][0],
            "bordercolor": PALETTE["line"][0],
            "font": {"family": "Inter, sans-serif", "size": 13, "color": PALETTE["ink"][0]},
            "align": "left",
        },
        "annotationdefaults": {"arrowcolor": PALETTE["ink"][0], "arrowwidth": 1, "arrowhead": 0},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left"},
    },
    data={"scatter": [{"error_y": {"thickness": 1.25, "width": 5}, "cliponaxis": False}]},
)


def style_figure(fig: go.Figure, height: int = 360) -> go.Figure:
    """`fig` in our template at `height` px, its title removed: the heading above says it.

    It follows light and dark without a redraw: the page's CSS repaints the SVG's text, rules and
    every colour of `SERIES`. So draw with `line_style`, and not with WebGL traces.
    """
    return go.Figure(fig).update_layout(template=TEMPLATE, height=height, title=None, autosize=True)


# HTML parts -------------------------------------------------------------------------------------

_NEGATIVE = re.compile(r"(?<!\w)-(?=\d)")  # a hyphen that stands for a minus


def with_minus_signs(text: Any) -> Any:
    """`text` with the minus sign of the axes before negative numbers; anything else as it is."""
    return _NEGATIVE.sub("−", text) if type(text) is str else text


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.globals |= {"shown_round": shown_round, "term": term, "titled": title}
TEMPLATES.globals |= {"with_tooltips": with_tooltips}
TEMPLATES.filters["minus"] = with_minus_signs


def macros(subject: str) -> Any:
    """The macros of `templates/SUBJECT.html`: `macros("judge").card(…)` is escaped Markup."""
    return TEMPLATES.get_template(f"{subject}.html").module


# Macros of templates/parts.html, which says what each is; all other templates can call them.
PARTS = macros("parts")
TEMPLATES.globals |= {name: part for name, part in vars(PARTS).items() if not name.startswith("_")}
badge, code, empty, folded, heading = (
    PARTS.badge, PARTS.code, PARTS.empty, PARTS.folded, PARTS.heading,
)  # fmt: skip
in_columns, note, scrolled, stat, strip = (
    PARTS.in_columns, PARTS.note, PARTS.scrolled, PARTS.stat, PARTS.strip,
)  # fmt: skip
outcome, person_line, star_row, table = (
    PARTS.outcome, PARTS.person_line, PARTS.star_row, PARTS.table,
)  # fmt: skip


def as_typed(text: str) -> str:
    """`text` as HTML that shows each of its characters, for components that take HTML for text.

    The templates do the same for the HTML that this page writes itself.
    """
    return html.escape(text, quote=False)


def trouble(error: Exception) -> Markup:
    """A visitor's mistake in one sentence, from capital to full stop, read out at once."""
    text = str(error)
    text = text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!", "।")) else ".")
    return Markup('<p class="sauda-bad" role="alert">{}</p>').format(text)


def short_seed(seed: int) -> str:
    """A seed as it is shown: the first and last digits of one that was drawn, which has 38."""
    digits = str(seed)
    return digits if len(digits) <= 12 else f"{digits[:4]}…{digits[-4:]}"
