"""A cache of keys and values with room to grow: a token more does not copy all that came before.

On a CPU that copy took as long as the network itself, in batches of 50.
"""

from functools import cache
from typing import Any

ROOM = 64  # tokens


def roomy() -> Any:
    """An empty cache of such layers, for transformers."""
    from transformers.cache_utils import Cache

    return Cache(layer_class_to_replicate=_layer())


@cache
def _layer() -> type:
    """Keys and values, shape (rows, heads, tokens, width): the front of a larger buffer."""
    from transformers.cache_utils import DynamicLayer

    class RoomyLayer(DynamicLayer):
        _buffers: tuple[Any, Any] | None = None

        def update(self, key_states: Any, value_states: Any, *args: Any, **more: Any) -> Any:
            """All keys and values with the new ones behind them."""
            held = self.get_seq_length()
            tokens = held + key_states.shape[-2]
            if self._buffers is None or self._buffers[0].shape[-2] < tokens:
                self._buffers = _wider(key_states, held), _wider(value_states, held)
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

    return RoomyLayer


def _wider(fresh: Any, held: int) -> Any:
    rows, heads, more, width = fresh.shape
    return fresh.new_empty((rows, heads, held + more + ROOM, width))
