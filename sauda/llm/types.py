"""What a model backend is: chat messages in, a reply out, and the errors between."""

from collections.abc import Sequence
from typing import Protocol

from sauda.games.adapter import Messages, Reply, Schema


class Generate(Protocol):
    """Any backend: one chat in, one reply out. The same seed gives the same reply, where it can."""

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply: ...


class BatchGenerate(Generate, Protocol):
    """A backend that also answers many chats at once, in order, each with a seed of its own."""

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return self.batch([messages], [seed], [schema])[0]

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]: ...


class ReplyError(RuntimeError):
    """A backend gave no reply. This is no move: whoever asked keeps the game as it was."""


class ReplyTimeout(ReplyError):
    """The reply did not come within its time limit."""


class NotReady(ReplyError):
    """The model is still loading, or could not be loaded."""


class ReplyRefused(ReplyError):
    """Too many visitors wait for the model; it is free in about `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds
