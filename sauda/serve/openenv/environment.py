"""The OpenEnv environment: both games, the learner's seat of any task, scripts in the others."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from sauda.records.seeds import LEADERBOARD, whole_seed
from sauda.serve.leaderboard import replay
from sauda.serve.leaderboard.board import Place, own_board
from sauda.serve.openenv import game as games
from sauda.serve.openenv import task_list
from sauda.serve.openenv.actions import SaudaAction
from sauda.serve.openenv.briefing import briefing
from sauda.serve.openenv.observations import (
    SaudaObservation,
    SaudaState,
    observation_of,
    state_of,
)
from sauda.serve.openenv.rubrics import reward_rubric

NAME, VERSION = "sauda", "1.0.0"
ABOUT = (
    "Bargaining in two games: a bazaar, where a buyer and a seller haggle over a price, and an"
    " arena, where labs trade GPU time."
)
DEFAULT_TASK = "bazaar/open"
LONGEST_ID = 255  # characters of an episode id


class SaudaEnvironment(Environment[SaudaAction, SaudaObservation, SaudaState]):
    """One episode at a time of any task. Sessions share nothing.

    It also lists the numbered tasks of the splits, as OpenEnv's `TaskProvider`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(rubric=reward_rubric())
        self._clock = clock
        self._game: games.ServedGame | None = None
        self._place: Place | None = None  # in an entry of the leaderboard

    def reset(
        self,
        seed: Any = None,
        episode_id: Any = None,
        task: Any = None,
        split: Any = None,
        index: Any = None,
        entry: Any = None,
    ) -> SaudaObservation:
        """Start an episode of `task` at `seed`, or of the numbered task `index` of `split`.

        Without a task it is `bazaar/open`; without a seed it is one that nobody knows. With the
        token of an `entry` it is the entry's next game of the leaderboard, or the one that it has
        not finished, where it stands. Raises ValueError or IndexError, with one sentence, on
        anything else.
        """
        named = isinstance(episode_id, str) and 0 < len(episode_id) <= LONGEST_ID
        if not (named or episode_id is None):
            raise ValueError(f"an episode_id is a text of 1 to {LONGEST_ID} characters")
        episode_id, place = episode_id or uuid4().hex, None
        if entry is None:
            task_name, seed = chosen(task, seed, split, index)
            game = games.start(task_name, seed, episode_id, self._clock())
        else:
            place = entered(entry, task, seed, split, index)
            game = replay.replayed(place.task, place.seed, place.actions, episode_id)
        self._game, self._place = game, place
        self._reset_rubric()
        observation = self._observation()
        observation.briefing = briefing(game.task)
        return observation

    def step(
        self, action: SaudaAction, timeout_s: float | None = None, **options: Any
    ) -> SaudaObservation:
        """Make a move; an illegal one changes nothing, and the observation's `error` says why.

        A move of the leaderboard is stored before it is answered. Raises ValueError where no
        episode is running, or the move cannot be stored. `timeout_s` has no effect.
        """
        if self._game is None:
            raise ValueError("no episode is running; reset starts one")
        if self._place is None:
            self._game = games.acted(self._game, action, self._clock())
        else:
            game = games.acted(self._game, action, replay.BEGAN)
            row = replay.stored(action)
            own_board().add(self._place, game.steps, row, replay.result(game))
            self._game = game
        observation = self._observation()
        observation.reward = self._apply_rubric(action, observation)
        return observation

    def _observation(self) -> SaudaObservation:
        observation = observation_of(self._game)
        if self._place is not None:
            observation.metadata["entry"] = {
                "game": self._place.number,
                "games": self._place.games,
            }
        return observation

    @property
    def state(self) -> SaudaState:
        """The public state of the episode."""
        return state_of(self._game)

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, description and version."""
        return EnvironmentMetadata(name=NAME, description=ABOUT, version=VERSION)

    def list_splits(self) -> list[dict[str, str]]:
        """The splits of the seeds."""
        return task_list.splits()

    def list_tasks(self, split: str) -> list[task_list.NumberedTask]:
        """The first tasks of a split, at most `task_list.PREVIEW`."""
        return task_list.listed(split)

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return task_list.count(split)

    def get_task(self, split: str, index: int) -> task_list.NumberedTask:
        """One task of a split; IndexError where there is none."""
        return task_list.numbered(split, index)

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[task_list.NumberedTask]:
        """The tasks of a slice, at most the first `task_list.PREVIEW` of it."""
        return task_list.listed(split, start, stop)


def chosen(task: Any, seed: Any, split: Any, index: Any) -> tuple[str, int | None]:
    """The task's name and the seed that a reset asks for; ValueError or IndexError, a sentence."""
    if split is None and index is None:
        name = DEFAULT_TASK if task is None else task
        if not isinstance(name, str):
            raise ValueError("a task is the name of one, such as bazaar/open")
        seed = None if seed is None else whole_seed(seed)
        if seed is not None and seed in LEADERBOARD:
            raise ValueError(
                "seeds from 2**127 are for entries of the leaderboard; name a smaller one"
            )
        return name, seed
    if split is None or index is None or task is not None or seed is not None:
        raise ValueError("reset takes a task and a seed, or a split and an index")
    row = task_list.numbered(split, index)
    return row["task"], row["seed"]


def entered(entry: Any, *others: Any) -> Place:
    """Where the entry of a token stands; ValueError where none has it or `others` are given."""
    if any(other is not None for other in others):
        raise ValueError("a reset of an entry takes its token, and an episode_id, alone")
    if not isinstance(entry, str):
        raise ValueError("an entry is the token that POST /leaderboard/enter gave")
    place = own_board().next_game(entry)
    if place.rules != replay.rules_of(place.task):
        raise ValueError(f"the rules of {place.task} have changed; POST /leaderboard/enter anew")
    return place
