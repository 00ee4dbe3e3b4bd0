"""Requests to a language model, its replies, and its turns, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from env import Play

Messages = Sequence[Mapping[str, str]]  # each with a "role" and its "content"
Schema = Mapping[str, Any]  # a JSON schema that a reply must meet


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion, whole or still growing. `source` names the backend that gave it."""

    text: str
    source: str
    tokens: int = 0  # generated so far; 0 where a backend does not count them
    finish: str = ""  # "" while it grows; then stop (end of turn), object (a move) or length
    passed: tuple[str, ...] = ()  # why the backends before this one gave none


@dataclass(frozen=True)
class Request:
    """One request to a language model: its messages, seed and schema."""

    messages: Messages
    seed: int
    schema: Schema | None = None  # decode under this grammar; None for free text


@dataclass(frozen=True)
class ParsedReply:
    """The action that a reply amounts to, before and after a wrapper or a check."""

    proposal: Any  # the action in the reply, or the IllegalAction that says why it holds none
    action: Any = None  # the action that is taken; None where there is none
    source: str = ""  # whose words the action holds
    changes: tuple[str, ...] = ()  # how the action differs from the proposal, a sentence each
    error: str = ""  # why there is no action; "" where there is one


@dataclass(frozen=True)
class ModelTurn:
    """One turn of a language model: its last request, the reply to it, and the parsed action."""

    obs: Any
    request: Request
    reply: Reply
    parsed: ParsedReply
    invalid_replies: tuple[str, ...] = ()  # texts before `reply` that held no action
    before: Play | None = None  # the game before this turn, where a game is played

    @property
    def action(self) -> Any:
        """The action that was taken; None where the model forfeits."""
        return self.parsed.action
