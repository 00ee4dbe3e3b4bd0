"""`python -m sauda readme`: the tables of the documents, written from the artifacts.

A table stands between `<!-- NAME -->` and `<!-- /NAME -->` and is the block NAME of `readme.jinja`;
everything else is written by hand.
"""

import argparse
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sauda.commands.console import add_command
from sauda.records.provenance import REPOSITORY
from sauda.records.schemas.base import Interval
from sauda.records.store import load, write

DOCUMENTS = tuple(REPOSITORY / name for name in ("README.md", "docs/results.md", "docs/scale.md"))


def add(commands: Any) -> None:
    """Add `readme` to the commands of `python -m sauda`."""
    add_command(commands, "readme", readme)


def readme(options: argparse.Namespace) -> int:
    """Write the tables anew and print whether anything changed."""
    changed = False
    for path in DOCUMENTS:
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        write(path, after)
        changed |= before != after
    print("wrote the documents" if changed else "the documents are as the artifacts have it")
    return 0


def filled(text: str) -> str:
    """`text` with every marked table as the artifacts have it now.

    Raises ValueError on a mark of no known table, or one that is not closed.
    """
    folder = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder.filters |= {"spanned": spanned, "mean": mean}
    template = folder.get_template("readme.jinja")
    context = template.new_context({"rows": rows, "data": lambda file: load(file).data})
    for name in re.findall(r"<!-- (\w+) -->", text):
        if name not in template.blocks:
            raise ValueError(f"no table {name!r}; tables are {', '.join(template.blocks)}")
        opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, opened, rest = text.partition(opening)
        _, closed, after = rest.partition(closing)
        if not (opened and closed):
            raise ValueError(f"the table {name!r} is opened and never closed")
        table = "".join(template.blocks[name](context)).strip()
        text = f"{before}{opening}{table}\n{closing}{after}"
    return text


def rows(file: str, **wanted: Any) -> dict[str, Any]:
    """The rows of an artifact whose fields are as wanted, by policy."""
    return {
        row.policy: row
        for row in load(file).data.rows
        if all(getattr(row, name) == value for name, value in wanted.items())
    }


def spanned(figures: Interval) -> str:
    """`0.214 [0.180, 0.250]`: a mean with its interval."""
    return f"{mean(figures)} [{mean(figures, 'low')}, {mean(figures, 'high')}]"


def mean(figures: Any, end: str = "mean") -> str:
    """A mean to three decimals; zero after rounding has no sign."""
    return f"{round(getattr(figures, end), 3) + 0.0:.3f}"
