"""The pilot's training by proximal policy optimisation (PPO), on batches of games in numpy.

    python -m sauda train pilot

A round plays one batch of each task in turn and learns from each. At first one network learns all
tasks; then the one with a deadline gets a copy of it, and the two learn apart. All chance of a
round comes from (seed, round), so a resumed run goes on as if it had never stopped, bit for bit on
one machine.

Schulman et al. (2017), with critics that know more: a critic reads the hidden numbers of a game
too. It serves as a baseline alone, so the pilot learns nothing that it will not see; but most of
the chance in a grade is the seller's, and a baseline that knows the seller takes that part out
(Pinto et al. 2018). Each task has a critic of its own.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from env import TASKS, draw_games, play_batch
from sauda.policies.pilot import (
    FEATURES,
    MIDDLE,
    PARTS,
    RELUCTANCE,
    SPREAD,
    Network,
    Pilot,
    network,
)
from sauda.policies.unsteady import BatchUnsteady
from sauda.records.kinds import Check, File, Kind, register_kind
from sauda.records.schemas.pilot import PilotRun
from sauda.records.store import Artifact, digest, replace_file
from sauda.statistics import mean_interval
from sauda.train.common import (
    RUNS,
    Stopped,
    check_finite,
    check_whole_numbers,
    hardware,
    keep_settings,
)
from sauda.train.pilot_games import (
    HIDDEN,
    SEEN_PRICES,
    SEEN_TYPES,
    Hand,
    Trajectories,
    play_fresh,
)

FOLDER = RUNS / "pilot"
STATE = "state.pt"  # in a run's folder: the last checkpoint, with the log up to it
PILOT = "pilot"  # beside the tasks' names
OUTPUTS = 2  # a price and a logit of walking away
DEAL = "deal"  # the learner at first
APART = "bazaar/rushed"  # the one that leaves the first one later
DIGITS = 6  # decimals of a committed weight


@dataclass(frozen=True)
class PPO:
    """The settings of one PPO update; the names are those of TRL and CleanRL."""

    hidden_size: int = 64  # of both layers, of the pilot and of the critic
    learning_rate: float = 1.5e-3  # of the pilot at first; it falls linearly
    value_learning_rate: float = 3e-3  # of the critics, likewise
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    update_epochs: int = 3
    minibatch: int = 4096  # turns
    max_grad_norm: float = 0.5


@dataclass(frozen=True, kw_only=True)
class PilotSettings:
    """A run; the defaults are those of the committed pilot."""

    rounds: int = field(default=190, metadata={"help": "with one network for all tasks"})
    apart: int = field(
        default=110, metadata={"help": "rounds after them, in which the deadline has its own"}
    )
    games: int = field(default=2500, metadata={"help": "games per batch"})
    seed: int = field(
        default=0, metadata={"help": "of all chance: games, moves, the first weights"}
    )
    threads: int = field(default=1, metadata={"help": "of PyTorch"})
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed")
    error: float = 3.0  # of the action noise, percent of the limit
    first_error: float = 6.0  # at the start; it falls linearly over `settling` of the run
    settling: float = 0.3
    slips: float = 0.01  # chance that a move comes out as another kind
    apart_rate: float = 0.6  # share of the learning rates with which those rounds begin
    least_rate: float = 0.03  # share of the learning rate that is left at the end
    save_rounds: int = field(
        default=20, metadata={"help": "rounds between two checkpoints, each with an evaluation"}
    )
    evaluated: int = field(default=2000, metadata={"help": "games per task and evaluation"})
    hands: tuple[float, ...] = (0.0, 3.0)  # action noise of the evaluations
    ppo: PPO = PPO()

    def __post_init__(self) -> None:
        check_whole_numbers(self)


SETTINGS = {"bazaar": PilotSettings}


def train(settings: PilotSettings, folder: Path = FOLDER, resume: bool = False) -> dict[str, Any]:
    """Train the pilot in `folder`; returns the data of its artifact.

    Raises Stopped where a run is there and `resume` is not set, or the reverse.
    """
    import torch

    torch.set_num_threads(settings.threads)
    file = folder / STATE
    if file.exists() and not resume:
        raise Stopped(f"there is a run in {folder}; continue it by --resume, or remove it")
    keep_settings(folder, asdict(settings), resume)
    learners = {DEAL: Learner(settings.ppo, settings.tasks, settings.seed)}
    log: list[dict[str, Any]] = []
    resumed: list[int] = []
    if file.exists():
        kept = torch.load(file, weights_only=True)
        for name, state in kept["learners"].items():
            learners.setdefault(name, Learner(settings.ppo, settings.tasks, settings.seed))
            learners[name].restore(state)
        log, resumed = kept["log"], [*kept["resumed"], len(kept["log"])]
    last = settings.rounds + settings.apart
    for number in range(len(log), last):
        if number == settings.rounds:
            learners[APART] = Learner(settings.ppo, settings.tasks, settings.seed)
            learners[APART].restore(learners[DEAL].state())
        log.append(row := train_round(settings, number, learners, folder))
        if (number + 1) % settings.save_rounds == 0 or number + 1 in (settings.rounds, last):
            row["evaluations"] = evaluations(settings, pilot_of(learners))
            states = {name: learner.state() for name, learner in learners.items()}
            with replace_file(file) as part, part.open("wb") as content:
                torch.save({"learners": states, "log": log, "resumed": resumed}, content)
        print(
            f"round {number + 1} of {last}, value loss {row['value_loss']:.4f}, {row['reward']}, "
            f"{row['seconds']:.1f} CPU s",
            flush=True,
        )
    return data_of(settings, log, resumed, round_weights(pilot_of(learners)))


def pilot_of(learners: Mapping[str, "Learner"]) -> Pilot:
    """The pilot of a network per deal and one with a deadline, which may be the same."""
    deadline = learners.get(APART, learners[DEAL])
    return Pilot(learners[DEAL].network(), deadline.network())


def train_round(
    settings: PilotSettings, number: int, learners: Mapping[str, "Learner"], folder: Path
) -> dict[str, Any]:
    """Play and learn from one batch per task; returns the row of the log."""
    began, rng = time.process_time(), np.random.default_rng([settings.seed, number])
    error, share = schedule(settings, number)
    figures: dict[str, list[float]] = {}
    reward: dict[str, list[float]] = {}
    for name in settings.tasks:
        hand, learner = Hand(error, settings.slips), learners.get(name, learners[DEAL])
        played, results = play_fresh(name, settings.games, learner.network(), hand, rng)
        reward.setdefault(name, []).append(float(results.grade.mean()))
        for key, value in learner.update(name, played, error, share, rng).items():
            figures.setdefault(key, []).append(value)
    means = {key: float(np.mean(values)) for key, values in figures.items()}
    check_finite(means, number + 1, folder)
    return {
        "step": number + 1,
        "seconds": round(time.process_time() - began, 3),
        "error": round(error, 3),
        "learning_rate": share * settings.ppo.learning_rate,
        "reward": {name: round(float(np.mean(values)), 6) for name, values in reward.items()},
        **{key: round(value, 6) for key, value in means.items()},
    }


def schedule(settings: PilotSettings, number: int) -> tuple[float, float]:
    """The action noise in round `number`, from 0, and the share of the learning rates."""
    if number >= settings.rounds:
        left = 1 - (number - settings.rounds) / settings.apart
        return settings.error, max(settings.least_rate, settings.apart_rate * left)
    done = number / settings.rounds
    early = max(0, 1 - done / settings.settling)
    error = settings.error + (settings.first_error - settings.error) * early
    return error, max(settings.least_rate, 1 - done)


def evaluations(settings: PilotSettings, player: Pilot) -> list[dict[str, Any]]:
    """Grades on fixed games outside the hold-out, by task and action noise."""
    rows = []
    for index, name in enumerate(dict.fromkeys(settings.tasks)):
        rng = np.random.default_rng([settings.seed, settings.rounds + 1 + index])
        n = settings.evaluated
        games = draw_games(name, n, rng, SEEN_TYPES, SEEN_PRICES)
        for error in settings.hands:
            grade = play_batch(games, BatchUnsteady(player.batch, error)).grade
            names = ("mean", "low", "high")
            interval = dict(zip(names, mean_interval(grade), strict=True))
            rows.append(
                {"task": name, "error": error, "n": n}
                | {key: round(float(value), 6) for key, value in interval.items()}
            )
    return rows


def data_of(
    settings: PilotSettings, log: list[dict[str, Any]], resumed: list[int], player: Pilot
) -> dict[str, Any]:
    """The data of the artifact, which is saved where the run is the committed one."""
    networks = {part: getattr(player, part).as_lists() for part in PARTS}
    return {
        "log": log,
        "resumed": resumed,
        "final": evaluations(settings, player),
        "parameters": player.deal.parameters,
        "seconds": round(sum(row["seconds"] for row in log), 1),
        "hardware": hardware(),
        "features": list(FEATURES),
        "networks": networks,
        "sha256": digest(networks),
    }


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data of an artifact: its final games played again, its weights digested again.

    Tasks of its training that no longer exist are left out.
    """
    asked, data = artifact.settings(), artifact.data.as_json()
    tasks = tuple(name for name in asked["tasks"] if name in TASKS)
    settings = PilotSettings(**asked | {"ppo": PPO(**asked["ppo"]), "tasks": tasks})
    networks = data["networks"]
    player = Pilot(*(network(networks[p]["weights"], networks[p]["biases"]) for p in PARTS))
    return {**data, "final": evaluations(settings, player), "sha256": digest(networks)}


def round_weights(player: Pilot) -> Pilot:
    """The pilot with weights of DIGITS decimals, as it is committed."""

    def short(network: Network) -> Network:
        parts = (network.weights, network.biases)
        return Network(*(tuple(np.round(each, DIGITS) for each in part) for part in parts))

    return Pilot(*(short(getattr(player, part)) for part in PARTS))


class Learner:
    """The pilot and a critic per task, each with its optimizer, as PyTorch has them."""

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


register_kind(
    Kind(
        "pilot_run/2",
        PilotRun,
        (File("training/pilot.json", "train pilot", "Training"),),
        Check(
            "replayed in part",
            "the final games replayed from the weights, which are digested; not the log",
            lambda config, data: sum(row.n for row in data.final),
            "games",
            replay,
        ),
    )
)
