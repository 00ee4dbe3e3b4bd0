"""The Jinja environment of the templates; `html.py` adds what those of the tabs call."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from panels.ui.terms import shown_round, term, title, with_tooltips

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.globals |= {"shown_round": shown_round, "term": term, "titled": title}
TEMPLATES.globals |= {"with_tooltips": with_tooltips}


def macros(subject: str) -> Any:
    """The macros of `templates/SUBJECT.html`: `macros("judge").card(…)` is escaped Markup."""
    return TEMPLATES.get_template(f"{subject}.html").module
