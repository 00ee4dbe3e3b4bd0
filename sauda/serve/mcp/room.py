"""The games that agents play, and what one of them may see of its own.

A game is an episode of the OpenEnv environment at a seed that is drawn for it: no caller can choose
one, since a seed stands for every hidden value and recorded games tell what theirs hid. The id of a
game cannot be guessed, so whoever has it may play on, from any network address.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from env import IllegalAction
from sauda.games import game_of
from sauda.serve.episodes import Episodes
from sauda.serve.openenv.actions import SaudaAction
from sauda.serve.openenv.game import ServedGame, acted, start
from sauda.serve.openenv.observations import arena_view, bazaar_view, outcome_of

KEPT_SECONDS = 3600.0  # without a call; as long as a visitor's game on the page
UNKNOWN = "There is no game of this game_id, or it was left for an hour; new_game starts one."
OVER = "This game is over; review_game tells how it went, and new_game starts another."


@dataclass
class Seat:
    """The place of one player at its game."""

    game: ServedGame


@dataclass(frozen=True)
class Room:
    """The games that are kept, for a caller at one network address."""

    seats: Episodes[Seat]
    address: str

    def begin(self, task_name: str) -> dict[str, Any]:
        """A new game up to its player's first move; ValueError where there is no such task.

        Raises Refused where no room is left.
        """
        game_id = secrets.token_urlsafe(16)
        game = start(task_name, None, game_id, time.monotonic())
        self.seats.keep(game_id, self.address, Seat(game))
        return shown(game)

    def game(self, game_id: str) -> ServedGame:
        """The game as it is; Refused where none is kept under this id."""
        with self.seats.using(game_id) as seat:
            return seat.game

    def move(self, game_id: str, choose: Callable[[ServedGame], SaudaAction]) -> dict[str, Any]:
        """The game after the action that `choose` makes of it, and after the answers to it.

        Raises IllegalAction with one sentence where the rules refuse it; then the game is as it
        was, but for one of the actions that it may take in all.
        """
        with self.seats.using(game_id) as seat:
            if seat.game.over:
                raise IllegalAction(OVER)
            seat.game = game = acted(seat.game, choose(seat.game), time.monotonic())
        if game.error:
            raise IllegalAction(f"The rules refuse this move: {game.error}. Nothing has changed.")
        return shown(game)


def new_seats() -> Episodes[Seat]:
    """A room's store of games, empty."""
    return Episodes(UNKNOWN, KEPT_SECONDS)


def shown(game: ServedGame) -> dict[str, Any]:
    """The game as its player's seat sees it; once it is over, with how it ended."""
    kind = game_of(game.task_name).name
    obs, view = game.observation, bazaar_view if kind == "bazaar" else arena_view
    results = obs.own.results if kind == "arena" else ()
    return {
        "game_id": game.episode_id,
        "task": game.task_name,
        "seat": game.task.learner,
        "over": game.over,
        **({"last_action": results[0]._asdict()} if results else {}),
        kind: view(obs),
        **({"outcome": outcome_of(game)} if game.over else {}),
    }
