"""The page's HTML: Jinja templates in `panels/templates`, one file of macros per subject.

What a template calls without being given it (`note`, `folded`, `term`) is set here and in
`templates.py`.
"""

from panels.ui.look import badge, folded, heading, note, stat, strip
from panels.ui.templates import TEMPLATES, macros

__all__ = ["macros"]
TEMPLATES.globals |= {"folded": folded, "note": note}
TEMPLATES.globals |= {"badge": badge, "heading": heading, "stat": stat, "strip": strip}
