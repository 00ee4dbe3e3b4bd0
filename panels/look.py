"""How the page looks: one palette in two modes, type, the figures' template, small HTML parts.

Colours are pairs (light, dark). The rules that need no number from here stand in `look.css`.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

HERE = Path(__file__).parent
FONTS = HERE / "fonts"

PALETTE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
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
)


# Series -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """One meaning in every chart. Figures are drawn in `light`; the page's CSS swaps in `dark`."""

    light: str
    dark: str
    dash: str = "solid"  # plotly's names
    marker: str = "circle"  # plotly's names; "" for none
    width: float = 2.25  # px


SERIES: Mapping[str, Series] = MappingProxyType(
    {
        "scripted": Series("#7A7785", "#A29FAE", "dot", "circle"),
        "base": Series("#2F8FC9", "#7CC6F2", "dash", "square"),
        "sft": Series("#0072B2", "#3FA0E0", "solid", "diamond"),
        "grpo": Series("#008A64", "#2FBE91", "solid", "triangle-up"),
        "dpo": Series("#B5569A", "#E08CC8", "solid", "cross"),
        "visitor": Series("#D55E00", "#FF8A3D", "solid", "star"),
        "oracle": Series(*PALETTE["ink"], dash="dashdot", marker="", width=1.25),
        "published": Series(*PALETTE["subdued"], dash="longdash", marker="circle"),
        "buyer": Series(*PALETTE["indigo"], dash="solid", marker="circle"),
        "seller": Series(*PALETTE["marigold"], dash="solid", marker="square"),
    }
)


def line_style(role: str, published: bool = False) -> dict:
    """`line`, `marker` and `mode` of a `go.Scatter` for this role; published figures are hollow."""
    series = SERIES[role]
    hollow = "-open" if published or role == "published" else ""
    style: dict = {"line": {"color": series.light, "dash": series.dash, "width": series.width}}
    if not series.marker:
        return style | {"mode": "lines"}
    marker = {"color": series.light, "symbol": series.marker + hollow, "size": 8}
    return style | {"mode": "lines+markers", "marker": marker}


def bar_style(role: str, published: bool = False) -> dict:
    """`marker` of a `go.Bar` for this role; published figures are hatched."""
    colour = SERIES[role].light
    marker: dict = {"color": colour, "line": {"color": colour, "width": 1}}
    if published or role == "published":
        marker["pattern"] = {"shape": "/", "size": 6, "solidity": 0.25, "fillmode": "replace"}
    return {"marker": marker}


def labels_above(x: Sequence, tops: Sequence[float], texts: Sequence[str]) -> go.Scatter:
    """A trace that writes each text just above its bar or whisker, which ends at `tops`."""
    return go.Scatter(
        x=x,
        y=tops,
        text=texts,
        mode="text",
        textposition="top center",
        hoverinfo="skip",
        showlegend=False,
    )


# Figures ----------------------------------------------------------------------------------------

_CLEAR = "rgba(0,0,0,0)"
_AXIS = {
    "gridcolor": PALETTE["line"][0],
    "zerolinecolor": PALETTE["edge"][0],
    "linecolor": PALETTE["edge"][0],
    "zerolinewidth": 1,
    "ticks": "",
    "automargin": True,
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
        "bargap": 0.5,
        "hoverlabel": {
            "bgcolor": PALETTE["surface"][0],
            "bordercolor": PALETTE["line"][0],
            "font": {"family": "Inter, sans-serif", "size": 13, "color": PALETTE["ink"][0]},
            "align": "left",
        },
        "annotationdefaults": {"arrowcolor": PALETTE["ink"][0], "arrowwidth": 1, "arrowhead": 0},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left"},
    },
    data={
        "bar": [
            {
                "error_y": {"color": PALETTE["ink"][0], "thickness": 1.25, "width": 5},
                "error_x": {"color": PALETTE["ink"][0], "thickness": 1.25, "width": 5},
                "textposition": "none",
            }
        ],
        "scatter": [{"error_y": {"thickness": 1.25, "width": 5}, "cliponaxis": False}],
    },
)


def styled(fig: go.Figure, height: int = 360) -> go.Figure:
    """`fig` in our template at `height` px, its title removed: the heading above says it.

    It follows light and dark without a redraw: the page's CSS repaints the SVG's text, rules and
    every colour of `SERIES`. So draw with `line_style` and `bar_style`, and not with WebGL traces.
    """
    return go.Figure(fig).update_layout(template=TEMPLATE, height=height, title=None, autosize=True)


# HTML parts -------------------------------------------------------------------------------------


def heading(title: str, sub: str = "") -> Markup:
    """A tab's or a section's heading with one subdued sentence."""
    below = Markup("<p>{}</p>").format(sub) if sub else ""
    return Markup('<div class="sauda-heading"><h2>{}</h2>{}</div>').format(title, below)


def stat(value: str, label: str, interval: str = "", note: str = "") -> Markup:
    """A number, then its interval, then a small grey line."""
    span = Markup(' <span class="sauda-interval">{}</span>').format(interval) if interval else ""
    small = Markup('<dd class="sauda-note">{}</dd>').format(note) if note else ""
    return Markup(
        '<dl class="sauda-stat"><dt class="sauda-label">{}</dt>'
        '<dd class="sauda-value">{}{}</dd>{}</dl>'
    ).format(label, value, span, small)


def strip(*parts: str) -> Markup:
    """Parts side by side between thin rules: two a row on a phone."""
    return Markup('<div class="sauda-strip">{}</div>').format(Markup("").join(parts))


def badge(origin: str) -> Markup:
    """Where a figure comes from: "measured" or "published"."""
    if origin not in ("measured", "published"):
        raise ValueError(f"origin is 'measured' or 'published', got {origin!r}")
    return Markup('<span class="sauda-badge sauda-{0}">{0}</span>').format(origin)


def note(text: str) -> Markup:
    """The grey provenance line: n, command, commit."""
    return Markup('<p class="sauda-note">{}</p>').format(text)


def trouble(error: Exception) -> Markup:
    """A visitor's mistake in one sentence, from capital to full stop, read out at once."""
    text = str(error)
    text = text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
    return Markup('<p class="sauda-bad" role="alert">{}</p>').format(text)


def empty(sentence: str, command: str = "") -> Markup:
    """What stands where nothing is yet: one sentence and the command that makes it."""
    run = Markup("<pre><code>{}</code></pre>").format(command) if command else ""
    return Markup('<div class="sauda-empty"><p>{}</p>{}</div>').format(sentence, run)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    align: str = "",
    caption: str = "",
) -> Markup:
    """An HTML table; `align` has one letter a column, "l" or "r" (numbers, tabular monospace).

    Without `align` the first column is left and the others right. The first cell of a row heads
    it. Cells are escaped, but for what `badge` and its like return. Wide tables scroll sideways.
    """
    align = align or "l" + "r" * (len(columns) - 1)
    if len(align) != len(columns) or set(align) - {"l", "r"}:
        raise ValueError(f"expected {len(columns)} letters of 'l' and 'r', got {align!r}")

    def row(cells: Sequence[object], tag: str) -> Markup:
        if len(cells) != len(columns):
            raise ValueError(f"expected {len(columns)} cells, got {cells!r}")
        cell = Markup('<{0} class="sauda-{1}"{2}>{3}</{0}>')
        scope = Markup(' scope="col"') if tag == "th" else Markup(' scope="row"')
        return Markup("<tr>{}</tr>").format(
            Markup("").join(
                cell.format("th" if i == 0 else tag, a, scope if tag == "th" or i == 0 else "", c)
                for i, (a, c) in enumerate(zip(align, cells, strict=True))
            )
        )

    title = Markup("<caption>{}</caption>").format(caption) if caption else ""
    return Markup(
        '<div class="sauda-scroll" role="region" tabindex="0" aria-label="{}">'
        '<table class="sauda-table">{}<thead>{}</thead><tbody>{}</tbody></table></div>'
    ).format(
        caption or "Table", title, row(columns, "th"), Markup("").join(row(r, "td") for r in rows)
    )


@cache
def downloads() -> Path:
    """A folder of this process for files made to be downloaded; the same name is written over."""
    return Path(tempfile.mkdtemp(prefix="sauda-"))


# Theme, stylesheet, head ------------------------------------------------------------------------

_LATIN = (
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,"
    "U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD"
)
_LATIN_EXT = (  # holds the rupee sign, U+20B9
    "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,"
    "U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,"
    "U+A720-A7FF"
)
_DEVANAGARI = "U+0900-097F,U+1CD0-1CF9,U+200C-200D,U+25CC,U+A830-A839,U+A8E0-A8FF,U+11B00-11B09"
_FACES = (  # family, file, heaviest weight, characters
    ("Inter", "inter-latin-wght-normal", 900, _LATIN),
    ("Inter", "inter-latin-ext-wght-normal", 900, _LATIN_EXT),
    ("Noto Sans Devanagari", "noto-sans-devanagari-devanagari-wght-normal", 900, _DEVANAGARI),
    ("JetBrains Mono", "jetbrains-mono-latin-wght-normal", 800, _LATIN),
    ("JetBrains Mono", "jetbrains-mono-latin-ext-wght-normal", 800, _LATIN_EXT),
)


def _font_url(file: str) -> str:
    return f"gradio_api/file={quote(str(FONTS / file))}.woff2"


def _font_faces() -> str:
    return "\n".join(
        f"@font-face {{ font-family: '{family}'; font-style: normal; font-display: swap;"
        f" font-weight: 100 {heaviest}; src: url('{_font_url(file)}') format('woff2');"
        f" unicode-range: {characters}; }}"
        for family, file, heaviest, characters in _FACES
    )


def _variables() -> str:
    light, dark = (
        " ".join(f"--sauda-{role}: {pair[mode]};" for role, pair in PALETTE.items())
        for mode in (0, 1)
    )
    return f":root {{ {light} }}\n.dark {{ {dark} }}"


def _rgb(colour: str) -> str:
    """`#RRGGBB` as plotly writes it into the style of an SVG element."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


def _dark_figures() -> str:
    """Rules that repaint, on a dark page, a figure drawn in the light colours of this module."""
    pairs = dict(PALETTE.values()) | {series.light: series.dark for series in SERIES.values()}
    return "\n".join(
        f'.dark .js-plotly-plot [style*="{part}: {_rgb(light)}"] {{ {part}: {dark} !important; }}'
        for light, dark in pairs.items()
        for part in ("stroke", "fill")
    )


CSS = "\n".join(
    (_font_faces(), _variables(), _dark_figures(), (HERE / "look.css").read_text(encoding="utf-8"))
)

_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<rect width='32' height='32' rx='6' fill='#3B3A8F'/>"
    "<path d='M7 10h18M7 22h18' stroke='#FAF7F0' stroke-width='2'/>"
    "<path d='M8 10l8 6 8-6M8 22l8-6 8 6' fill='none' stroke='#F2A541' stroke-width='2.5'/></svg>"
)
# The stylesheet goes into the head as it stands: Gradio rewrites what `launch(css=…)` is given, and
# in doing so breaks `:is(a, b)`, media queries on the page itself and shorthands with variables.
HEAD = f"""
<style>{CSS}</style>
<link rel="icon" type="image/svg+xml" href="data:image/svg+xml,{quote(_ICON)}">
<meta name="theme-color" content="{PALETTE["paper"][0]}" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="{PALETTE["paper"][1]}" media="(prefers-color-scheme: dark)">
"""

SANS = ("Inter", "'Noto Sans Devanagari'", "system-ui", "sans-serif")
MONO = ("'JetBrains Mono'", "'Noto Sans Devanagari'", "ui-monospace", "monospace")


def serve_fonts() -> None:
    """Let Gradio serve the font files as they stand."""
    gr.set_static_paths([FONTS])


# Four sizes of type; Gradio's seven steps fall on them.
_TYPE = gr.themes.Size("13px", "13px", "13px", "15px", "15px", "18px", "26px", name="sauda_type")
_RADII = gr.themes.Size("2px", "2px", "2px", "3px", "3px", "4px", "4px", name="sauda_radius")
_SPACES = gr.themes.Size("1px", "2px", "4px", "8px", "8px", "12px", "16px", name="sauda_space")
_INDIGO = gr.themes.Color(
    "#ECEBF7", "#E1E0F8", "#C9C8F5", "#B1AFFA", "#8F8DEB", "#6260C2",
    "#3B3A8F", "#323178", "#292861", "#20204B", "#171735", name="sauda_indigo",
)  # fmt: skip
_MARIGOLD = gr.themes.Color(
    "#FBEFD9", "#F9E3BD", "#F6D196", "#F4BC6C", "#F2A541", "#C97A10",
    "#9A5200", "#7E4300", "#633500", "#4A2800", "#37291A", name="sauda_marigold",
)  # fmt: skip
_PAPER = gr.themes.Color(
    "#FAF7F0", "#F3EEE3", "#E3DDD0", "#CFC8B9", "#B5B0A6", "#8A8474",
    "#5B5868", "#4A4857", "#34323F", "#1D1C26", "#14131A", name="sauda_paper",
)  # fmt: skip

# What each of Gradio's variables is in our palette; the same word serves light and dark.
_ROLES = {
    "paper": "body_background_fill background_fill_secondary table_even_background_fill",
    "surface": (
        "background_fill_primary block_background_fill input_background_fill"
        " input_background_fill_focus input_background_fill_hover code_background_fill"
        " button_secondary_background_fill button_cancel_background_fill"
        " checkbox_background_color checkbox_background_color_hover"
        " checkbox_background_color_focus checkbox_label_background_fill"
        " table_odd_background_fill stat_background_fill error_background_fill"
    ),
    "line": (
        "border_color_primary block_border_color panel_border_color table_border_color"
        " block_label_border_color block_title_border_color border_color_accent_subdued"
    ),
    "edge": (
        "input_border_color input_border_color_hover checkbox_border_color"
        " checkbox_label_border_color button_secondary_border_color"
    ),
    "ink": (
        "body_text_color block_title_text_color accordion_text_color table_text_color"
        " button_secondary_text_color button_secondary_text_color_hover"
        " checkbox_label_text_color checkbox_label_text_color_selected"
    ),
    "subdued": (
        "body_text_color_subdued block_info_text_color block_label_text_color"
        " input_placeholder_color"
    ),
    "indigo": (
        "link_text_color link_text_color_active link_text_color_visited border_color_accent"
        " button_primary_background_fill button_primary_border_color"
        " checkbox_background_color_selected checkbox_border_color_selected"
        " checkbox_border_color_focus checkbox_border_color_hover"
        " checkbox_label_border_color_selected checkbox_label_border_color_hover"
        " input_border_color_focus slider_color loader_color"
        " button_secondary_border_color_hover"
    ),
    "indigo-strong": (
        "link_text_color_hover button_primary_background_fill_hover"
        " button_primary_border_color_hover"
    ),
    "indigo-soft": (
        "button_secondary_background_fill_hover checkbox_label_background_fill_hover"
        " checkbox_label_background_fill_selected color_accent_soft table_row_focus"
        " button_cancel_background_fill_hover"
    ),
    "on-indigo": "button_primary_text_color button_primary_text_color_hover",
    "bad": (
        "button_cancel_text_color button_cancel_text_color_hover button_cancel_border_color"
        " button_cancel_border_color_hover error_text_color error_border_color error_icon_color"
    ),
}
_MEASURES = {
    "body_text_size": "15px",
    "prose_text_size": "15px",
    "prose_header_text_weight": "600",
    "block_info_text_size": "13px",
    "block_label_text_size": "13px",
    "block_title_text_size": "13px",
    "block_title_text_weight": "500",
    "section_header_text_size": "15px",
    "section_header_text_weight": "500",
    "chatbot_text_size": "15px",
    "checkbox_label_text_size": "15px",
    "input_text_size": "15px",
    "button_large_text_size": "15px",
    "button_medium_text_size": "15px",
    "button_small_text_size": "13px",
    "button_large_text_weight": "600",
    "button_medium_text_weight": "600",
    "button_small_text_weight": "500",
    "button_large_padding": "9px 16px",
    "button_medium_padding": "7px 12px",
    "button_small_padding": "4px 8px",
    "button_border_width": "1px",
    "button_transition": "background-color 0.12s ease, border-color 0.12s ease",
    "block_padding": "0",
    "block_border_width": "0px",
    "block_label_border_width": "0px",
    "block_label_background_fill": "transparent",
    "block_label_background_fill_dark": "transparent",
    "block_shadow": "none",
    "block_label_shadow": "none",
    "shadow_drop": "none",
    "shadow_drop_lg": "0 2px 12px rgb(0 0 0 / 0.16)",
    "shadow_spread": "0",
    "input_border_width": "1px",
    "input_shadow": "none",
    "input_padding": "8px 10px",
    "checkbox_border_width": "1px",
    "checkbox_label_border_width": "1px",
    "checkbox_label_shadow": "none",
    "checkbox_label_padding": "7px 12px",
    "form_gap_width": "0px",
    "layout_gap": "16px",
    "color_accent": "var(--sauda-indigo)",
}


def _theme() -> gr.themes.Base:
    colours = {}
    for role, names in _ROLES.items():
        for name in names.split():
            colours[name], colours[f"{name}_dark"] = PALETTE[role]
    base = gr.themes.Base(
        primary_hue=_INDIGO,
        secondary_hue=_MARIGOLD,
        neutral_hue=_PAPER,
        text_size=_TYPE,
        spacing_size=_SPACES,
        radius_size=_RADII,
        font=SANS,
        font_mono=MONO,
    )
    return base.set(**colours, **_MEASURES)


THEME = _theme()
