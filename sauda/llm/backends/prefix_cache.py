"""Keys and values of the conversations read last, so that a longer prompt is not read again."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAX_TOKENS = 20_000  # of all conversations: 0.5 GB for the small model


@dataclass(frozen=True)
class CachedConversation:
    """The keys and values of a prompt and its reply."""

    tokens: tuple[int, ...]  # of both
    prompt_length: int  # tokens
    layers: Sequence[tuple[Any, Any]]  # keys and values, each of shape (1, heads, tokens, width)

    def reusable(self, prompt: Sequence[int]) -> int:
        """How many leading tokens of `prompt` are cached; 0 for another conversation.

        The last token of `prompt` never counts, because its logits begin the reply.
        """
        same = 0
        for cached, token in zip(self.tokens, prompt[:-1], strict=False):
            if cached != token:
                break
            same += 1
        return same if same >= self.prompt_length else 0


class PrefixCache:
    """The conversations read last, up to `max_tokens`; the oldest are dropped. Thread-safe."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self.max_tokens, self.tokens = max_tokens, 0
        self._conversations: list[CachedConversation] = []
        self._lock = threading.Lock()

    def longest(self, prompt: Sequence[int]) -> tuple[int, Sequence[tuple[Any, Any]]]:
        """The largest number of cached leading tokens of `prompt`, and their keys and values."""
        with self._lock:
            conversations = list(self._conversations)
        best = max(conversations, key=lambda one: one.reusable(prompt), default=None)
        if best is None or not best.reusable(prompt):
            return 0, ()
        return best.reusable(prompt), best.layers

    def keep(self, conversation: CachedConversation) -> None:
        """Add `conversation`; it replaces the cache entry of its own earlier turns."""
        with self._lock:
            self._conversations = [
                old
                for old in self._conversations
                if conversation.tokens[: old.prompt_length] != old.tokens[: old.prompt_length]
            ]
            self._conversations.append(conversation)
            self.tokens = sum(len(old.tokens) for old in self._conversations)
            while self.tokens > self.max_tokens and len(self._conversations) > 1:
                self.tokens -= len(self._conversations.pop(0).tokens)
