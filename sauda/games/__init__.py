"""One adapter per game: what the player, its evaluation and its records know of the game's rules.

`adapter.py` says what an adapter holds and what a model is asked and replies. The prompts, which
render, parse and constrain, are the games' own; `*_words.py` puts actions and episodes into words,
`*_columns.py` counts what is measured of them; `transcript.py` writes and reads episodes.
`negotiation.py` is the judged negotiation of the arena, with its advocates.
`game_of` is the only function that asks which game a task belongs to.
"""

from collections.abc import Mapping

from env import ARENA_TASKS, BAZAAR_TASKS, TASKS, Task, arena_prompt, bazaar_prompt
from sauda.games import arena_columns, arena_words, bazaar_columns, bazaar_words
from sauda.games.adapter import Game
from sauda.records.seeds import is_unseen_game

BAZAAR = Game(
    name="bazaar",
    tasks=BAZAAR_TASKS,
    prompt=bazaar_prompt,
    words=bazaar_words,
    columns=bazaar_columns,
    baseline="rule_based",
    episodes=1000,  # gives intervals near 2 % of the mean
    is_unseen=is_unseen_game,
    has_wrappers=True,
)
ARENA = Game(
    name="arena",
    tasks=ARENA_TASKS,
    prompt=arena_prompt,
    words=arena_words,
    columns=arena_columns,
    baseline="rule_based_expert",
    episodes=200,  # a grade's interval is about ±0.03 wide
    is_unseen=lambda task, seed: False,  # training meets every archetype of lab
    has_wrappers=False,
    others=arena_columns.DRAWN,
)
GAMES: Mapping[str, Game] = {game.name: game for game in (BAZAAR, ARENA)}
# The classic games rank nobody: a script that only waits wins nearly everything there.
DEFAULT_TASK = "bazaar/people"  # what is played where nobody names a task
_OTHERS = (name for name in TASKS if name != DEFAULT_TASK)
RANKED = (DEFAULT_TASK, *(name for name in _OTHERS if not name.startswith("classic/")))


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
