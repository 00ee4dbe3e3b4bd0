"""Where an artifact comes from: command, commit, versions and machine."""

import os
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


def provenance(module: str = "sauda") -> dict[str, Any]:
    """What is needed to make an artifact again: command, commit, versions and machine.

    The process was started by `python -m` with that module.
    """
    return {
        "command": shlex.join(["python", "-m", module, *sys.argv[1:]]),
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
