"""Buyers to profile: scripts and language models by name, and models behind an endpoint."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from env import (
    Accept,
    Episode,
    Observation,
    Offer,
    Policy,
    Task,
    WalkAway,
    episode,
    get_task,
    rollout,
)
from sauda.evaluation.market.profile.calibration import Range, asked
from sauda.evaluation.market.regret import Judged
from sauda.evaluation.market.tournament.model_games import play_sides
from sauda.evaluation.market.tournament.players import TASK, Side
from sauda.games import BAZAAR
from sauda.llm.registry import get_policy, is_model, player_spec
from sauda.llm.turn import PlayerSpec
from sauda.policies.belief import BeliefBuyer

Action = Offer | Accept | WalkAway
TAILS = np.array([0.1, 0.9])  # quantiles of the range that a player is asked for


@dataclass(frozen=True)
class Player:
    """A buyer by its name in the profile; exactly one of `policy` and `model` is given."""

    name: str
    policy: Policy | None = None
    model: PlayerSpec | None = None
    batch: int = 40  # games of a language model played together

    def games(self, task: Task, seeds: Sequence[int]) -> list[Episode]:
        """The games of `seeds` of `task` with this player as the buyer."""
        if self.policy is not None:
            return [rollout(task, self.policy, seed) for seed in seeds]
        side = Side(self.model.seat(BAZAAR), self.model.generate, self.model.weights)
        games = []
        for start in range(0, len(seeds), self.batch):
            some = seeds[start : start + self.batch]
            games += play_sides(task, {"buyer": side}, task.opponents, some)
        return [episode(task, game.play) for game in games]

    def moves(self, judged: Judged) -> list[Action | None]:
        """Its moves in the positions of `judged`; None for a reply without a move."""
        if self.policy is not None:
            return judged.moves(self.policy)
        return judged.moves_of_model(self.model)

    def ranges(self, at: Sequence[Observation], seeds: Sequence[int]) -> list[Range | None] | None:
        """The range that holds the seller's limit with 80 % chance, by its belief, in rupees.

        One for each observation, None for an answer that is none. Altogether None for a script that
        has no belief.
        """
        if self.model is not None:
            return asked(self.model.generate, at, seeds, self.batch)
        if isinstance(self.policy, BeliefBuyer):
            return [Range(*self.policy.belief(obs).quantile(TAILS).tolist()) for obs in at]
        return None


def named(name: str) -> Player:
    """The buyer called `name`; ValueError naming the buyers there are."""
    if is_model(name):
        return Player(name, model=player_spec(name))
    return Player(name, policy=get_policy(get_task(TASK), name))
