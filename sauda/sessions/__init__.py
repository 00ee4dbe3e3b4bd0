"""A visitor's game as a value: `bazaar.py` and `arena.py`.

`daily.py` is the bargain of the day, `ladder.py` fifteen persons from easy to hard, `spot.py` two
hidden buyers before one seller.
`review.py` says what each move of a finished bazaar game cost and finds the better lines.
"""

from typing import Any

from env import Play, Task, get_task


class LearnerGame:
    """What all games have in common: a task whose learner plays, and the turns so far."""

    task_name: str
    play: Play

    @property
    def task(self) -> Task:
        return get_task(self.task_name)

    @property
    def over(self) -> bool:
        """Whether the learner has nothing left to do: it left, or the rounds are out."""
        return self.play.forfeit or self.task.env.to_act(self.play.state) is None

    @property
    def moved(self) -> bool:
        """Whether the learner has made a move."""
        return any(turn.agent == self.task.learner for turn in self.play.turns)

    @property
    def observation(self) -> Any:
        """What the learner sees."""
        return self.task.env.observe(self.play.state, self.task.learner)
