"""Progress of a long computation: a bar on a terminal, else plain lines at a bounded rate."""

import sys
import time
from collections.abc import Iterable, Iterator
from threading import Event, Thread
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")
INTERVAL = 10.0  # seconds between two lines


def progress(items: Iterable[T], total: int, about: str, unit: str) -> Iterator[T]:
    """Yields the `items`, of which there are `total`, and reports progress on standard error."""
    if sys.stderr.isatty():
        yield from tqdm(items, total=total, desc=about, unit=unit, leave=False)
        return
    _say(f"{about}: {total:,} {unit}s")
    lines = _Lines(total, about, unit)
    lines.start()
    try:
        for item in items:
            yield item
            lines.done += 1
    finally:
        lines.ended.set()
        lines.join()


class _Lines(Thread):
    """Prints the number of finished items every INTERVAL, also while one item takes long."""

    def __init__(self, total: int, about: str, unit: str) -> None:
        super().__init__(daemon=True)
        self.total, self.about, self.unit = total, about, unit
        self.done, self.begun, self.ended = 0, time.monotonic(), Event()

    def run(self) -> None:
        while not self.ended.wait(INTERVAL):
            done, seconds = self.done, time.monotonic() - self.begun
            left = f", about {seconds * (self.total - done) / done:.0f} s left" if done else ""
            _say(f"{self.about}: {done:,} of {self.total:,} {self.unit}s, {seconds:.0f} s{left}")


def _say(line: str) -> None:
    print(f"     {line}", file=sys.stderr, flush=True)
