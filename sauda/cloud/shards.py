"""An evaluation in shards: its seeds in ranges, played in pieces, merged into the one table.

A piece is one (task, policy) pair, or the instances of one task, over the seeds of one shard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sauda.cloud.pieces import (
    Engine,
    Piece,
    keep_plan,
    missing_pieces,
    read_pieces,
    read_plan,
)
from sauda.experiments.batches import join
from sauda.experiments.evaluate import Cell, EvaluationSpec, play_cell, tabulate
from sauda.games import game_of
from sauda.records import progress
from sauda.records.store import source_digest

EPISODES = 50  # of a piece that is not kept


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

    def seeds(self, shard: int) -> range:
        """The seeds of a shard, counted from 1; sizes differ by one at most."""
        if not 1 <= shard <= self.shards:
            raise ValueError(f"shards are numbered from 1 to {self.shards}; there is no {shard}")
        seeds = self.config.seeds()
        start, stop = (len(seeds) * (shard - i) // self.shards for i in (1, 0))
        return seeds[start:stop]

    def pieces(self, shards: Sequence[int] | None = None) -> list[Piece]:
        """The pieces of these shards, of all by default."""
        cells = [*(Cell(task, "") for task in self.config.tasks), *self.config.cells()]
        shards = range(1, self.shards + 1) if shards is None else shards
        return [Piece(self.seeds(shard), cell, shard) for shard in shards for cell in cells]

    def as_json(self) -> dict[str, Any]:
        """The plan with the digest of the code that its pieces depend on."""
        return {**asdict(self.config), "shards": self.shards, "code": source_digest()}

    @staticmethod
    def compute(piece: Piece) -> dict[str, Any]:
        """The columns of a (task, policy) pair, or the instances of a task, over the seeds."""
        cell = Cell(*piece.names)
        if not cell.policy:
            return game_of(cell.task).columns.worlds_of(cell.task, piece.seeds)
        return play_cell(cell, piece.seeds)

    def tabulate(self, values: Mapping[Piece, Any]) -> dict[str, Any]:
        """The data of the evaluation as `evaluate` returns it, from the values of all pieces."""
        parts: dict[Cell, list[Any]] = {}
        for piece in self.pieces():
            parts.setdefault(Cell(*piece.names), []).append(values[piece])
        whole = {cell: join(columns) for cell, columns in parts.items()}
        worlds = {task: whole.pop(Cell(task, "")) for task in self.config.tasks}
        return tabulate(self.config, worlds, whole)


def evaluate_on(run: Engine, config: EvaluationSpec) -> dict[str, Any]:
    """The data of an evaluation as `evaluate` returns it, its pieces computed by `run`."""
    plan = Plan(config, -(-config.episodes // EPISODES))
    computed = run(plan.compute, pieces := plan.pieces())
    return plan.tabulate(dict(progress(computed, len(pieces), "playing", "piece")))


def plan_in(folder: Path) -> Plan:
    """The plan of a folder; ValueError where it has none, or other code played its pieces."""
    recorded = read_plan(folder)
    shards, _ = recorded.pop("shards"), recorded.pop("code", None)
    lists = {name: tuple(recorded[name]) for name in ("tasks", "policies")}
    plan = Plan(EvaluationSpec(**(recorded | lists)), shards)
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
    values = dict(zip(pieces, read_pieces(folder, pieces), strict=True))
    return plan, plan.tabulate(values)
