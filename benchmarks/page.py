"""Runs the page in a separate process, as visitors use it."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sauda.records.store import REPOSITORY

TRUSTED = {"FORWARDED_ALLOW_IPS": "127.0.0.1"}  # visitors of a load test name their addresses
STARTS_WITHIN = 90  # seconds until the page must answer


@dataclass(frozen=True)
class RunningPage:
    """A page in a process of its own."""

    address: str
    pid: int


@contextmanager
def running_app(
    folder: Path = REPOSITORY, environment: Mapping[str, str] | None = None
) -> Iterator[RunningPage]:
    """Context: runs `folder`'s `app.py` in a separate process, with more of an environment."""
    environment = os.environ | {"HOST": "127.0.0.1", "PORT": str(free_port())} | (environment or {})
    with tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "app.py"]
        app = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield RunningPage(_address(app, log), app.pid)
        finally:
            app.terminate()
            try:
                app.wait(timeout=10)
            except subprocess.TimeoutExpired:
                app.kill()
                app.wait()


def _address(app: subprocess.Popen, log) -> str:
    """The address that the page prints once it answers; ValueError with its log if it does not."""
    deadline = time.monotonic() + STARTS_WITHIN
    while True:
        ended = app.poll() is not None
        output = os.pread(log.fileno(), 1 << 20, 0).decode(errors="replace")  # moves no position
        for line in output.splitlines(keepends=True):
            if line.startswith("Sauda is at ") and line.endswith("\n"):
                return line.removeprefix("Sauda is at ").strip()
        if ended or time.monotonic() > deadline:
            raise ValueError(
                f"app.py did not come up within {STARTS_WITHIN} s; its output: {output}"
            )
        time.sleep(0.1)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
