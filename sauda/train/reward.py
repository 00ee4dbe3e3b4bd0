"""Bargaining from reward alone: whole games and their grades, and nobody's moves to imitate.

    python -m sauda train form      # where it begins
    python -m sauda train reward

A cheap partner, who does what the learner did lately in states like the one at hand, plays games to
their ends. In one state of each, drawn at random, the learner makes a group of moves, and what a
move is worth is found out by letting the partner play on from it: a state is a value and chance is
drawn at reset, so all members of a group meet the same seller and the same luck. The reward of a
move is the mean grade of the games that it leads to, less the mean of its group (Shao et al. 2024),
by TRL's GRPOTrainer. No act, price or value of a planner is in it.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import env
from sauda.games import game_of
from sauda.llm.turn import ModelGame, PlayerSpec, play_turn
from sauda.train import grpo
from sauda.train.checks import agreements
from sauda.train.common import Run, option
from sauda.train.form import random_reply
from sauda.train.grpo import Games, GRPOSettings
from sauda.train.model import Learner
from sauda.train.people_rows import task_of

MEMORY = "partner-{}.npz"  # what the partner goes by at the beginning of a step
STREAM = 10  # that draws the states and the partner's moves
TOY = grpo.TOY | {"eval_games": 2}


@dataclass(frozen=True, kw_only=True)
class RewardSettings(GRPOSettings):
    """Settings in the names of TRL's GRPOConfig; the defaults are the numbers we report."""

    init_adapter: str = "form"
    tasks: tuple[str, ...] = option("tasks of the games, in turn", ("bazaar/open-3",))
    prompts_per_step: int = 10  # games of the partner, in each of which one state is chosen
    num_generations: int = 14  # moves in that state; they share a prompt, which is read once
    per_device_train_batch_size: int = 14
    playouts: int = option("games played on from each move", 16)
    memory: int = option("moves of the learner that its partner goes by", 400)
    max_steps: int = option("steps of the optimizer", 600)
    max_new_tokens: int = 16  # a move without words
    temperature: float = 1.0
    learning_rate: float = 2e-4
    lr_scheduler_type: str = "constant_with_warmup"
    warmup_steps: float = 5
    beta: float = 0.0
    first_seed: int = 20_000
    save_steps: int = 30
    eval_games: int = option("training games that checkpoints play", 80)
    stage: ClassVar[str] = "reward"

    scale_rewards: ClassVar[str] = "none"  # a group that differs by chance alone stays small
    # Kept up by as much as it takes, in units of the grade.
    exploration: ClassVar[dict[str, Any]] = {
        "use_adaptive_entropy": True, "entropy_coef": 0.05, "entropy_coef_delta": 0.002,
        "entropy_target": 0.4,
    }  # fmt: skip
    logged: ClassVar[tuple[str, ...]] = (*grpo.GRPO_LOGGED, "games", "game_grade")


SETTINGS = (RewardSettings,)


def train(settings: RewardSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    return grpo.train(settings, folder, resume, MovesPlayedOn)


class Partner:
    """Plays as the learner did lately in states like the one at hand, but never over its limit.

    With a partner that buys at a loss, as the learner does at first, to walk away is always best.
    Until the learner has made NEAREST moves it draws moves at random, as `form` does.
    """

    NEAREST = 8

    def __init__(self, memory: int) -> None:
        self.states: deque[np.ndarray] = deque(maxlen=memory)
        self.moves: deque[tuple[str, float]] = deque(maxlen=memory)  # kind, price over limit

    def remember(self, obs: env.Observation, action: Any) -> None:
        """Keep a move of the learner."""
        kind = {env.Offer: "offer", env.Accept: "accept", env.WalkAway: "walk"}[type(action)]
        if kind == "offer" and action.price == obs.bid:
            kind = "hold"
        self.states.append(features(obs))
        self.moves.append((kind, getattr(action, "price", 0.0) / obs.reservation))

    def save(self, file: Path) -> None:
        """Write what it remembers."""
        kinds, shares = zip(*self.moves, strict=True) if self.moves else ((), ())
        np.savez(file, states=np.array(self.states), kinds=np.array(kinds, str), shares=shares)

    def load(self, file: Path) -> None:
        """Remember what `save` wrote."""
        written = np.load(file)
        self.states.extend(written["states"])
        self.moves.extend(zip(written["kinds"].tolist(), written["shares"].tolist(), strict=True))

    def __call__(self, obs: env.Observation, rng: np.random.Generator) -> Any:
        """A move; the one nearest by chance, put into what the rules allow at `obs`."""
        prompt = game_of("bazaar/open-3").prompt
        if len(self.moves) < self.NEAREST:
            return prompt.parse(random_reply(obs, rng), obs)
        distances = ((np.array(self.states) - features(obs)) ** 2).sum(1)
        nearest = np.argpartition(distances, self.NEAREST - 1)[: self.NEAREST]
        kind, share = self.moves[rng.choice(nearest)]
        within = obs.ask <= obs.reservation
        if kind == "walk":
            return env.WalkAway()
        if kind == "accept" and within:
            return env.Accept()
        price = obs.bid if kind != "offer" else obs.priced(share * obs.reservation)
        if price is None:
            return prompt.parse(random_reply(obs, rng), obs)
        price = min(price, math.floor(obs.reservation))
        return env.Accept() if within and price >= obs.ask else env.Offer(max(price, obs.bid or 1))


def features(obs: env.Observation) -> np.ndarray:
    """Where a buyer stands: time, ask, bid and falls in shares of its limit; shape (6,)."""
    table, limit = obs.table, obs.reservation
    until = min(table.rounds, obs.own.get("deadline") or table.rounds)
    asks, bid = table.asks, obs.bid
    fall = asks[-2] - asks[-1] if len(asks) > 1 else 0.0
    left = until - table.round
    return np.array([
        table.round / until, 2.0 * (left <= 1), 2 * asks[-1] / limit, 2 * (bid or 0.0) / limit,
        1.0 * (bid is None), 2 * fall / limit,
    ])  # fmt: skip


class MovesPlayedOn(Games):
    """TRL's rollout function: groups of moves in one state of each game, played on."""

    def __init__(self, run: Run, learner: Learner) -> None:
        super().__init__(run, learner)
        self.run = run
        self.partner = Partner(self.settings.memory)

    def play(self, instances: Sequence[tuple[str, int]], step: int) -> list[ModelGame]:
        """The groups of moves, each a game of one turn, in states of the partner's games."""
        if step and not self.partner.moves:
            self.partner.load(self.run.folder / MEMORY.format(step))
        else:  # at each step: a run ends by its minutes with a checkpoint at any
            self.partner.save(self.run.folder / MEMORY.format(step))
        self.step, members = step, range(self.settings.num_generations)
        branches, self.ends = [], []
        for name, seed in instances:
            task, rng = task_of(name, "training"), self.rng(seed, self.settings.playouts)
            *states, end = self.go_on(
                task, env.advance(task, task.opponents, env.begin(task, seed)), rng
            )
            self.ends.append(ModelGame(task, end, ()))
            before = states[rng.integers(len(states))]
            branches += [ModelGame(task, before, (step + 1, member)) for member in members]
        play_turn(branches, PlayerSpec(self.learner, self.settings.constrained))
        for game in branches:
            (turn,) = game.turns
            if not isinstance(turn.parsed.proposal, env.IllegalAction):
                self.partner.remember(turn.obs, turn.parsed.proposal)
        return branches

    def figures(self, games: Sequence[ModelGame], rewards: np.ndarray) -> dict[str, float]:
        """The figures of a step; the grades and deals of whole games are those of the partner."""
        per_step = len(self.ends) + len(games) * self.settings.playouts
        return super().figures(games, rewards) | {
            "games": float(per_step * (self.step + 1)),
            "agreement_rate": agreements(self.ends),
            "game_grade": float(np.mean([game.grade for game in self.ends])),
        }

    def earn(self, game: ModelGame) -> float:
        """The mean grade of the games that the partner plays on, with the same luck in a group."""
        if not game.running:
            return game.grade
        ends = [
            [*self.go_on(game.task, game.play, self.rng(game.play.seed, number))][-1]
            for number in range(self.settings.playouts)
        ]
        return float(np.mean([game.task.grade(end.state) for end in ends]))

    def rng(self, game: int, number: int) -> np.random.Generator:
        """What draws the partner's moves in its `number`th try at the game of a seed."""
        return np.random.default_rng([self.settings.seed, STREAM, game, number])

    def go_on(self, task: env.Task, play: env.Play, rng: np.random.Generator) -> Iterator[env.Play]:
        """`play` at each turn of the learner, where its partner moves, and at the end."""
        while task.env.to_act(play.state) is not None:
            yield play
            obs = task.env.observe(play.state, task.learner)
            play = env.advance(task, task.opponents, env.move(task, play, self.partner(obs, rng)))
        yield play
