"""Artifacts: JSON files with their kind and provenance. Only this module reads and writes them.

It also reads the JSON of runs, which another process may have torn.
"""

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from env import refuse_constant
from sauda.records.kinds import KINDS, ROOT, ArtifactError, entry
from sauda.records.schemas.base import Record

REPOSITORY = ROOT.parent
PACKAGES = ("numpy", "scipy", "torch", "transformers")  # a measured number may depend on them
ORIGINS = ("measured", "published")
CHECKSUMS = "SHA256SUMS"  # of the files under artifacts/, as `sha256sum` writes and checks it
# What games depend on beside weights: all code and words, and the numbers of the tuned scripts.
SOURCES = ("env", "sauda", "artifacts/simplest.json", "artifacts/people.json")
BUILT = ("__pycache__", "build")  # folders that git ignores


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
        return {name: to_tuple(value) for name, value in self.config.items()}


def to_tuple(value: Any) -> Any:
    """The value with a tuple for a list."""
    return tuple(value) if isinstance(value, list) else value


def load(file: str, root: Path = ROOT) -> Artifact:
    """The artifact at `root/file`, checked, its data an object of the kind's schema.

    Raises ArtifactError, with the command that makes it, where it is missing or damaged.
    """
    known = entry(file)

    def refuse(fault: str) -> ArtifactError:
        return ArtifactError(f"artifacts/{file} {fault}", known.command)

    try:
        content = read_json(root / file)
    except FileNotFoundError:
        raise refuse("is not there") from None
    except ValueError as error:
        raise refuse(f"is not valid JSON ({error})") from None
    expected = ["config", "data", "kind", "made", "origin"]
    if not isinstance(content, dict) or sorted(content) != expected:
        raise refuse(f"needs exactly the keys {', '.join(expected)}")
    if content["kind"] != known.kind:
        raise refuse(f"is of kind {content['kind']!r} and not {known.kind!r}")
    if content["origin"] not in ORIGINS:
        raise refuse(f"has the origin {content['origin']!r}, not one of {', '.join(ORIGINS)}")
    try:
        data = validate(known.kind, content["data"])
    except ValueError as error:
        raise refuse(f"is damaged: {error}") from None
    return Artifact(file, **content | {"data": data})


def read_json(path: Path) -> Any:
    """The JSON value in a file; ValueError where it is none, or holds NaN or an infinity."""
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)


def validate(kind: str, data: Any) -> Record:
    """`data`, a JSON value, as an object of the kind's schema.

    Raises ValueError naming the first place where it is not of that kind.
    """
    try:
        return KINDS[kind].schema.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in ("data", *first["loc"]))
        raise ValueError(f"{place}: {first['msg'].lower()}") from None


def new_artifact(
    file: str, config: Mapping[str, Any], data: Record | Mapping[str, Any]
) -> Artifact:
    """An artifact that this command has just measured, not written yet.

    Raises ValueError naming the first place where `data` is not of the file's kind, and TypeError
    for what JSON does not hold.
    """
    known = entry(file)
    plain = data.as_json() if isinstance(data, Record) else data
    config, plain = json.loads(json.dumps([config, plain], allow_nan=False))  # tuples to lists
    made = provenance(known.command.split()[2])  # the module of `python -m MODULE`
    return Artifact(file, known.kind, "measured", made, config, validate(known.kind, plain))


def save(
    file: str, config: Mapping[str, Any], data: Record | Mapping[str, Any], root: Path = ROOT
) -> Artifact:
    """Write a measured artifact with its provenance, whole or not at all; returns it.

    Raises what `measured` raises, before anything is written.
    """
    return write_artifact(new_artifact(file, config, data), root)


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
    """Record the SHA-256 of some files under `root` as they are now.

    Commands that end at the same time wait for each other: each adds to what the last one wrote.
    """
    with lock(root):
        lines = checksums(root) | {file: sha256(root / file) for file in files}
        write(root / CHECKSUMS, "".join(f"{lines[file]}  {file}\n" for file in sorted(lines)))


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Context: no other process is in such a block of the same folder."""
    import fcntl  # which Windows has not, where artifacts are read and none is made

    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)  # which ends the lock


def write(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, so that no reader sees half a file."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content` in one step."""
    with replace_file(path) as part:
        part.write_bytes(content)


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
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


# Provenance


def provenance(module: str = "sauda") -> dict[str, Any]:
    """What is needed to make an artifact again: command, commit, versions and machine.

    The process was started by `python -m` with that module. A file that is given by its whole path
    is named without its folders, which are of one machine alone.
    """
    arguments = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return {
        "command": shlex.join(["python", "-m", module, *arguments]),
        "commit": git("rev-parse", "HEAD"),
        "dirty": None if (status := git("status", "--porcelain", "--", ".", ":!artifacts")) is None
        else bool(status),
        "created": now(),
        "device": device(),
        "packages": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
    }  # fmt: skip


def device() -> str:
    """The GPU of a process that uses torch and finds one, else the CPU's architecture."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU"


def machine() -> dict[str, Any]:
    """What the samples depend on: processor, cores, versions."""
    return {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()}


def processor() -> str:
    """The processor's name where the system tells it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def git(*arguments: str) -> str | None:
    """The output of git; None where there is no git or no checkout, as on a Space."""
    command = ["git", "-C", str(REPOSITORY), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None


@cache
def source_digest() -> str:
    """The `digest_sources` of this process's code."""
    return digest_sources(REPOSITORY)


def digest_sources(root: Path) -> str:
    """The SHA-256 of the names and contents of all files under `root` that play may depend on.

    They are all under SOURCES but what Python and its tools write there.
    """
    digest = hashlib.sha256()
    places = (root / source for source in SOURCES)
    files = (file for place in places for file in ([place] if place.is_file() else walk(place)))
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def walk(folder: Path) -> Iterator[Path]:
    """All files under `folder`, without hidden ones, caches of Python and built packages."""
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in BUILT or path.suffix == ".egg-info":
            continue
        yield from walk(path) if path.is_dir() else (path,)


# JSON that another process may have torn


class DamagedFile(ValueError):
    """A file does not hold what its name promises; the message says where."""

    def __init__(self, file: Path, place: str) -> None:
        super().__init__(f"{file} is damaged: {place}")


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in `file`; raises DamagedFile, which names file and place."""
    return _object(_text(file), file, 1)


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The JSON objects in the complete lines of `file`; none where it does not exist.

    Raises DamagedFile, naming the file and the line of the damage.
    """
    if not file.exists():
        return []
    text = _text(file)
    complete = text[: text.rfind("\n") + 1].split("\n")[:-1]
    return [_object(line, file, number) for number, line in enumerate(complete, 1)]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFile(file, f"byte {error.start} is not UTF-8") from None


def _object(text: str, file: Path, first_line: int) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise DamagedFile(file, f"line {line}, column {error.colno}: {error.msg}") from None
    if not isinstance(value, dict):
        raise DamagedFile(file, f"line {first_line} holds no JSON object")
    return value


# Differences of JSON values

NOTHING = "nothing"  # stands for a value that one side has not


def differences(recorded: Any, replayed: Any, place: str) -> Iterator[str]:
    """Every place where two JSON values differ."""
    if isinstance(recorded, Mapping) and isinstance(replayed, Mapping):
        for key in sorted(recorded.keys() | replayed.keys()):
            pair = recorded.get(key, NOTHING), replayed.get(key, NOTHING)
            yield from differences(*pair, child(place, key))
    elif isinstance(recorded, list) and isinstance(replayed, list | tuple):
        if len(recorded) != len(replayed):
            yield f"{place}: {len(recorded)} recorded, {len(replayed)} when played again"
        for index, (old, new) in enumerate(zip(recorded, replayed, strict=False)):
            yield from differences(old, new, child(place, index))
    elif recorded != replayed:
        yield f"{place}: recorded {_short(recorded)}, played again {_short(replayed)}"


def child(place: str, key: str | int) -> str:
    """The name of the part of `place` under `key`, such as data.log[3]."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not key.isidentifier():
        return f"{place}[{key!r}]"
    return f"{place}.{key}" if place else key


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
