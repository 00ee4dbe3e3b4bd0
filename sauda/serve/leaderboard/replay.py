"""Games of the leaderboard out of their seeds and actions, as they were served."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from env import Episode, episode
from sauda.experiments.evaluate import opponents_hash, task_hash
from sauda.games import game_of
from sauda.serve.openenv.actions import SaudaAction
from sauda.serve.openenv.game import ServedGame, acted, start

BEGAN = 0.0  # an entry has a deadline, its single games have none


def replayed(
    task_name: str, seed: int, actions: Iterable[Mapping[str, Any]], episode_id: str = ""
) -> ServedGame:
    """The game of `seed` after these actions; ValueError where one of them comes after its end."""
    game = start(task_name, seed, episode_id, BEGAN, is_entered=True)
    for action in actions:
        game = acted(game, SaudaAction.model_validate(action), BEGAN)
    return game


def stored(action: SaudaAction) -> dict[str, Any]:
    """The action as JSON, from which `replayed` makes it again."""
    return action.model_dump(exclude_defaults=True, exclude={"metadata"})


def result(game: ServedGame) -> tuple[str, float] | None:
    """How a game ended, and its grade; None while it runs."""
    return (str(game.end), game.grade) if game.over else None


def episode_of(game: ServedGame) -> Episode:
    """The game as an episode; one that still runs as a forfeit, which it was at the deadline."""
    play = game.play if game.over else replace(game.play, forfeit=True)
    return episode(game.task, play)


@cache
def rules_of(task_name: str) -> str:
    """The hashes of a task and of the policies in its other seats, as rows of evaluations."""
    others = game_of(task_name).others["holdout"][0]
    return f"{task_hash(task_name)}-{opponents_hash(task_name, others)}"
