"""One map over many items of work: in this process, in several, or on a Ray cluster.

Chance depends on the seed alone, so an item whose worker died is computed again, and what comes of
all items is the same, digit for digit, wherever they were computed.
"""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from sauda.records.store import source_digest

ENGINES = ("process", "ray")
RETRIES = 5  # of an item whose node or worker died; what the function itself raises is raised
KEPT = "what was computed before is kept: run the same command again"
Item = TypeVar("Item")
Result = TypeVar("Result")
# Computes a function of each item; yields (item, result) as results come, in any order.
Engine = Callable[[Callable[[Item], Result], Sequence[Item]], Iterator[tuple[Item, Result]]]


class WorkersLost(RuntimeError):
    """Workers died for good; the message is a sentence."""


def here(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result]]:
    """The engine of this process alone, as for a language model that is loaded once."""
    return ((item, function(item)) for item in items)


@contextmanager
def engine(name: str = "process", workers: int = 2, address: str | None = None) -> Iterator[Engine]:
    """Context: the engine called `name`, "process" or "ray".

    Ray connects to the cluster at `address`; without one it is a cluster of `workers` CPUs on this
    machine. Raises ValueError for an unknown engine, and where Ray is missing or cannot connect;
    WorkersLost where workers died for good.
    """
    if workers < 1:
        raise ValueError(f"an engine has at least 1 worker, not {workers}")
    if name == "process":
        try:
            with ProcessPoolExecutor(workers) as pool:
                yield partial(_each, pool.submit)
        except BrokenProcessPool as error:
            why = "a worker process was killed, perhaps for its memory"
            raise WorkersLost(f"{why}; {KEPT}") from error
    elif name == "ray":
        with _cluster(workers, address) as submit:
            yield partial(_each, submit)
    else:
        raise ValueError(f"no engine {name!r}; engines are {', '.join(ENGINES)}")


def _each(
    submit: Callable[..., Future], function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result]]:
    # At once, not when somebody begins to iterate: processes are forked here, and threads of the
    # caller, such as one that prints progress, are better not there yet.
    futures = {submit(function, item): item for item in items}

    def as_they_end() -> Iterator[tuple[Item, Result]]:
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()

    return as_they_end()


@contextmanager
def _cluster(workers: int, address: str | None) -> Iterator[Callable[..., Future]]:
    """Context: what submits a function of an item to Ray, which reports nothing to its makers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise ValueError("the engine ray is not installed: `pip install -e .[scale]`") from None
    local = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**({"address": address} if address else local), log_to_driver=False)
    except ConnectionError as error:
        raise ValueError(f"no Ray cluster answers at {address}: {error}") from None
    try:
        task = ray.remote(max_retries=RETRIES)(_with_the_same_code)
        digest = source_digest()
        yield lambda function, item: task.remote(digest, function, item).future()
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        why = f"Ray lost its workers for good ({type(error).__name__})"
        raise WorkersLost(f"{why}; {KEPT}") from error
    finally:
        ray.shutdown()


def _with_the_same_code(digest: str, function: Callable[[Item], Result], item: Item) -> Result:
    """The function's result, computed on a node."""
    if source_digest() != digest:
        raise ValueError(
            f"the node {socket.gethostname()} has other code than the machine that asks it; check "
            "out the same commit on every node"
        )
    return function(item)
