"""Reinforcement learning (GRPO) on whole games; what a game earned is its grade.

    python -m sauda train grpo                 # the buyer of the bazaar
    python -m sauda train grpo --game arena    # a lab of the GPU arena

Shao et al. (2024), by TRL's GRPOTrainer with its default loss, normalised over the step's tokens
(DAPO, Yu et al. 2025). The games of a group start from the same instance. A buyer's game is one
sequence in which the replies are learnt and the seller's turns are not; of a lab's game some turns
are learnt. Nothing shapes the reward. Instances are training seeds, in the bazaar those whose
listing and seller are seen. Tokens are drawn among the 50 likeliest; the loss treats them as drawn
among all.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import IllegalAction, arena, get_task
from sauda.games import game_of
from sauda.games.adapter import ModelTurn
from sauda.llm.engine import Sampling
from sauda.llm.turn import ModelGame, new_game, play_games
from sauda.records.seeds import SPLITS, UNSEEN_SELLER, is_unseen_game
from sauda.records.store import write
from sauda.train import stage
from sauda.train.losses import grpo_on_cpu
from sauda.train.model import Base, tokenizer_of, trainable
from sauda.train.run import LOGGED, Heartbeat, Run, Stopped, option
from sauda.train.self_play import Learner, as_sequence, prompt_ids

STAGE = "grpo"
# Of each step's games beside TRL's figures. The spread is the population's, within a group; TRL's
# reward_std is the sample's.
GAME_FIGURES = ("reward_min", "reward_max", "reward_group_std", "valid_rate", "agreement_rate")
GRPO_LOGGED = (
    *LOGGED, "reward", "frac_reward_zero_std", "kl", "completions/mean_length", "step_time",
)  # fmt: skip


@dataclass(frozen=True)
class Config:
    """Settings in the names of TRL's GRPOConfig; the defaults are the numbers we report."""

    model: str = option("mini", "toy, mini, 8b, or a folder or repository")
    init_adapter: str = option("sft", "adapter to train further: a stage's name, or a folder")
    tasks: tuple[str, ...] = option(
        ("bazaar/open", "bazaar/rushed"), "tasks of the groups, in turn"
    )
    prompts_per_step: int = 4  # instances, each played by a group of games
    num_generations: int = 8  # games of a group
    max_steps: int = option(36, "steps of the optimizer")
    per_device_train_batch_size: int = option(8, "sequences a pass; lower where memory is short")
    temperature: float = 0.7  # of the replies, in play and in the loss
    max_new_tokens: int = 40  # of a reply
    constrained: bool = option(False, "replies under a grammar, for a base that writes no moves")
    learning_rate: float = option(2e-4, "peak, after the warmup")
    warmup_steps: float = 0.0  # below 1 a share of the steps; then a cosine to 0
    beta: float = 0.02  # of the divergence from the adapter it started from
    max_grad_norm: float = 1.0
    first_seed: int = option(30_000, "of the training split; SFT's run from 10,000", least=0)
    unseen_seller: str = UNSEEN_SELLER  # a seller type that no training game has
    patience: int = 3  # steps in a row whose games all earn the same, before it stops
    save_steps: int = 5  # between two checkpoints
    acceptance_prompts: int = 48  # hold-out prompts of the acceptance check
    eval_games: int = option(0, "training games that every checkpoint's adapter plays", least=0)
    threads: int = option(1, "of torch on a CPU")
    seed: int = option(0, "of the learner's draws", least=0)
    trial: bool = option(False, "keep the adapter in the run's folder")
    copies = 1  # of the weights beside those that learn: the player's
    game = "bazaar"
    turns_per_game = 0  # that are learnt, each a sequence of its own; 0 learns a game as one

    @property
    def sequences_per_prompt(self) -> int:
        """The sequences of a group; TRL counts them as its generations."""
        return self.num_generations * max(1, self.turns_per_game)

    @property
    def gradient_accumulation_steps(self) -> int:
        """Passes a step of the optimizer."""
        sequences = self.prompts_per_step * self.sequences_per_prompt
        return sequences // self.per_device_train_batch_size


@dataclass(frozen=True)
class ArenaConfig(Config):
    """The settings for a lab of the GPU arena.

    A lab's prompts do not grow out of one another as a buyer's do, so a game is no single sequence:
    of each game some turns are drawn, all equally likely, and learnt with what the game earned.
    """

    init_adapter: str = "sft-arena"
    tasks: tuple[str, ...] = ("arena/market_round",)
    prompts_per_step: int = 2
    turns_per_game: int = 2
    max_steps: int = 12
    per_device_train_batch_size: int = 16
    max_new_tokens: int = 64
    save_steps: int = 4
    game = "arena"


CONFIGS = {"bazaar": Config, "arena": ArenaConfig}  # by game
TURNS = 4  # the stream that draws which turns are learnt


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`. Raises ValueError as `check` does."""
    check(config)
    return stage.train(STAGE, config, folder, resume, prepare)


def check(config: Config) -> None:
    """Raise ValueError where a step's groups do not fit in passes of the same size.

    So do a task of the other game and an unknown one.
    """
    if others := [name for name in config.tasks if game_of(name).name != config.game]:
        raise ValueError(f"{', '.join(others)}: no task of the {config.game}")
    sequences = config.prompts_per_step * config.sequences_per_prompt
    if config.num_generations < 2 or sequences % config.per_device_train_batch_size:
        raise ValueError(
            f"a group has at least 2 members, and a step's {sequences} sequences are learnt in "
            f"passes of the same size, not of {config.per_device_train_batch_size}"
        )


def instances(config: Config) -> list[tuple[str, int]]:
    """The task and seed of every group, in the order they are played.

    Raises ValueError where they would leave the training split.
    """
    chosen: list[tuple[str, int]] = []
    seed = config.first_seed
    while len(chosen) < config.max_steps * config.prompts_per_step:
        name = config.tasks[len(chosen) % len(config.tasks)]
        if seed not in SPLITS["train"]:
            raise ValueError(f"too few training seeds for {config.max_steps} steps")
        if config.game == "arena" or not is_unseen_game(get_task(name), seed, config.unseen_seller):
            chosen.append((name, seed))
        seed += 1
    return chosen


def prepare(config: Config, run: Run, base: Base, heartbeat: Heartbeat) -> stage.Prepared:
    """TRL's trainer, whose rollout plays games; see `stage.train`."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    chosen = instances(config)
    adapter = stage.init_adapter(config)
    heartbeat.status = f"reading the model and its adapter {config.init_adapter}"
    network = trainable(base, adapter)
    tokenizer = tokenizer_of(base)
    arguments = GRPOConfig(
        **stage.arguments(config, run, base),
        max_steps=config.max_steps,
        num_generations=config.sequences_per_prompt,
        max_completion_length=None,
        temperature=config.temperature,
        beta=config.beta,
        shuffle_dataset=False,
    )
    sampling = Sampling(config.temperature, top_p=1.0, max_new_tokens=config.max_new_tokens)
    learner = Learner(network, tokenizer, base, sampling)
    games = Games(config, run, learner, heartbeat)
    names = [[{"role": "user", "content": f"{name} {seed}"}] for name, seed in chosen]
    trainer_class = grpo_on_cpu(lambda ids: games.labels[ids])
    if base.device != "cpu":
        trainer_class = GRPOTrainer
    trainer = trainer_class(
        model=network,
        args=arguments,
        reward_funcs=[games.reward],
        train_dataset=Dataset.from_dict({"prompt": names}),
        processing_class=tokenizer,
        rollout_func=games,
    )
    about = {
        "task": {name: sum(name == other for other, _ in chosen) for name in config.tasks},
        "num_generations": config.num_generations,
        "first_seed": chosen[0][1],
        "last_seed": chosen[-1][1],
    }
    return stage.Prepared(
        stage.without_printer(trainer),
        config.max_steps,
        lambda: {"games": about, "sample": json.loads(games.first.read_text("utf-8"))},
        (*GRPO_LOGGED, *games.FIGURES),
    )


def agreed(game: ModelGame) -> bool:
    """Whether the learner closed a deal: the game's last one, or in the arena any trade."""
    state, learner = game.play.state, game.task.learner
    if isinstance(state, arena.State):
        closed = state.market.closed.values()
        return any(
            o.status == "accepted" and learner in (o.from_lab_id, o.to_lab_id) for o in closed
        )
    past = state.table.past
    return bool(past) and past[-1].price is not None


def holds_move(turn: ModelTurn) -> bool:
    """Whether the reply of a turn holds a move."""
    return not isinstance(turn.parsed.proposal, IllegalAction | arena.Malformed)


def reward_figures(rewards: np.ndarray) -> dict[str, float]:
    """The lowest and highest reward and the spread; `rewards` has shape (groups, members)."""
    return {
        "reward_min": float(rewards.min()),
        "reward_max": float(rewards.max()),
        "reward_group_std": float(rewards.std(axis=1).mean()),
    }


class Games:
    """TRL's rollout function: a prompt names an instance, which the learner plays to its end.

    Raises Stopped where for `patience` steps the games of each group all earned the same, so that
    there is nothing to learn from.
    """

    FIGURES = GAME_FIGURES  # of a step, in the log beside TRL's

    def __init__(self, config: Config, run: Run, learner: Learner, heartbeat: Heartbeat) -> None:
        self.config, self.learner, self.heartbeat = config, learner, heartbeat
        self.equal_steps = 0  # in a row
        self.labels: dict[tuple[int, ...], list[int]] = {}  # of the step's sequences
        self.first = run.folder / "sample.json"  # the run's first game

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        step = trainer.state.global_step
        self.heartbeat.status = f"step {step + 1} of {self.config.max_steps}, playing"
        self.learner.refresh()
        named = [
            prompt[-1]["content"].split() for prompt in prompts[:: self.config.sequences_per_prompt]
        ]
        games = self.play([(name, int(seed)) for name, seed in named], step)
        rewards = self.rewards(games)
        figures = self.figures(games, np.array(rewards).reshape(-1, self.config.num_generations))
        self.heartbeat.status = (
            f"step {step + 1} of {self.config.max_steps}, mean reward {np.mean(rewards):.3f}, "
            "learning"
        )
        columns = {name: [x] * len(prompts) for name, x in figures.items()}
        each = len(prompts) // len(games)
        columns["earned"] = [reward for reward in rewards for _ in range(each)]
        return self.sequences(games, step) | columns

    def play(self, instances: Sequence[tuple[str, int]], step: int) -> list[ModelGame]:
        """Play the games of all groups to their ends, a group after the other."""
        salts = [self.salt(step, number) for number in range(self.config.num_generations)]
        games = [new_game(get_task(name), seed, salt) for name, seed in instances for salt in salts]
        play_games(games, self.learner.player_spec(self.config.constrained))
        return games

    def salt(self, step: int, *place: int) -> tuple[int, ...]:
        """What draws the learner's tokens in the game at `place` of a step, by the run's seed."""
        again = (self.config.seed,) if self.config.seed else ()  # 0 adds nothing: older runs replay
        return (step + 1, *place, *again)

    def rewards(self, games: Sequence[ModelGame]) -> list[float]:
        """What each game earned: its grade."""
        return [game.grade for game in games]

    def reward(
        self, earned: Sequence[float], log_metric: Callable[[str, float], None], **columns: Any
    ) -> list[float]:
        """TRL's reward function: what was earned; logs the step's figures."""
        for name in self.FIGURES:
            if columns[name][0] is not None:
                log_metric(name, float(columns[name][0]))
        return list(earned)

    def figures(self, games: Sequence[ModelGame], rewards: np.ndarray) -> dict[str, float | None]:
        """The FIGURES of a step, None for one that it has not; `rewards`: (groups, members)."""
        self.check_spread(rewards)
        replies = [turn for game in games for turn in game.turns]
        return reward_figures(rewards) | {
            "valid_rate": sum(map(holds_move, replies)) / len(replies),
            "agreement_rate": sum(map(agreed, games)) / len(games),
        }

    def check_spread(self, rewards: np.ndarray) -> None:
        """Raise Stopped where for `patience` steps each group earned the same."""
        self.equal_steps = 0 if np.ptp(rewards, axis=1).any() else self.equal_steps + 1
        if self.equal_steps >= self.config.patience:
            raise Stopped(
                f"for {self.equal_steps} steps the games of every group earned the same, "
                f"{rewards.mean():.3f} on average: nothing tells a good game from a bad one. "
                "Train SFT first, or play under a grammar with --constrained"
            )

    def sequences(self, games: Sequence[ModelGame], step: int) -> dict[str, list[Any]]:
        """The games as TRL's rollout returns them: prompts, completions, masks of the learnt."""
        tokenizer = self.learner.tokenizer
        parts = [part for i, game in enumerate(games) for part in self.parts(game, (step, i))]
        rows = [as_sequence(part, tokenizer) for part in parts]
        self.labels = {tuple(row["input_ids"]): row["labels"] for row in rows}
        if not self.first.exists():
            ids, labels = rows[0]["input_ids"], rows[0]["labels"]
            write(self.first, json.dumps(stage.sample(ids, labels, tokenizer)))
        starts = [len(prompt_ids(part[0].request.messages, tokenizer)) for part in parts]
        pairs = list(zip(rows, starts, strict=True))
        return {
            "prompt_ids": [row["input_ids"][:start] for row, start in pairs],
            "completion_ids": [row["input_ids"][start:] for row, start in pairs],
            "env_mask": [[int(x != -100) for x in row["labels"][start:]] for row, start in pairs],
            "logprobs": None,
        }

    def parts(self, game: ModelGame, salt: tuple[int, int]) -> list[Sequence[ModelTurn]]:
        """The turns of a game that each make a sequence: all of them one, or some drawn alone."""
        turns, had = self.config.turns_per_game, len(game.turns)
        if not turns:
            return [game.turns]
        rng = np.random.default_rng([self.config.seed, TURNS, *salt])
        return [[game.turns[i]] for i in rng.choice(had, turns, replace=had < turns)]
