"""On-policy distillation: the learner plays, a teacher labels each of its states, and it learns.

    python -m sauda train distill

DAgger (Ross et al. 2011) with soft labels, as GKD (Agarwal et al. 2023) has them. TRL's trainers
for that want a teacher with the learner's vocabulary, and ours is a policy of the game. In each
round the learner plays new games; a share of the turns, which falls from round to round, is the
teacher's. The loss is the cross-entropy between a label and the learner's next token.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from env import Task, begin, get_task
from sauda.experiments.regret import Positions
from sauda.llm.engine import Sampling
from sauda.records.seeds import UNSEEN_SELLER, seller_type
from sauda.records.store import digest, write
from sauda.train import stage
from sauda.train.data.own_games import Teacher, play_shared
from sauda.train.data.soft import SoftRow, from_lines, soft_tokens, to_lines
from sauda.train.data.teacher import grouped
from sauda.train.losses import soft_cross_entropy
from sauda.train.model import Base, tokenizer_of, trainable
from sauda.train.run import Heartbeat, Run, option
from sauda.train.self_play import Learner

STAGE = "distill"


@dataclass(frozen=True)
class Share:
    """One task's share of a round, and its teacher."""

    task: str
    part: float  # of the games
    teacher: str


@dataclass(frozen=True)
class Config:
    """Settings in the names of transformers' TrainingArguments; the defaults are what we report."""

    model: str = option("mini", "toy, mini, 8b, or a folder or repository")
    init_adapter: str = option("sft", "adapter to train further, or '' for a new one")
    full_fine_tuning: bool = option(False, "all weights learn, in fp32, and no adapter")
    shares: tuple[Share, ...] = (
        Share("bazaar/open", 0.53, "pilot"),
        Share("bazaar/rushed", 0.35, "pilot"),
        Share("classic/single_deal", 0.04, "expert"),
        Share("classic/asymmetric_pressure", 0.04, "expert"),
        Share("classic/amazon_realistic", 0.04, "expert"),
    )
    teacher_turns: tuple[float, ...] = option((1.0, 0.5, 0.25, 0.0), "share of turns, by round")
    tremble: float = 3.0  # errors of the pilot's prices in its turns, in percent of the limit
    deals_per_round: int = option(800, "deals that each round plays and learns from")
    games_at_once: int = option(48, "games played in one batch")
    label_sd: float = 1.5  # of a label's prices, in percent of the limit
    near: int = 1  # percent of the limit: a bid so near to the ask takes it
    late: int = 2  # replies of a deal from this one on, counted from 0, ...
    late_weight: float = 2.0  # ... weigh so much: openings that are off cost little
    temperature: float = 0.7  # of the replies in play
    max_new_tokens: int = 40  # of a reply
    constrained: bool = option(False, "replies under a grammar, for a base that writes no moves")
    per_device_train_batch_size: int = option(4, "deals a pass; lower where memory is short")
    gradient_accumulation_steps: int = option(1, "passes a step of the optimizer")
    learning_rate: float = option(5e-4, "peak, after the warmup")
    warmup_steps: float = 0.05  # below 1 a share of the steps; then a cosine to 0
    max_grad_norm: float = 1.0
    first_seed: int = option(
        20_000, "of the training split; a task's seeds run up from it", least=0
    )
    unseen_seller: str = UNSEEN_SELLER  # a seller type that no training game has
    save_steps: int = option(50, "steps between two checkpoints")
    acceptance_prompts: int = 48  # hold-out prompts of the acceptance check
    eval_games: int = option(24, "training games that every checkpoint plays", least=0)
    threads: int = option(1, "of torch on a CPU")
    seed: int = option(0, "of the order of rows and of whose turn it is", least=0)
    trial: bool = option(False, "keep the adapter in the run's folder")
    copies = 1  # of the weights beside those that learn: the player's
    game = "bazaar"

    @property
    def batch_size(self) -> int:
        """Deals a step of the optimizer."""
        return self.per_device_train_batch_size * self.gradient_accumulation_steps

    @property
    def deals(self) -> list[int]:
        """Deals of each task in a round; the first task has what rounding leaves."""
        counts = [round(self.deals_per_round * share.part) for share in self.shares]
        return [self.deals_per_round - sum(counts[1:]), *counts[1:]]

    @property
    def max_steps(self) -> int:
        """Optimizer steps of the run."""
        return self.deals_per_round // self.batch_size * len(self.teacher_turns)


CONFIGS = {"bazaar": Config}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`."""
    return stage.train(STAGE, config, folder, resume, prepare)


def prepare(config: Config, run: Run, base: Base, heartbeat: Heartbeat) -> stage.Prepared:
    """A trainer over rounds of games; see `stage.train`."""
    from transformers import TrainingArguments

    heartbeat.status = f"reading the model and its adapter {config.init_adapter}"
    network = trainable(base, stage.init_adapter(config), config.full_fine_tuning)
    tokenizer = tokenizer_of(base)
    sampling = Sampling(config.temperature, top_p=1.0, max_new_tokens=config.max_new_tokens)
    rounds = Rounds(config, run, Learner(network, tokenizer, base, sampling), heartbeat)
    arguments = TrainingArguments(
        **stage.arguments(config, run, base),
        max_steps=config.max_steps,
        train_sampling_strategy="sequential",
        remove_unused_columns=False,
    )
    trainer = _trainer()(
        model=network,
        args=arguments,
        train_dataset=rounds,
        data_collator=lambda rows: {"rows": rows},
    )

    def summary() -> dict[str, Any]:
        first = rounds.deals(0)[0]
        learnt = {position + 1 for position, *_ in first["labels"]}
        labels = [i if n in learnt else -100 for n, i in enumerate(first["input_ids"])]
        return {
            "rounds": rounds.summary(),
            "sample": stage.sample(first["input_ids"], labels, tokenizer),
        }

    published = not config.full_fine_tuning  # an adapter is small enough
    ready = stage.without_printer(trainer)
    return stage.Prepared(ready, config.max_steps, summary, publishes=published)


class Rounds:
    """The deals of all rounds as a dataset, in the order in which they are learnt.

    A round is played when its first deal is wanted, and is then on disk. The loader is one batch
    ahead, so the last batch of a round is learnt after the games of the next one were played.
    """

    def __init__(self, config: Config, run: Run, learner: Learner, heartbeat: Heartbeat) -> None:
        self.config, self.run, self.learner, self.heartbeat = config, run, learner, heartbeat
        self._round: tuple[int, list[dict[str, Any]]] = (-1, [])  # the last one read

    def __len__(self) -> int:
        return self.config.deals_per_round * len(self.config.teacher_turns)

    def __getitem__(self, index: int) -> dict[str, Any]:
        number, place = divmod(index, self.config.deals_per_round)
        if number != self._round[0]:
            self._round = number, self.deals(number)
        return self._round[1][place]

    def deals(self, number: int) -> list[dict[str, Any]]:
        """The deals of a round as `soft_tokens` gives them, those of a batch of similar length."""
        config = self.config
        tokenizer = self.learner.tokenizer
        deals = [
            soft_tokens(row, tokenizer, config.late, config.late_weight)
            for row in self.rows(number)
        ]
        rng = np.random.default_rng([config.seed, number])
        lengths = [len(deal["input_ids"]) for deal in deals]
        return [deals[i] for i in grouped(lengths, config.batch_size, rng)]

    def file(self, number: int) -> Path:
        """Where the deals of a round are kept."""
        return self.run.folder / f"rows-{number}.jsonl"

    def rows(self, number: int) -> list[SoftRow]:
        """The deals of a round, played once and then read from the run's folder."""
        file = self.file(number)
        if not file.exists():
            self.learner.refresh()
            write(file, to_lines(self.play(number)))
        return from_lines(file.read_text(encoding="utf-8"))

    def play(self, number: int) -> list[SoftRow]:
        """Play and label the games of a round: each task's share of its deals."""
        config = self.config
        rows: list[SoftRow] = []
        for share, wanted in zip(config.shares, config.deals, strict=True):
            self.heartbeat.status = f"round {number + 1}, playing {share.task}"
            task = get_task(share.task)
            teacher = Teacher.named(
                task, share.teacher, config.label_sd, config.near, config.tremble
            )
            seeds = _seeds(task, config, number)
            per_game = begin(task, config.first_seed).state.table.deals
            dealt: list[SoftRow] = []
            while (missing := wanted - len(dealt)) > 0:
                dealt += play_shared(
                    teacher,
                    list(islice(seeds, min(math.ceil(missing / per_game), config.games_at_once))),
                    self.learner.player_spec(config.constrained),
                    config.teacher_turns[number],
                    (config.seed, number),
                )
            rows += dealt[:wanted]
        return rows

    def summary(self) -> list[dict[str, Any]]:
        """What each round learnt from.

        A run whose last steps were learnt on another machine may lack the deals of its rounds. The
        teacher's own come out again; rounds in which the learner played are then left out.
        """
        rounds = []
        for number, share in enumerate(self.config.teacher_turns):
            if share < 1 and not self.file(number).exists():
                continue
            rows = self.rows(number)
            rounds.append(
                {
                    "teacher_turns": share,
                    "rows": len(rows),
                    "completions": sum(len(row.labels) for row in rows),
                    "own": sum(sum(row.own) for row in rows),
                    "task": dict(Counter(row.task for row in rows)),
                    "sha256": digest(to_lines(rows)),
                }
            )
        return rounds


def _seeds(task: Task, config: Config, number: int) -> Iterator[int]:
    """Training seeds of a round without the unseen seller; ValueError where they run out.

    Rounds take turns at the seeds, so that none is played twice.
    """
    rounds = len(config.teacher_turns)
    for seed in range(config.first_seed + number, Positions.first_seed, rounds):
        if seller_type(task, seed) != config.unseen_seller:
            yield seed
    raise ValueError(f"{task.name} has too few training seeds from {config.first_seed}")


def _trainer() -> Any:
    """A Trainer of transformers whose loss is the cross-entropy with soft labels."""
    from transformers import Trainer

    class DistillTrainer(Trainer):
        num_tokens = 0

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch=None
        ) -> Any:
            batch = collated(inputs["rows"], model.device)
            losses, entropy, hits = soft_cross_entropy(model, *batch[:4])
            weights = batch[4]
            self.num_tokens += sum(len(row["input_ids"]) for row in inputs["rows"])
            self.figures = {
                "num_tokens": self.num_tokens,
                "entropy": entropy.mean().item(),
                "mean_token_accuracy": hits.float().mean().item(),
            }
            return (losses * weights).sum() / weights.sum()

        def log(self, logs: dict[str, float], *args: Any) -> None:
            super().log(logs | self.figures, *args)

    return DistillTrainer


def collated(rows: Sequence[dict[str, Any]], device: Any = "cpu") -> tuple[Any, ...]:
    """Token ids, places of labels, choices, their probabilities, and the labels' weights."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    def padded(sequences: Sequence[Sequence[Any]], value: float = 0) -> Any:
        return pad_sequence(list(map(torch.tensor, sequences)), True, value)

    labels = [each for row in rows for each in row["labels"]]
    ids = padded([row["input_ids"] for row in rows])
    places = torch.full_like(ids, -100)
    number = 0
    for i, row in enumerate(rows):
        for position, *_ in row["labels"]:
            places[i, position + 1] = number
            number += 1
    tokens, chances = (
        padded([t for _, t, _, _ in labels]),
        padded([p for _, _, p, _ in labels], 0.0),
    )
    weights = torch.tensor([w for *_, w in labels])
    return tuple(numbers.to(device) for numbers in (ids, places, tokens, chances, weights))
