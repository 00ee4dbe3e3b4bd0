"""What a player who knew the hidden values would have made of a game: for games that are over."""

from dataclasses import dataclass
from functools import lru_cache

from env import ARENA_TASKS, MARKETS, Task, advance, begin, get_task
from sauda.policies.arena_bound import upper_bound
from sauda.policies.best_response import informed_value, rivals_in
from sauda.sessions.search import Search

SOLVER_SECONDS = 5.0  # that the upper bound of an arena game may take
PRICES, WIDTH = 10, 6  # of the search where no exact solution is known
BOUND = (
    "An upper bound: no play has a higher grade unless it leaves another lab with less than it"
    " could make alone."
)


@dataclass(frozen=True)
class Oracle:
    """A grade to compare a finished game with; `meaning` says in a sentence what it is."""

    grade: float
    meaning: str


def informed_grade(task: Task, seed: int) -> float:
    """The expected grade of the best response to the known seller, for the open market's buyer."""
    (deal,) = begin(task, seed).state.private["nature"]
    return informed_value(deal, rivals_in(task))


@lru_cache(maxsize=256)
def oracle(task_name: str, seed: int) -> Oracle | None:
    """The oracle's figure for the game of a task at a seed; None where none can be computed."""
    task = get_task(task_name)
    start = begin(task, seed)
    if task_name in ARENA_TASKS:
        own = start.state.private[task.learner]
        bound = upper_bound(start.state, task.learner, SOLVER_SECONDS).utility
        grade = max(-1.0, min(1.0, (bound - own.batna) / own.stake))
        return Oracle(grade, BOUND)
    if task_name.removeprefix("bazaar/") in MARKETS:
        meaning = "What a buyer who knew this seller would have expected."
        return Oracle(informed_grade(task, seed), meaning)
    if start.state.table.deals > 1:
        return None
    line = Search(task, PRICES, WIDTH).best(advance(task, task.opponents, start))
    return Oracle(line.worth.grade, "The best line of play that a search found in this very game.")
