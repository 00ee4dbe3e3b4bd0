"""Entries of the leaderboard, played by a simple buyer, for the tests that keep and show them."""

from collections.abc import Iterator
from itertools import count

from sauda.serve.game import SaudaAction
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
