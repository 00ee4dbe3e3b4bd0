"""`python -m sauda verify` checks artifacts, `leaderboard` what agents played on a page."""

import argparse
import time
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, mean_with_interval
from sauda.records.kinds import FILES, KINDS, entry

SHOWN = 10  # places named a file


def add(commands: Any) -> None:
    """Add the commands that check artifacts and games to those of `python -m sauda`."""
    parser = add_command(commands, "verify", verify)
    parser.add_argument(
        "files", nargs="*", help="under artifacts/; all that are registered if none"
    )
    parser.add_argument(
        "--models", nargs="*", metavar="TASK",
        help="instead, the model comparison's first games of each training stage, by its adapter; "
        "a minute a stage and task, bazaar/open if none is named; also arena/market_round",
    )  # fmt: skip
    parser = add_command(commands, "leaderboard", leaderboard)
    parser.add_argument(
        "file", nargs="?", type=Path,
        help="the database of a page, or the record of an entry as JSON; if none, this machine's",
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--verify", action="store_true", help="exit 1 where a game differs")
    what.add_argument(
        "--remove", metavar="ENTRY", help="the id of an entry to delete from the file"
    )


def verify(options: argparse.Namespace) -> int:
    """Check files one after the other; 1 where one of them has a fault."""
    if options.models is not None:
        return _verify_models(options.models or ["bazaar/open"])
    files = options.files or [known.file for known in FILES]
    files = [file.removeprefix("artifacts/") for file in files]
    failed = [file for file in files if _verify(file)]
    return 1 if failed else 0


def _verify(file: str) -> list[str]:
    """The faults of one file, which are printed."""
    from sauda.experiments.verify import verify as check

    start = time.monotonic()
    faults = check(file)
    sign, seconds = "FAIL" if faults else "ok  ", time.monotonic() - start
    _say(f"{sign} {file}: {KINDS[entry(file).kind].check} ({seconds:.0f} s)")
    for place in faults[:SHOWN]:
        _say(f"     {place}")
    if len(faults) > SHOWN:
        _say(f"     and {len(faults) - SHOWN} places more")
    return faults


def _verify_models(tasks: list[str]) -> int:
    """Play the first games of each stage of training again; 1 where they differ."""
    from sauda.experiments.verify import verify_models

    failed = False
    for played in (played for task in tasks for played in verify_models(task)):
        verdict, faults = played.compare()
        failed |= bool(faults)
        sign, verdict = ("FAIL", faults[0]) if faults else ("ok  ", verdict)
        cell, n = played.cell, len(played.seeds)
        _say(f"{sign} {cell.policy} on {cell.task}, {n} games: {verdict}")
    return int(failed)


def leaderboard(options: argparse.Namespace) -> int:
    """List the entries of a leaderboard; 1 where `--verify` finds one that differs."""
    from sauda.serve.leaderboard import FILE, data_folder, entry_faults, records_in, remove_from

    file = options.file or data_folder() / FILE
    if options.remove:
        _say(f"removed {options.remove} {remove_from(file, options.remove)}")
        return 0
    failed = False
    for recorded in records_in(file):
        found = list(entry_faults(recorded)) if options.verify else []
        failed |= bool(found)
        sign = ("FAIL " if found else "ok   ") if options.verify else ""
        _say(
            f"{sign}{recorded['entry']} {recorded['name']} on {recorded['task']}:"
            f" {mean_with_interval(recorded['grade']).strip()}, n = {len(recorded['games'])}"
        )
        for place in found[:SHOWN]:
            _say(f"     {place}")
    return int(failed)


def _say(line: str) -> None:
    print(line, flush=True)
