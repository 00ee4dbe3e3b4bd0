"""Models that reply in a thread each: on a GPU of this process, or on another machine."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from sauda.llm.backends.decoding import ReplyRequest
from sauda.llm.backends.model import Model, on_gpu
from sauda.llm.serving.events import Begin, Broken, Failed, Load, Order, Piece, Ready, Report
from sauda.llm.types import Messages, Reply, Schema


class Streaming(Protocol):
    """A model whose replies stream."""

    source: str

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]: ...


class ThreadEngine:
    """An engine in this process; `load` makes the model of a name."""

    def __init__(self, report: Report, load: Callable[[str], Streaming]) -> None:
        self._report, self._load_model = report, load
        self._models: dict[str, Streaming] = {}
        self._running: set[int] = set()
        self._loading = threading.Lock()  # one at a time: see `BatchEngine`
        self._generate = on_gpu(self._from_model)  # ZeroGPU wants it before the page is launched

    def send(self, order: Order) -> None:
        if isinstance(order, Load):
            threading.Thread(target=self._load, args=(order.name,), daemon=True).start()
        elif isinstance(order, Begin):
            self._running.add(order.key)
            threading.Thread(target=self._write, args=(order,), daemon=True).start()
        else:
            self._running.discard(order.key)

    def restart(self) -> None:
        """Threads cannot be ended: those that hang stay until their model returns."""

    def _load(self, name: str) -> None:
        began = time.monotonic()
        try:
            with self._loading:
                model = self._models[name] = self._load_model(name)
            loaded = Ready(name, model.source, time.monotonic() - began)
        except Exception as error:  # the page shows every kind
            loaded = Failed(name, f"{type(error).__name__}: {error}")
        self._report(loaded)

    def _from_model(self, name: str, request: ReplyRequest) -> Iterator[Reply]:
        model = self._models[name]
        if isinstance(model, Model):  # a remote model has the sampling that it was made with
            model = model.sampled(request.sampling)
        yield from model.stream(request.messages, request.seed, request.schema)

    def _write(self, order: Begin) -> None:
        try:
            for reply in self._generate(order.name, order.request):
                if order.key not in self._running:
                    return
                self._report(Piece(order.key, reply))
        except Exception as error:  # the visitor who waits is told
            self._report(Broken(order.key, str(error)))
        finally:
            self._running.discard(order.key)
