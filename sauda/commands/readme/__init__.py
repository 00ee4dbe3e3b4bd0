"""`python -m sauda readme`: the tables of the documents, written from the artifacts.

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`; everything else is written by hand.
"""

import argparse
import re
from collections.abc import Callable, Mapping
from typing import Any

from sauda.commands.console import add_command
from sauda.commands.readme.acts import acts
from sauda.commands.readme.artifacts import checks, differences, listing, published
from sauda.commands.readme.evaluations import (
    arena,
    lab_models,
    market,
    models,
    rivalries,
    robustness,
    stage_gains,
    teachers,
)
from sauda.commands.readme.headline import headline
from sauda.commands.readme.load import load_sentence, load_tables
from sauda.commands.readme.million import million, requests
from sauda.commands.readme.results import results
from sauda.commands.readme.roles import role_contrasts, roles
from sauda.commands.readme.tables import markdown
from sauda.commands.readme.tournament import prior_score, profiles, tournament
from sauda.records.kinds.fields import every_kind
from sauda.records.provenance import REPOSITORY
from sauda.records.store import ROOT, write

DOCUMENTS = (
    REPOSITORY / "README.md",
    REPOSITORY / "docs" / "results.md",
    REPOSITORY / "docs" / "scale.md",
    ROOT / "README.md",
)
TABLES: Mapping[str, Callable[[], str]] = {
    "headline": headline,
    "results": results,
    "market": market,
    "robustness": robustness,
    "models": models,
    "stage_gains": stage_gains,
    "rivalries": rivalries,
    "teachers": teachers,
    "arena": arena,
    "lab_models": lab_models,
    "acts": acts,
    "roles": roles,
    "role_contrasts": role_contrasts,
    "checks": checks,
    "differences": lambda: markdown(*differences()),
    "published_speeds": lambda: markdown(*published()),
    "tournament": tournament,
    "profiles": profiles,
    "prior_score": prior_score,
    "load": load_tables,
    "load_sentence": load_sentence,
    "million": million,
    "requests": requests,
    "listing": lambda: markdown(*listing()),
    "kinds": every_kind,
}


def add(commands: Any) -> None:
    """Add `readme` to the commands of `python -m sauda`."""
    add_command(commands, "readme", readme)


def readme(options: argparse.Namespace) -> int:
    """Write the tables anew and print whether anything changed."""
    print("wrote the documents" if fill() else "the documents are as the artifacts have it")
    return 0


def filled(text: str) -> str:
    """`text` with every marked table as the artifacts have it now.

    Raises ValueError on a mark of no known table, or one that is not closed.
    """
    names = re.findall(r"<!-- (\w+) -->", text)
    for name in names:
        if name not in TABLES:
            raise ValueError(f"no table {name!r}; tables are {', '.join(TABLES)}")
        opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, opened, rest = text.partition(opening)
        _, closed, after = rest.partition(closing)
        if not (opened and closed):
            raise ValueError(f"the table {name!r} is opened and never closed")
        text = f"{before}{opening}{TABLES[name]()}\n{closing}{after}"
    return text


def fill() -> bool:
    """Write the tables of every document anew; whether anything changed."""
    changed = False
    for path in DOCUMENTS:
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        write(path, after)
        changed |= before != after
    return changed
