"""Moves of in-process episodes as they go over the wire, for the tests of what serves the games."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from env import ARENA_TASKS, TASKS, Episode, rollout
from sauda.games import game_of
from sauda.players import scripts_of
from sauda.serve.game import ServedGame


@cache
def played(task_name: str, seed: int) -> Episode:
    """An episode of a script at `seed`, played in this process; in the arena of random moves."""
    task = TASKS[task_name]
    policy = "random" if task_name in ARENA_TASKS else "linear"
    return rollout(task, scripts_of(task)[policy], seed)


def wire_actions(episode: Episode) -> Iterator[dict[str, Any]]:
    """The learner's moves of an episode as actions of the OpenEnv environment."""
    task = TASKS[episode.task]
    for turn in episode.trajectory(task.learner):
        row = game_of(task).words.to_json(turn.action)
        yield {"action_type": row.pop("action"), **row}


def blinded(game: ServedGame) -> ServedGame:
    """`game` without everybody else's private values, and with another seed."""
    own = game.play.state.private[game.task.learner]
    if game.task.learner == "seller":  # what a script in its seat would play is no brief
        own = {name: own[name] for name in own if name not in ("terms", "chance")}
    state = replace(game.play.state, private={game.task.learner: own})
    return replace(game, play=replace(game.play, state=state, seed=game.play.seed + 1))
