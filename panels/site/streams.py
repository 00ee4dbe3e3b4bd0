"""Connections that stay open: as long as a tab is, or while its events are in the queue."""

import contextlib
from collections import Counter
from collections.abc import Iterator

from panels.site.calls import BUSY
from panels.site.routes import Kind

OF_ADDRESS = 512  # connections, up to two a tab


class Streams:
    """Such connections: by address, and the queue's streams by session."""

    def __init__(self) -> None:
        self.of_address: Counter[str] = Counter()
        self.of_session: Counter[tuple[Kind, str]] = Counter()

    @contextlib.contextmanager
    def open(self, address: str, kind: Kind, session: str) -> Iterator[None]:
        """Context: one more connection; BadCall where the address has too many."""
        if self.of_address[address] >= OF_ADDRESS:
            raise BUSY
        counts = ((self.of_address, address), (self.of_session, (kind, session)))
        for counter, key in counts:
            counter[key] += 1
        try:
            yield
        finally:
            for counter, key in counts:
                counter[key] -= 1
                if not counter[key]:
                    del counter[key]
