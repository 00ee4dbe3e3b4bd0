"""The tasks by name, and the numbered tasks of a split: each task at each seed of the split.

The tasks of one seed stand together: index 0 is the first task at the split's first seed, index 1
the second task at that seed. `reset(split=…, index=…)` plays one of them.
"""

from typing import Any

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from env import TASKS
from sauda.games import game_of
from sauda.records.seeds import SPLITS

PREVIEW = 1_000  # tasks that are listed at a time
TYPES = {"train": "train", "holdout": "test"}  # in OpenEnv's words


class UnknownSplit(ValueError):
    """There is no split of that name; the text is a sentence."""


class NumberedTask(TypedDict):
    """One task at one seed."""

    id: str
    split: str
    index: int
    task: str
    seed: int


class TaskCard(BaseModel):
    """A task by name."""

    game: str
    description: str
    seat: str = Field(description="The seat that the caller plays.")
    seats: list[str]
    success: float = Field(description="Least grade of a success.")


def task_cards() -> dict[str, TaskCard]:
    """Every task of both games by name."""
    return {
        task.name: TaskCard(
            game=game_of(task).name,
            description=task.about,
            seat=task.learner,
            seats=list(task.env.agents),
            success=task.success,
        )
        for task in TASKS.values()
    }


def splits() -> list[dict[str, str]]:
    """The splits of the seeds, with OpenEnv's type of each."""
    return [{"name": name, "type": TYPES[name]} for name in SPLITS]


def seeds_of(split: Any) -> range:
    """The seeds of a split; UnknownSplit naming the splits there are."""
    if not isinstance(split, str) or split not in SPLITS:
        raise UnknownSplit(f"a split is one of {', '.join(SPLITS)}, not {split!r:.40}")
    return SPLITS[split]


def count(split: Any) -> int:
    """How many tasks a split has; UnknownSplit where it is none."""
    return len(TASKS) * len(seeds_of(split))


def numbered(split: Any, index: Any) -> NumberedTask:
    """The task at `index` of a split; UnknownSplit, or IndexError with a sentence."""
    seeds, names = seeds_of(split), tuple(TASKS)
    whole = isinstance(index, int) and not isinstance(index, bool)
    if not whole or not 0 <= index < count(split):
        raise IndexError(f"an index of {split} is a whole number from 0 to {count(split) - 1}")
    seed, task = seeds[index // len(names)], names[index % len(names)]
    return {"id": f"{split}-{index}", "split": split, "index": index, "task": task, "seed": seed}


def listed(split: Any, start: int | None = None, stop: int | None = None) -> list[NumberedTask]:
    """The tasks of a slice, at most the first PREVIEW of it; UnknownSplit where it is none."""
    chosen = range(count(split))[slice(start, stop)][:PREVIEW]
    return [numbered(split, index) for index in chosen]
