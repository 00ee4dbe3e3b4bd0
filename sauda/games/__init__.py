"""One adapter a game: what the player, its evaluation and its records know of the game's rules.

`adapter.py` says what an adapter holds, `messages.py` what a model is asked and replies. `bazaar/`
and `arena/` have the same files: `prompt.py` (render, parse, schema), `opponents.py` (policies).
`game_of` is the only function that asks which game a task belongs to.
"""

from collections.abc import Mapping

from env import Policy, Task
from sauda.games.adapter import Game
from sauda.games.arena import ARENA
from sauda.games.bazaar import BAZAAR

GAMES: Mapping[str, Game] = {game.name: game for game in (BAZAAR, ARENA)}


def game_of(task: Task | str) -> Game:
    """The game that `task`, or the task of that name, belongs to.

    Raises ValueError naming the tasks there are.
    """
    name = task if isinstance(task, str) else task.name
    for game in GAMES.values():
        if name in game.tasks:
            return game
    known = ", ".join(name for game in GAMES.values() for name in game.tasks)
    raise ValueError(f"no task {name!r}; tasks are {known}")


def policies_of(task: Task) -> Mapping[str, Policy]:
    """The scripted policies that can take the learner's seat of `task`, by name."""
    return game_of(task).policies(task)
