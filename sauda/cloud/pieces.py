"""Work in pieces: one map over processes or a Ray cluster, and folders in which results are kept.

Chance depends on the seed alone, so a piece whose worker died is computed again, and what comes of
all pieces is the same, digit for digit, wherever they were computed.
"""

import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

from sauda.cloud import CloudFault
from sauda.records import progress
from sauda.records.store import read_json, source_digest, write

ENGINES = ("process", "ray")
RETRIES = 5  # of an item whose node or worker died; what the function itself raises is raised
KEPT = "what was computed before is kept: run the same command again"
PLAN = "plan.json"
Item = TypeVar("Item")
Result = TypeVar("Result")
# Computes a function of each item; yields (item, result) as results come, in any order.
Engine = Callable[[Callable[[Item], Result], Sequence[Item]], Iterator[tuple[Item, Result]]]


@contextmanager
def engine(name: str, workers: int = 2, address: str | None = None) -> Iterator[Engine]:
    """Context: the engine called `name`, "process" or "ray".

    Ray connects to the cluster at `address`; without one it is a cluster of `workers` CPUs on this
    machine. Raises ValueError for an unknown engine, and where Ray is missing or cannot connect;
    CloudFault where workers died for good.
    """
    if workers < 1:
        raise ValueError(f"an engine has at least 1 worker, not {workers}")
    if name == "process":
        try:
            with ProcessPoolExecutor(workers) as pool:
                yield partial(_each, pool.submit)
        except BrokenProcessPool as error:
            why = "a worker process was killed, perhaps for its memory"
            raise CloudFault(f"{why}; {KEPT}") from error
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
        raise CloudFault(f"{why}; {KEPT}") from error
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


# Folders of pieces: `plan.json` says what is computed, each other file is a piece


class Piece(NamedTuple):
    """Games of successive seeds that are computed together and kept in one file."""

    seeds: range
    names: tuple[str, ...] = ()  # of an evaluation (task, policy), or (task, "") for the instances
    shard: int = 1

    @property
    def file(self) -> str:
        """Such as `seeds-0-499.bazaar%2Fopen.linear.json`."""
        names = [quote(name, safe="") for name in self.names if name]
        return ".".join([f"seeds-{self.seeds[0]}-{self.seeds[-1]}", *names, "json"])


class Work(Protocol):
    """What is computed in pieces."""

    def as_json(self) -> dict[str, Any]:
        """All that the pieces depend on, the code included."""

    def compute(self, piece: Piece) -> Any:
        """The value of a piece, for JSON."""


def play_pieces(work: Work, pieces: Sequence[Piece], folder: Path, run: Engine) -> int:
    """Compute the pieces that `folder` lacks, keep each as it ends; returns how many they were.

    Raises ValueError where the folder holds pieces of other work, or of other code.
    """
    keep_plan(folder, work.as_json())
    missing = missing_pieces(folder, pieces)
    computed = run(work.compute, missing)
    for piece, value in progress(computed, len(missing), "playing", "piece"):
        write(folder / piece.file, json.dumps(value, allow_nan=False, ensure_ascii=False))
    return len(missing)


def keep_plan(folder: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan of a folder; ValueError naming what differs where it has another."""
    plan = json.loads(json.dumps(plan))
    if not (folder / PLAN).exists():
        write(folder / PLAN, json.dumps(plan, indent=1) + "\n")
        return
    recorded = read_plan(folder)
    if names := sorted(n for n in plan.keys() | recorded if plan.get(n) != recorded.get(n)):
        raise ValueError(
            f"{folder} holds pieces of another plan, which differs in {', '.join(names)}; choose "
            "another folder"
        )


def read_plan(folder: Path) -> dict[str, Any]:
    """The plan of a folder; ValueError where it has none."""
    try:
        return read_json(folder / PLAN)
    except FileNotFoundError:
        raise ValueError(f"{folder} holds no {PLAN}; nothing was played there yet") from None


def missing_pieces(folder: Path, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that are not in the folder yet."""
    return [piece for piece in pieces if not (folder / piece.file).exists()]


def read_pieces(folder: Path, pieces: Sequence[Piece]) -> list[Any]:
    """The values of pieces that are all there; ValueError naming a file that holds no JSON."""
    values = []
    for piece in pieces:
        try:
            values.append(read_json(folder / piece.file))
        except ValueError as error:
            raise ValueError(
                f"{folder / piece.file} is damaged ({error}); delete it and play again"
            ) from None
    return values
