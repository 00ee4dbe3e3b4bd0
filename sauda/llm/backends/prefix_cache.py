"""Keys and values of the prompts read last: what a longer prompt repeats is not read again."""

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_TOKENS = 20_000  # of all entries: 0.5 GB for the small model in bf16


@dataclass(frozen=True, eq=False)
class CachedConversation:
    """The keys and values of a prompt and its reply, or of a beginning that prompts share."""

    tokens: tuple[int, ...]  # of both
    prompt_length: int  # tokens
    layers: Sequence[tuple[Any, Any]]  # keys and values, each of shape (1, heads, tokens, width)
    shared: bool = False  # the beginning of many conversations: stays when one of them is kept
    network: Hashable = None  # whose keys and values they are

    def reusable(self, prompt: Sequence[int], network: Hashable = None) -> int:
        """How many leading tokens of `prompt` are cached; 0 for another conversation or network.

        The last token of `prompt` never counts, because its logits begin the reply.
        """
        if network != self.network:
            return 0
        same = 0
        for cached, token in zip(self.tokens, prompt[:-1], strict=False):
            if cached != token:
                break
            same += 1
        return same if same >= self.prompt_length else 0

    def continues(self, earlier: "CachedConversation") -> bool:
        """Whether this is a later turn of the conversation `earlier`."""
        begin = earlier.tokens[: earlier.prompt_length]
        same = self.tokens[: earlier.prompt_length] == begin
        return same and self.network == earlier.network and self.shared == earlier.shared


class PrefixCache:
    """The entries used last, of one network or several, up to `max_tokens`. Thread-safe."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self.max_tokens, self.tokens = max_tokens, 0
        self._entries: list[CachedConversation] = []  # the least recently used first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def longest(
        self, prompt: Sequence[int], network: Hashable = None
    ) -> tuple[int, Sequence[tuple[Any, Any]]]:
        """The largest number of cached leading tokens of `prompt`, and their keys and values."""
        with self._lock:
            lengths = [entry.reusable(prompt, network) for entry in self._entries]
            if not any(lengths):
                return 0, ()
            known = max(lengths)
            entry = self._entries.pop(lengths.index(known))
            self._entries.append(entry)
        return known, entry.layers

    def keep(self, conversation: CachedConversation) -> None:
        """Add `conversation`; it replaces the cache entry of its own earlier turns."""
        with self._lock:
            kept = [entry for entry in self._entries if not conversation.continues(entry)]
            self._entries = [*kept, conversation]
            self.tokens = sum(len(entry.tokens) for entry in self._entries)
            while self.tokens > self.max_tokens and len(self._entries) > 1:
                self.tokens -= len(self._entries.pop(0).tokens)
