"""One episode of the OpenEnv environment, as a value: the learner's seat is the caller's.

An illegal move changes nothing but costs a step; a game that has used up its steps or its time is
forfeited. The seed stays hidden until the end unless the caller chose it, since it stands for every
hidden value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from env import EndReason, IllegalAction, Play, Task, advance, arena, begin, get_task, move
from sauda.records.seeds import drawn_seed, seed_in_json
from sauda.serve.openenv.actions import SaudaAction, env_action
from sauda.sessions.arena import LEARNER

MOST_STEPS = 200  # of an episode; the longest game takes 80 moves
MOST_SECONDS = 3600.0  # of an episode
GRADE = "grade"  # the part of the bazaar's reward
WORST = (
    -1.0
)  # the lowest grade; what a game of the leaderboard counts that was not played to its end


@dataclass(frozen=True)
class ServedGame:
    """One episode in progress or over."""

    task_name: str
    play: Play
    episode_id: str
    began: float  # time.monotonic
    seed_is_chosen: bool
    is_entered: bool = False  # a game of the leaderboard: its seed stays hidden at the end, too
    steps: int = 0
    error: str = ""  # why the last action was refused
    ended: str = ""  # why the game was forfeited
    parts: Mapping[str, float] = field(default_factory=dict)  # of the last step's reward, by name

    @property
    def task(self) -> Task:
        return get_task(self.task_name)

    @property
    def over(self) -> bool:
        return self.play.forfeit or self.task.env.to_act(self.play.state) is None

    @property
    def observation(self) -> Any:
        """What the learner's seat sees."""
        return self.task.env.observe(self.play.state, self.task.learner)

    @property
    def seed(self) -> int | str | None:
        """The seed as JSON; None while it is hidden."""
        is_known = (self.seed_is_chosen or self.over) and not self.is_entered
        return seed_in_json(self.play.seed) if is_known else None

    @property
    def grade(self) -> float:
        """The task's grade of the state; of a forfeited game of the leaderboard the lowest."""
        lost = self.is_entered and self.play.forfeit
        return WORST if lost else self.task.grade(self.play.state)

    @property
    def end(self) -> EndReason | None:
        return EndReason.FORFEIT if self.play.forfeit else self.task.env.end(self.play.state)


def start(
    task_name: str, seed: int | None, episode_id: str, now: float, is_entered: bool = False
) -> ServedGame:
    """A fresh episode up to the learner's first move; without a `seed`, of one nobody knows.

    Raises ValueError for an unknown task.
    """
    task = get_task(task_name)
    play = begin(task, drawn_seed() if seed is None else seed)
    play = advance(task, task.opponents, play)
    return ServedGame(task_name, play, episode_id, now, seed is not None, is_entered)


def acted(game: ServedGame, action: SaudaAction, now: float) -> ServedGame:
    """The game after the learner's action and the answers to it; ValueError once it is over."""
    if game.over:
        raise ValueError("this episode is over; reset starts a new one")
    if now - game.began > MOST_SECONDS:
        return _forfeited(game, f"an episode lasts at most {MOST_SECONDS:.0f} seconds")
    if game.steps >= MOST_STEPS:
        return _forfeited(game, f"an episode has at most {MOST_STEPS} steps")
    task, before = game.task, game.play
    try:
        play = move(task, before, env_action(action, game.task_name))
    except IllegalAction as error:
        return replace(game, steps=game.steps + 1, error=str(error), parts={})
    play = advance(task, task.opponents, play)
    after = replace(game, play=play, steps=game.steps + 1, error="")
    return replace(after, parts=_parts(before, after))


def _forfeited(game: ServedGame, why: str) -> ServedGame:
    play = replace(game.play, forfeit=True)
    after = replace(game, play=play, steps=game.steps + 1, error="", ended=why)
    return replace(after, parts=_parts(game.play, after))


def _parts(before: Play, after: ServedGame) -> Mapping[str, float]:
    """The named parts of the reward for the learner's step and everybody's answers to it."""
    if after.task.learner == LEARNER:
        new = after.play.turns[len(before.turns) :]
        step = arena.total(arena.episode_rewards(before.state, new, LEARNER))
        return {part.name: getattr(step, part.name) for part in arena.COMPONENTS}
    return {GRADE: after.grade} if after.over else {}
