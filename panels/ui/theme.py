"""Gradio's theme, the fonts and the stylesheet, all from the palette of `look.py`.

The rules that need no number from there stand in `look.css`.
"""

from pathlib import Path
from urllib.parse import quote

import gradio as gr

from panels.ui.look import PALETTE, SERIES

FOLDER = Path(__file__).parent
FONTS = FOLDER / "fonts"


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def font_faces() -> str:
    """The fonts of the page as rules of a stylesheet."""
    return _read("fonts.css").replace("FONTS", f"gradio_api/file={quote(str(FONTS))}")


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


SCENE = _read("scene.css")  # of the Tour, which the first view shows before the page is drawn
CSS = "\n".join((font_faces(), _variables(), _dark_figures(), _read("look.css"), SCENE))

# The stylesheet goes into the head as it stands: Gradio rewrites what `launch(css=…)` is given, and
# in doing so breaks `:is(a, b)`, media queries on the page itself and shorthands with variables.
HEAD = f"""
<style>{CSS}</style>
<script>{_read("page.js")}{_read("press.js")}{_read("addresses.js")}{_read("tables.js")}</script>
<link rel="icon" type="image/svg+xml" href="data:image/svg+xml,{quote(_read("icon.svg"))}">
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
        " input_background_fill_focus code_background_fill button_secondary_background_fill"
        " checkbox_background_color table_odd_background_fill stat_background_fill"
        " error_background_fill"
    ),
    "line": (
        "border_color_primary table_border_color block_title_border_color"
        " border_color_accent_subdued"
    ),
    "edge": (
        "input_border_color checkbox_border_color checkbox_label_border_color"
        " button_secondary_border_color"
    ),
    "ink": "body_text_color block_title_text_color button_secondary_text_color",
    "subdued": "body_text_color_subdued block_label_text_color input_placeholder_color",
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
        "button_secondary_background_fill_hover checkbox_label_background_fill_selected"
        " color_accent_soft"
    ),
    "on-indigo": "button_primary_text_color",
    "bad": (
        "button_cancel_text_color button_cancel_text_color_hover button_cancel_border_color"
        " button_cancel_border_color_hover error_text_color error_border_color"
        " error_icon_color"
    ),
}
_MEASURES = {
    "block_title_text_size": "13px",
    "block_title_text_weight": "500",
    "section_header_text_weight": "500",
    "button_small_text_weight": "500",
    "button_large_padding": "9px 16px",
    "button_medium_padding": "7px 12px",
    "button_small_padding": "4px 8px",
    "button_transition": "background-color 0.12s ease, border-color 0.12s ease",
    "block_padding": "0",
    "block_border_width": "0px",
    "block_label_border_width": "0px",
    "block_label_background_fill": "transparent",
    "block_label_background_fill_dark": "transparent",
    "shadow_drop": "none",
    "shadow_drop_lg": "0 2px 12px rgb(0 0 0 / 0.16)",
    "shadow_spread": "0",
    "input_border_width": "1px",
    "input_padding": "8px 10px",
    "checkbox_label_padding": "7px 12px",
    "color_accent": "var(--sauda-indigo)",
}
_COLOURS = [(name, PALETTE[role]) for role, names in _ROLES.items() for name in names.split()]

THEME = gr.themes.Base(
    primary_hue=_INDIGO,
    secondary_hue=_MARIGOLD,
    neutral_hue=_PAPER,
    text_size=_TYPE,
    spacing_size=_SPACES,
    radius_size=_RADII,
    font=SANS,
    font_mono=MONO,
).set(
    **{name: light for name, (light, _) in _COLOURS},
    **{f"{name}_dark": dark for name, (_, dark) in _COLOURS},
    **_MEASURES,
)
