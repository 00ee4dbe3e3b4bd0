"""`python -m sauda verify`, `seal`, `seal-published`, `rehash`, `migrate`: check artifacts.

`python -m sauda leaderboard` lists and checks what agents played on a page.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, interval
from sauda.records.kinds import FILES, KINDS, amount, entry
from sauda.records.store import ROOT, load

SHOWN = 10  # places named a file


def add(commands: Any) -> None:
    """Add the commands that check, seal and renew artifacts to those of `python -m sauda`."""
    parser = add_command(commands, "verify", verify)
    parser.add_argument(
        "files", nargs="*", help="under artifacts/; all that are registered if none"
    )
    parser.add_argument(
        "--models", nargs="*", metavar="TASK",
        help="instead, the model comparison's first games of each training stage, by its adapter; "
        "a minute a stage and task, bazaar/open if none is named; also arena/market_round, and "
        "tournament for the pairs with a model there",
    )  # fmt: skip
    parser = add_command(commands, "seal", seal)
    parser.add_argument("files", nargs="+", help="under artifacts/")
    add_command(commands, "seal-published", seal_published)
    parser = add_command(commands, "rehash", rehash)
    parser.add_argument("files", nargs="*", help="under artifacts/; all with hashes if none")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--from", dest="commit", help="the commit whose code has the hashes recorded")
    mode.add_argument("--list", action="store_true", help="print the hashes, recorded and today's")
    parser = add_command(commands, "migrate", migrate)
    parser.add_argument("files", nargs="*", help="under artifacts/; all that are there if none")
    parser = add_command(commands, "leaderboard", leaderboard)
    parser.add_argument(
        "file", nargs="?", type=Path,
        help="the database of a page, or the record of an entry as JSON; if none, this machine's",
    )  # fmt: skip
    parser.add_argument("--verify", action="store_true", help="exit 1 where a game differs")


def verify(options: argparse.Namespace) -> int:
    """Check files one after the other; 1 where one of them has a fault."""
    if options.models is not None:
        return _verify_models(options.models or ["bazaar/open"])
    files = options.files or [known.file for known in FILES]
    files = [file.removeprefix("artifacts/") for file in files]
    for file in files:
        _say(f"to do {file}: {_amount(file)}")
    failed = [file for file in files if _verified(file)]
    return 1 if failed else 0


def _verified(file: str) -> list[str]:
    """The faults of one file, which are printed."""
    from sauda.evaluation.verification.verify import verify as check

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
    from sauda.evaluation.verification.verify import verify_models

    failed = False
    for played in verify_models(tasks):
        failed |= bool(played.faults)
        sign, verdict = ("FAIL", played.faults[0]) if played.faults else ("ok  ", played.verdict)
        _say(f"{sign} {played.policy} on {played.task}, {played.n} games: {verdict}")
    return int(failed)


def seal(options: argparse.Namespace) -> int:
    """Seal files as they were committed."""
    from sauda.records.committed import seal_committed

    for file in options.files:
        file = file.removeprefix("artifacts/")
        artifact = seal_committed(file)
        done = f"as in commit {artifact.made['sealed']['commit']}" if artifact else "before"
        _say(f"sealed {done}: {file}")
    return 0


def seal_published(options: argparse.Namespace) -> int:
    """Check and seal the transcribed figures."""
    from sauda.records import published

    print(f"sealed {len(published.seal().data.figures)} figures")
    return 0


def rehash(options: argparse.Namespace) -> int:
    """Renew the hashes of code in files, or list them as JSON."""
    from sauda.evaluation.verification.rehash import listing, listing_at
    from sauda.evaluation.verification.rehash import rehash as renew
    from sauda.records.committed import full_commit

    files = options.files or [known.file for known in FILES]
    files = [file.removeprefix("artifacts/") for file in files]
    if options.list:
        _say(json.dumps(listing(files), indent=1))
        return 0
    commit = full_commit(options.commit)
    before = listing_at(commit, files)
    for file in files:
        artifact = renew(file, before[file], commit)
        done = f"{artifact.made['rehashed'][-1]['hashes']} hashes renewed" if artifact else "as is"
        _say(f"{done}: {file}")
    return 0


def migrate(options: argparse.Namespace) -> int:
    """Bring files to their newest kinds."""
    from sauda.records import migrate as migration

    there = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.json"))
    files = [file for file in there if not file.startswith("adapters/")]
    for file in options.files or files:
        file = file.removeprefix("artifacts/")
        name = migration.migrate(file)
        _say(f"migrated {file} to {name}" if name else f"nothing to do: {file}")
    return 0


def leaderboard(options: argparse.Namespace) -> int:
    """List the entries of a leaderboard; 1 where `--verify` finds one that differs."""
    from sauda.serve.leaderboard.record import faults, records_in
    from sauda.serve.leaderboard.storage import FILE, data_folder

    failed = False
    for recorded in records_in(options.file or data_folder() / FILE):
        found = list(faults(recorded)) if options.verify else []
        failed |= bool(found)
        sign = ("FAIL " if found else "ok   ") if options.verify else ""
        _say(
            f"{sign}{recorded['entry']} {recorded['name']} on {recorded['task']}:"
            f" {interval(recorded['grade']).strip()}, n = {len(recorded['games'])}"
        )
        for place in found[:SHOWN]:
            _say(f"     {place}")
    return int(failed)


def _say(line: str) -> None:
    print(line, flush=True)


def _amount(file: str) -> str:
    artifact = load(file)
    return amount(artifact.kind, artifact.config, artifact.data)
