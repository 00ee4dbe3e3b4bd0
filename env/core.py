"""The words every game shares: how an episode ends, what a policy is, what a task promises.

Payoffs are surpluses over each agent's BATNA, in rupees (bazaar) or credits (arena).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

State = Any  # each game has a frozen dataclass of its own
Observation = Any
Action = Any


class EndReason(StrEnum):
    """How an episode, or one deal of it, came to its end."""

    AGREEMENT = "agreement"
    WALKAWAY = "walkaway"  # a party left for its BATNA
    DEADLINE = "deadline"  # the moves ran out
    FORFEIT = "forfeit"  # a policy gave no legal action


class IllegalAction(ValueError):
    """The rules forbid this action here, or a completion holds no action at all."""


class Env(Protocol):
    """The rules of a game. Holds settings only: the state of play is passed in and out.

    Every state has a field `private: Mapping[str, ...]`: what one agent alone knows, and under
    "nature" what nobody knows yet.
    """

    agents: tuple[str, ...]

    def reset(self, rng: np.random.Generator) -> State:
        """Draw all the chance of an episode."""

    def to_act(self, state: State) -> str | None:
        """The agent whose move it is; None once the episode is over."""

    def observe(self, state: State, agent: str) -> Observation:
        """What `agent` may see now."""

    def step(self, state: State, action: Action) -> State:
        """The state after the acting agent's `action`; pure; raises IllegalAction."""

    def end(self, state: State) -> EndReason | None:
        """How the episode ended; None while it runs."""

    def payoffs(self, state: State) -> dict[str, float]:
        """Each agent's surplus over its BATNA so far."""


class Policy(Protocol):
    """A function of what an agent sees. `rng` belongs to this agent at this turn alone."""

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action: ...


@dataclass(frozen=True, slots=True)
class Turn:
    """One move as the agent met it; `action` is None where the agent forfeits."""

    agent: str
    observation: Observation
    action: Action | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """One complete game. `final` is the last state: what the graders read."""

    task: str
    seed: int
    turns: tuple[Turn, ...]
    end: EndReason
    payoffs: Mapping[str, float]
    final: State

    def trajectory(self, agent: str) -> tuple[Turn, ...]:
        """One agent's part of the episode."""
        return tuple(turn for turn in self.turns if turn.agent == agent)


@dataclass(frozen=True)
class Task:
    """Rules, the learner's seat, the policies in the other seats, and how the learner is graded."""

    name: str
    env: Env
    learner: str
    opponents: Mapping[str, Policy]
    grade: Callable[[State], float]  # of a final state, in [-1, 1]
    success: float  # the grade from which an episode counts as a success
    about: str  # one sentence for people
