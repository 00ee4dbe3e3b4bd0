"""What the artifacts say of a task: measured grades, and recorded games move by move."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from sauda.games import game_of
from sauda.games.arena_columns import DRAWN
from sauda.records.store import load

SHOWCASE, BEFORE_AFTER = "episodes/showcase.json", "episodes/before_after.json"
GRADES = {
    "bazaar": (
        "evaluation/classic-holdout.json",
        "evaluation/market-holdout.json",
        "evaluation/model-comparison.json",
    ),
    "arena": ("evaluation/arena-holdout.json", "evaluation/arena-model-comparison.json"),
}
Row = dict[str, Any]


def grades_of(task_name: str) -> list[Row]:
    """A row a policy in the learner's seat: n, mean grade with 95 % interval, where it stands.

    Raises ArtifactError where a file is missing or damaged.
    """
    files = GRADES[game_of(task_name).name]
    return [row for file in files for row in _grades(file) if row["task"] == task_name]


@cache
def _grades(file: str) -> tuple[Row, ...]:
    """The rows of one evaluation; of the arena those with the other labs as each world has them."""
    artifact = load(file)
    source = {"file": f"artifacts/{file}", "origin": artifact.origin, **made(artifact.made)}
    return tuple(
        {
            "task": row.task,
            "policy": row.policy,
            "n": row.n,
            "grade": {"mean": row.grade.mean, "low": row.grade.low, "high": row.grade.high},
            "source": source,
        }
        for row in artifact.data.rows
        if getattr(row, "others", DRAWN) == DRAWN
    )


def made(recorded: Row) -> Row:
    """The command, commit and date behind a file."""
    return {name: recorded.get(name) for name in ("command", "commit", "created")}


def games_of(task_name: str) -> list[Row]:
    """The recorded games of a task, move by move, each with its file.

    Raises ArtifactError where a file is missing or damaged.
    """
    return [row for row in _games() if row["task"] == task_name]


@cache
def _games() -> tuple[Row, ...]:
    return tuple(_recorded())


def _recorded() -> Iterator[Row]:
    """Every recorded game of scripts, then those of a model before and after training."""
    for episode in load(SHOWCASE).data.episodes:
        yield {"file": f"artifacts/{SHOWCASE}", **episode.as_json()}
    for task in load(BEFORE_AFTER).data.tasks:
        for pair in task.chosen:
            for episode in (pair.before, pair.after):
                row = episode.as_json()
                row.pop("replies")  # the moves hold what they said
                yield {"file": f"artifacts/{BEFORE_AFTER}", **row}
