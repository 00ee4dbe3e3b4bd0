"""The folder that a Space gets: the committed files, without the tests and what runs them."""

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from sauda.records.store import REPOSITORY

LEFT_OUT = ("tests", ".ci")  # at the root


@dataclass(frozen=True)
class Staged:
    """A staged folder and the commit that it holds."""

    folder: Path
    commit: str
    uncommitted: int  # changed or new files of the work tree, which the folder does not have

    def files(self) -> list[Path]:
        """Every file, in order."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


def stage(folder: Path, repository: Path = REPOSITORY) -> Staged:
    """Write the files of the last commit into `folder`; ValueError where there is no commit."""
    commit = _git(repository, "rev-parse", "HEAD").decode().strip()
    changed = _git(repository, "status", "--porcelain").decode().splitlines()
    archive = _git(repository, "archive", "--format=tar", commit)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        kept = [one for one in files if one.name.split("/")[0] not in LEFT_OUT]
        files.extractall(folder, members=kept, filter="data")
    return Staged(folder, commit, len(changed))


def _git(repository: Path, *arguments: str) -> bytes:
    run = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True)
    if run.returncode:
        raise ValueError(f"git {arguments[0]} failed: {run.stderr.decode().strip()}")
    return run.stdout
