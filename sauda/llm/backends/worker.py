"""The model worker of the page: load status, FIFO queue, time limit and cancellation of a reply."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from sauda.llm.backends.model import on_gpu
from sauda.llm.types import Messages, NotReady, Reply, ReplyError, ReplyTimeout, Schema

REPLY_LIMIT = 20.0  # seconds that a reply may take once it is begun
QUEUE_POLL = 1.0  # seconds between two looks at the queue


class Streaming(Protocol):
    """A model whose replies stream."""

    source: str

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]: ...


@dataclass(frozen=True)
class Loading:
    """The model is being loaded."""

    name: str
    since: float  # time.monotonic


@dataclass(frozen=True)
class Ready:
    """The model can reply; `source` names the model, its precision and its device."""

    name: str
    source: str
    seconds: float  # it took to load


@dataclass(frozen=True)
class Failed:
    """The model could not be loaded; `reason` is a sentence."""

    name: str
    reason: str


Stage = Loading | Ready | Failed


@dataclass(frozen=True)
class Waiting:
    """The request is queued; `place` 1 is next."""

    place: int


class ModelWorker:
    """One model for all visitors of a page, loaded in a thread of its own.

    It holds no game, so a reply that failed or was cancelled can be requested again.
    """

    def __init__(self, name: str, load: Callable[[], Streaming], limit: float = REPLY_LIMIT):
        self.name, self.limit = name, limit
        self._load, self._model = load, None
        self._lock = threading.Lock()
        self._queue: list[object] = []  # tickets; the first is being served
        self._queue_moved = threading.Condition()
        self._stage: Stage | None = None
        self._generate = on_gpu(self._from_model)  # ZeroGPU wants it before the page is launched

    @property
    def stage(self) -> Stage:
        """Loading, Ready or Failed; the first access starts the loading."""
        self.start()
        return self._stage

    def start(self, again: bool = False) -> None:
        """Load in the background, once more after a failure if `again`. Returns immediately."""
        with self._lock:
            if self._stage is None or (again and isinstance(self._stage, Failed)):
                self._stage = Loading(self.name, time.monotonic())
                threading.Thread(target=self._become_ready, daemon=True).start()

    def wait(self, seconds: float = 120.0) -> Stage:
        """Wait until the stage is no longer Loading, at most `seconds`; returns the stage."""
        until = time.monotonic() + seconds
        while isinstance(self.stage, Loading) and time.monotonic() < until:
            time.sleep(0.02)
        return self.stage

    def _become_ready(self) -> None:
        began = time.monotonic()
        try:
            model = self._load()
        except Exception as error:  # the page shows every kind
            self._stage = Failed(self.name, f"{type(error).__name__}: {error}")
            return
        self._model = model
        self._stage = Ready(self.name, model.source, time.monotonic() - began)

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply | Waiting]:
        """Yields places in the queue, then the reply while it grows.

        Closing the iterator stops the model at its next token, or leaves the queue. Raises NotReady
        before the model is loaded, ReplyTimeout where a started reply takes longer than the limit,
        even if the model hangs, and ReplyError where the model fails.
        """
        if not isinstance(stage := self.stage, Ready):
            why = f": {stage.reason}" if isinstance(stage, Failed) else "; it is still loading"
            raise NotReady(f"{self.name} cannot reply yet{why}")
        with self._queued() as places:
            yield from places
            yield from self._reply(stage, messages, seed, schema)

    @contextmanager
    def _queued(self) -> Iterator[Iterator[Waiting]]:
        """A place in the FIFO queue; yields the places until it is this request's turn.

        A CPU that decodes two replies at once finishes both later than one after the other.
        """
        ticket = object()
        with self._queue_moved:
            self._queue.append(ticket)
        try:
            yield self._places(ticket)
        finally:
            with self._queue_moved:
                self._queue.remove(ticket)
                self._queue_moved.notify_all()

    def _places(self, ticket: object) -> Iterator[Waiting]:
        """The place of `ticket` until its turn, at least every QUEUE_POLL seconds.

        The repeats let the page notice a visitor who has left.
        """
        with self._queue_moved:
            place = self._queue.index(ticket)
        while place:
            yield Waiting(place)
            with self._queue_moved:
                self._queue_moved.wait(QUEUE_POLL)
                place = self._queue.index(ticket)

    def _reply(
        self, stage: Ready, messages: Messages, seed: int, schema: Schema | None
    ) -> Iterator[Reply]:
        pieces: queue.Queue[Any] = queue.Queue()
        cancelled = threading.Event()
        job = (messages, seed, schema, pieces, cancelled)
        threading.Thread(target=self._write, args=job, daemon=True).start()
        until = time.monotonic() + self.limit
        try:
            while True:
                try:
                    piece = pieces.get(timeout=max(0.0, until - time.monotonic()))
                except queue.Empty:
                    raise ReplyTimeout(
                        f"{stage.source} gave no whole reply within {self.limit:g} s; the game is "
                        "as it was, try again"
                    ) from None
                if isinstance(piece, Exception):
                    raise ReplyError(f"{stage.source} broke off: {piece}") from piece
                yield piece
                if piece.finish:
                    return
        finally:
            cancelled.set()

    def _from_model(self, messages: Messages, seed: int, schema: Schema | None) -> Iterator[Reply]:
        yield from self._model.stream(messages, seed, schema)

    def _write(self, messages, seed, schema, pieces, cancelled) -> None:
        try:
            for reply in self._generate(messages, seed, schema):
                if cancelled.is_set():
                    return
                pieces.put(reply)
        except Exception as error:  # raised in the thread that waits
            pieces.put(error)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        """The whole reply; the same errors as `stream`."""
        *_, reply = self.stream(messages, seed, schema)
        return reply
