"""Writes today's hashes of code into artifacts, after a proof that they name the same code.

For use when the hash function or public names change but nothing that code does. The proof: at an
earlier commit, the code there has the hashes that the artifacts record, place by place.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sauda.evaluation.verification.recorded_hashes import RecordedHash, recorded_hashes
from sauda.records.kinds import ArtifactError
from sauda.records.provenance import REPOSITORY, now
from sauda.records.seal import SEAL, broken
from sauda.records.store import ROOT, Artifact, content_of, load, parsed, write_sealed

Listing = Mapping[str, Mapping[str, str]]  # by place: what is "recorded", what "today" has


def listing(files: Sequence[str], root: Path = ROOT) -> dict[str, Listing]:
    """For each file, its hashes of code by their places, as recorded and as they are today."""
    return {
        file: {h.place: {"recorded": h.recorded, "today": h.today} for h in _hashes(file, root)}
        for file in files
    }


def rehash(file: str, before: Listing, commit: str, root: Path = ROOT) -> Artifact | None:
    """Renew the hashes in `file`, seal it, and note that in `made`; None where all are today's.

    `before` is the file's listing at `commit`. Raises ArtifactError where the seal is broken or
    where a recorded hash is not that of the code at `commit`.
    """
    artifact = load(file, root)
    if SEAL not in artifact.made or (changed := broken(content_of(artifact))):
        fault = changed[0] if SEAL in artifact.made else "there is no seal"
        raise ArtifactError(f"{file} is not as it was sealed: {fault}")
    hashes = recorded_hashes(artifact)
    _prove(file, hashes, before, commit)
    renewed = [hash_ for hash_ in hashes if hash_.fault]
    if not renewed:
        return None
    data: Any = artifact.data.as_json()
    for hash_ in renewed:
        part = data
        for key in hash_.keys[:-1]:
            part = part[key]
        part[hash_.keys[-1]] = hash_.today
    note = {"commit": commit, "hashes": len(renewed), "created": now()}
    provenance = {**artifact.made, "rehashed": [*artifact.made.get("rehashed", []), note]}
    return write_sealed(replace(artifact, made=provenance, data=parsed(artifact.kind, data)), root)


def _prove(file: str, hashes: Sequence[RecordedHash], before: Listing, commit: str) -> None:
    """Raise ArtifactError unless each recorded hash is that of the code at `commit`."""
    if other := sorted(before.keys() ^ {hash_.place for hash_ in hashes}):
        raise ArtifactError(
            f"{file} records other hashes than it does in {commit}: {other[0]} is in one of them"
        )
    for hash_ in hashes:
        then = before[hash_.place]
        if hash_.recorded != then["recorded"]:
            raise ArtifactError(
                f"{file}, {hash_.place}: {hash_.recorded!r} is recorded, but {then['recorded']!r} "
                f"in {commit}; measure the file again, or name the commit that measured it"
            )
        if hash_.recorded != then["today"]:
            raise ArtifactError(
                f"{file}, {hash_.place}: {hash_.recorded!r} is recorded, but the code of {commit} "
                f"has the hash {then['today']!r}; measure the file again"
            )


def listing_at(commit: str, files: Sequence[str], repository: Path = REPOSITORY) -> dict[str, Any]:
    """The listing that the code of `commit` makes of its own files, in an interpreter of its own.

    Raises ArtifactError where there is no such commit or its code fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive.tar"
        _run(["git", "-C", str(repository), "archive", f"--output={archive}", commit], repository)
        tree = Path(folder) / "tree"
        tree.mkdir()
        _run(["tar", "-xf", str(archive), "-C", str(tree)], tree)
        printed = _run([sys.executable, "-m", "sauda", "rehash", "--list", *files], tree)
    return json.loads(printed)


def _run(command: Sequence[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ArtifactError(f"`{' '.join(command[:5])} …` failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def _hashes(file: str, root: Path) -> list[RecordedHash]:
    return recorded_hashes(load(file, root))
