"""Any task with every seat open, as a PettingZoo AEC environment."""

import secrets
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from .. import arena
from ..core import Task
from ..rollout import begin
from ..tasks import get_task
from .gym_env import FAR, Mask, encoding_of, is_arena, legal, move_of


class NegotiationAEC(AECEnv):
    """One task; the agents are its seats, in the bazaar seller and buyers, in the arena labs.

    An observation has a vector and an action mask; `gym_env.py` says what the numbers mean. An
    illegal action raises IllegalAction. All agents are paid when the game ends: their surplus over
    what they get without an agreement, as a share of the list prices or of the lab's stake.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "sauda_v1",
        "render_modes": [],
        "is_parallelizable": False,
    }

    def __init__(self, task: str = "bazaar/people") -> None:
        super().__init__()
        self.task: Task = get_task(task)
        self.encoding = encoding_of(self.task)
        self.possible_agents = list(self.task.env.agents)
        self.agents: list[str] = []
        vector = spaces.Box(-FAR, FAR, (self.encoding.size,), np.float32)
        mask = spaces.Box(0, 1, (self.encoding.actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": vector, "action_mask": mask})
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(self.encoding.actions) for agent in self.possible_agents
        }
        self.render_mode = None

    def observation_space(self, agent: str) -> spaces.Space:
        """The space of what `agent` observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """The space of what `agent` may do."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start the game of `seed`; without one, a game that nobody knows."""
        self.state_of_play = begin(self.task, secrets.randbits(64) if seed is None else seed).state
        private = self.state_of_play.private
        self.agents = [agent for agent in self.possible_agents if private[agent] is not None]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.task.env.to_act(self.state_of_play)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What `agent` may see; its mask is 0 while it is not its turn.

        Raises ValueError for a seat that is empty in this game.
        """
        if self.state_of_play.private[agent] is None:
            raise ValueError(f"the seat {agent} is empty in this game")
        seen = self.task.env.observe(self.state_of_play, agent)
        return {"observation": self.encoding.vector(seen), "action_mask": self._mask(agent, seen)}

    def _mask(self, agent: str, seen: Any) -> Mask:
        if self.task.env.to_act(self.state_of_play) != agent:
            return np.zeros(self.encoding.actions, np.int8)
        choices = self.encoding.choices(seen)
        return legal(self.task, self.state_of_play, choices, self.encoding.actions)

    def step(self, action: int | None) -> None:
        """Make the move of the agent whose turn it is; IllegalAction where the rules forbid it.

        The action is a number or an array of one, else ValueError.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        env = self.task.env
        choices = self.encoding.choices(env.observe(self.state_of_play, agent))
        self.state_of_play = env.step(self.state_of_play, move_of(action, choices))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        following = env.to_act(self.state_of_play)
        if following is None:
            shares = surplus_shares(self.task, self.state_of_play)
            self.rewards = {seat: shares[seat] for seat in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
            following = self.agents[0]
        self.agent_selection = following
        self._accumulate_rewards()


def surplus_shares(task: Task, state: Any) -> dict[str, float]:
    """Each agent's surplus as a share of the list prices of all deals, or of its own stake."""
    payoffs = task.env.payoffs(state)
    if not is_arena(task):
        worth = sum(instance.item.list_price for instance in state.private["nature"])
        return {agent: float(payoff / worth) for agent, payoff in payoffs.items()}
    owns: dict[str, arena.Own | None] = dict(state.private)
    return {
        agent: float(payoff / owns[agent].stake) if owns[agent] else 0.0
        for agent, payoff in payoffs.items()
    }
