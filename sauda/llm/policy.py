"""A language model as a policy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from env import IllegalAction
from sauda.llm.turn import ModelSeat, attempt_seeds, one_by_one, take_turns
from sauda.llm.types import Generate


@dataclass(frozen=True)
class LLMPolicy:
    """The model `generate` in `seat`, of any game. A turn without an action is a forfeit."""

    seat: ModelSeat
    generate: Generate

    def __call__(self, obs: Any, rng: np.random.Generator) -> Any:
        (turn,) = take_turns([self.seat], [obs], [attempt_seeds(rng)], one_by_one(self.generate))
        if turn.action is None:
            raise IllegalAction(turn.parsed.error)
        return turn.action
