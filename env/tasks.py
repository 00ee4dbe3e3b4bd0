"""TASKS: every task by name."""

from collections.abc import Mapping

from env.bazaar import classic, market, seller_brief
from env.core import Task

_ALL = (*classic.TASKS, *market.TASKS, seller_brief.TASK)
TASKS: Mapping[str, Task] = {task.name: task for task in _ALL}


def task(name: str) -> Task:
    """The task of that name; raises ValueError naming those there are."""
    if name not in TASKS:
        raise ValueError(f"no task {name!r}; tasks are {', '.join(TASKS)}")
    return TASKS[name]
