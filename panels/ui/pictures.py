"""Line drawings of goods and people, one per category of the catalogue and per kind of player."""

import re
from functools import cache
from pathlib import Path

from markupsafe import Markup

_FILE = Path(__file__).with_name("pictures.svg")
_SYMBOL = re.compile(r'<symbol id="([^"]+)">(.*?)</symbol>', re.DOTALL)
SAUDA, STRANGER = "sauda", "stranger"  # the language model; a player of whom nothing is told


@cache
def _drawings() -> dict[str, str]:
    return dict(_SYMBOL.findall(_FILE.read_text(encoding="utf-8")))


def picture(name: str, kind: str = "goods") -> Markup:
    """The drawing `name`, hidden from screen readers: words beside it say the same.

    `kind` is "goods" or "face", which the stylesheet sizes.
    """
    return Markup(
        '<svg class="sauda-drawn sauda-drawn-{}" viewBox="0 0 64 64" aria-hidden="true">{}</svg>'
    ).format(kind, Markup(_drawings()[name]))


def goods(category: str) -> Markup:
    """The drawing of a category of the catalogue, such as "Mobile phones"."""
    return picture(category.lower().replace(" ", "-"))
