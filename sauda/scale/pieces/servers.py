"""Several OpenAI-style servers of one model as a single backend, with many requests in flight."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from sauda.llm.backends import Backend
from sauda.llm.types import Messages, Reply, ReplyError, Schema

REST = 30.0  # seconds for which a server that gave no reply is asked last


class Servers:
    """A `BatchGenerate` of several backends: each request goes to the one with the fewest.

    A backend that gave no reply is left alone for REST seconds, as long as another answers.
    """

    def __init__(
        self, backends: Sequence[Backend], clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not backends:
            raise ValueError("name at least one server")
        self.backends, self._clock = tuple(backends), clock
        self._under_way: Counter[int] = Counter()  # requests, by the backend's place
        self._rests_until = [float("-inf")] * len(self.backends)
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        """The backends in words."""
        return " or ".join(backend.source for backend in self.backends)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        """The reply of one backend; ReplyError with every reason where none replies."""
        tried: dict[int, str] = {}
        while len(tried) < len(self.backends):
            with self._turn(tried) as place:
                try:
                    return self.backends[place](messages, seed, schema)
                except ReplyError as error:
                    tried[place] = str(error)
                    self._rests_until[place] = self._clock() + REST
        raise ReplyError("no server answered: " + "; ".join(tried.values()))

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        """The replies to many chats, all in flight at once."""
        with ThreadPoolExecutor(max(1, len(chats))) as pool:
            return list(pool.map(self, chats, seeds, schemas))

    @contextmanager
    def _turn(self, tried: Sequence[int] | dict[int, str]) -> Any:
        """Context: the place of the backend to ask next, counted as busy meanwhile."""
        with self._lock:
            now = self._clock()
            place = min(
                (i for i in range(len(self.backends)) if i not in tried),
                key=lambda i: (self._rests_until[i] > now, self._under_way[i]),
            )
            self._under_way[place] += 1
        try:
            yield place
        finally:
            with self._lock:
                self._under_way[place] -= 1
