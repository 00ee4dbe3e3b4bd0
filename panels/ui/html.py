"""The page's HTML and sentences: Jinja templates in `panels/templates`, a file per subject.

What a template calls without being given it (`note`, `folded`, `term`) is set here and in
`templates.py`.
"""

from collections.abc import Callable
from typing import Any

from env import rupees
from panels.ui.look import badge, code, folded, heading, note, scrolled, stat, strip, table
from panels.ui.pictures import goods, picture
from panels.ui.tables import with_interval
from panels.ui.templates import TEMPLATES, macros
from panels.ui.terms import capital, could_be_won, list_names, list_tasks, nothing_to_win, short
from panels.ui.wiring import button, pick_list

__all__ = ["SAY", "macros"]
TEMPLATES.globals |= {"badge": badge, "button": button, "code": code, "folded": folded}
TEMPLATES.globals |= {"heading": heading, "note": note, "pick_list": pick_list, "short": short}
TEMPLATES.globals |= {"rupees": rupees, "scrolled": scrolled, "stat": stat, "strip": strip}
TEMPLATES.globals |= {"table": table, "with_interval": with_interval}
TEMPLATES.filters["pm"] = with_interval
TEMPLATES.globals |= {"goods": goods, "picture": picture}
TEMPLATES.globals |= {"could_be_won": could_be_won, "nothing_to_win": nothing_to_win}
TEMPLATES.globals |= {"capital": capital, "listed": list_names, "tasks_listed": list_tasks}
TEMPLATES.filters["num"] = lambda value, form="z.3f": format(value, form)


class _Sentences:
    """The macros of sentences.txt as functions that return plain text, each on one line."""

    def __init__(self) -> None:
        plain = TEMPLATES.overlay(autoescape=False)
        self._macros = plain.get_template("sentences.txt").module

    def __getattr__(self, name: str) -> Callable[..., str]:
        macro: Callable[..., Any] = getattr(self._macros, name)
        return lambda *values: " ".join(macro(*values).split())


SAY = _Sentences()
