"""The page's HTML: Jinja templates in `panels/templates`, one file of macros per subject.

What a template calls without being given it (`note`, `folded`, `term`) is set here and in
`templates.py`.
"""

from env import rupees
from panels.ui import look, terms
from panels.ui.pictures import goods, picture
from panels.ui.tables import with_interval
from panels.ui.templates import TEMPLATES as _TEMPLATES
from panels.ui.templates import macros
from panels.ui.wiring import button, pick_list

__all__ = ["macros"]
_PARTS = ("badge", "code", "folded", "heading", "note", "scrolled", "stat", "strip", "table")
_TEMPLATES.globals |= {name: getattr(look, name) for name in _PARTS}
_TEMPLATES.globals |= {
    name: getattr(terms, name) for name in ("could_be_won", "nothing_to_win", "short")
}
_TEMPLATES.globals |= {"button": button, "goods": goods, "pick_list": pick_list}
_TEMPLATES.globals |= {"picture": picture, "rupees": rupees, "with_interval": with_interval}
