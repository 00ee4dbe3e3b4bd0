"""Games as they are served: episodes over the wire, and entries of a simple buyer on the board."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

from env import ARENA_TASKS, TASKS, Episode, rollout
from sauda.games import game_of
from sauda.players import scripts_of
from sauda.serve.game import SaudaAction, ServedGame
from sauda.serve.leaderboard import Board, Entered, rules_of
from sauda.serve.observations import SaudaObservation
from sauda.serve.openenv import SaudaEnvironment

OPEN = "bazaar/open-3"


NUMBERS = count(1)


def entered(board: Board, name: str = "", task: str = OPEN, games: int = 3) -> Entered:
    """A new entry of so many games, under a name of its own where none is given."""
    return board.enter(name or f"buyer {next(NUMBERS)}", task, rules_of(task), games)


def move_of(observation: SaudaObservation, share: float = 0.6) -> SaudaAction:
    """A bid that rises from `share` of the own limit; at the end a buyer walks. Labs wait."""
    if observation.bazaar is None:
        return SaudaAction(action_type="wait")
    table = observation.bazaar
    if table["round"] + 1 >= table["rounds"]:
        return SaudaAction(action_type="walk")
    price = int((share + 0.05 * table["round"]) * table["own"]["reservation"])
    return SaudaAction(action_type="offer", price=price, message=f"₹{price}, भाई?")


def played_on(token: str) -> Iterator[SaudaObservation]:
    """Plays the next game of an entry to its end, or what is left of it: every observation."""
    environment = SaudaEnvironment()
    observation = environment.reset(entry=token)
    yield observation
    while not observation.done:
        observation = environment.step(move_of(observation))
        yield observation


def play_all(ticket: Entered) -> list[SaudaObservation]:
    """Plays every game of a new entry; the last observation of each."""
    return [list(played_on(ticket.token))[-1] for _ in range(ticket.games)]


def as_a_person(board: Board, ticket: Entered) -> None:
    """Count an entry among those of people, which no program may play."""
    with board.storage.transaction() as connection:
        connection.execute("UPDATE entries SET person = 1 WHERE id = ?", (ticket.entry,))


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
