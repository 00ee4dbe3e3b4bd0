"""The page's log of warnings and errors: one line per kind and minute, and the error's traceback.

A stranger can cause most of them, so what a request sends is cut, and a thousand requests fill no
disk. A kind is a line of code that writes, and the type of the error that it writes about.
"""

import logging
import time
from collections.abc import Callable

MINUTE = 60.0  # seconds
LONGEST = 300  # characters


class OncePerMinute(logging.Filter):
    """Lets the first entry of a kind in a minute pass, with the number of those left out before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._kinds: dict[tuple, tuple[float, int]] = {}  # when last written, how many left out

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the entry is written; its text becomes one line."""
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.pathname, record.lineno, error)
        now, (last, left_out) = self._clock(), self._kinds.get(kind, (-MINUTE, 0))
        if now - last < MINUTE:
            self._kinds[kind] = (last, left_out + 1)
            return False
        self._kinds[kind] = (now, 0)
        line = " ".join(record.getMessage().split())
        more = f" ({left_out} more like it)" if left_out else ""
        record.msg, record.args = line[:LONGEST] + more, ()
        return True


def log_once_per_minute() -> None:
    """Filter what goes to the handlers that there are: the root's, and those of the web server."""
    logging.basicConfig()
    for name in (None, "uvicorn"):
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(OncePerMinute())
