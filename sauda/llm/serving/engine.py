"""The models of one process: all replies of one model share its forward passes.

`BatchEngine.run` is the loop of the model process. It takes orders between two tokens, so that a
reply joins those that are being decoded, and one that nobody waits for any more leaves them.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sauda.llm.backends.batch import DecodingBatch
from sauda.llm.backends.decoding import ReplyRequest
from sauda.llm.backends.model import Model
from sauda.llm.backends.prefix_cache import PrefixCache
from sauda.llm.serving.events import (
    CACHE_BYTES,
    Begin,
    Broken,
    Cancel,
    Failed,
    Load,
    Order,
    Piece,
    Ready,
    Report,
)
from sauda.llm.types import Reply


@dataclass(frozen=True, eq=False)
class Loaded:
    """To the engine, from the thread that loads a model."""

    name: str
    model: Model
    seconds: float


class BatchEngine:
    """Decodes replies token by token; `orders` is its inbox, None in it ends `run`."""

    def __init__(self, load: Callable[[str], Model], report: Report) -> None:
        self.orders: queue.SimpleQueue[Order | Loaded | None] = queue.SimpleQueue()
        self._load, self._report = load, report
        # One at a time: transformers imports its modules at first use, which threads disturb.
        self._loading = threading.Lock()
        self._models: dict[str, Model] = {}
        self._batches: dict[str, DecodingBatch] = {}
        self._waiting: dict[int, Begin] = {}  # to join at the next token, or once their model loads
        self._cancelled: set[int] = set()
        self._prefix_cache = PrefixCache()  # of all models, so that its limit is one

    def run(self) -> None:
        """Take orders and decode until told to end."""
        while True:
            try:
                order = self.orders.get(block=not self._busy)
            except queue.Empty:
                self.step()
                continue
            if order is None:
                return
            self.take(order)

    @property
    def _busy(self) -> bool:
        rows = any(batch.rows for batch in self._batches.values())
        return rows or any(begin.name in self._models for begin in self._waiting.values())

    def take(self, order: Order | Loaded) -> None:
        """Carry out an order; replies begin at the next step."""
        if isinstance(order, Load):
            # A thread, so that the replies of other models go on meanwhile.
            threading.Thread(target=self._load_model, args=(order.name,), daemon=True).start()
        elif isinstance(order, Loaded):
            self._add(order.name, order.model)
            self._report(Ready(order.name, order.model.source, order.seconds))
        elif isinstance(order, Begin):
            self._waiting[order.key] = order
        elif isinstance(order, Cancel):
            self._waiting.pop(order.key, None)
            if any(order.key in batch.rows for batch in self._batches.values()):
                self._cancelled.add(order.key)

    def _load_model(self, name: str) -> None:
        began = time.monotonic()
        try:
            with self._loading:
                model = self._load(name)
        except Exception as error:  # the page shows every kind
            self._report(Failed(name, f"{type(error).__name__}: {error}"))
        else:
            self.orders.put(Loaded(name, model, time.monotonic() - began))

    def _add(self, name: str, model: Model) -> None:
        share_equal_weights(
            model.decoder.network, [m.decoder.network for m in self._models.values()]
        )
        model.decoder.prefix_cache = self._prefix_cache
        most = CACHE_BYTES // bytes_of_token(model.decoder.network)
        self._prefix_cache.max_tokens = min(self._prefix_cache.max_tokens, most)
        self._models[name], self._batches[name] = model, DecodingBatch(model.decoder)

    def step(self) -> None:
        """Decode one more token of every reply, after one new reply of each model has joined.

        One, because reading a prompt takes as long as many tokens of those that are under way.
        """
        for name in self._batches:
            joining = next((k for k, begin in self._waiting.items() if begin.name == name), None)
            if joining is not None:
                self._join(name, joining, self._waiting.pop(joining).request)
            if self._batches[name].rows:
                self._decode(name)

    def _join(self, name: str, key: int, request: ReplyRequest) -> None:
        """Read the prompt of one reply; an error in it ends this reply alone."""
        try:
            self._batches[name].join({key: request})
        except Exception as error:  # the visitor who waits for this reply is told
            self._report(Broken(key, f"{type(error).__name__}: {error}"))

    def _decode(self, name: str) -> None:
        """One more token of all replies of a model; an error ends them all."""
        batch, source = self._batches[name], self._models[name].source
        keys = list(batch.rows)
        cancelled = frozenset(self._cancelled.intersection(keys))
        self._cancelled -= cancelled
        try:
            for key, row in batch.sample():
                if key not in cancelled:
                    reply = Reply(row.text, source, len(row.tokens), row.finish)
                    self._report(Piece(key, reply))
            batch.advance(cancelled)
        except Exception as error:  # the visitors who wait for these replies are told
            self._batches[name] = DecodingBatch(batch.decoder)
            for key in keys:
                self._report(Broken(key, f"{type(error).__name__}: {error}"))


def bytes_of_token(network: Any) -> int:
    """The size of the keys and values that a network keeps of one token."""
    c = network.config
    width = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    return 2 * c.num_hidden_layers * c.num_key_value_heads * width * network.dtype.itemsize


def share_equal_weights(network: Any, others: Iterable[Any]) -> None:
    """Let `network` use the tensors of `others` wherever its own are equal to them.

    An adapter changes some layers; embeddings and norms of two merged copies stay the same.
    """
    import torch

    for other in others:
        theirs = dict(other.named_parameters())
        for name, own in network.named_parameters():
            same = theirs.get(name)
            if same is not None and own.shape == same.shape and torch.equal(own, same):
                own.data = same.data
