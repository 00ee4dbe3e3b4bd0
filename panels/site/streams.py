"""Connections that stay open: as long as a tab is, or while its events are in the queue."""

import contextlib
from collections import Counter
from collections.abc import Iterator

from panels.site.calls import BUSY
from panels.site.routes import Kind
from sauda.serve.limits import Limiter

OF_ADDRESS = 512  # connections, up to two a tab


class Streams:
    """Such connections: how many an address holds, and how many each session."""

    def __init__(self) -> None:
        self.held = Limiter(OF_ADDRESS)
        self.of_session: Counter[tuple[Kind, str]] = Counter()

    @contextlib.contextmanager
    def open(self, address: str, kind: Kind, session: str) -> Iterator[None]:
        """Context: one more connection; BadCall where the address has too many."""
        key = kind, session
        with self.held.hold(address, full=BUSY):
            self.of_session[key] += 1
            try:
                yield
            finally:
                self.of_session[key] -= 1
                if not self.of_session[key]:
                    del self.of_session[key]
