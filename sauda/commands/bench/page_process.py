"""The page in a process of its own, as a visitor meets it."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sauda.records.store import ROOT

REPOSITORY = ROOT.parent
STARTS_WITHIN = 90  # seconds until the page must answer


@contextmanager
def running_app(folder: Path = REPOSITORY) -> Iterator[str]:
    """The address of `folder`'s `app.py` in a process of its own, ended on leaving."""
    environment = os.environ | {"HOST": "127.0.0.1", "PORT": str(free_port())}
    with tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "app.py"]
        app = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield _address(app, log)
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
