"""An evaluation in shards: its seeds in ranges, played in pieces, merged into the one table.

A piece is one cell, or the worlds of one task, over the seeds of one shard. Chance depends on the
seed alone, so the merged table equals that of one process digit for digit.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sauda.experiments.batches import joined
from sauda.experiments.evaluate import (
    Cell,
    EvaluationSpec,
    play_cell,
    seated_others,
    tabulate,
)
from sauda.games import game_of
from sauda.llm.registry import is_model
from sauda.records.store import source_digest
from sauda.scale.pieces.engines import Engine
from sauda.scale.pieces.store import (
    compute_missing,
    keep_plan,
    missing,
    read_pieces,
    read_plan,
)


@dataclass(frozen=True)
class Piece:
    """One cell over some seeds; without a policy, the worlds of its task."""

    shard: int  # from 1
    first: int  # seed
    last: int  # seed
    task: str
    others: str = ""
    policy: str = ""

    @property
    def file(self) -> str:
        """Such as `seeds-0-499.bazaar%2Fopen.linear.json`."""
        names = [quote(name, safe="") for name in (self.task, self.others, self.policy) if name]
        return ".".join([f"seeds-{self.first}-{self.last}", *names, "json"])


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
        seated_others(self.config)
        if models := [name for name in self.config.policies if is_model(name)]:
            raise ValueError(
                f"{', '.join(models)}: games of language models are played by `rollouts`"
            )

    @property
    def others(self) -> Sequence[str]:
        """Who sits in the other seats."""
        return seated_others(self.config)

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
            place = (shard, seeds[0], seeds[-1])
            pieces += [Piece(*place, task) for task in self.config.tasks]
            pieces += [
                Piece(*place, cell.task, cell.others, cell.policy)
                for cell in self.config.cells(self.others)
            ]
        return pieces

    def as_json(self) -> dict[str, Any]:
        """The plan with the digest of the code that its pieces depend on."""
        return {**asdict(self.config), "shards": self.shards, "code": source_digest()}


def compute(piece: Piece) -> dict[str, Any]:
    """The columns of a cell, or the worlds of a task, over the seeds of the piece."""
    seeds = range(piece.first, piece.last + 1)
    if not piece.policy:
        return game_of(piece.task).table.worlds(piece.task, seeds)
    return play_cell(piece.others, piece.task, piece.policy, seeds)


def play(plan: Plan, folder: Path, run: Engine, shards: Sequence[int] | None = None) -> int:
    """Play the pieces of some shards, of all by default, that `folder` lacks; returns their number.

    Raises ValueError where the folder holds pieces of another plan, or of other code.
    """
    pieces = plan.pieces(shards)
    keep_plan(folder, plan.as_json())
    return compute_missing(folder, pieces, compute, run)


def evaluate_on(run: Engine, config: EvaluationSpec, episodes: int = 250) -> dict[str, Any]:
    """The data of an evaluation as `evaluate` returns it, its pieces computed by `run`.

    A piece has about so many episodes; none is kept. Raises EngineFault where workers died.
    """
    plan = Plan(config, -(-config.episodes // episodes))
    with tempfile.TemporaryDirectory() as folder:
        play(plan, Path(folder), run)
        return merged(Path(folder))[1]


def plan_in(folder: Path) -> Plan:
    """The plan of a folder; ValueError where it has none, or other code played its pieces."""
    kept = read_plan(folder)
    settings = {name: value for name, value in kept.items() if name not in ("shards", "code")}
    lists = {name: tuple(settings[name]) for name in ("tasks", "policies")}
    plan = Plan(EvaluationSpec(**(settings | lists)), kept["shards"])
    keep_plan(folder, plan.as_json())
    return plan


def merged(folder: Path) -> tuple[Plan, dict[str, Any]]:
    """The plan of a folder, and the data of its evaluation as `evaluate` returns it.

    Raises ValueError where pieces are missing or damaged, or were played by other code.
    """
    plan = plan_in(folder)
    pieces = plan.pieces()
    if lacking := missing(folder, pieces):
        shards = ", ".join(map(str, sorted({piece.shard for piece in lacking})))
        raise ValueError(
            f"{folder} lacks {len(lacking)} of {len(pieces)} pieces, of shards {shards}; play them "
            "by `shards play`"
        )
    parts: dict[Cell, list[Any]] = {}
    for piece, value in zip(pieces, read_pieces(folder, pieces), strict=True):
        parts.setdefault(Cell(piece.others, piece.task, piece.policy), []).append(value)
    whole = {cell: joined(values) for cell, values in parts.items()}
    worlds = {task: whole.pop(Cell("", task, "")) for task in plan.config.tasks}
    return plan, tabulate(plan.config, plan.others, worlds, whole)
