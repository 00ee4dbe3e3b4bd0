"""Gradio's theme, the fonts and the stylesheet, all from the palette of `look.py`.

The rules that need no number from there stand in `look.css`.
"""

import json
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from env import TYPES
from panels.ui.html import SAUDA, STRANGER, as_file
from panels.ui.look import PALETTE, SERIES
from sauda.sessions.ladder import LEVELS

FOLDER = Path(__file__).parent
FONTS = FOLDER / "fonts"


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def _palette_rules() -> str:
    """The palette as variables; and, on a dark page, figures that were drawn in light colours."""
    rules = []
    for page, mode in ((":root", 0), (".dark", 1)):
        values = " ".join(f"--sauda-{role}: {pair[mode]};" for role, pair in PALETTE.items())
        rules.append(f"{page} {{ {values} }}")
    pairs = dict(PALETTE.values()) | {series.light: series.dark for series in SERIES.values()}
    for light, dark in pairs.items():
        red, green, blue = bytes.fromhex(light[1:])  # as plotly writes it into an SVG element
        rules += [
            f'.dark .js-plotly-plot [style*="{part}: rgb({red}, {green}, {blue})"]'
            f" {{ {part}: {dark} !important; }}"
            for part in ("stroke", "fill")
        ]
    return "\n".join(rules)


def _face_rules() -> str:
    """For each drawn face the class by which a chat shows it, as a mask in the ink's colour."""
    return "\n".join(
        f".sauda-face-{name.replace(' ', '-')}"
        f' {{ --face: url("data:image/svg+xml,{quote(as_file(name))}"); }}'
        for name in (*TYPES, STRANGER, SAUDA, *(level.face for level in LEVELS))
    )


# The letters in each file of a font: the rupee sign, U+20B9, is in the extended set of Latin.
_LETTERS = {
    "latin": "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304,"
    " U+0308, U+0329, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD",
    "latin-ext": "U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+0304, U+0308,"
    " U+0329, U+1D00-1DBF, U+1E00-1E9F, U+1EF2-1EFF, U+2020, U+20A0-20AB, U+20AD-20C0, U+2113,"
    " U+2C60-2C7F, U+A720-A7FF",
    "devanagari": "U+0900-097F, U+1CD0-1CF9, U+200C-200D, U+25CC, U+A830-A839, U+A8E0-A8FF,"
    " U+11B00-11B09",
}
_FONTS = {  # by family: its files, their letters and the greatest weight; served from FONTS
    "Inter": ("inter", ("latin", "latin-ext"), 900),
    "Noto Sans Devanagari": ("noto-sans-devanagari", ("devanagari",), 900),
    "JetBrains Mono": ("jetbrains-mono", ("latin", "latin-ext"), 800),
}
FONT_FACES = "\n".join(
    f"@font-face {{ font-family: '{family}'; font-style: normal; font-display: swap;"
    f" font-weight: 100 {weight}; src: url('fonts/{file}-{letters}-wght-normal.woff2')"
    f" format('woff2'); unicode-range: {_LETTERS[letters]}; }}"
    for family, (file, sets, weight) in _FONTS.items()
    for letters in sets
)
SCENE = _read("scene.css")  # of the Tour, which the first view shows before the page is drawn
CSS = "\n".join((FONT_FACES, _palette_rules(), _face_rules(), _read("look.css"), SCENE))

# The stylesheet goes into the head as it stands: Gradio rewrites what `launch(css=…)` is given, and
# in doing so breaks `:is(a, b)`, media queries on the page itself and shorthands with variables.
HEAD = f"""
<style>{CSS}</style>
<script>{_read("page.js")}{_read("keyboard.js")}{_read("addresses.js")}</script>
<link rel="icon" type="image/svg+xml" href="data:image/svg+xml,{quote(_read("icon.svg"))}">
<meta name="theme-color" content="{PALETTE["paper"][0]}" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="{PALETTE["paper"][1]}" media="(prefers-color-scheme: dark)">
"""

SANS = ("Inter", "'Noto Sans Devanagari'", "system-ui", "sans-serif")
MONO = ("'JetBrains Mono'", "'Noto Sans Devanagari'", "ui-monospace", "monospace")


# Four sizes of type; Gradio's seven steps fall on them.
_TYPE = gr.themes.Size("13px", "13px", "13px", "15px", "15px", "18px", "26px", name="sauda_type")
_RADII = gr.themes.Size("2px", "2px", "2px", "3px", "3px", "4px", "4px", name="sauda_radius")
_SPACES = gr.themes.Size("1px", "2px", "4px", "8px", "8px", "12px", "16px", name="sauda_space")
# Gradio's variables: by role of our palette those that it colours, in light and dark; and measures.
_SET = json.loads(_read("theme.json"))
_HUES = {
    name: gr.themes.Color(*steps, name=f"sauda_{name}") for name, steps in _SET["hues"].items()
}
_COLOURS = [(name, PALETTE[role]) for role, names in _SET["colours"].items() for name in names]

THEME = gr.themes.Base(
    primary_hue=_HUES["indigo"],
    secondary_hue=_HUES["marigold"],
    neutral_hue=_HUES["paper"],
    text_size=_TYPE,
    spacing_size=_SPACES,
    radius_size=_RADII,
    font=SANS,
    font_mono=MONO,
).set(
    **{name: light for name, (light, _) in _COLOURS},
    **{f"{name}_dark": dark for name, (_, dark) in _COLOURS},
    **_SET["measures"],
)
