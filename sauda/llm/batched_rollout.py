"""Games of one language model in step: one pass of the network moves every one of them.

A game is as it were played alone, for chance belongs to (seed, agent, turn); but bf16 rounds
differently in a batch, and a sampled token may turn on a last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from env import (
    IllegalAction,
    Play,
    Task,
    Turn,
    advance,
    agent_stream,
    begin,
    move,
)
from sauda.llm.games.bazaar import seed_of
from sauda.llm.registry import Contestant, proposed, speech
from sauda.llm.types import Messages, Reply


@dataclass(frozen=True)
class Asked:
    """One turn of the model's: what it was asked, what it replied, what that proposes."""

    before: Play
    obs: Any  # of either game
    chat: Messages
    reply: Reply
    proposal: Any  # an action, or the IllegalAction that says why there is none
    action: Any  # the move that was made of it; None where the game was forfeited
    changed: bool = False  # by a wrapper


@dataclass
class Game:
    """A game in play against the task's own opponents.

    `salt` draws the model's tokens apart from those of other games of the same seed.
    """

    here: Task
    play: Play
    salt: tuple[int, ...] = ()
    asked: list[Asked] = field(default_factory=list)

    @property
    def running(self) -> bool:
        """Whether the learner has another move."""
        return not self.play.forfeit and self.here.env.to_act(self.play.state) is not None

    @property
    def observation(self) -> Any:
        """What the learner sees now."""
        return self.here.env.observe(self.play.state, self.here.learner)

    @property
    def grade(self) -> float:
        """The task's grade of how the game stands."""
        return self.here.grade(self.play.state)

    def seed(self) -> int:
        """Of the next reply."""
        turn = sum(t.agent == self.here.learner for t in self.play.turns)
        if self.salt:
            return seed_of(np.random.default_rng([self.play.seed, *self.salt, turn]))
        return seed_of(agent_stream(self.here, self.play.seed, self.here.learner, turn))

    def answer(self, player: Contestant, obs: Any, chat: Messages, reply: Reply) -> None:
        """The learner's move by `reply` and every answer to it; a forfeit ends the game."""
        before, proposal = self.play, proposed(obs, reply)
        action, changed = None, False
        try:
            steered = player.steer(obs, proposal)
            changed = bool(steered.changes)
            play = move(self.here, self.play, steered.action)
            self.play = advance(self.here, self.here.opponents, play)
            action = steered.action
        except IllegalAction as error:
            turns = (*self.play.turns, Turn(self.here.learner, obs, None, str(error)))
            self.play = Play(self.play.seed, self.play.state, turns, forfeit=True)
        self.asked.append(Asked(before, obs, chat, reply, proposal, action, changed))


def new_game(task: Task, seed: int, salt: tuple[int, ...] = ()) -> Game:
    """The game of `seed` up to the learner's first move."""
    return Game(task, advance(task, task.opponents, begin(task, seed)), salt)


def play_in_step(games: Sequence[Game], player: Contestant) -> None:
    """Play `games` to their ends."""
    while running := [game for game in games if game.running]:
        move_in_step(running, player)


def move_in_step(games: Sequence[Game], player: Contestant) -> None:
    """One move in each of `games`, all running, their replies in one batch."""
    seen = [game.observation for game in games]
    chats = [speech(obs).render(obs) for obs in seen]
    forms = [speech(obs).schema(obs) if player.constrained else None for obs in seen]
    replies = player.generate.batch(chats, [game.seed() for game in games], forms)
    for game, obs, chat, reply in zip(games, seen, chats, replies, strict=True):
        game.answer(player, obs, chat, reply)
