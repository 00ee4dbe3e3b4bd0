"""The learner's seat of a task as a Gymnasium environment; scripts play the other seats."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from .. import arena
from ..core import IllegalAction
from ..rollout import Play, advance, begin, episode, move
from ..tasks import get_task
from .encoding import FAR, encoding_of, is_arena, legal, move_of

NOT_RUNNING = "no episode is running; reset starts one"
MOST_STEPS = 200  # illegal actions included; then an episode is truncated


class BargainingEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One task, such as `bazaar/open`, episode by episode.

    The observation is a float32 vector, the action a number; `encoding.py` says what they mean,
    `info["action_mask"]` and `action_masks()` which actions are legal. An illegal one changes
    nothing, and `info["error"]` says why. The bazaar pays the task's grade at the end; the arena
    pays the sum of its ten components at each step. `reset(seed=…)` plays the game of that seed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, task: str = "bazaar/open") -> None:
        self.task = get_task(task)
        self.encoding = encoding_of(self.task)
        self.observation_space = spaces.Box(-FAR, FAR, (self.encoding.size,), np.float32)
        self.action_space = spaces.Discrete(self.encoding.actions)
        self._play: Play | None = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The first observation and its info; without a `seed`, of the next random game."""
        super().reset(seed=seed)
        game = int(self.np_random.integers(2**63)) if seed is None else seed
        play = begin(self.task, game)
        self._play, self._steps = advance(self.task, self.task.opponents, play), 0
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated, truncated and info after the action.

        The action is a number or an array of one. Raises ValueError on anything else, and where no
        episode is running.
        """
        before = self._play
        if before is None or self._over:
            raise ValueError(NOT_RUNNING)
        choices = self.encoding.choices(self._seen)
        self._steps += 1
        error, reward = "", 0.0
        try:
            play = move(self.task, before, move_of(action, choices))
        except IllegalAction as refusal:
            error = str(refusal)
        else:
            self._play = advance(self.task, self.task.opponents, play)
            reward = self._reward(before)
        truncated = not self._over and self._steps >= MOST_STEPS
        return self._observation(), reward, self._over, truncated, self._info(error)

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now, bool, shape (actions,), as MaskablePPO of sb3-contrib asks.

        None is once the game is over. Raises ValueError before the first reset.
        """
        if self._play is None:
            raise ValueError(NOT_RUNNING)
        if self._over:
            return np.zeros(self.encoding.actions, bool)
        choices = self.encoding.choices(self._seen)
        return legal(self.task, self._play.state, choices, self.encoding.actions).astype(bool)

    @property
    def _over(self) -> bool:
        return self._play.forfeit or self.task.env.to_act(self._play.state) is None

    @property
    def _seen(self) -> Any:
        return self.task.env.observe(self._play.state, self.task.learner)

    def _observation(self) -> np.ndarray:
        return self.encoding.vector(self._seen)

    def _reward(self, before: Play) -> float:
        """The reward of the learner's step and everybody's answers to it."""
        if is_arena(self.task):
            new = self._play.turns[len(before.turns) :]
            return arena.total(
                arena.episode_rewards(before.state, new, self.task.learner)
            ).normalized_reward
        return self.task.grade(self._play.state) if self._over else 0.0

    def _info(self, error: str = "") -> dict[str, Any]:
        info: dict[str, Any] = {"error": error}
        if self._over:
            played = episode(self.task, self._play)
            grade = self.task.grade(played.final)
            return info | {"end": str(played.end), "grade": grade, "payoffs": dict(played.payoffs)}
        return info | {"action_mask": self.action_masks().astype(np.int8)}
