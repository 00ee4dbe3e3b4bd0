"""The model process: `ProcessEngine` is the page's end of it, `main` what runs in it.

A process of its own, because decoding holds Python's lock: in the page's process every reply of a
model would hold up all other visitors, and a crash of the model would end the page.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from socket import socketpair

from sauda.llm.backends.model import Model, load
from sauda.llm.serving.engine import BatchEngine
from sauda.llm.serving.events import Ended, Event, Order, Report
from sauda.records.store import ROOT

COMMAND = (sys.executable, "-m", "sauda.llm.serving.process")
# One arena, else threads keep freed memory each for itself and the process grows with every game.
ENVIRONMENT = {"MALLOC_ARENA_MAX": "1", "TOKENIZERS_PARALLELISM": "false"}


class ProcessEngine:
    """Orders go to the model process and events come back; it is started when first needed."""

    def __init__(self, report: Report, command: Sequence[str] = COMMAND) -> None:
        self._report, self._command = report, command
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; None where none runs."""
        return self._process.pid if self._process else None

    def send(self, order: Order) -> None:
        """Send an order; starts the process where none runs. What a dead process missed is lost."""
        try:
            with self._lock:
                if self._connection is None:
                    self._start()
                connection = self._connection
        except OSError as error:  # no memory or no file left for it
            self._report(Ended(f"the model process could not be started: {error}"))
            return
        with self._lock, contextlib.suppress(OSError):  # it ended just now; `_listen` reports so
            connection.send(order)

    def restart(self) -> None:
        """End the process; the next order starts another."""
        with self._lock:
            if self._process:
                self._process.kill()

    def _start(self) -> None:
        ours, theirs = socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*self._command, str(theirs.fileno())],
                cwd=ROOT.parent,
                pass_fds=[theirs.fileno()],
                env=os.environ | ENVIRONMENT,
            )
        self._connection = Connection(ours.detach())
        job = (self._process, self._connection)
        threading.Thread(target=self._listen, args=job, daemon=True).start()

    def _listen(self, process: subprocess.Popen, connection: Connection) -> None:
        while (event := _received(connection)) is not None:
            self._report(event)
        with self._lock:
            self._process = self._connection = None
        process.kill()
        code = process.wait()
        connection.close()
        self._report(Ended(f"the model process ended with the code {code}"))


def _received(connection: Connection) -> Order | Event | None:
    """The next message; None once the other side is gone."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


def main(descriptor: int, load: Callable[[str], Model] = load) -> None:
    """Decode what comes through the socket `descriptor`; returns once its other end is closed."""
    connection = Connection(descriptor)
    lock = threading.Lock()

    def report(event: Event) -> None:
        with lock:
            connection.send(event)

    engine = BatchEngine(load, report)

    def listen() -> None:
        while (order := _received(connection)) is not None:
            engine.orders.put(order)
        engine.orders.put(None)

    threading.Thread(target=listen, daemon=True).start()
    try:
        engine.run()
    except BrokenPipeError:  # the page is gone, and with it everybody who waits
        return


if __name__ == "__main__":
    main(int(sys.argv[1]))
