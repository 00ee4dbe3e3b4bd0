"""Engines: one function over many items, in processes of this machine or on a Ray cluster.

An engine yields (item, result) as results come, in any order. A function returns the same for the
same item wherever it runs, so that an item whose worker died is computed again.
"""

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

from sauda.records.store import source_digest

ENGINES = ("process", "ray")
RETRIES = 5  # of an item whose node or worker died; what the function itself raises is raised
AHEAD = 4  # items that are handed to Ray for each of its CPUs
KEPT = "what was computed before is kept: run the same command again"
Item = TypeVar("Item")
Result = TypeVar("Result")


class EngineFault(RuntimeError):
    """Workers died and could not be replaced; the message is a sentence."""


class Engine(Protocol):
    """Computes `function` of each item; yields (item, result) in the order in which they end."""

    def __call__(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result]]: ...


@contextmanager
def engine(name: str, workers: int = 2, address: str | None = None) -> Iterator[Engine]:
    """Context: the engine called `name`, "process" or "ray".

    Ray connects to the cluster at `address`; without one it is a cluster of `workers` CPUs on this
    machine. Raises ValueError for an unknown engine, and where Ray is missing or cannot connect.
    """
    if workers < 1:
        raise ValueError(f"an engine has at least 1 worker, not {workers}")
    if name == "process":
        with ProcessPoolExecutor(workers) as pool:
            yield partial(_in_processes, pool)
    elif name == "ray":
        with _cluster(workers, address):
            yield _on_ray
    else:
        raise ValueError(f"no engine {name!r}; engines are {', '.join(ENGINES)}")


def _in_processes(
    pool: ProcessPoolExecutor, function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result]]:
    # At once, not when somebody begins to iterate: processes are forked here, and threads of the
    # caller, such as one that prints progress, are better not there yet.
    return _as_they_end({pool.submit(function, item): item for item in items})


def _as_they_end(futures: Mapping[Future[Result], Item]) -> Iterator[tuple[Item, Result]]:
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise EngineFault(f"a worker process was killed, perhaps for its memory; {KEPT}") from error
    finally:
        for future in futures:
            future.cancel()


@contextmanager
def _cluster(workers: int, address: str | None) -> Iterator[None]:
    """Context: this process as a driver of Ray, which reports nothing to its makers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise ValueError("the engine ray is not installed: `pip install -e .[scale]`") from None
    own = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**({"address": address} if address else own), log_to_driver=False)
    except ConnectionError as error:
        raise ValueError(f"no Ray cluster answers at {address}: {error}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _on_ray(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result]]:
    import ray

    task = ray.remote(max_retries=RETRIES)(_with_the_same_code)
    digest, left = source_digest(), list(reversed(items))
    most = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    running: dict[Any, Item] = {}
    try:
        while left or running:
            while left and len(running) < most:
                item = left.pop()
                running[task.remote(digest, function, item)] = item
            (done,), _ = ray.wait(list(running))
            yield running.pop(done), ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise EngineFault(f"Ray lost its workers for good ({type(error).__name__}); {KEPT}") from (
            error
        )


def _with_the_same_code(
    digest: str, function: Callable[[Item], Result], item: Item
) -> Result:  # runs on a node
    if source_digest() != digest:
        raise ValueError(
            f"the node {socket.gethostname()} has other code than the machine that asks it; check "
            "out the same commit on every node"
        )
    return function(item)
