"""Where an artifact comes from: command, commit, versions and machine."""

import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "torch", "transformers")  # a measured number may depend on them


def provenance() -> dict[str, Any]:
    """What is needed to make an artifact again: command, commit, versions and machine."""
    return {
        "command": shlex.join(["python", "-m", "sauda", *sys.argv[1:]]),
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if (status := _git("status", "--porcelain", "--", ".", ":!artifacts")) is None
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


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git(*arguments: str) -> str | None:
    """The output of git; None where there is no git or no checkout, as on a Space."""
    command = ["git", "-C", str(REPOSITORY), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None


@cache
def source_digest() -> str:
    """The SHA-256 of the names and contents of all code and words under `env/` and `sauda/`."""
    digest = sha256()
    for package in ("env", "sauda"):
        files = (REPOSITORY / package).rglob("*")
        for path in sorted(file for file in files if file.suffix in (".py", ".csv")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(REPOSITORY)} {len(content)}\n".encode() + content)
    return digest.hexdigest()
