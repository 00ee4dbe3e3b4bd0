"""The page's HTML: Jinja templates in `panels/templates`, one file of macros per subject."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from env import rupees
from panels.ui.look import badge, code, folded, heading, note, scrolled, stat, strip, table
from panels.ui.tables import with_interval
from panels.ui.terms import could_be_won, nothing_to_win, short, shown_round, term
from panels.ui.wiring import button, pick_list

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.globals |= {"badge": badge, "button": button, "code": code, "folded": folded}
_TEMPLATES.globals |= {"heading": heading, "note": note, "pick_list": pick_list, "short": short}
_TEMPLATES.globals |= {"shown_round": shown_round, "stat": stat, "strip": strip, "table": table}
_TEMPLATES.globals |= {"term": term, "with_interval": with_interval}
_TEMPLATES.globals |= {"could_be_won": could_be_won, "nothing_to_win": nothing_to_win}
_TEMPLATES.globals |= {"rupees": rupees, "scrolled": scrolled}


def macros(subject: str) -> Any:
    """The macros of `templates/SUBJECT.html`: `macros("judge").card(…)` is escaped Markup.

    What a template calls without being given it (`note`, `folded`, `term`) is set here.
    """
    return _TEMPLATES.get_template(f"{subject}.html").module
