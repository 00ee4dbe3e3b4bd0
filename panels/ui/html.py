"""The page's HTML: Jinja templates in `panels/templates`, one file of macros per subject.

What a template calls without being given it (`note`, `folded`, `term`) is set here and in
`templates.py`.
"""

from env import rupees
from panels.ui.look import badge, code, folded, heading, note, scrolled, stat, strip, table
from panels.ui.pictures import goods, picture
from panels.ui.tables import with_interval
from panels.ui.templates import TEMPLATES, macros
from panels.ui.terms import could_be_won, nothing_to_win, short
from panels.ui.wiring import button, pick_list

__all__ = ["macros"]
TEMPLATES.globals |= {"badge": badge, "button": button, "code": code, "folded": folded}
TEMPLATES.globals |= {"heading": heading, "note": note, "pick_list": pick_list, "short": short}
TEMPLATES.globals |= {"rupees": rupees, "scrolled": scrolled, "stat": stat, "strip": strip}
TEMPLATES.globals |= {"table": table, "with_interval": with_interval}
TEMPLATES.globals |= {"goods": goods, "picture": picture}
TEMPLATES.globals |= {"could_be_won": could_be_won, "nothing_to_win": nothing_to_win}
