"""The page's HTML: Jinja templates in `panels/templates`, one file of macros per subject."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from panels.ui.look import badge, folded, heading, note, stat, strip
from panels.ui.terms import shown_round, term

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.globals |= {"folded": folded, "note": note, "shown_round": shown_round, "term": term}
_TEMPLATES.globals |= {"badge": badge, "heading": heading, "stat": stat, "strip": strip}


def macros(subject: str) -> Any:
    """The macros of `templates/SUBJECT.html`: `macros("judge").card(…)` is escaped Markup.

    What a template calls without being given it (`note`, `folded`, `term`) is set here.
    """
    return _TEMPLATES.get_template(f"{subject}.html").module
