"""Episodes over plain HTTP, each under an id that its caller chose and knows.

An id counts for the network address that chose it, so that no caller meets another's episode. An
address that keeps too many loses the one that it has not used for longest.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import ValidationError

from sauda.serve.leaderboard.storage import Unavailable
from sauda.serve.openenv.environment import SaudaEnvironment

MOST = 256  # in all
OF_ADDRESS = 16
IDLE_SECONDS = 600.0


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
class Kept:
    """One episode's environment; its lock lets one call at a time use it."""

    environment: SaudaEnvironment = field(default_factory=SaudaEnvironment)
    lock: threading.Lock = field(default_factory=threading.Lock)
    used: float = 0.0


class Episodes:
    """The episodes that are kept, those used last at the end. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], Kept] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, address: str, episode_id: str, environment: SaudaEnvironment) -> None:
        """Keep an episode under its id, in the place of an older one; Refused where all is full."""
        key = (address, episode_id)
        with self._lock:
            self._drop_idle()
            self._kept.pop(key, None)
            own = [one for one in self._kept if one[0] == address]
            if len(own) >= OF_ADDRESS:
                del self._kept[own[0]]
            if len(self._kept) >= MOST:
                raise Refused(429, "Too many episodes are running; try again in ten minutes.")
            self._kept[key] = Kept(environment, used=self._clock())

    @contextmanager
    def using(self, address: str, episode_id: str) -> Iterator[SaudaEnvironment]:
        """Context: the environment of an episode, for this caller alone; Refused where none is."""
        key = (address, episode_id)
        with self._lock:
            self._drop_idle()
            kept = self._kept.get(key)
            if kept is None:
                raise Refused(
                    404, "You have no episode of this id; reset starts one under the id you name."
                )
            self._kept.move_to_end(key)
            kept.used = self._clock()
        with kept.lock:
            yield kept.environment

    def _drop_idle(self) -> None:
        now = self._clock()
        while self._kept:
            oldest = next(iter(self._kept))
            if now - self._kept[oldest].used <= IDLE_SECONDS:
                return
            del self._kept[oldest]
