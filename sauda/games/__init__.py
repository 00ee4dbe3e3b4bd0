"""One adapter per game: what the player, its evaluation and its records know of the game's rules.

`adapter.py` says what an adapter holds and what a model is asked and replies. `arena_prompt.py` and
`bazaar_prompt.py` render, parse and constrain, `arena_columns.py` and `bazaar_columns.py` name the
opponents and turn episodes into words and figures; `transcript.py` writes and reads episodes.
`game_of` is the only function that asks which game a task belongs to.
"""

from collections.abc import Mapping

from env import ARENA_TASKS, BAZAAR_TASKS, Policy, Task
from sauda.games import arena_columns, arena_prompt, bazaar_columns, bazaar_prompt
from sauda.games.adapter import Game, Prompt, Table, Transcript
from sauda.records.seeds import is_unseen_game

BAZAAR = Game(
    name="bazaar",
    tasks=BAZAAR_TASKS,
    policies=bazaar_columns.policies,
    slow_policies=bazaar_columns.slow_policies,
    against=bazaar_columns.against,
    others=bazaar_columns.OTHERS,
    baseline="rule_based",
    episodes=1000,  # gives intervals near 2 % of the mean
    prompt=Prompt(bazaar_prompt.render, bazaar_prompt.parse, bazaar_prompt.schema),
    preview=bazaar_prompt.preview,
    transcript=Transcript(
        bazaar_columns.to_json,
        bazaar_columns.from_json,
        bazaar_columns.in_words,
        bazaar_columns.to_markdown,
    ),
    table=Table(
        ends=bazaar_columns.ENDS,
        metrics=bazaar_columns.METRICS,
        episode_columns=bazaar_columns.episode_columns,
        worlds=bazaar_columns.worlds_of,
        figures=bazaar_columns.figures,
        tables=bazaar_columns.tables,
        model_counts=bazaar_columns.MODEL_COUNTS,
        count_model=bazaar_columns.count_model,
    ),
    is_unseen=is_unseen_game,
    has_wrappers=True,
    names_others=False,
)
ARENA = Game(
    name="arena",
    tasks=ARENA_TASKS,
    policies=arena_columns.policies,
    slow_policies=arena_columns.slow_policies,
    against=arena_columns.against,
    others=arena_columns.OTHERS,
    baseline="rule_based_expert",
    episodes=200,  # a grade's interval is about ±0.03 wide
    prompt=Prompt(arena_prompt.render, arena_prompt.parse, arena_prompt.schema),
    preview=arena_prompt.preview,
    transcript=Transcript(
        arena_columns.to_json,
        arena_columns.from_json,
        arena_columns.in_words,
        arena_columns.to_markdown,
    ),
    table=Table(
        ends=arena_columns.ENDS,
        metrics=arena_columns.METRICS,
        episode_columns=arena_columns.episode_columns,
        worlds=arena_columns.worlds_of,
        figures=arena_columns.figures,
        tables=arena_columns.tables,
        model_counts=arena_columns.MODEL_COUNTS,
        count_model=arena_columns.count_model,
    ),
    is_unseen=arena_columns.has_unseen_opponent,
    has_wrappers=False,
    names_others=True,
)
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
