"""TASKS: every task by name, and those of each of the two games."""

from collections.abc import Mapping

from env.arena import tasks as games
from env.bazaar import selling_task
from env.bazaar.classic import tasks as classic
from env.bazaar.market import tasks as market
from env.core import Task

_BAZAAR = (*classic.TASKS, *market.TASKS, selling_task.TASK)
BAZAAR_TASKS: Mapping[str, Task] = {task.name: task for task in _BAZAAR}
ARENA_TASKS: Mapping[str, Task] = {task.name: task for task in games.TASKS}
TASKS: Mapping[str, Task] = {**BAZAAR_TASKS, **ARENA_TASKS}


def get_task(name: str) -> Task:
    """The task of that name; raises ValueError naming those there are."""
    if name not in TASKS:
        raise ValueError(f"no task {name!r}; tasks are {', '.join(TASKS)}")
    return TASKS[name]
