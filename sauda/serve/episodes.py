"""Episodes that are kept between calls over HTTP, each under a key.

A server chooses its keys so that no caller meets another's episode. An address that keeps too many
loses the one that was not used for longest.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import ValidationError

from sauda.serve.leaderboard.storage import Unavailable

MOST = 256  # in all
OF_ADDRESS = 16
IDLE_SECONDS = 600.0

Content = TypeVar("Content")


class Refused(Exception):
    """A call that is not answered; `status` is that of HTTP, the text a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@contextmanager
def sentences() -> Iterator[None]:
    """Context: a ValueError or IndexError of what is called becomes a refusal of the call."""
    try:
        yield
    except ValidationError:  # an observation that does not fit its own type is no mistake of theirs
        raise
    except Unavailable as error:
        raise Refused(503, str(error)) from None
    except (ValueError, IndexError) as error:
        raise Refused(422, str(error)) from None


@dataclass
class Kept(Generic[Content]):
    """What is kept of one episode; its lock lets one call at a time use it."""

    content: Content
    address: str
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)


class Episodes(Generic[Content]):
    """The episodes that are kept, those used last at the end. Thread-safe."""

    def __init__(
        self,
        missing: str = "There is no episode of this id.",
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.missing = missing  # what a caller is told whose episode is not here
        self.idle_seconds = idle_seconds
        self._clock = clock
        self._kept: OrderedDict[Hashable, Kept[Content]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: Hashable, address: str, content: Content) -> None:
        """Keep an episode of `address`, in the place of an older one under the same key.

        Raises Refused where no room is left.
        """
        with self._lock:
            self._drop_idle()
            self._kept.pop(key, None)
            own = [key for key, kept in self._kept.items() if kept.address == address]
            if len(own) >= OF_ADDRESS:
                del self._kept[own[0]]
            if len(self._kept) >= MOST:
                minutes = self.idle_seconds / 60
                raise Refused(429, f"Too many episodes are running; try again in {minutes:g} min.")
            self._kept[key] = Kept(content, address, self._clock())

    @contextmanager
    def using(self, key: Hashable) -> Iterator[Content]:
        """Context: an episode, for this caller alone; Refused where none is kept under `key`."""
        with self._lock:
            self._drop_idle()
            kept = self._kept.get(key)
            if kept is None:
                raise Refused(404, self.missing)
            self._kept.move_to_end(key)
            kept.used = self._clock()
        with kept.lock:
            yield kept.content

    def _drop_idle(self) -> None:
        now = self._clock()
        while self._kept:
            oldest = next(iter(self._kept))
            if now - self._kept[oldest].used <= self.idle_seconds:
                return
            del self._kept[oldest]
