"""One model of a service, as a seat or a tab uses it."""

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace

from sauda.llm.backends.decoding import DEFAULT_SAMPLING, ReplyRequest, Sampling
from sauda.llm.serving.events import Ready, Stage
from sauda.llm.serving.line import PAGE, Visitor
from sauda.llm.serving.service import ReplyService, Update, Waiting
from sauda.llm.types import Messages, Reply, Schema


@dataclass(frozen=True)
class ModelWorker:
    """A model called `model` of a service, under the name that its picker shows."""

    name: str
    service: ReplyService = field(repr=False)
    model: str
    sampling: Sampling = DEFAULT_SAMPLING
    visitor: Visitor = PAGE

    @property
    def stage(self) -> Stage:
        """Loading, Ready or Failed; the first access starts the loading."""
        return self.service.start(self.model)

    @property
    def source(self) -> str:
        """Which model replies, in which precision and where; its name until it is loaded."""
        stage = self.stage
        return stage.source if isinstance(stage, Ready) else self.model

    def start(self, again: bool = False) -> None:
        """Load in the background, once more after a failure if `again`. Returns immediately."""
        self.service.start(self.model, again)

    def wait(self, seconds: float = 120.0) -> Stage:
        """Wait until the stage is no longer Loading, at most `seconds`; returns the stage."""
        return self.service.wait(self.model, seconds)

    def for_visitor(self, visitor: Visitor) -> "ModelWorker":
        """The same model, its requests in line as those of `visitor`."""
        return replace(self, visitor=visitor)

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Waiting | Reply]:
        """Yields places in the line, then the reply while it grows.

        Closing the iterator stops the model at its next token, or leaves the line. Raises NotReady
        before the model is loaded, ReplyRefused where the line is full, ReplyTimeout where a
        started reply takes longer than the limit, even if the model hangs, and ReplyError where the
        model fails.
        """
        updates: queue.SimpleQueue[Update] = queue.SimpleQueue()
        key = self._submit(messages, seed, schema, updates.put)
        try:
            while not _is_last(update := updates.get()):
                yield update
            yield _reply(update)
        finally:
            self.service.cancel(key)

    async def stream_async(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> AsyncIterator[Waiting | Reply]:
        """`stream` for an event loop: waiting holds no thread."""
        loop, updates = asyncio.get_running_loop(), asyncio.Queue()
        key = self._submit(
            messages, seed, schema, lambda u: loop.call_soon_threadsafe(updates.put_nowait, u)
        )
        try:
            while not _is_last(update := await updates.get()):
                yield update
            yield _reply(update)
        finally:
            self.service.cancel(key)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        """The whole reply; the same errors as `stream`."""
        *_, reply = self.stream(messages, seed, schema)
        return reply

    def _submit(
        self, messages: Messages, seed: int, schema: Schema | None, deliver: Callable
    ) -> int:
        request = ReplyRequest(messages, seed, schema, self.sampling)
        return self.service.submit(self.model, request, self.visitor, deliver)


def _is_last(update: Update) -> bool:
    return isinstance(update, Exception) or (isinstance(update, Reply) and bool(update.finish))


def _reply(update: Update) -> Reply:
    """The finished reply; raises the error that a service delivered instead."""
    if isinstance(update, Exception):
        raise update
    return update
