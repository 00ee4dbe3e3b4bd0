"""An earlier commit of the code, checked out in a folder of its own."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sauda.records.store import REPOSITORY


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Context: a folder with `commit` checked out; ValueError where git does not know it."""
    with tempfile.TemporaryDirectory(prefix="sauda-") as parent:
        folder = Path(parent) / "before"
        _git("worktree", "add", "--detach", str(folder), full_name(commit))
        try:
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


def full_name(commit: str) -> str:
    """The whole hash of a commit; ValueError where git does not know it."""
    return _git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(f"git {arguments[0]} failed: {run.stderr.strip()}")
    return run.stdout.strip()
