"""Runs the page in a separate process, as visitors use it."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from sauda.records.store import REPOSITORY

TRUSTED = {"FORWARDED_ALLOW_IPS": "127.0.0.1"}  # visitors of a load test name their addresses
STARTS_WITHIN = 90  # seconds until the page must answer


@dataclass(frozen=True)
class RunningPage:
    """A page in a process of its own."""

    address: str
    pid: int
    log: Callable[[], str]  # what it wrote so far


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
            read = partial(_read, log)
            yield RunningPage(_address(app, read), app.pid, read)
        finally:
            app.terminate()
            try:
                app.wait(timeout=10)
            except subprocess.TimeoutExpired:
                app.kill()
                app.wait()


def _read(log: IO[str]) -> str:
    return os.pread(log.fileno(), 1 << 20, 0).decode(errors="replace")  # moves no position


def _address(app: subprocess.Popen, read: Callable[[], str]) -> str:
    """The address that the page prints once it answers; ValueError with its log if it does not."""
    deadline = time.monotonic() + STARTS_WITHIN
    while True:
        ended = app.poll() is not None
        output = read()
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
