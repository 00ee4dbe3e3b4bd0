"""The page's HTML: Jinja templates in `panels/templates`, one file of macros per subject."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from env import rupees
from panels.ui.look import folded, heading, note
from panels.ui.pictures import goods, picture
from panels.ui.terms import shown_round, term
from panels.ui.wiring import button, pick_list

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.globals |= {"folded": folded, "note": note, "shown_round": shown_round, "term": term}
_TEMPLATES.globals |= {"heading": heading, "rupees": rupees, "goods": goods, "picture": picture}
_TEMPLATES.globals |= {"button": button, "pick_list": pick_list}


def macros(subject: str) -> Any:
    """The macros of `templates/SUBJECT.html`: `macros("judge").card(…)` is escaped Markup.

    What a template calls without being given it (`note`, `folded`, `term`) is set here.
    """
    return _TEMPLATES.get_template(f"{subject}.html").module
