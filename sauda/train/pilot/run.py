"""The pilot's training: settings, checkpoints, and the artifact that holds its log and weights.

    python -m sauda train pilot

A round plays one batch of each task in turn and learns from each. At first one network learns all
tasks; then the one with a deadline gets a copy of it, and the two learn apart. All
chance of a round comes from (seed, round), so a resumed run goes on as if it had never stopped, bit
for bit on one machine.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import TASKS, draw_games, play_batch
from sauda.policies.pilot import FEATURES, PARTS, Network, Pilot, network
from sauda.policies.unsteady import BatchUnsteady
from sauda.records.store import Artifact, digest
from sauda.statistics import mean_interval
from sauda.train.pilot.games import SEEN_PRICES, SEEN_TYPES, Hand, play
from sauda.train.pilot.ppo import PPO, Learner
from sauda.train.run import (
    RUNS,
    Heartbeat,
    Run,
    append,
    check_finite,
    check_log,
    curve,
    hardware,
    latest,
    lines,
    locked,
    open_run,
    option,
    resumed_steps,
    seal,
    step_of,
)

DEAL = "deal"  # the learner at first
APART = "bazaar/rushed"  # the one that leaves the first one later
DIGITS = 6  # decimals of a committed weight
USUAL = PPO()
FOLDER = RUNS / "pilot"
STATE = "state.pt"  # in a checkpoint


@dataclass(frozen=True)
class Config:
    """A run; the defaults are those of the committed pilot."""

    rounds: int = option(190, "with one network for all tasks")
    apart: int = option(110, "rounds after them, in which the deadline has its own", least=0)
    games: int = option(2500, "games in a batch")
    seed: int = option(0, "of all chance: games, moves, the first weights", least=0)
    threads: int = option(1, "of PyTorch")
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed")
    error: float = 3.0  # of the hand, percent of the limit
    first_error: float = 6.0  # at the start; it falls linearly over `settling` of the run
    settling: float = 0.3
    slips: float = 0.01  # chance that a move comes out as another kind
    apart_rate: float = 0.6  # share of the learning rates with which those rounds begin
    least_rate: float = 0.03  # share of the learning rate that is left at the end
    save_rounds: int = option(20, "rounds between two checkpoints, each with an evaluation")
    evaluated: int = option(2000, "games a task and evaluation")
    hands: tuple[float, ...] = (0.0, 3.0)  # errors of the evaluations
    ppo: PPO = USUAL


def train(config: Config, folder: Path = FOLDER, resume: bool = False) -> dict[str, Any]:
    """Train the pilot in `folder`; returns the data of its artifact.

    Raises Stopped where a run is there and `resume` is not set, or the reverse, and where another
    process trains in `folder`.
    """
    import torch

    torch.set_num_threads(config.threads)
    with locked(folder), Heartbeat() as heartbeat:
        run = open_run(folder, asdict(config), resume)
        checkpoint = latest(run.folder) if resume else None
        first = 0 if checkpoint is None else step_of(checkpoint)
        check_log(run, first)
        rounds = range(first, config.rounds + config.apart)
        if rounds:
            append(run.log, {"begun": first})
        learners = {DEAL: _learner(config)}
        if checkpoint is not None:
            kept = torch.load(checkpoint / STATE, weights_only=True)
            for name, state in kept.items():
                learners.setdefault(name, _learner(config)).restore(state)
        for number in rounds:
            if number == config.rounds:
                learners[APART] = _learner(config)
                learners[APART].restore(learners[DEAL].state())
            _round(config, number, learners, run, heartbeat)
        heartbeat.status = f"trained {rounds.stop} rounds"
        return _data(config, run, rounded(_pilot(learners)))


def _learner(config: Config) -> Learner:
    """A fresh one."""
    return Learner(config.ppo, config.tasks, config.seed)


def _pilot(learners: Mapping[str, Learner]) -> Pilot:
    deadline = learners.get(APART, learners[DEAL])
    return Pilot(learners[DEAL].network(), deadline.network())


def _round(
    config: Config, number: int, learners: Mapping[str, Learner], run: Run, heartbeat: Heartbeat
) -> None:
    """One round, its line of the log, and where it is due a checkpoint."""
    began, rng = time.process_time(), np.random.default_rng([config.seed, number])
    error, share = _schedule(config, number)
    figures: dict[str, list[float]] = {}
    reward: dict[str, list[float]] = {}
    for name in config.tasks:
        hand, learner = Hand(error, config.slips), learners.get(name, learners[DEAL])
        played, results = play(name, config.games, learner.network(), hand, rng)
        reward.setdefault(name, []).append(float(results.grade.mean()))
        for key, value in learner.update(name, played, error, share, rng).items():
            figures.setdefault(key, []).append(value)
    last = (config.rounds, config.rounds + config.apart)
    due = (number + 1) % config.save_rounds == 0 or number + 1 in last
    means = {key: float(np.mean(values)) for key, values in figures.items()}
    check_finite(means, number + 1, run.folder)
    seconds = time.process_time() - began
    line = {
        "step": number + 1,
        "seconds": round(seconds, 3),
        "error": round(error, 3),
        "learning_rate": share * config.ppo.learning_rate,
        "reward": {name: round(float(np.mean(values)), 6) for name, values in reward.items()},
        **{key: round(value, 6) for key, value in means.items()},
    }
    if due:
        line["evaluations"] = evaluations(config, _pilot(learners))
    append(run.log, line)
    if due:
        _keep(run, number + 1, learners)
    open_market = means["value_loss"], line["reward"][config.tasks[0]]
    heartbeat.report(
        f"round {number + 1} of {last[1]}, value loss {open_market[0]:.4f}, "
        f"{config.tasks[0]} {open_market[1]:.3f}, {seconds:.1f} CPU s a round"
    )


def _schedule(config: Config, number: int) -> tuple[float, float]:
    """The error of the hand in round `number`, from 0, and the share of the learning rates."""
    if number >= config.rounds:
        left = 1 - (number - config.rounds) / config.apart
        return config.error, max(config.least_rate, config.apart_rate * left)
    done = number / config.rounds
    early = max(0, 1 - done / config.settling)
    error = config.error + (config.first_error - config.error) * early
    return error, max(config.least_rate, 1 - done)


def evaluations(config: Config, player: Pilot) -> list[dict[str, Any]]:
    """Grades on games that are always the same and are none of the hold-out, by task and hand."""
    rows = []
    for index, name in enumerate(dict.fromkeys(config.tasks)):
        rng = np.random.default_rng([config.seed, config.rounds + 1 + index])
        n = config.evaluated
        games = draw_games(name, n, rng, SEEN_TYPES, SEEN_PRICES)
        for error in config.hands:
            grade = play_batch(games, BatchUnsteady(player.batch, error)).grade
            names = ("mean", "low", "high")
            interval = dict(zip(names, mean_interval(grade), strict=True))
            rows.append(
                {"task": name, "error": error, "n": n}
                | {key: round(float(value), 6) for key, value in interval.items()}
            )
    return rows


def _keep(run: Run, number: int, learners: Mapping[str, Learner]) -> None:
    import torch

    checkpoint = run.folder / f"checkpoint-{number}"
    checkpoint.mkdir(exist_ok=True)
    state = {name: learner.state() for name, learner in learners.items()}
    torch.save(state, checkpoint / STATE)
    seal(checkpoint)


def _data(config: Config, run: Run, player: Pilot) -> dict[str, Any]:
    """The data of the artifact, which is saved where the run is the committed one."""
    log = lines(run.log)
    steps = curve(log)
    networks = {part: getattr(player, part).as_lists() for part in PARTS}
    return {
        "log": steps,
        "resumed": resumed_steps(log),
        "final": evaluations(config, player),
        "parameters": player.deal.parameters,
        "seconds": round(sum(row["seconds"] for row in steps), 1),
        "hardware": hardware(),
        "features": list(FEATURES),
        "networks": networks,
        "sha256": digest(networks),
    }


def recomputed(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data of an artifact: its final games played again, its weights digested again.

    Tasks that it learnt and that are gone are left out.
    """
    asked, data = artifact.settings(), artifact.data.as_json()
    tasks = tuple(name for name in asked["tasks"] if name in TASKS)
    config = Config(**asked | {"ppo": PPO(**asked["ppo"]), "tasks": tasks})
    networks = data["networks"]
    player = Pilot(*(network(networks[p]["weights"], networks[p]["biases"]) for p in PARTS))
    return {**data, "final": evaluations(config, player), "sha256": digest(networks)}


def rounded(player: Pilot) -> Pilot:
    """The pilot with weights of DIGITS decimals, as it is committed."""

    def short(network: Network) -> Network:
        parts = (network.weights, network.biases)
        return Network(*(tuple(np.round(each, DIGITS) for each in part) for part in parts))

    return Pilot(*(short(getattr(player, part)) for part in PARTS))
