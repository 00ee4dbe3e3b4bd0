"""A decoder that reads the prompts of a batch in one pass: faster, and rounded otherwise.

In bf16 a logit may differ in its last digits from that of a prompt read alone, and a reply with it.
Training plays with this decoder; what is recorded or served reads each prompt alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sauda.llm.backends.decoding import TOP_K, Decoder, Row
from sauda.llm.backends.kv_cache import BatchState, begin_with, preallocated_cache
from sauda.llm.types import Messages

Prompt = tuple[int, ...]


class JointDecoder(Decoder):
    """A Decoder whose prompts may be read together."""

    def sample(self, logits: Any, rows: Sequence[Row]) -> list[int]:
        """The next token of each row; only the logits that are drawn among leave the device."""
        import torch

        if any(row.matcher is not None for row in rows):
            return super().sample(logits, rows)
        top, ids = torch.topk(logits, min(TOP_K, logits.shape[1]))
        picked = super().sample(top.cpu(), rows)
        return [row[place] for row, place in zip(ids.tolist(), picked, strict=True)]

    def prefill_together(
        self, prompts: Mapping[Prompt, Messages], order: Sequence[Prompt]
    ) -> BatchState:
        """The state after several prompts, given with their chats; its rows are in `order`.

        All read as many tokens as the prompt of which the cache holds least.
        """
        import torch

        known = [
            self._cached(prompt, chat) if self.reuses_prefix else (0, ())
            for prompt, chat in prompts.items()
        ]
        width = max(map(len, prompts))
        unread = max(len(prompt) - held for prompt, (held, _) in zip(prompts, known, strict=True))
        if not all(layers for _, layers in known):
            unread = width
        cache, device = preallocated_cache(), self.network.device
        if width > unread:
            held = [max(0, len(prompt) - unread) for prompt in prompts]
            begin_with(cache, [layers for _, layers in known], held, width - unread)
        ids = [([0] * unread + list(prompt))[-unread:] for prompt in prompts]
        mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        state = BatchState(cache, torch.tensor(mask, device=device))
        self._forward(state, torch.tensor(ids, device=device))
        if len(order) > len(prompts):
            places = {prompt: place for place, prompt in enumerate(prompts)}
            rows = [places[prompt] for prompt in order]
            state.keep(rows)
            state.logits = state.logits[rows]
        return state
