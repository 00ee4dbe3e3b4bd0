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
from sauda.records.schemas.base import Interval
from sauda.records.store import REPOSITORY, load, write

DOCUMENTS = tuple(REPOSITORY / name for name in ("README.md", "docs/results.md", "docs/scale.md"))


def add(commands: Any) -> None:
    """Add `readme` to the commands of `python -m sauda`."""
    add_command(commands, "readme", readme)


def readme(options: argparse.Namespace) -> int:
    """Write the tables anew and print which document changed."""
    for path in DOCUMENTS:
        before = path.read_text(encoding="utf-8")
        if (after := fill(before)) != before:
            write(path, after)
            print(f"wrote {path}")
    return 0


def fill(text: str) -> str:
    """`text` with every marked table as the artifacts have it; ValueError on an unknown mark."""
    folder = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder.filters |= {"interval": format_interval, "mean": mean}
    template = folder.get_template("readme.jinja")
    context = template.new_context({"rows": select_rows, "data": lambda file: load(file).data})

    def table(found: re.Match[str]) -> str:
        name = found[1]
        if name not in template.blocks:
            raise ValueError(f"no table {name!r}; tables are {', '.join(template.blocks)}")
        written = "".join(template.blocks[name](context)).strip()
        return f"<!-- {name} -->\n{written}\n<!-- /{name} -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", table, text, flags=re.DOTALL)


def select_rows(file: str, **wanted: Any) -> dict[str, Any]:
    """The rows of an artifact whose fields are as wanted, by policy."""
    return {
        row.policy: row
        for row in load(file).data.rows
        if all(getattr(row, name) == value for name, value in wanted.items())
    }


def format_interval(figures: Interval) -> str:
    """`0.214 [0.180, 0.250]`: a mean with its interval."""
    return f"{mean(figures)} [{mean(figures, 'low')}, {mean(figures, 'high')}]"


def mean(figures: Any, end: str = "mean") -> str:
    """A mean to three decimals; zero after rounding has no sign."""
    return f"{round(getattr(figures, end), 3) + 0.0:.3f}"
