"""The reward as a tree of named rubrics, for trainers that read `Environment.rubric`.

The bazaar pays the task's grade at the end of an episode. The arena pays each step the sum of its
ten components. `env/` computes the parts; a rubric of the tree hands out one of them.
"""

from typing import Any

from openenv.core.rubrics import Rubric

from env import arena
from sauda.serve.openenv.game import GRADE
from sauda.serve.openenv.observations import SaudaObservation


class Part(Rubric):
    """One named part of the reward; 0 where the step has none of that name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, action: Any, observation: SaudaObservation) -> float:
        return observation.reward_parts.get(self.name, 0.0)


class Sum(Rubric):
    """The sum of the rubrics in it, each under its own name."""

    def __init__(self, **rubrics: Rubric) -> None:
        super().__init__()
        for name, rubric in rubrics.items():
            setattr(self, name, rubric)

    def forward(self, action: Any, observation: SaudaObservation) -> float:
        return sum(rubric(action, observation) for rubric in self.children())


def reward_rubric() -> Rubric:
    """The reward of both games: `bazaar.grade`, `arena.job_utility_score` and so on."""
    parts = {part.name: Part(part.name) for part in arena.COMPONENTS}
    return Sum(bazaar=Sum(**{GRADE: Part(GRADE)}), arena=Sum(**parts))
