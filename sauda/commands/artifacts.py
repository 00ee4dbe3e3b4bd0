"""`python -m sauda verify|readme|leaderboard`: checks, the documents' tables, agents' games.

A table of a document stands between `<!-- NAME -->` and `<!-- /NAME -->` and is the block NAME of
`readme.jinja`; everything else is written by hand.
"""

import argparse
import re
import time
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sauda.commands.console import add_command, mean_with_interval, report
from sauda.language.faults import count_in_words
from sauda.players import MEASURED, SERVED
from sauda.records.kinds import FILES, KINDS, entry
from sauda.records.schemas.base import Interval
from sauda.records.store import REPOSITORY, load, write

DOCUMENTS = tuple(REPOSITORY / name for name in ("README.md", "docs/results.md", "docs/scale.md"))


def add(commands: Any) -> None:
    """Add these commands to those of `python -m sauda`."""
    add_command(commands, "readme", readme)
    parser = add_command(commands, "verify", verify)
    parser.add_argument(
        "files", nargs="*", help="under artifacts/; all that are registered if none"
    )
    parser.add_argument(
        "--models", nargs="*", metavar="TASK",
        help="instead, the model comparison's first games of each training stage, by its adapter; "
        "a minute a stage and task, bazaar/people if none is named; also arena/market_round",
    )  # fmt: skip
    parser = add_command(commands, "leaderboard", leaderboard)
    parser.add_argument(
        "file", nargs="?", type=Path,
        help="the database of a page, or the record of an entry as JSON; if none, this machine's",
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--verify", action="store_true", help="exit 1 where a game differs")
    what.add_argument(
        "--remove",
        metavar="ENTRY",
        help="delete from the file an entry, by its id, or all grades of a day, such as 2026-11-23",
    )


def verify(options: argparse.Namespace) -> int:
    """Check files one after the other; 1 where one of them has a fault."""
    if options.models is not None:
        return _verify_models(options.models or ["bazaar/people"])
    files = options.files or [known.file for known in FILES]
    files = [file.removeprefix("artifacts/") for file in files]
    well = [_verify(file) for file in files]
    return int(not all(well))


def _verify(file: str) -> bool:
    """Whether one file has no faults, which are printed."""
    from sauda.experiments.verify import verify as check

    start = time.monotonic()
    faults = check(file)
    seconds = time.monotonic() - start
    return report(f"{file}: {KINDS[entry(file).kind]} ({seconds:.0f} s)", faults)


def _verify_models(tasks: list[str]) -> int:
    """Play the first games of each stage of training again; 1 where they differ."""
    from sauda.experiments.verify import verify_models

    failed = False
    for played in (played for task in tasks for played in verify_models(task)):
        verdict, faults = played.compare()
        failed |= bool(faults)
        sign, verdict = ("FAIL", faults[0]) if faults else ("ok  ", verdict)
        cell, n = played.cell, len(played.seeds)
        print(f"{sign} {cell.policy} on {cell.task}, {n} games: {verdict}", flush=True)
    return int(failed)


def leaderboard(options: argparse.Namespace) -> int:
    """List the entries of a leaderboard; 1 where `--verify` finds one that differs."""
    from sauda.serve.leaderboard import FILE, data_folder, entry_faults, records_in, remove_from

    file = options.file or data_folder() / FILE
    if options.remove:
        print(f"removed {options.remove} {remove_from(file, options.remove)}")
        return 0
    failed = False
    for recorded in records_in(file):
        try:
            about = (
                f"{recorded['entry']} {recorded['name']} on {recorded['task']}:"
                f" {mean_with_interval(recorded['grade']).strip()}, n = {len(recorded['games'])}"
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"{file} holds what is no entry of a leaderboard: {error}") from None
        if options.verify:
            failed |= not report(about, list(entry_faults(recorded)))
        else:
            print(about)
    return int(failed)


# The tables of the documents ----------------------------------------------------------------------


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
    folder.filters |= {"interval": format_interval, "faults": count_in_words}
    folder.filters["mean"] = lambda figures: f"{figures.mean:z.3f}"
    template = folder.get_template("readme.jinja")
    context = template.new_context(
        {
            "rows": select_rows,
            "data": lambda file: load(file).data,
            "served": SERVED,
            "stages": [*MEASURED],
        }
    )

    def table(mark: re.Match[str]) -> str:
        name = mark[1]
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
    """`0.214 [0.180, 0.250]`: a mean with its interval; zero after rounding has no sign."""
    return f"{figures.mean:z.3f} [{figures.low:z.3f}, {figures.high:z.3f}]"
