"""How often an address may enter the leaderboard."""

import threading
import time
from collections import deque
from collections.abc import Callable

HOUR = 3600.0
OF_ADDRESS = 6  # entries an hour
IN_ALL = 60


class Hourly:
    """Counts what addresses did in the last hour. Thread-safe."""

    def __init__(
        self,
        of_address: int = OF_ADDRESS,
        in_all: int = IN_ALL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.of_address, self.in_all, self._clock = of_address, in_all, clock
        self._done: deque[tuple[float, str]] = deque()  # at most `in_all`, the oldest first
        self._lock = threading.Lock()

    def take(self, address: str) -> bool:
        """Whether `address` may once more; if so, it is counted."""
        with self._lock:
            now = self._clock()
            while self._done and now - self._done[0][0] >= HOUR:
                self._done.popleft()
            own = sum(address == other for _, other in self._done)
            if own >= self.of_address or len(self._done) >= self.in_all:
                return False
            self._done.append((now, address))
            return True
