"""Reinforcement learning (GRPO) on whole games; the reward of a game is its grade.

    python -m sauda train grpo

Shao et al. (2024), by TRL's GRPOTrainer with its default loss, normalised over the step's tokens
(DAPO, Yu et al. 2025). The games of a group start from the same instance. A game is one sequence
in which the replies are supervised and the seller's turns are not. The reward is not shaped;
--reward module:function takes another one, a number per finished `ModelGame`. Instances are
training seeds with a seen listing. Tokens are sampled from the 50 most likely; the loss treats them
as sampled from the whole vocabulary.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from env import IllegalAction, begin, get_task
from sauda.llm.engine import prompt_ids
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games
from sauda.records.seeds import is_unseen_game, training_seeds
from sauda.records.store import write
from sauda.train import common
from sauda.train.checks import agreements, check_player
from sauda.train.common import LOGGED, SAMPLE, PlayerSettings, Run, Stopped, option
from sauda.train.losses import grpo_on_cpu
from sauda.train.model import Learner, as_sequence, tokenizer_of, trainable
from sauda.train.people_rows import task_of

# Of each step's games beside TRL's figures. The spread is the population's, within a group; TRL's
# reward_std is the sample's.
GAME_FIGURES = ("reward_min", "reward_max", "reward_group_std", "valid_rate", "agreement_rate")
GRPO_LOGGED = (
    *LOGGED, "reward", "frac_reward_zero_std", "kl", "completions/mean_length", "step_time",
    *GAME_FIGURES,
)  # fmt: skip
TOY = {
    "init_adapter": "", "prompts_per_step": 2, "num_generations": 4, "max_steps": 3,
    "per_device_train_batch_size": 4, "constrained": True, "save_steps": 1,
    "acceptance_prompts": 6,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GRPOSettings(PlayerSettings):
    """Settings in the names of TRL's GRPOConfig; the defaults are the numbers we report."""

    init_adapter: str = "talks"
    tasks: tuple[str, ...] = option("tasks of the groups, in turn", ("bazaar/people",))
    prompts_per_step: int = 4  # instances, each played by a group of games
    num_generations: int = 8  # games per group
    max_steps: int = option("steps of the optimizer", 30)
    per_device_train_batch_size: int = option("sequences per pass; lower where memory is short", 8)
    learning_rate: float = 1e-4
    warmup_steps: float = 0.0
    beta: float = 0.02  # of the divergence from the adapter it started from
    first_seed: int = 30_000
    reward: str = option("module:function of a finished game; '' for its grade", "")
    patience: int = 3  # steps in a row whose games all earn the same, before it stops
    save_steps: int = 5
    stage: ClassVar[str] = "grpo"

    def __post_init__(self) -> None:
        """Raise ValueError for a task that is not one conversation and for uneven passes."""
        super().__post_init__()
        tasks = map(get_task, self.tasks)
        long = [t.name for t in tasks if len(t.env.agents) > 2 or begin(t, 0).state.table.deals > 1]
        if long:
            raise ValueError(
                "a game is learnt as one conversation, to which each turn only adds; of "
                f"{', '.join(long)}, with several deals or sealed bids, most would not be learnt"
            )
        sequences = self.prompts_per_step * self.num_generations
        if self.max_steps < 1:
            raise ValueError(f"--max-steps is at least 1, not {self.max_steps}")
        if self.num_generations < 2 or sequences % self.per_device_train_batch_size:
            raise ValueError(
                f"a group has at least 2 members, and a step's {sequences} sequences are learnt in "
                f"passes of the same size, not of {self.per_device_train_batch_size}"
            )

    @property
    def gradient_accumulation_steps(self) -> int:
        """Passes per step of the optimizer."""
        sequences = self.prompts_per_step * self.num_generations
        return sequences // self.per_device_train_batch_size


SETTINGS = (GRPOSettings,)


def train(settings: GRPOSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    run = common.start_run(settings, folder, resume)
    chosen = instances(settings)
    trainer = make_trainer(run, chosen)
    common.train_to_end(run, trainer)
    served = common.save_and_load(run, trainer, GRPO_LOGGED)
    figures = {
        "games": {
            "task": {name: sum(name == other for other, _ in chosen) for name in settings.tasks},
            "num_generations": settings.num_generations,
            "first_seed": chosen[0][1],
            "last_seed": chosen[-1][1],
        },
        "sample": json.loads((run.folder / SAMPLE).read_text("utf-8")),
    }
    return common.save_run(run, trainer, check_player(run, served) | figures, GRPO_LOGGED)


def instances(settings: GRPOSettings) -> list[tuple[str, int]]:
    """The task and seed of every group, in the order they are played.

    Raises ValueError where the training seeds run out.
    """
    chosen: list[tuple[str, int]] = []
    seeds = training_seeds(settings.stage, settings.first_seed)
    while len(chosen) < settings.max_steps * settings.prompts_per_step:
        name, seed = settings.tasks[len(chosen) % len(settings.tasks)], next(seeds)
        if not is_unseen_game(get_task(name), seed):
            chosen.append((name, seed))
    return chosen


def make_trainer(run: Run, chosen: Sequence[tuple[str, int]]) -> Any:
    """TRL's trainer over the chosen instances, whose `rollout` function plays games."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    settings = run.settings
    network = trainable(run.base, common.init_adapter(settings))
    tokenizer = tokenizer_of(run.base)
    arguments = GRPOConfig(
        **common.training_arguments(run),
        max_steps=settings.max_steps,
        num_generations=settings.num_generations,
        max_completion_length=None,
        temperature=settings.temperature,
        beta=settings.beta,
        shuffle_dataset=False,
    )
    games = Games(run, Learner(network, tokenizer, run.base, settings.sampling))
    on_cpu = run.base.device == "cpu"
    trainer_class = grpo_on_cpu(lambda ids: games.labels[ids]) if on_cpu else GRPOTrainer
    names = [[{"role": "user", "content": f"{name} {seed}"}] for name, seed in chosen]
    return trainer_class(
        model=network,
        args=arguments,
        reward_funcs=[games.reward],
        train_dataset=Dataset.from_dict({"prompt": names}),
        processing_class=tokenizer,
        rollout_func=games,
    )


class Games:
    """TRL's rollout function: a prompt names an instance, which the learner plays to its end."""

    def __init__(self, run: Run, learner: Learner) -> None:
        self.settings, self.learner = run.settings, learner
        name = run.settings.reward
        self.earned = common.named_object(name) if name else attrgetter("grade")
        self.equal_steps = 0  # in a row
        self.labels: dict[tuple[int, ...], list[int]] = {}  # of the step's sequences
        self.first = run.folder / SAMPLE

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        step = trainer.state.global_step
        self.learner.refresh()
        named = [
            prompt[-1]["content"].split() for prompt in prompts[:: self.settings.num_generations]
        ]
        games = self.play([(name, int(seed)) for name, seed in named], step)
        grades = [self.earn(game) for game in games]
        figures = self.figures(games, np.array(grades).reshape(-1, self.settings.num_generations))
        columns = {name: [x] * len(prompts) for name, x in figures.items()}
        return self.sequences(games) | columns | {"earned": grades}

    def play(self, instances: Sequence[tuple[str, int]], step: int) -> list[ModelGame]:
        """Play the games of all groups to their ends, a group after the other."""
        again = (self.settings.seed,) if self.settings.seed else ()  # 0 adds nothing: runs replay
        salts = [(step + 1, number, *again) for number in range(self.settings.num_generations)]
        games = [
            new_game(task_of(name, "training"), seed, salt)
            for name, seed in instances
            for salt in salts
        ]
        play_games(games, PlayerSpec(self.learner, self.settings.constrained))
        return games

    def earn(self, game: ModelGame) -> float:
        """The reward of a game; raises Stopped where a reward of one's own gives no number."""
        earned = self.earned(game)
        try:
            if math.isfinite(earned):
                return float(earned)
        except (TypeError, OverflowError):
            pass
        raise Stopped(f"the reward {self.settings.reward} gave {earned!r}, not a finite number")

    def reward(
        self, earned: Sequence[float], log_metric: Callable[[str, float], None], **columns: Any
    ) -> list[float]:
        """TRL's reward function: what was earned; logs the step's figures."""
        for name in set(columns) & set(GRPO_LOGGED):
            log_metric(name, float(columns[name][0]))
        return list(earned)

    def figures(self, games: Sequence[ModelGame], rewards: np.ndarray) -> dict[str, float]:
        """The GAME_FIGURES of a step; `rewards` has shape (groups, members).

        Raises Stopped where for `patience` steps the games of each group all earned the same, so
        that there is nothing to learn from.
        """
        self.equal_steps = 0 if np.ptp(rewards, axis=1).any() else self.equal_steps + 1
        if self.equal_steps >= self.settings.patience:
            raise Stopped(
                f"for {self.equal_steps} steps the games of every group earned the same, "
                f"{rewards.mean():.3f} on average: nothing tells a good game from a bad one. "
                "Train SFT first, or play under a grammar with --constrained"
            )
        replies = [turn.parsed.proposal for game in games for turn in game.turns]
        return {
            "reward_min": float(rewards.min()),
            "reward_max": float(rewards.max()),
            "reward_group_std": float(rewards.std(axis=1).mean()),
            "valid_rate": sum(not isinstance(x, IllegalAction) for x in replies) / len(replies),
            "agreement_rate": agreements(games),
        }

    def sequences(self, games: Sequence[ModelGame]) -> dict[str, list[Any]]:
        """The games as TRL's rollout returns them: prompts, completions and completion masks."""
        tokenizer = self.learner.tokenizer
        rows = [as_sequence(game.turns, tokenizer) for game in games]
        self.labels = {tuple(row["input_ids"]): row["labels"] for row in rows}
        if not self.first.exists():
            ids, labels = rows[0]["input_ids"], rows[0]["labels"]
            write(self.first, json.dumps(common.sample(ids, labels, tokenizer)))
        starts = [len(prompt_ids(game.turns[0].request.messages, tokenizer)) for game in games]
        pairs = list(zip(rows, starts, strict=True))
        return {
            "prompt_ids": [row["input_ids"][:start] for row, start in pairs],
            "completion_ids": [row["input_ids"][start:] for row, start in pairs],
            "env_mask": [[int(x != -100) for x in row["labels"][start:]] for row, start in pairs],
            "logprobs": None,
        }
