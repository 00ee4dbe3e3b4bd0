"""A model behind the open page: its loading is seen, visitors stand in line for it, a reply has a
time limit, stop works.
"""

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
PATIENCE = 1.0  # seconds between two looks at the line


class Streaming(Protocol):
    """A model whose replies can be watched while they grow."""

    source: str

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]: ...


@dataclass(frozen=True)
class Loading:
    """The model is on its way."""

    name: str
    since: float  # time.monotonic


@dataclass(frozen=True)
class Ready:
    """The model replies; `source` says which, how precise and where."""

    name: str
    source: str
    seconds: float  # it took to load


@dataclass(frozen=True)
class Failed:
    """The model cannot be had; `reason` is a sentence."""

    name: str
    reason: str


Stage = Loading | Ready | Failed


@dataclass(frozen=True)
class Waiting:
    """In line for the model: `place` 1 is next."""

    place: int


class Resident:
    """One model for all visitors of a page, loaded in a thread of its own.

    Holds no game: a reply that fails or is stopped leaves nothing behind, and may be asked again.
    """

    def __init__(self, name: str, load: Callable[[], Streaming], limit: float = REPLY_LIMIT):
        self.name, self.limit = name, limit
        self._load, self._model = load, None
        self._lock = threading.Lock()
        self._line: list[object] = []  # tickets; the first is being served
        self._moved = threading.Condition()
        self._stage: Stage | None = None
        self._speak = on_gpu(self._from_model)  # before the page is launched, as ZeroGPU asks

    @property
    def stage(self) -> Stage:
        """Loading, Ready or Failed; the first look starts the loading."""
        self.start()
        return self._stage

    def start(self, again: bool = False) -> None:
        """Begin to load in the background; `again` after a failure. Returns at once."""
        with self._lock:
            if self._stage is None or (again and isinstance(self._stage, Failed)):
                self._stage = Loading(self.name, time.monotonic())
                threading.Thread(target=self._become_ready, daemon=True).start()

    def wait(self, seconds: float = 120.0) -> Stage:
        """The stage once it is no longer Loading, or after `seconds`."""
        until = time.monotonic() + seconds
        while isinstance(self.stage, Loading) and time.monotonic() < until:
            time.sleep(0.02)
        return self.stage

    def _become_ready(self) -> None:
        began = time.monotonic()
        try:
            model = self._load()
        except Exception as error:  # whatever it is, the page shows it
            self._stage = Failed(self.name, f"{type(error).__name__}: {error}")
            return
        self._model = model
        self._stage = Ready(self.name, model.source, time.monotonic() - began)

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply | Waiting]:
        """The reply as it grows, after the wait for it. Closing the iterator stops the model at its
        next token, or leaves the line.

        Raises NotReady before the model is there, ReplyTimeout once a reply that was begun takes
        longer than the limit, even where the model hangs, and ReplyError where it broke; each says
        so in a sentence.
        """
        if not isinstance(stage := self.stage, Ready):
            why = f": {stage.reason}" if isinstance(stage, Failed) else "; it is still loading"
            raise NotReady(f"{self.name} cannot reply yet{why}")
        with self._in_line() as places:
            yield from places
            yield from self._begun(stage, messages, seed, schema)

    @contextmanager
    def _in_line(self) -> Iterator[Iterator[Waiting]]:
        """A place in the line, first come first served: a CPU that writes two replies at once
        finishes both later than one after the other. Yields the places until it is our turn.
        """
        ticket = object()
        with self._moved:
            self._line.append(ticket)
        try:
            yield self._places(ticket)
        finally:
            with self._moved:
                self._line.remove(ticket)
                self._moved.notify_all()

    def _places(self, ticket: object) -> Iterator[Waiting]:
        """The place of `ticket` until it is its turn; told again each `PATIENCE` seconds, so that a
        visitor who left is noticed.
        """
        with self._moved:
            place = self._line.index(ticket)
        while place:
            yield Waiting(place)
            with self._moved:
                self._moved.wait(PATIENCE)
                place = self._line.index(ticket)

    def _begun(
        self, stage: Ready, messages: Messages, seed: int, schema: Schema | None
    ) -> Iterator[Reply]:
        pieces: queue.Queue[Any] = queue.Queue()
        gone = threading.Event()
        job = (messages, seed, schema, pieces, gone)
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
            gone.set()

    def _from_model(self, messages: Messages, seed: int, schema: Schema | None) -> Iterator[Reply]:
        yield from self._model.stream(messages, seed, schema)

    def _write(self, messages, seed, schema, pieces, gone) -> None:
        try:
            for reply in self._speak(messages, seed, schema):
                if gone.is_set():
                    return
                pieces.put(reply)
        except Exception as error:  # handed to whoever waits
            pieces.put(error)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        """The whole reply; the same errors as `stream`."""
        *_, reply = self.stream(messages, seed, schema)
        return reply
