"""Proximal policy optimisation (Schulman et al. 2017) of the pilot, with critics that know more.

A critic reads the hidden numbers of a game too. It serves as a baseline alone, so the pilot learns
nothing that it will not see; but most of the chance in a grade is the seller's, and a baseline that
knows the seller takes that part out (Pinto et al. 2018). Each task has a critic of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sauda.policies.pilot import FEATURES, MIDDLE, RELUCTANCE, SPREAD, Network
from sauda.train.pilot.games import HIDDEN, Trajectories

PILOT = "pilot"  # beside the tasks' names
OUTPUTS = 2  # a price and a logit of walking away


@dataclass(frozen=True)
class PPO:
    """How one batch of games is learnt from; the names are those of TRL and CleanRL."""

    hidden_size: int = 64  # of both layers, of the pilot and of the critic
    learning_rate: float = 1.5e-3  # of the pilot at first; it falls linearly
    value_learning_rate: float = 3e-3  # of the critics, likewise
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    update_epochs: int = 3
    minibatch: int = 4096  # turns
    max_grad_norm: float = 0.5


class Learner:
    """The pilot and a critic a task, each with its optimizer, as PyTorch has them."""

    def __init__(self, ppo: PPO, tasks: Iterable[str], seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self.ppo = ppo
        critics = dict.fromkeys(tasks)
        self._parts = {PILOT: _perceptron(len(FEATURES), ppo.hidden_size, OUTPUTS)} | {
            name: _perceptron(len(FEATURES) + HIDDEN, ppo.hidden_size, 1) for name in critics
        }
        self._rates = {PILOT: ppo.learning_rate} | dict.fromkeys(critics, ppo.value_learning_rate)
        self._optimizers = {
            name: torch.optim.Adam(part.parameters(), self._rates[name])
            for name, part in self._parts.items()
        }

    def network(self) -> Network:
        """The pilot as numpy runs it."""
        layers = [p.detach().numpy().astype(float) for p in self._parts[PILOT].parameters()]
        return Network(tuple(layers[::2]), tuple(layers[1::2]))

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs."""
        return {
            "parts": {name: part.state_dict() for name, part in self._parts.items()},
            "optimizers": {name: each.state_dict() for name, each in self._optimizers.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `state`."""
        for name in self._parts:
            self._parts[name].load_state_dict(state["parts"][name])
            self._optimizers[name].load_state_dict(state["optimizers"][name])

    def update(
        self, task: str, played: Trajectories, error: float, share: float, rng: np.random.Generator
    ) -> dict[str, float]:
        """Learn from games of `task` with errors of `error` percent; figures of the update.

        `share` of the first learning rates is used.
        """
        import torch

        for name in (PILOT, task):
            self._optimizers[name].param_groups[0]["lr"] = share * self._rates[name]
        critic = self._parts[task]
        critic_inputs = torch.from_numpy(np.hstack([played.inputs, played.hidden]))
        with torch.no_grad():
            values = critic(critic_inputs)[:, 0].numpy()
        gains = advantages(played.reward, values, played.after, self.ppo.gae_lambda)
        target = torch.from_numpy((gains + values).astype(np.float32))
        normal = (gains - gains.mean()) / (gains.std() + 1e-6)
        data = {name: torch.from_numpy(part) for name, part in played._asdict().items()}
        data["advantage"] = torch.from_numpy(normal.astype(np.float32))
        before = _log_chance(data["meant"], data["logit"], data, error)
        sums, count = np.zeros(4), 0
        for _ in range(self.ppo.update_epochs):
            order = torch.from_numpy(rng.permutation(len(values)))
            for some in order.split(self.ppo.minibatch):
                part = {name: column[some] for name, column in data.items() if name != "after"}
                figures = self._step(part, before[some], error)
                value_loss = ((critic(critic_inputs[some])[:, 0] - target[some]) ** 2).mean()
                self._descend(task, value_loss)
                sums += [*figures, value_loss.item()]
                count += 1
        names = ("policy_loss", "approx_kl", "clip_fraction", "value_loss")
        return dict(zip(names, (sums / count).tolist(), strict=True))

    def _step(self, part: Mapping[str, Any], before: Any, error: float) -> list[float]:
        """One step of the pilot; the clipped loss, the KL and the share of clipped ratios."""
        import torch

        outputs = self._parts[PILOT](part["inputs"])
        meant, logit = MIDDLE + SPREAD * outputs[:, 0], outputs[:, 1] - RELUCTANCE
        change = _log_chance(meant, logit, part, error) - before
        ratio, clip = change.exp(), self.ppo.clip_range
        clipped = ratio.clamp(1 - clip, 1 + clip)
        loss = -torch.min(ratio * part["advantage"], clipped * part["advantage"]).mean()
        self._descend(PILOT, loss)
        with torch.no_grad():
            kl, cut = (ratio - 1 - change).mean(), ((ratio - 1).abs() > clip).float().mean()
        return [loss.item(), kl.item(), cut.item()]

    def _descend(self, which: str, loss: Any) -> None:
        import torch

        self._optimizers[which].zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parts[which].parameters(), self.ppo.max_grad_norm)
        self._optimizers[which].step()


def advantages(
    reward: np.ndarray, values: np.ndarray, after: np.ndarray, gae_lambda: float
) -> np.ndarray:
    """Generalised advantage estimates without a discount (Schulman et al. 2016), shape (k,).

    Turns come in the order of play; `after` is the index of the same game's next turn, or -1.
    """
    surprise = (reward + np.append(values, 0.0)[after] - values).tolist()
    gains = [0.0] * (len(values) + 1)  # index -1, no turn, has 0
    for turn, following in reversed(list(enumerate(after.tolist()))):
        gains[turn] = surprise[turn] + gae_lambda * gains[following]
    return np.array(gains[:-1])


def _perceptron(inputs: int, hidden: int, outputs: int) -> Any:
    from torch.nn import Linear, Sequential, Tanh

    return Sequential(
        Linear(inputs, hidden), Tanh(), Linear(hidden, hidden), Tanh(), Linear(hidden, outputs)
    )


def _log_chance(meant: Any, logit: Any, played: Mapping[str, Any], error: float) -> Any:
    """The log-density of the moves that were made, up to a constant; shape (k,)."""
    from torch.nn.functional import logsigmoid

    walked = played["walked"]
    kind = walked * logsigmoid(logit) + (1 - walked) * logsigmoid(-logit)
    return kind - (1 - walked) * ((played["price"] - meant) / error) ** 2 / 2
