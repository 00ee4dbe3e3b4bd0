"""Batched rollout: many games of one language model, one forward pass for a turn of them all.

A game is the one that `rollout` plays alone, since its chance depends on (seed, agent, turn); but
bf16 rounds otherwise in a batch, so a sampled token may differ where two are nearly as likely.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from env import Play, Task, advance, agent_stream, begin
from sauda.games import game_of
from sauda.games.adapter import ModelTurn
from sauda.llm.registry import PlayerSpec
from sauda.llm.turn import apply, in_batches, seed_of, take_turns


@dataclass
class ModelGame:
    """A game in progress between a language model and the task's own opponents.

    `salt` draws the model's tokens apart from those of other games of the same seed.
    """

    task: Task
    play: Play
    salt: tuple[int, ...] = ()
    turns: list[ModelTurn] = field(default_factory=list)  # of the model

    @property
    def running(self) -> bool:
        """Whether the learner has another turn."""
        return not self.play.forfeit and self.task.env.to_act(self.play.state) is not None

    @property
    def observation(self) -> Any:
        """What the learner sees now."""
        return self.task.env.observe(self.play.state, self.task.learner)

    @property
    def grade(self) -> float:
        """The task's grade of the current state, in [-1, 1]."""
        return self.task.grade(self.play.state)

    def seed(self) -> int:
        """The seed of the next reply."""
        turn = sum(turn.agent == self.task.learner for turn in self.play.turns)
        if self.salt:
            return seed_of(np.random.default_rng([self.play.seed, *self.salt, turn]))
        return seed_of(agent_stream(self.task, self.play.seed, self.task.learner, turn))

    def apply(self, turn: ModelTurn) -> None:
        """Apply the model's turn, then the opponents' turns up to its next; a forfeit ends it."""
        play, turn = apply(self.task, self.play, turn)
        self.play = advance(self.task, self.task.opponents, play)
        self.turns.append(turn)


def new_game(task: Task, seed: int, salt: tuple[int, ...] = ()) -> ModelGame:
    """The game of `seed` up to the learner's first turn."""
    return ModelGame(task, advance(task, task.opponents, begin(task, seed)), salt)


def play_games(games: Sequence[ModelGame], player: PlayerSpec) -> None:
    """Play `games` to their ends."""
    while running := [game for game in games if game.running]:
        play_turn(running, player)


def play_turn(games: Sequence[ModelGame], player: PlayerSpec) -> None:
    """One turn in each of `games`, all running, their replies in one batch."""
    seats = [player.seat(game_of(game.task)) for game in games]
    observations = [game.observation for game in games]
    seeds = [lambda attempt, game=game: game.seed() for game in games]
    turns = take_turns(seats, observations, seeds, in_batches(player.generate))
    for game, turn in zip(games, turns, strict=True):
        game.apply(turn)
