"""What a language model is to the rest of us: chat messages in, a reply out, and who gave it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Messages = Sequence[Mapping[str, str]]  # each with a "role" and its "content"
Schema = Mapping[str, Any]  # a JSON schema that a reply must meet


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion, whole or still growing. `source` is the backend that really gave it."""

    text: str
    source: str
    tokens: int = 0  # generated so far; 0 where a backend does not tell
    finish: str = ""  # "" while it grows; then stop (end of turn), object (a move) or length
    passed: tuple[str, ...] = ()  # why the backends before this one gave none


class Generate(Protocol):
    """Any backend: one chat in, one reply out. The same seed gives the same reply, where it can."""

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply: ...


class BatchGenerate(Generate, Protocol):
    """A backend that also answers many chats at once, in order, each with a seed of its own."""

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]: ...


class ReplyError(RuntimeError):
    """A backend gave no reply. This is no move: whoever asked keeps the game as it was."""


class ReplyTimeout(ReplyError):
    """The reply did not come within its time limit."""


class NotReady(ReplyError):
    """The model is still loading, or could not be loaded."""
