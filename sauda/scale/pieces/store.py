"""A folder of pieces: `plan.json` says what is computed, each further file holds one piece."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sauda.records.progress import progress
from sauda.records.store import read_json, write
from sauda.scale.pieces.engines import Engine

PLAN = "plan.json"
Plan = Mapping[str, Any]  # a JSON object


class Piece(Protocol):
    """What one worker computes at a time."""

    @property
    def file(self) -> str:
        """The name of the piece in its folder, the same in every run of one plan."""


P = TypeVar("P", bound=Piece)


def keep_plan(folder: Path, plan: Plan) -> None:
    """Write the plan of a folder; ValueError naming what differs where it has another."""
    plan = json.loads(json.dumps(plan))
    if not (folder / PLAN).exists():
        write(folder / PLAN, json.dumps(plan, indent=1) + "\n")
        return
    kept = read_plan(folder)
    names = sorted(name for name in plan.keys() | kept if plan.get(name) != kept.get(name))
    if names:
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


def missing(folder: Path, pieces: Sequence[P]) -> list[P]:
    """The pieces that are not in the folder yet."""
    return [piece for piece in pieces if not (folder / piece.file).exists()]


def compute_missing(
    folder: Path, pieces: Sequence[P], compute: Callable[[P], Any], run: Engine
) -> int:
    """Compute the pieces that are not in the folder, keep each, and return how many they were.

    `compute` returns a JSON value. Raises EngineFault where workers died for good; what was
    computed before is kept.
    """
    todo = missing(folder, pieces)
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
