"""The model process: `ProcessEngine` is the page's end of it, `main` what runs in it.

A process of its own, because decoding holds Python's lock: in the page's process every reply of a
model would hold up all other visitors, and a crash of the model would end the page. All replies of
one model share its forward passes (`BatchEngine`).
"""

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from socket import socketpair
from typing import Any

from sauda.games.adapter import Request
from sauda.llm import server
from sauda.llm.engine import DecodingBatch, PrefixCache
from sauda.llm.model import Model, load
from sauda.llm.types import Reply
from sauda.records.store import ROOT

COMMAND = (sys.executable, "-m", "sauda.llm.process")
# One arena, else threads keep freed memory each for itself and the process grows with every game.
ENVIRONMENT = {"MALLOC_ARENA_MAX": "1", "TOKENIZERS_PARALLELISM": "false"}
# Conversations that a model process keeps, of all its models together. The process holds besides
# them its libraries, its models, and the replies that are being decoded.
CACHE_BYTES = 448 * 2**20


class ProcessEngine:
    """Sends orders to the model process and receives its events; starts it at first use."""

    def __init__(self, report: server.Report, command: Sequence[str] = COMMAND) -> None:
        self._report, self._command = report, command
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def send(self, order: server.Order) -> None:
        """Send an order; starts the process if none runs. Orders to a dead process are lost."""
        try:
            with self._lock:
                if self._connection is None:
                    self._start()
                connection = self._connection
        except OSError as error:  # no memory or no file left for it
            self._report(server.Ended(f"the model process could not be started: {error}"))
            return
        with self._lock, contextlib.suppress(OSError):  # it ended just now; `_listen` reports so
            connection.send(order)

    def restart(self) -> None:
        """End the process; the next order starts another."""
        with self._lock:
            if self._process:
                self._process.kill()

    def _start(self) -> None:
        ours, theirs = socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*self._command, str(theirs.fileno())],
                cwd=ROOT.parent,
                pass_fds=[theirs.fileno()],
                env=os.environ | ENVIRONMENT,
            )
        self._connection = Connection(ours.detach())
        job = (self._process, self._connection)
        threading.Thread(target=self._listen, args=job, daemon=True).start()

    def _listen(self, process: subprocess.Popen, connection: Connection) -> None:
        while (event := _receive(connection)) is not None:
            self._report(event)
        with self._lock:
            self._process = self._connection = None
        process.kill()
        code = process.wait()
        connection.close()
        self._report(server.Ended(f"the model process ended with the code {code}"))


def _receive(connection: Connection) -> server.Order | server.Event | None:
    """The next message; None once the other side is gone."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


class BatchEngine:
    """Decodes replies pass by pass; `orders` is its inbox, None in it ends `run`."""

    def __init__(self, load: Callable[[str], Model], report: server.Report) -> None:
        self.orders: queue.SimpleQueue[server.Order | server.Ready | None] = queue.SimpleQueue()
        self._load, self._report = load, report
        # One at a time: transformers imports its modules at first use, which threads disturb.
        self._loading = threading.Lock()
        self._models: dict[str, Model] = {}
        self._batches: dict[str, DecodingBatch] = {}  # of the models that have joined
        # To join at the next token, or once their model is loaded.
        self._waiting: dict[int, server.Begin] = {}
        self._cancelled: set[int] = set()
        self._prefix_cache = PrefixCache()  # of all models, so that its limit is one

    def run(self) -> None:
        """Take orders and decode until told to end."""
        while True:
            rows = any(batch.rows for batch in self._batches.values())
            joins = any(begin.name in self._batches for begin in self._waiting.values())
            try:
                order = self.orders.get(block=not (rows or joins))
            except queue.Empty:
                self.step()
                continue
            if order is None:
                return
            self.take(order)

    def take(self, order: server.Order | server.Ready) -> None:
        """Carry out an order; replies begin at the next step."""
        if isinstance(order, server.Load):
            # A thread, so that the replies of other models go on meanwhile.
            threading.Thread(target=self._load_model, args=(order.name,), daemon=True).start()
        elif isinstance(order, server.Ready):
            self.add(order.name, self._models[order.name])
            self._report(order)
        elif isinstance(order, server.Begin):
            self._waiting[order.key] = order
        elif isinstance(order, server.Cancel):
            self._waiting.pop(order.key, None)
            if any(order.key in batch.rows for batch in self._batches.values()):
                self._cancelled.add(order.key)

    def _load_model(self, name: str) -> None:
        with self._loading:
            loaded = server.load_model(self._load, name, self._models)
        if isinstance(loaded, server.Ready):
            self.orders.put(loaded)
        else:
            self._report(loaded)

    def add(self, name: str, model: Model) -> None:
        """Let a loaded model reply."""
        others = [batch.decoder.network for batch in self._batches.values()]
        share_equal_weights(model.decoder.network, others)
        model.decoder.prefix_cache = self._prefix_cache
        most = CACHE_BYTES // bytes_of_token(model.decoder.network)
        self._prefix_cache.max_tokens = min(self._prefix_cache.max_tokens, most)
        self._models[name], self._batches[name] = model, DecodingBatch(model.decoder)

    def step(self) -> None:
        """Decode more of every reply, after one new reply of each model has joined.

        One, because reading a prompt takes as long as many tokens of those that are under way.
        """
        for name in self._batches:
            joining = next((k for k, begin in self._waiting.items() if begin.name == name), None)
            if joining is not None:
                self._join(name, joining, self._waiting.pop(joining).request)
            if self._batches[name].rows:
                self._decode(name)

    def _join(self, name: str, key: int, request: Request) -> None:
        """Read the prompt of one reply; an error in it ends this reply alone."""
        try:
            self._batches[name].join({key: request})
        except Exception as error:  # the visitor who waits for this reply is told
            self._report(server.Broken(key, f"{type(error).__name__}: {error}"))

    def _decode(self, name: str) -> None:
        """One pass for all replies of a model; an error ends them all."""
        batch, source = self._batches[name], self._models[name].source
        keys = list(batch.rows)
        cancelled = frozenset(self._cancelled.intersection(keys))
        self._cancelled -= cancelled
        try:
            for key, row in batch.sample():
                if key not in cancelled:
                    counted = (len(row.tokens), row.finish, len(row.prompt))
                    reply = Reply(row.text, source, *counted)
                    self._report(server.Piece(key, reply))
            batch.advance(cancelled)
        except Exception as error:  # the visitors who wait for these replies are told
            self._batches[name] = DecodingBatch(batch.decoder)
            for key in keys:
                self._report(server.Broken(key, f"{type(error).__name__}: {error}"))


def bytes_of_token(network: Any) -> int:
    """The bytes of keys and values that a network caches per token."""
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
        for name, parameter in network.named_parameters():
            same = theirs.get(name)
            if same is not None and parameter.shape == same.shape and torch.equal(parameter, same):
                parameter.data = same.data


def main(descriptor: int, load: Callable[[str], Model] = load) -> None:
    """Decode what comes through the socket `descriptor`; returns once its other end is closed."""
    connection = Connection(descriptor)
    lock = threading.Lock()

    def report(event: server.Event) -> None:
        with lock:
            connection.send(event)

    engine = BatchEngine(load, report)

    def listen() -> None:
        while (order := _receive(connection)) is not None:
            engine.orders.put(order)
        engine.orders.put(None)

    threading.Thread(target=listen, daemon=True).start()
    try:
        engine.run()
    except BrokenPipeError:  # the page is gone, and with it everybody who waits
        return


if __name__ == "__main__":
    main(int(sys.argv[1]))
