"""`python -m sauda deploy` puts the page on a Space; `smoke` tests the page at an address."""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command
from sauda.commands.machines.options import exit_code
from sauda.scale.deploy.staging import Staged

PYTHONS = ("3.11", "3.12")  # the project's
ANSWERS_WITHIN = 120.0  # seconds from a running Space to its first answer


def add(commands: Any) -> None:
    """Add `deploy` and `smoke` to the commands of `python -m sauda`."""
    parser = add_command(commands, "deploy", deploy)
    parser.add_argument("--space", required=True, metavar="OWNER/NAME")
    parser.add_argument(
        "--dry-run", action="store_true", help="stage and check; only the package index is asked"
    )
    parser.add_argument(
        "--skip-imports", action="store_true", help="make no fresh environments: they take minutes"
    )
    parser.add_argument(
        "--python", nargs="+", default=PYTHONS, metavar="VERSION", help="of the fresh environments"
    )
    parser.add_argument("--private", action="store_true", help="of a Space that is created")
    parser = add_command(commands, "smoke", smoke)
    parser.add_argument("address", help="such as http://127.0.0.1:7860")


def deploy(options: argparse.Namespace) -> int:
    """Stage and check; unless it is a dry run, upload and test. 1 where something is wrong."""
    from sauda.scale.deploy.staging import stage
    from sauda.scale.deploy.upload import checked_name

    space = checked_name(options.space)
    with tempfile.TemporaryDirectory(prefix="sauda-deploy-") as place:
        staged = stage(Path(place) / "staged")
        _describe(staged)
        pythons = () if options.skip_imports else options.python
        if not pythons:
            print("skip imports: no fresh environment was made, as --skip-imports says")
        found = _faults(staged)
        unresolved = [_import_faults(staged, python) for python in pythons]
        found += [fault for faults in unresolved for fault in faults or ()]
        if found:
            print(f"{len(found)} faults; nothing was uploaded")
            return 1
        if options.dry_run:
            print(f"a dry run: nothing was uploaded to {space}")
            return 0
        if pythons and not any(faults is not None for faults in unresolved):
            print("no imports were checked; say --skip-imports to upload all the same")
            return 1
        return _upload(staged, space, options.private)


def _describe(staged: Staged) -> None:
    files = staged.files()
    size = sum(path.stat().st_size for path in files)
    print(f"staged {len(files)} files, {size / 2**20:.1f} MiB, of the commit {staged.commit[:12]}")
    if staged.uncommitted:
        print(f"{staged.uncommitted} files of this tree are not committed; they are left out")


def _faults(staged: Staged) -> list[str]:
    """The faults of the staged files, which are printed."""
    from sauda.scale.deploy.checks import faults

    found = faults(staged.folder)
    _say("front matter, sizes, secrets, versions", found)
    return found


def _import_faults(staged: Staged, python: str) -> list[str] | None:
    """What does not resolve under one Python; None, with the reason printed, where none was tried.

    The fresh environment has what a Space installs beside requirements.txt. Without that Python,
    its packages are looked through and not loaded.
    """
    from sauda.scale.deploy.checks import front_matter
    from sauda.scale.deploy.imports import (
        NoEnvironment,
        NoPython,
        fresh_environment,
        fresh_packages,
        import_faults,
        package_faults,
    )

    space_adds = f"gradio[oauth,mcp]=={front_matter(staged.folder)['sdk_version']}"
    wanted = ["--requirement", str(staged.folder / "requirements.txt"), space_adds]
    with tempfile.TemporaryDirectory(prefix="sauda-fresh-") as place:
        began, how = time.monotonic(), ""
        try:
            try:
                fresh = fresh_environment(Path(place), python, wanted)
                found = import_faults(fresh, staged.folder)
            except NoPython:
                fresh_packages(Path(place), python, wanted)
                found = package_faults(Path(place), staged.folder)
                how = ", found in its packages and not loaded: no such Python is here"
        except NoEnvironment as error:
            print(f"not checked: imports under Python {python}; {error}")
            return None
        _say(f"imports under Python {python}{how} ({time.monotonic() - began:.0f} s)", found)
        return found


def _upload(staged: Staged, space: str, private: bool) -> int:
    from huggingface_hub import HfApi, get_token

    from sauda.scale.deploy.smoke import wait_until_it_answers
    from sauda.scale.deploy.upload import DeployFault, upload

    token = get_token()
    if not token:
        raise ValueError("a Space needs a token that may write: `hf auth login`, or set HF_TOKEN")
    failed: list[bool] = []

    def run() -> None:
        address = upload(staged, space, HfApi(token=token), private)
        print(f"the page runs at {address}")
        wait_until_it_answers(address, ANSWERS_WITHIN, token)
        failed.append(not _smoke(address, token))

    try:
        code = exit_code(run)
    except DeployFault as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    return code or int(any(failed))


def smoke(options: argparse.Namespace) -> int:
    """Test the page at an address; 1 where a check fails."""
    if not options.address.startswith(("http://", "https://")):
        raise ValueError(f"an address begins with http:// or https://, not {options.address!r}")
    return int(not _smoke(options.address))


def _smoke(address: str, token: str | None = None) -> bool:
    """Whether every check passes; each is printed."""
    from sauda.scale.deploy.smoke import smoke as checks

    well = True
    for check in checks(address, token):
        _say(f"{check.about} ({check.seconds:.1f} s)", [check.fault] if check.fault else [])
        well &= not check.fault
    return well


def _say(about: str, faults: list[str]) -> None:
    print(f"{'FAIL' if faults else 'ok  '} {about}", flush=True)
    for fault in faults:
        print(f"     {fault}", flush=True)
