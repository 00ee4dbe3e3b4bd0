"""The page's HTML, sentences and line drawings: Jinja templates in `panels/templates`, by subject.

What a template calls without being given it (`note`, `folded`, `term`) is set here and in
`look.py`. The drawings are of goods and people, one per kind of goods and of player; the faces of
the ladder are put together from parts.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import Any

from markupsafe import Markup

from env import rupees
from panels.ui import tables, terms
from panels.ui.look import TEMPLATES, macros
from sauda.language.lines import drawings
from sauda.serve.mcp import PICTURES

__all__ = ["SAUDA", "SAY", "STRANGER", "goods", "macros", "picture", "text_link"]
_SYMBOL = re.compile(r'<symbol id="([^"]+)">(.*?)</symbol>', re.DOTALL)
_MOUTH = re.compile(r'<path class="mouth"[^>]*/>')
SAUDA, STRANGER = "sauda", "stranger"  # the language model; a player of whom nothing is told


@cache
def _drawings() -> dict[str, str]:
    return dict(_SYMBOL.findall(PICTURES.read_text(encoding="utf-8")))


def picture(name: str, kind: str = "goods", mouth: str = "") -> Markup:
    """The drawing `name`, hidden from screen readers: words beside it say the same.

    `kind` is "goods" or "face", which the stylesheet sizes; a face may get another `mouth`.
    """
    return Markup(
        '<svg class="sauda-drawn sauda-drawn-{}" viewBox="0 0 64 64" aria-hidden="true">{}</svg>'
    ).format(kind, Markup(drawing(name, mouth)))


def drawing(name: str, mouth: str = "") -> str:
    """The elements of the drawing `name`: paths, circles and rectangles in a square of 64.

    A face of the ladder is named by its parts, with spaces between them. A person's face gets the
    `mouth` in the place of its own one.
    """
    drawn = "".join(_drawings()[part] for part in name.split())
    return _MOUTH.sub("", drawn) + _drawings()[mouth] if mouth and name != SAUDA else drawn


def drawing_names() -> tuple[str, ...]:
    """The names of all drawings."""
    return tuple(_drawings())


def as_file(name: str) -> str:
    """The drawing `name` as an SVG file of black lines."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" fill="none" stroke="#000" '
        f'stroke-width="3" stroke-linecap="round">{drawing(name)}</svg>'
    )


def goods(item: str) -> Markup:
    """The drawing of an item by its name in the catalogue, such as "pouch of glass marbles"."""
    return picture(drawings()[item])


def text_link(name: str, text: str, words: str) -> Markup:
    """A link called `words` that saves `text` as the file `name`; it holds the text itself."""
    return Markup(
        '<a class="sauda-file" download="{}" href="data:text/plain;charset=utf-8;base64,{}">{}</a>'
    ).format(name, b64encode(text.encode()).decode(), words)


TEMPLATES.globals |= {"goods": goods, "picture": picture, "rupees": rupees}
TEMPLATES.globals |= {"listed": terms.list_names, "tasks_listed": terms.list_tasks}
TEMPLATES.globals |= {
    function.__name__: function
    for function in (
        terms.capital, terms.could_be_won, terms.nothing_to_win, terms.short, tables.with_interval,
    )
}  # fmt: skip
TEMPLATES.filters["pm"] = lambda figures, form="z.1%": tables.with_interval(figures, form)
TEMPLATES.filters["num"] = lambda value, form="z.1%": format(value, form)


class _Sentences:
    """The macros of sentences.txt as functions that return plain text, each on one line."""

    def __init__(self) -> None:
        plain = TEMPLATES.overlay(autoescape=False)
        self._macros = plain.get_template("sentences.txt").module

    def __getattr__(self, name: str) -> Callable[..., str]:
        macro: Callable[..., Any] = getattr(self._macros, name)
        return lambda *values: " ".join(macro(*values).split())


SAY = _Sentences()
