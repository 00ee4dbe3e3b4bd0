"""Plays episodes. Every random number is a function of (seed, agent, turn).

The instance has a random stream of its own, and each agent has a fresh one at each of its turns. So
two policies at one seed meet the same instance and opponents' draws, and a game can be resumed from
any state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from .core import Action, EndReason, Episode, IllegalAction, Policy, State, Task, Turn


@dataclass(frozen=True, slots=True)
class Play:
    """A game in progress. `forfeit` says that a policy gave no legal action."""

    seed: int
    state: State
    turns: tuple[Turn, ...] = ()
    forfeit: bool = False


def begin(task: Task, seed: int) -> Play:
    """The game of `seed` before its first move. Raises ValueError for a negative seed."""
    if seed < 0:
        raise ValueError(f"a seed is a whole number from 0, not {seed}")
    return Play(seed, task.env.reset(instance_stream(seed)))


def instance_stream(seed: int) -> np.random.Generator:
    """The random stream that draws the game of `seed`."""
    return np.random.default_rng((seed, 0))  # of row 0 of `_words`, which no agent uses


def next_stream(task: Task, play: Play, agent: str) -> np.random.Generator:
    """The random stream of an agent's next turn in a game in progress."""
    return agent_stream(task, play.seed, agent, sum(turn.agent == agent for turn in play.turns))


BLOCK = 8  # turns seeded at once: making a SeedSequence costs more than a turn of play


def agent_stream(task: Task, seed: int, agent: str, turn: int) -> np.random.Generator:
    """The random stream of one agent at its `turn`, counted from 0, in the game of `seed`."""
    agents = task.env.agents
    block, row = divmod(turn, BLOCK)
    words = _words(seed, block, (1 + len(agents)) * BLOCK)
    row += (1 + agents.index(agent)) * BLOCK
    return np.random.Generator(np.random.PCG64(_Row(words[row])))


@lru_cache(maxsize=256)
def _words(seed: int, block: int, rows: int) -> np.ndarray:
    """Seed words of one block of turns, agent by agent from row BLOCK on, shape (rows, 4)."""
    words = np.random.SeedSequence([seed, block]).generate_state(rows * 4, np.uint64)
    return words.reshape(rows, 4)


class _Row(ISeedSequence):
    """A seed sequence that is already expanded to the four words that PCG64 needs."""

    def __init__(self, words: np.ndarray) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: type = np.uint64) -> np.ndarray:
        assert n_words == len(self.words)
        return self.words


class _LazyStream:
    """The `agent_stream` of one turn, seeded when first drawn from: scripted labs draw nothing."""

    def __init__(self, *turn: Any) -> None:
        self._turn = turn

    @cached_property
    def _seeded(self) -> np.random.Generator:
        return agent_stream(*self._turn)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._seeded, name)


def advance(task: Task, seats: Mapping[str, Policy], play: Play) -> Play:
    """The game after the policies in `seats` moved, until it ends or a seat without policy is next.

    An IllegalAction of a policy ends the game as a forfeit; its message is kept in the last turn.
    """
    env, state, turns = task.env, play.state, list(play.turns)
    taken: dict[str, int] = {}
    for turn in turns:
        taken[turn.agent] = taken.get(turn.agent, 0) + 1
    while not play.forfeit and (agent := env.to_act(state)) in seats:
        obs, number = env.observe(state, agent), taken.get(agent, 0)
        try:
            action = seats[agent](obs, _LazyStream(task, play.seed, agent, number))
            state = env.step(state, action)
        except IllegalAction as error:
            turns.append(Turn(agent, obs, None, str(error)))
            return Play(play.seed, state, tuple(turns), forfeit=True)
        turns.append(Turn(agent, obs, action))
        taken[agent] = number + 1
    return Play(play.seed, state, tuple(turns), play.forfeit)


def move(task: Task, play: Play, action: Action) -> Play:
    """The game after the next agent's `action`. Raises IllegalAction; `play` then stays valid."""
    agent = None if play.forfeit else task.env.to_act(play.state)
    if agent is None:
        raise IllegalAction("this game is over; start a new one to play on")
    obs = task.env.observe(play.state, agent)
    state = task.env.step(play.state, action)
    return replace(play, state=state, turns=(*play.turns, Turn(agent, obs, action)))


def episode(task: Task, play: Play) -> Episode:
    """The finished `play` as an episode. Raises ValueError if the game is still running."""
    end = EndReason.FORFEIT if play.forfeit else task.env.end(play.state)
    if end is None:
        raise ValueError("the game still runs; only a finished one is an episode")
    payoffs = task.env.payoffs(play.state)
    return Episode(task.name, play.seed, play.turns, end, payoffs, play.state)


def rollout(task: Task, policy: Policy, seed: int) -> Episode:
    """Plays one episode of `task` with `policy` in the learner's seat."""
    seats = {**task.opponents, task.learner: policy}
    return episode(task, advance(task, seats, begin(task, seed)))
