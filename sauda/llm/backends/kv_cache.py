"""Keys and values of the rows that are being decoded side by side.

The cache of a batch is pre-allocated, so that one more token does not copy all that came before: on
a CPU that copy took as long as the network itself, in batches of 50.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sauda.llm.backends.prefix_cache import CachedConversation

SPARE_TOKENS = 64  # that are allocated ahead


@dataclass
class BatchState:
    """The cache of a batch, its attention mask and the logits of each row's next token."""

    cache: Any  # of transformers
    mask: Any  # shape (rows, tokens), 0 for padding; None where there is none
    logits: Any = None  # shape (rows, vocabulary)

    def conversation(
        self, row: int, prompt: Sequence[int], reply: Sequence[int]
    ) -> CachedConversation:
        """The cached part of a row's `prompt` and `reply`; its last token was never read."""
        tokens = (*prompt, *reply[:-1])
        one, last = slice(row, row + 1), -len(tokens)
        layers = [
            (layer.keys[one, :, last:].clone(), layer.values[one, :, last:].clone())
            for layer in self.cache.layers
        ]
        return CachedConversation(tokens, len(prompt), layers)

    def keep(self, rows: list[int]) -> None:
        """Drop all rows but these."""
        import torch

        index = torch.tensor(rows, device=self.mask.device)
        self.cache.batch_select_indices(index)
        self.mask = self.mask[index]

    @property
    def padding(self) -> int:
        """How many leading tokens are padding in every row."""
        return int(self.mask.any(dim=0).int().argmax())


def side_by_side(states: Sequence[BatchState]) -> BatchState:
    """One batch of the rows of all `states`, padded on the left to equal length."""
    import torch

    if len(states) == 1:
        return states[0]
    paddings = [state.padding for state in states]  # of rows that have left the batch
    width = max(
        state.mask.shape[1] - padding for state, padding in zip(states, paddings, strict=True)
    )

    def stacked(tensors: Sequence[Any], axis: int) -> Any:
        rows = [
            _padded(tensor.narrow(axis, padding, tensor.shape[axis] - padding), width, axis)
            for tensor, padding in zip(tensors, paddings, strict=True)
        ]
        return torch.cat(rows)

    batch = preallocated_cache()
    for index, layers in enumerate(zip(*(state.cache.layers for state in states), strict=True)):
        keys = stacked([layer.keys for layer in layers], 2)
        values = stacked([layer.values for layer in layers], 2)
        batch.update(keys, values, index)
    mask = stacked([state.mask for state in states], 1)
    return BatchState(batch, mask, torch.cat([state.logits for state in states]))


def begin_with(
    cache: Any, rows: Sequence[Sequence[tuple[Any, Any]]], tokens: Sequence[int], width: int
) -> None:
    """Give an empty `cache` the first `tokens` of the layers of each row, padded to `width`."""
    import torch

    for index, layers in enumerate(zip(*rows, strict=True)):
        keys, values = (
            torch.cat(
                [
                    _padded(each[:, :, :held], width, 2)
                    for each, held in zip(some, tokens, strict=True)
                ]
            )
            for some in zip(*layers, strict=True)
        )
        cache.update(keys, values, index)


def _padded(numbers: Any, width: int, axis: int) -> Any:
    """`numbers` with zeros before them along `axis`, up to `width`."""
    import torch

    gap = list(numbers.shape)
    gap[axis] = width - gap[axis]
    return torch.cat([numbers.new_zeros(gap), numbers], dim=axis)


def preallocated_cache() -> Any:
    """An empty cache for transformers whose layers have spare memory."""
    from transformers.cache_utils import Cache

    return Cache(layer_class_to_replicate=_layer())


@cache
def _layer() -> type:
    """Keys and values, shape (rows, heads, tokens, width): the front of a larger buffer."""
    from transformers.cache_utils import DynamicLayer

    class PreallocatedLayer(DynamicLayer):
        _buffers: tuple[Any, Any] | None = None

        def update(self, key_states: Any, value_states: Any, *args: Any, **more: Any) -> Any:
            """Append keys and values; returns all of them."""
            held = self.get_seq_length()
            tokens = held + key_states.shape[-2]
            if self._buffers is None or self._buffers[0].shape[-2] < tokens:
                self._buffers = _allocated(key_states, held), _allocated(value_states, held)
                if held:
                    self._buffers[0][:, :, :held] = self.keys
                    self._buffers[1][:, :, :held] = self.values
            for buffer, fresh in zip(self._buffers, (key_states, value_states), strict=True):
                buffer[:, :, held:tokens] = fresh
            self.keys, self.values = (buffer[:, :, :tokens] for buffer in self._buffers)
            self.is_initialized = True
            return self.keys, self.values

        def batch_select_indices(self, indices: Any) -> None:
            """Keep only these rows."""
            super().batch_select_indices(indices)
            self._buffers = None  # the rows are copies now

    return PreallocatedLayer


def _allocated(fresh: Any, held: int) -> Any:
    rows, heads, more, width = fresh.shape
    return fresh.new_empty((rows, heads, held + more + SPARE_TOKENS, width))
