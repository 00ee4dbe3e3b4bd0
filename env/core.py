"""The types that every game shares: environments, policies, tasks, episodes.

Payoffs are surpluses over each agent's BATNA, in rupees (bazaar) or credits (arena).
"""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import numpy as np

State = Any  # each game has a frozen dataclass of its own
Observation = Any
Action = Any


class EndReason(StrEnum):
    """How an episode, or one deal of it, ended."""

    AGREEMENT = "agreement"
    WALKAWAY = "walkaway"  # a party left for its BATNA
    DEADLINE = "deadline"  # the moves ran out
    FORFEIT = "forfeit"  # a policy gave no legal action


class IllegalAction(ValueError):
    """The rules forbid this action in this state, or a completion holds no action at all."""


class Env(Protocol):
    """The rules of a game. Holds settings only: the state of play is passed in and out.

    Every state has a field `private: Mapping[str, ...]`: what each agent alone knows, by agent, and
    under "nature" what nobody knows yet. `agents` are the seats.
    """

    agents: tuple[str, ...]

    def reset(self, rng: np.random.Generator) -> State:
        """The first state of an episode, with all its random numbers drawn from `rng`."""

    def to_act(self, state: State) -> str | None:
        """The agent to move next; None once the episode is over."""

    def observe(self, state: State, agent: str) -> Observation:
        """What `agent` may see in `state`."""

    def step(self, state: State, action: Action) -> State:
        """The state after the next agent's `action`. Pure; raises IllegalAction."""

    def end(self, state: State) -> EndReason | None:
        """How the episode ended; None while it is running."""

    def payoffs(self, state: State) -> dict[str, float]:
        """Each agent's surplus over its BATNA so far."""


class Policy(Protocol):
    """A function from observation to action. `rng` is a stream of this agent's turn alone."""

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action: ...


@dataclass(frozen=True, slots=True)
class Turn:
    """One move: what the agent saw and did. `action` is None if it forfeited, for `error`."""

    agent: str
    observation: Observation
    action: Action | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """One complete game. `final` is the last state, which the graders read."""

    task: str
    seed: int
    turns: tuple[Turn, ...]
    end: EndReason
    payoffs: Mapping[str, float]
    final: State

    def trajectory(self, agent: str) -> tuple[Turn, ...]:
        """The turns of one agent, in order."""
        return tuple(turn for turn in self.turns if turn.agent == agent)


@dataclass(frozen=True)
class Task:
    """Rules, the learner's seat, the policies in the other seats, and the learner's grader."""

    name: str
    env: Env
    learner: str
    opponents: Mapping[str, Policy]
    grade: Callable[[State], float]  # of a final state, in [-1, 1]
    success: float  # least grade of a success
    about: str  # one sentence for the page


def read_rows(name: str) -> list[dict[str, str]]:
    """The rows of a table of a game's words and data, such as "bazaar/listings.csv"."""
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def refuse_constant(name: str) -> float:
    """For `json`, to raise ValueError at NaN and the infinities."""
    raise ValueError(f"{name} is no number")
