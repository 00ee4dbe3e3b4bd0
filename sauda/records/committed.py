"""Seals artifacts that were recorded before there were seals.

The file must be, byte for byte, the version in the last commit that touched it. Its seal then says
that nothing changed since that commit, not since the run that measured it; `made.sealed` names it.
"""

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

from sauda.records.kinds import ArtifactError
from sauda.records.provenance import REPOSITORY, now
from sauda.records.seal import SEAL, broken
from sauda.records.store import (
    ROOT,
    Artifact,
    content_of,
    load,
    sha256,
    write_sealed,
)


def seal_committed(file: str, root: Path = ROOT) -> Artifact | None:
    """Seal `file` as it was committed; None where it has a valid seal already.

    Raises ArtifactError where its seal is broken, or where it is not what was committed.
    """
    artifact = load(file, root)
    if SEAL in artifact.made:
        if faults := broken(content_of(artifact)):
            raise ArtifactError(f"{file} was changed since it was sealed: {faults[0]}")
        return None
    commit = last_commit(root / file)
    if hashlib.sha256(committed(root / file, commit)).hexdigest() != sha256(root / file):
        raise ArtifactError(f"{file} is not the file that was committed in {commit}")
    provenance = {**artifact.made, "sealed": {"commit": commit, "created": now()}}
    return write_sealed(replace(artifact, made=provenance), root)


def last_commit(path: Path) -> str:
    """The last commit that touched a file; ArtifactError where there is none."""
    commit = _git(path, "log", "-1", "--format=%H", "--", path.name).decode().strip()
    if not commit:
        raise ArtifactError(f"{path.name} is in no commit")
    return commit


def full_commit(name: str, repository: Path = REPOSITORY) -> str:
    """The commit that a branch, tag or abbreviation names; ArtifactError where there is none."""
    return _git(repository / name, "rev-parse", "--verify", f"{name}^{{commit}}").decode().strip()


def committed(path: Path, commit: str) -> bytes:
    """The content of a file in `commit`."""
    return _git(path, "show", f"{commit}:./{path.name}")


def _git(path: Path, *arguments: str) -> bytes:
    """What git prints, called in the folder of `path`."""
    run = subprocess.run(["git", "-C", str(path.parent), *arguments], capture_output=True)
    if run.returncode:
        raise ArtifactError(f"git {arguments[0]} failed for {path.name}: {run.stderr.decode()}")
    return run.stdout
