"""GRPO on whole games: groups play the same instance, and what a game earned is its grade.

Shao et al. (2024), by TRL's GRPOTrainer with its default loss, normalised over the step's tokens
(DAPO, Yu et al. 2025). A buyer's game is one sequence in which the replies are learnt and the
seller's turns are not, of a lab's game some turns are; nothing shapes the reward. Instances are
training seeds, in the bazaar those whose listing and seller are seen. Tokens are drawn
among the 50 likeliest; the loss takes them for drawn among all.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from env import IllegalAction, arena, get_task
from sauda.games.messages import ModelTurn
from sauda.llm.backends.decoding import Sampling
from sauda.llm.batched_rollout import ModelGame, new_game, play_games
from sauda.records.splits import SPLITS, is_unseen_game
from sauda.records.store import write
from sauda.train import stage
from sauda.train.base import Base
from sauda.train.losses import scored
from sauda.train.run import LOGGED, Heartbeat, Run, Stopped
from sauda.train.self_play import Learner, learnt, prompt_ids

STAGE = "grpo"
FIGURES = {  # our name of each figure of TRL's log that we keep
    **LOGGED,
    "reward": "reward",
    "low": "low",
    "high": "high",
    "spread": "spread",
    "frac_reward_zero_std": "zero_advantage",
    "format": "format",
    "deals": "deals",
    "kl": "kl",
    "completions/mean_length": "length",
    "step_time": "step_seconds",
}


@dataclass(frozen=True)
class Config:
    """What plays what, and how it learns; the defaults are the numbers we report."""

    model: str = "mini"  # toy, mini, 8b, or a folder or repository
    after: str = "sft"  # the adapter that learns on: one of ours, or a folder
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed", "bazaar/bluff")
    groups: int = 4  # instances a step
    group: int = 8  # games of each
    steps: int = 36
    at_once: int = 8  # sequences a training pass
    temperature: float = 0.7  # of the replies, in play and in the loss
    longest: int = 40  # tokens of a reply
    constrained: bool = False  # replies under a grammar, for a base that writes no moves yet
    learning_rate: float = 2e-4
    warmup: float = 0.0  # of the steps; then a cosine to 0
    beta: float = 0.02  # of the divergence from the adapter it began with
    clip: float = 1.0  # of the gradient's norm
    first_seed: int = 30_000  # of the training split; SFT's run from 10,000
    untaught: str = "fair"  # a seller type that no training game has
    patience: int = 3  # steps in a row whose games all earn the same, before it stops
    checkpoint_every: int = 5  # steps
    gate: int = 48  # hold-out prompts
    probe: int = 0  # training games that every checkpoint's adapter plays
    threads: int = 1  # of torch on a CPU
    seed: int = 0
    trial: bool = False  # the adapter is not to be published
    copies = 1  # of the weights beside those that learn: the player's
    game = "bazaar"
    turns = 0  # of a game that are learnt, each a sequence of its own; 0 learns a game as one

    @property
    def sequences(self) -> int:
        """How many of a group are learnt."""
        return self.group * max(1, self.turns)


@dataclass(frozen=True)
class ArenaConfig(Config):
    """The same for a lab of the GPU arena.

    A lab's prompts do not grow out of one another as a buyer's do, so a game is no single sequence:
    of each game some turns are drawn, all alike likely, and learnt with what the game earned.
    """

    after: str = "sft-arena"
    tasks: tuple[str, ...] = ("arena/market_round",)
    groups: int = 2
    turns: int = 2
    steps: int = 12
    at_once: int = 16
    longest: int = 64
    checkpoint_every: int = 4
    game = "arena"


CONFIGS = {"bazaar": Config, "arena": ArenaConfig}  # by game
TURNS = 4  # the stream that draws which turns are learnt


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`. Raises ValueError where groups do not fit."""
    learnt_a_step = config.groups * config.sequences
    if config.group < 2 or learnt_a_step % config.at_once:
        raise ValueError(
            f"a group has at least 2 games, and a step's {learnt_a_step} sequences are learnt in "
            f"passes of the same size, not of {config.at_once}"
        )
    return stage.train(STAGE, config, folder, resume, _prepare)


def instances(config: Config) -> list[tuple[str, int]]:
    """The task and seed of every group, in the order they are played.

    Raises ValueError where they would leave the training split.
    """
    found, seed = [], config.first_seed
    while len(found) < config.steps * config.groups:
        name = config.tasks[len(found) % len(config.tasks)]
        if seed not in SPLITS["train"]:
            raise ValueError(f"too few training seeds for {config.steps} steps")
        if config.game == "arena" or not is_unseen_game(get_task(name), seed, config.untaught):
            found.append((name, seed))
        seed += 1
    return found


def _prepare(config: Config, run: Run, found: Base, heartbeat: Heartbeat) -> stage.Prepared:
    from datasets import Dataset
    from trl import GRPOConfig

    played = instances(config)
    adapter = stage.after(config)
    heartbeat.status = f"reading the model and its adapter {config.after}"
    network = stage.learner(found, adapter)
    tokenizer = stage.tokenizer_of(found)
    arguments = GRPOConfig(
        **stage.arguments(config, run, found),
        max_steps=config.steps,
        num_generations=config.sequences,
        per_device_train_batch_size=config.at_once,
        gradient_accumulation_steps=config.groups * config.sequences // config.at_once,
        max_completion_length=None,
        temperature=config.temperature,
        beta=config.beta,
        shuffle_dataset=False,
    )
    sampling = Sampling(config.temperature, top_p=1.0, tokens=config.longest)
    games = Games(config, run, Learner(network, tokenizer, found, sampling), heartbeat)
    names = [[{"role": "user", "content": f"{name} {seed}"}] for name, seed in played]
    trainer = _trainer(found.device == "cpu", games)(
        model=network,
        args=arguments,
        reward_funcs=[grade],
        train_dataset=Dataset.from_dict({"prompt": names}),
        processing_class=tokenizer,
        rollout_func=games,
    )
    counts = {name: sum(name == other for other, _ in played) for name in config.tasks}
    told = {
        "task": counts,
        "group": config.group,
        "first_seed": played[0][1],
        "last_seed": played[-1][1],
    }
    return stage.Prepared(
        stage.quiet(trainer),
        config.steps,
        lambda: {"games": told, "sample": json.loads(games.first.read_text("utf-8"))},
        FIGURES,
    )


def grade(grade: Sequence[float], log_metric: Callable[[str, float], None], **columns: Any):
    """The reward: what each game was worth, and figures of the step for the log."""
    for name in ("low", "high", "spread", "format", "deals"):
        log_metric(name, float(columns[name][0]))
    return list(grade)


def dealt(game: ModelGame) -> bool:
    """Whether the learner closed a deal: the game's one, or in the arena a trade."""
    state, learner = game.play.state, game.task.learner
    if isinstance(state, arena.State):
        closed = state.market.closed.values()
        return any(
            o.status == "accepted" and learner in (o.from_lab_id, o.to_lab_id) for o in closed
        )
    past = state.table.past
    return bool(past) and past[-1].price is not None


class Games:
    """TRL's rollout function: a prompt names an instance, and the learner plays it to its end.

    Raises Stopped where for `patience` steps the games of each group all earned the same: there is
    nothing to learn from.
    """

    def __init__(self, config: Config, run: Run, learner: Learner, heartbeat: Heartbeat) -> None:
        self.config, self.learner, self.heartbeat = config, learner, heartbeat
        self.equal = 0
        self.labels: dict[tuple[int, ...], list[int]] = {}  # of the step's sequences
        self.first = run.folder / "sample.json"  # the run's first game

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        step = trainer.state.global_step
        self.heartbeat.status = f"step {step + 1} of {self.config.steps}, playing"
        self.learner.refresh()
        games = []
        for prompt in prompts[:: self.config.sequences]:
            name, seed = prompt[-1]["content"].split()
            salts = ((step + 1, number) for number in range(self.config.group))
            games += [new_game(get_task(name), int(seed), salt) for salt in salts]
        play_games(games, self.learner.player_spec(self.config.constrained))
        figures = self.figures(games)
        self.heartbeat.status = (
            f"step {step + 1} of {self.config.steps}, games won "
            f"{np.mean([game.grade for game in games]):.3f}, learning"
        )
        found = self.sequences(games, step)
        return found | {name: [x] * len(prompts) for name, x in figures.items()}

    def figures(self, games: Sequence[ModelGame]) -> dict[str, float]:
        """What the log tells of a step's games beside their mean grade."""
        grades = np.array([game.grade for game in games]).reshape(-1, self.config.group)
        spread = grades.std(axis=1)
        self.equal = 0 if np.ptp(grades, axis=1).any() else self.equal + 1
        if self.equal >= self.config.patience:
            raise Stopped(
                f"for {self.equal} steps the games of every group earned the same, "
                f"{grades.mean():.3f} on average: nothing tells a good game from a bad one. "
                "Train SFT first, or play under a grammar with --constrained"
            )
        replies = [turn for game in games for turn in game.turns]
        broken = (IllegalAction, arena.Malformed)
        moves = [not isinstance(turn.parsed.proposal, broken) for turn in replies]
        return {
            "low": float(grades.min()),
            "high": float(grades.max()),
            "spread": float(spread.mean()),
            "format": sum(moves) / len(moves),
            "deals": sum(map(dealt, games)) / len(games),
        }

    def sequences(self, games: Sequence[ModelGame], step: int) -> dict[str, list[Any]]:
        """The games as TRL wants them: what each began with, what came then, what is learnt."""
        tokenizer, each = self.learner.tokenizer, max(1, self.config.turns)
        parts = [part for i, game in enumerate(games) for part in self.parts(game, (step, i))]
        rows = [learnt(part, tokenizer) for part in parts]
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
            "grade": [game.grade for game in games for _ in range(each)],
        }

    def parts(self, game: ModelGame, salt: tuple[int, int]) -> list[Sequence[ModelTurn]]:
        """The turns of a game that each make a sequence: all of them one, or some drawn alone."""
        turns, had = self.config.turns, len(game.turns)
        if not turns:
            return [game.turns]
        rng = np.random.default_rng([self.config.seed, TURNS, *salt])
        return [[game.turns[i]] for i in rng.choice(had, turns, replace=had < turns)]


def _trainer(on_cpu: bool, games: Games) -> Any:
    """TRL's GRPOTrainer, on a CPU with log-probabilities by `scored`."""
    import torch
    from trl import GRPOTrainer

    if not on_cpu:
        return GRPOTrainer

    class OnCPU(GRPOTrainer):
        def _get_per_token_logps_and_entropies(
            self,
            model: Any,
            input_ids: Any,
            attention_mask: Any,
            logits_to_keep: int,
            batch_size: int | None = None,
            compute_entropy: bool = False,
            **_: Any,
        ) -> tuple[Any, Any, None]:
            """Zero wherever nothing is learnt, which the loss leaves out anyway."""
            size = batch_size or len(input_ids)
            parts = [
                _per_token(model, ids, mask.bool(), games.labels, self.temperature)
                for ids, mask in zip(input_ids.split(size), attention_mask.split(size), strict=True)
            ]
            log_probs, entropies = map(torch.cat, zip(*parts, strict=True))
            kept = slice(-logits_to_keep, None)
            return log_probs[:, kept], entropies[:, kept] if compute_entropy else None, None

    return OnCPU


def _per_token(
    model: Any, input_ids: Any, real: Any, labels: Mapping[tuple[int, ...], list[int]], heat: float
) -> tuple[Any, Any]:
    """Log-probability and entropy of every learnt token in its place, 0 elsewhere.

    `input_ids` and `real` have shape (rows, tokens), padded on both sides; so have the results.
    """
    import torch
    from torch.nn.utils.rnn import pad_sequence

    rows = [ids[here] for ids, here in zip(input_ids, real, strict=True)]
    told = [torch.tensor(labels[tuple(row.tolist())]) for row in rows]
    log_probs, entropy, *_ = scored(
        model,
        pad_sequence(rows, batch_first=True),
        pad_sequence(told, batch_first=True, padding_value=-100),
        heat,
    )
    places = torch.zeros_like(real)
    places[real] = torch.cat(told) != -100
    empty = log_probs.new_zeros(input_ids.shape)
    return empty.masked_scatter(places, log_probs), empty.masked_scatter(places, entropy)
