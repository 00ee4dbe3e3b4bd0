"""Reinforcement learning (GRPO) of single moves; what a move earns is its value by the pilot.

    python -m sauda train moves

The learner plays a game, some of its states are drawn, and it writes eight replies to each. What a
reply earns is the expected grade of its move where the pilot plays on, less that of the best move:
a regret with a minus sign. That needs no end of a game, and tells which move of it cost.

Advantages are divided by the standard deviation of the whole step, not of the group: where all
moves are nearly as good, there is little to learn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from env import WalkAway, get_task
from sauda.evaluation.market.regret import price_error
from sauda.games.messages import ModelTurn
from sauda.llm.batched_rollout import ModelGame, new_game, play_games, play_turn
from sauda.policies.pilot.buyer import trained
from sauda.policies.pilot.values import pilot_values
from sauda.train import stage
from sauda.train.run import option
from sauda.train.stages import grpo

STAGE = "moves"
POSITIONS = 6  # the stream that draws the states of a game
LATE = 3  # the turn, from 1, from which the error of prices is logged: first ones cost little


@dataclass(frozen=True)
class Config(grpo.Config):
    """Settings in the names of TRL's GRPOConfig; the defaults are the numbers we report."""

    init_adapter: str = option("distill", "adapter to train further: a stage's name, or a folder")
    prompts_per_step: int = 16  # states, each answered by a group of replies
    max_steps: int = option(72, "steps of the optimizer")
    temperature: float = 1.0  # of the replies, in play and in the loss
    learning_rate: float = option(1e-4, "peak, after the warmup")
    beta: float = 0.0  # no reference: the value of a move says what is lost
    first_seed: int = option(38_000, "of the training split; GRPO's run from 30,000", least=0)
    save_steps: int = 12  # between two checkpoints
    eval_games: int = option(48, "training games that every checkpoint's adapter plays", least=0)
    groups_per_game = 2
    scale_rewards = "batch"


CONFIGS = {"bazaar": Config}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`. Raises ValueError as `grpo.check` does."""
    grpo.check(config)
    prepare = partial(grpo.prepare, rollout=Moves)
    return stage.train(STAGE, config, folder, resume, prepare)


class Moves(grpo.Games):
    """TRL's rollout function: a prompt names a game, in a state of which the learner replies.

    Its games are one reply long: they begin in that state, and their last turn is the reply.
    """

    FIGURES = ("reward_min", "reward_max", "reward_group_std", "valid_rate", "price_error")

    def play(self, instances: Sequence[tuple[str, int]], step: int) -> list[ModelGame]:
        """A group of replies to each state, each a game of one more turn."""
        config, player = self.config, self.learner.player_spec(self.config.constrained)
        games = [
            new_game(get_task(name), seed, self.salt(step))
            for name, seed in instances[:: config.groups_per_game]
        ]
        play_games(games, player)
        states = [turn for game in games for turn in self.states(game, step)]
        branches = [
            ModelGame(get_task(name), turn.before, self.salt(step, group, number))
            for group, ((name, _), turn) in enumerate(zip(instances, states, strict=True))
            for number in range(config.num_generations)
        ]
        play_turn(branches, player)
        return branches

    def states(self, game: ModelGame, step: int) -> list[ModelTurn]:
        """Turns of a game to reply to again, all equally likely."""
        had, wanted = len(game.turns), self.config.groups_per_game
        rng = np.random.default_rng([self.config.seed, POSITIONS, step, game.play.seed])
        return [game.turns[i] for i in rng.choice(had, wanted, replace=had < wanted)]

    def rewards(self, games: Sequence[ModelGame]) -> list[float]:
        """The regret of each reply, negative; one without a move has that of a walk."""
        members = self.config.num_generations
        self.values = [
            pilot_values(trained(), games[first].turns[-1].obs)
            for first in range(0, len(games), members)
        ]
        return [
            -self.values[number // members].regret(game.turns[-1].action or WalkAway())
            for number, game in enumerate(games)
        ]

    def figures(self, games: Sequence[ModelGame], rewards: np.ndarray) -> dict[str, float | None]:
        """The FIGURES of a step; `rewards` has shape (groups, members)."""
        self.check_spread(rewards)
        replies = [game.turns[-1] for game in games]
        errors = [
            price_error(self.values[number // self.config.num_generations], turn.action, turn.obs)
            for number, turn in enumerate(replies)
            if turn.obs.round + 1 >= LATE
        ]
        offered = [error for error in errors if error is not None]
        return grpo.reward_figures(rewards) | {
            "valid_rate": sum(map(grpo.holds_move, replies)) / len(replies),
            "price_error": float(np.mean(offered)) if offered else None,
        }
