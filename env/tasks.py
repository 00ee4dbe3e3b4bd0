"""`TASKS`: every task by name; `BAZAAR_TASKS` and `ARENA_TASKS`: those of each game."""

from collections.abc import Mapping
from types import ModuleType

from .arena import env as arena
from .arena import prompt as arena_prompt
from .bazaar import classic, customers, market, people, sale
from .bazaar import prompt as bazaar_prompt
from .core import Task

_BAZAAR = (*classic.TASKS, *market.TASKS, *people.TASKS, *sale.TASKS, *customers.TASKS)
BAZAAR_TASKS: Mapping[str, Task] = {task.name: task for task in _BAZAAR}
ARENA_TASKS: Mapping[str, Task] = {task.name: task for task in arena.TASKS}
TASKS: Mapping[str, Task] = {**BAZAAR_TASKS, **ARENA_TASKS}


def get_task(name: str) -> Task:
    """The task called `name`. Raises ValueError, which lists the tasks."""
    if name not in TASKS:
        raise ValueError(f"no task {name!r}; tasks are {', '.join(TASKS)}")
    return TASKS[name]


def prompt_of(task: Task) -> ModuleType:
    """What a language model reads and answers in `task`: `render`, `parse` and `schema`."""
    return arena_prompt if task.name in ARENA_TASKS else bazaar_prompt
