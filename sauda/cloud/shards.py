"""An evaluation in shards: its seeds in ranges, played in pieces, merged into the one table.

A piece is one (task, policy) pair, or the instances of one task, over the seeds of one shard; it is
kept in a folder as soon as it ends, so that a stopped run resumes where it was. Pieces are computed
in processes of this machine or on a Ray cluster. Chance depends on the seed alone, so a piece whose
worker died is computed again, and the merged table equals that of one process digit for digit.
"""

import json
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from sauda.cloud import CloudFault
from sauda.experiments.batches import join
from sauda.experiments.evaluate import Cell, EvaluationSpec, play_cell, tabulate
from sauda.games import game_of
from sauda.llm.registry import is_model
from sauda.records import progress
from sauda.records.store import read_json, source_digest, write

ENGINES = ("process", "ray")
RETRIES = 5  # of an item whose node or worker died; what the function itself raises is raised
AHEAD = 4  # items that are handed to Ray for each of its CPUs
KEPT = "what was computed before is kept: run the same command again"
PLAN = "plan.json"
EPISODES = 250  # of a piece that is not kept
Item = TypeVar("Item")
Result = TypeVar("Result")
# Computes a function of each item; yields (item, result) as results come, in any order.
Engine = Callable[[Callable[[Item], Result], Sequence[Item]], Iterator[tuple[Item, Result]]]


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
    futures = {pool.submit(function, item): item for item in items}

    def as_they_end() -> Iterator[tuple[Item, Result]]:
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            why = "a worker process was killed, perhaps for its memory"
            raise CloudFault(f"{why}; {KEPT}") from error
        finally:
            for future in futures:
                future.cancel()

    return as_they_end()


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
        why = f"Ray lost its workers for good ({type(error).__name__})"
        raise CloudFault(f"{why}; {KEPT}") from error


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
    # Of an evaluation: its (task, policy) pair, without a policy the instances of its task.
    names: Sequence[str] = ()
    shard: int = 1

    @property
    def file(self) -> str:
        """Such as `seeds-0-499.bazaar%2Fopen.linear.json`."""
        names = [quote(name, safe="") for name in self.names if name]
        return ".".join([f"seeds-{self.seeds[0]}-{self.seeds[-1]}", *names, "json"])


def keep_plan(folder: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan of a folder; ValueError naming what differs where it has another."""
    plan = json.loads(json.dumps(plan))
    if not (folder / PLAN).exists():
        write(folder / PLAN, json.dumps(plan, indent=1) + "\n")
        return
    kept = read_plan(folder)
    if names := sorted(n for n in plan.keys() | kept if plan.get(n) != kept.get(n)):
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


def compute_missing(
    folder: Path, pieces: Sequence[Piece], compute: Callable[[Piece], Any], run: Engine
) -> int:
    """Compute the pieces that are not in the folder, keep each, and return how many they were.

    `compute` returns a JSON value. Raises CloudFault where workers died for good; what was
    computed before is kept.
    """
    todo = missing_pieces(folder, pieces)
    computed = run(compute, todo)
    for piece, value in progress(computed, len(todo), "playing", "piece"):
        write(folder / piece.file, json.dumps(value, allow_nan=False, ensure_ascii=False))
    return len(todo)


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


# Evaluations


@dataclass(frozen=True)
class Plan:
    """An evaluation and the number of its shards; ValueError for what cannot be played so."""

    config: EvaluationSpec
    shards: int

    def __post_init__(self) -> None:
        episodes = len(self.config.seeds())
        if not 1 <= self.shards <= episodes:
            raise ValueError(
                f"{episodes:,} episodes have from 1 to {episodes:,} shards, not {self.shards}"
            )
        self.config.check()
        if models := [name for name in self.config.policies if is_model(name)]:
            raise ValueError(
                f"{', '.join(models)}: games of language models are played by `rollouts`"
            )

    def seeds(self, shard: int) -> range:
        """The seeds of a shard, counted from 1; sizes differ by one at most."""
        if not 1 <= shard <= self.shards:
            raise ValueError(f"shards are numbered from 1 to {self.shards}; there is no {shard}")
        seeds = self.config.seeds()
        start, stop = (len(seeds) * (shard - i) // self.shards for i in (1, 0))
        return seeds[start:stop]

    def pieces(self, shards: Sequence[int] | None = None) -> list[Piece]:
        """The pieces of some shards, of all by default."""
        pieces = []
        for shard in range(1, self.shards + 1) if shards is None else shards:
            seeds = self.seeds(shard)
            pairs = [*(Cell(task, "") for task in self.config.tasks), *self.config.cells()]
            pieces += [Piece(seeds, cell, shard) for cell in pairs]
        return pieces

    def as_json(self) -> dict[str, Any]:
        """The plan with the digest of the code that its pieces depend on."""
        return {**asdict(self.config), "shards": self.shards, "code": source_digest()}


def compute(piece: Piece) -> dict[str, Any]:
    """The columns of a (task, policy) pair, or the instances of a task, over the seeds."""
    cell = Cell(*piece.names)
    if not cell.policy:
        return game_of(cell.task).columns.worlds_of(cell.task, piece.seeds)
    return play_cell(cell, piece.seeds)


def play_pieces(plan: Plan, folder: Path, run: Engine, shards: Sequence[int] | None = None) -> int:
    """Play the pieces of some shards, of all by default, that `folder` lacks; returns their number.

    Raises ValueError where the folder holds pieces of another plan, or of other code.
    """
    pieces = plan.pieces(shards)
    keep_plan(folder, plan.as_json())
    return compute_missing(folder, pieces, compute, run)


def evaluate_on(run: Engine, config: EvaluationSpec) -> dict[str, Any]:
    """The data of an evaluation as `evaluate` returns it, its pieces computed by `run`.

    A piece has about EPISODES; none is kept. Raises CloudFault where workers died.
    """
    plan = Plan(config, -(-config.episodes // EPISODES))
    with tempfile.TemporaryDirectory() as folder:
        play_pieces(plan, Path(folder), run)
        return merge(Path(folder))[1]


def plan_in(folder: Path) -> Plan:
    """The plan of a folder; ValueError where it has none, or other code played its pieces."""
    kept = read_plan(folder)
    shards, _ = kept.pop("shards"), kept.pop("code", None)
    lists = {name: tuple(kept[name]) for name in ("tasks", "policies")}
    plan = Plan(EvaluationSpec(**(kept | lists)), shards)
    keep_plan(folder, plan.as_json())
    return plan


def merge(folder: Path) -> tuple[Plan, dict[str, Any]]:
    """The plan of a folder, and the data of its evaluation as `evaluate` returns it.

    Raises ValueError where pieces are missing or damaged, or were played by other code.
    """
    plan = plan_in(folder)
    pieces = plan.pieces()
    if lacking := missing_pieces(folder, pieces):
        shards = ", ".join(map(str, sorted({piece.shard for piece in lacking})))
        raise ValueError(
            f"{folder} lacks {len(lacking)} of {len(pieces)} pieces, of shards {shards}; play them "
            "by `shards play`"
        )
    parts: dict[Cell, list[Any]] = {}
    for piece, value in zip(pieces, read_pieces(folder, pieces), strict=True):
        parts.setdefault(Cell(*piece.names), []).append(value)
    whole = {cell: join(values) for cell, values in parts.items()}
    worlds = {task: whole.pop(Cell(task, "")) for task in plan.config.tasks}
    return plan, tabulate(plan.config, worlds, whole)
