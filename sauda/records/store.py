"""Artifacts: JSON files with their kind and provenance. Only this module reads and writes them."""

import hashlib
import json
import os
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sauda.records.kinds import KINDS, ArtifactError, entry
from sauda.records.provenance import provenance
from sauda.records.schemas.base import Record

ROOT = Path(__file__).resolve().parents[2] / "artifacts"
ORIGINS = ("measured", "published")
CHECKSUMS = "SHA256SUMS"  # of the files under artifacts/, as `sha256sum` writes and checks it


@dataclass(frozen=True)
class Artifact:
    """A measured or published file, with what it holds as an object."""

    file: str  # under artifacts/
    kind: str  # of KINDS
    origin: str  # measured by a command, or published by a named source
    made: Mapping[str, Any]  # command, commit, time, device and versions behind it
    config: Mapping[str, Any]  # what the command was asked for
    data: Any  # an object of the kind's schema

    def as_text(self) -> str:
        """The content of its file."""
        names = ("kind", "origin", "made", "config")
        content = {name: getattr(self, name) for name in names} | {"data": self.data.as_json()}
        return dumps(content) + "\n"

    def settings(self) -> dict[str, Any]:
        """The config with tuples for its lists, as the parameters of experiments have them."""
        return {name: _tuple(value) for name, value in self.config.items()}


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def load(file: str, root: Path = ROOT) -> Artifact:
    """The artifact at `root/file`, checked, its data an object of the kind's schema.

    Raises ArtifactError, with the command that makes it, where it is missing or damaged.
    """
    known = entry(file)

    def refused(fault: str) -> ArtifactError:
        return ArtifactError(f"artifacts/{file} {fault}", known.command)

    try:
        content = read_json(root / file)
    except FileNotFoundError:
        raise refused("is not there") from None
    except ValueError as error:
        raise refused(f"is not valid JSON ({error})") from None
    expected = ["config", "data", "kind", "made", "origin"]
    if not isinstance(content, dict) or sorted(content) != expected:
        raise refused(f"needs exactly the keys {', '.join(expected)}")
    if content["kind"] != known.kind:
        raise refused(f"is of kind {content['kind']!r} and not {known.kind!r}")
    if content["origin"] not in ORIGINS:
        raise refused(f"has the origin {content['origin']!r}, not one of {', '.join(ORIGINS)}")
    try:
        data = parsed(known.kind, content["data"])
    except ValueError as error:
        raise refused(f"is damaged: {error}") from None
    return Artifact(file, **content | {"data": data})


def read_json(path: Path) -> Any:
    """The JSON value in a file; ValueError where it is none, or holds NaN or an infinity."""
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def parsed(kind: str, data: Any) -> Record:
    """`data`, a JSON value, as an object of the kind's schema.

    Raises ValueError naming the first place where it is not of that kind.
    """
    try:
        return KINDS[kind].schema.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in ("data", *first["loc"]))
        raise ValueError(f"{place}: {first['msg'].lower()}") from None


def measured(file: str, config: Mapping[str, Any], data: Record | Mapping[str, Any]) -> Artifact:
    """An artifact that this command has just measured, not written yet.

    Raises ValueError naming the first place where `data` is not of the file's kind, and TypeError
    for what JSON does not hold.
    """
    known = entry(file)
    plain = data.as_json() if isinstance(data, Record) else data
    config, plain = json.loads(json.dumps([config, plain], allow_nan=False))  # tuples to lists
    made = provenance(known.command.split()[2])  # the module of `python -m MODULE`
    return Artifact(file, known.kind, "measured", made, config, parsed(known.kind, plain))


def save(
    file: str, config: Mapping[str, Any], data: Record | Mapping[str, Any], root: Path = ROOT
) -> Artifact:
    """Write a measured artifact with its provenance, whole or not at all; returns it.

    Raises what `measured` raises, before anything is written.
    """
    return write_artifact(measured(file, config, data), root)


def write_artifact(artifact: Artifact, root: Path = ROOT) -> Artifact:
    """Write an artifact and its checksum; returns it."""
    write(root / artifact.file, artifact.as_text())
    renew_checksums([artifact.file], root)
    return artifact


def checksums(root: Path = ROOT) -> dict[str, str]:
    """The recorded SHA-256 of each file under `root`, in hex; empty where none are recorded."""
    path = root / CHECKSUMS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {file: sha256 for sha256, _, file in (line.partition("  ") for line in lines)}


def renew_checksums(files: Iterable[str], root: Path = ROOT) -> None:
    """Record the SHA-256 of some files under `root` as they are now."""
    lines = checksums(root) | {file: sha256(root / file) for file in files}
    write(root / CHECKSUMS, "".join(f"{lines[file]}  {file}\n" for file in sorted(lines)))


def write(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, so that no reader sees half a file."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content` in one step."""
    with replacing(path) as part:
        part.write_bytes(content)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The path of a file to write, which takes the place of `path` when the block has ended.

    No reader sees half a file, and a block that raises leaves `path` as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{uuid.uuid4().hex}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def dumps(value: Any, indent: str = "") -> str:
    """JSON with one line for each innermost list or mapping of plain values, so that diffs read."""
    inner = indent + " "
    if isinstance(value, Mapping) and not all(map(_plain, value.values())):
        rows = [f"{json.dumps(key)}: {dumps(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and not all(map(_plain, value)):
        rows = [inner + dumps(item, inner) for item in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def digest(data: Any) -> str:
    """The SHA-256 of a JSON value, whatever its layout on disk."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bundle(path: Path, root: Path = ROOT) -> None:
    """Write a zip of everything under artifacts/ to `path`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(root.parent))
