"""A game that a language model plays by chat: what it is asked, and its replies as moves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .core import Episode, IllegalAction, Task, Turn
from .rollout import Play, advance, begin, episode, move, next_stream
from .tasks import ARENA_TASKS, prompt_of


def seed_of(rng: np.random.Generator) -> int:
    """The seed that a policy hands its language model, drawn from the policy's own stream."""
    return int(rng.integers(2**31))


def new_chat(task: Task, seed: int) -> "ChatGame":
    """The game of `seed` up to the learner's first turn."""
    return ChatGame(task, advance(task, task.opponents, begin(task, seed)))


@dataclass
class ChatGame:
    """The learner's seat of `task` in a game in progress, always at its next turn.

    Opponents move at once. It is the game that `rollout` plays: the same replies give the same
    grade. A reply that holds no legal move forfeits it.
    """

    task: Task
    play: Play

    @property
    def running(self) -> bool:
        """Whether the learner has another turn."""
        return not self.play.forfeit and self.task.env.to_act(self.play.state) is not None

    @property
    def observation(self) -> Any:
        """What the learner sees now."""
        return self.task.env.observe(self.play.state, self.task.learner)

    def messages(self) -> list[dict[str, str]]:
        """The whole chat that asks for the next reply: each with its role and content."""
        return prompt_of(self.task).render(self.observation)

    def schema(self) -> Mapping[str, Any]:
        """The legal replies now, as a JSON schema."""
        return prompt_of(self.task).schema(self.observation)

    def reply_seed(self) -> int:
        """The seed of the next reply, for a model that takes one; recorded games have the same."""
        return seed_of(next_stream(self.task, self.play, self.task.learner))

    def reply(self, text: str) -> None:
        """Make the move in `text`, and let the others answer."""
        obs, learner = self.observation, self.task.learner
        try:
            play = move(self.task, self.play, prompt_of(self.task).parse(text, obs))
        except IllegalAction as error:
            turns = (*self.play.turns, Turn(learner, obs, None, str(error)))
            self.play = replace(self.play, turns=turns, forfeit=True)
        else:
            self.play = advance(self.task, self.task.opponents, play)

    def episode(self) -> Episode:
        """The finished game; ValueError while it runs."""
        return episode(self.task, self.play)

    def figures(self) -> dict[str, float]:
        """The finished game in figures; `deal` is the share of its deals that were closed.

        `words` counts what the learner said with its moves. The arena has no single deals.
        """
        played = self.episode()
        grade = self.task.grade(played.final)
        actions = [turn.action for turn in played.trajectory(self.task.learner)]
        words = sum(len(getattr(action, "message", "").split()) for action in actions)
        row = {
            "grade": float(grade),
            "success": float(grade >= self.task.success),
            "forfeit": float(self.play.forfeit),
            "words": float(words),
        }
        if self.task.name in ARENA_TASKS:
            return row
        table = played.final.table
        return row | {"deal": sum(deal.price is not None for deal in table.past) / table.deals}
