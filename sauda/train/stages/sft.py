"""Supervised fine-tuning of a LoRA adapter on the teacher's moves, by TRL's SFTTrainer.

    python -m sauda train sft                  # the buyer of the bazaar
    python -m sauda train sft --game arena     # a lab of the GPU arena

The loss counts the completions alone; on a CPU it is computed by `losses.scored`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sauda.records.store import digest, write
from sauda.train import stage
from sauda.train.data.arena import ArenaData, arena_rows, arena_summary
from sauda.train.data.teacher import (
    DataConfig,
    Row,
    from_lines,
    grouped,
    rows,
    summary,
    to_lines,
    tokens,
)
from sauda.train.losses import scored
from sauda.train.model import Base, LoRA, peft_config, read_base, tokenizer_of
from sauda.train.run import Heartbeat, Run, option

STAGE = "sft"


@dataclass(frozen=True)
class Config:
    """Settings in the names of TRL's SFTConfig; the defaults are the numbers we report."""

    model: str = option("mini", "toy, mini, 8b, or a folder or repository")
    data: DataConfig = DataConfig()  # noqa: RUF009 (frozen)
    lora: LoRA = LoRA()  # noqa: RUF009
    num_train_epochs: int = option(1, "passes over the rows")
    per_device_train_batch_size: int = option(4, "rows a pass; lower where memory is short")
    gradient_accumulation_steps: int = option(1, "passes a step of the optimizer")
    learning_rate: float = option(1e-3, "peak, after the warmup; LoRA wants ten times the usual")
    warmup_steps: float = 0.05  # below 1 a share of the steps; then a cosine to 0
    max_grad_norm: float = 1.0
    save_steps: int = 10  # between two checkpoints: a minute or two on two cores
    max_steps: int = option(
        -1, "ends the run early, for a trial; -1 and 0 train on all rows", least=-1
    )
    acceptance_prompts: int = 48  # hold-out prompts of the acceptance check
    eval_games: int = 24  # training games that every checkpoint's adapter plays
    threads: int = option(1, "of torch on a CPU")
    seed: int = option(0, "of the adapter's first values and of the rows' order", least=0)

    copies = 0  # of the weights beside those that learn
    game = "bazaar"

    @property
    def batch_size(self) -> int:
        """Rows a step of the optimizer."""
        return self.per_device_train_batch_size * self.gradient_accumulation_steps

    @property
    def trial(self) -> bool:
        """Whether the run ends early, so that its adapter is not published."""
        return self.max_steps > 0


@dataclass(frozen=True)
class ArenaConfig(Config):
    """The settings for a lab of the GPU arena."""

    data: ArenaData = ArenaData()  # noqa: RUF009
    per_device_train_batch_size: int = 8  # actions, of which a game has many
    save_steps: int = 60
    eval_games: int = 16
    game = "arena"


CONFIGS = {"bazaar": Config, "arena": ArenaConfig}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`."""
    return stage.train(STAGE, config, folder, resume, prepare)


def prepare(config: Config, run: Run, base: Base, heartbeat: Heartbeat) -> stage.Prepared:
    """TRL's trainer over the teacher's rows; see `stage.train`."""
    learnt = _rows(config, run)
    heartbeat.status = f"reading the model for {len(learnt):,} rows"
    trainer, sample, token_counts = _trainer(config, run, base, learnt)
    counts = arena_summary(learnt) if config.game == "arena" else summary(learnt)
    about = counts | {"tokens": token_counts, "sha256": digest(to_lines(learnt))}
    steps = steps_of(config, len(learnt))
    return stage.Prepared(trainer, steps, lambda: {"rows": about, "sample": sample})


def steps_of(config: Config, count: int) -> int:
    """The optimizer steps of a run over `count` rows."""
    if config.max_steps > 0:
        return config.max_steps
    passes = math.ceil(count * config.num_train_epochs / config.per_device_train_batch_size)
    return math.ceil(passes / config.gradient_accumulation_steps)


def _rows(config: Config, run: Run) -> list[Row]:
    """The run's rows, made once and then read from its folder."""
    file = run.folder / "rows.jsonl"
    if not file.exists():
        fresh = arena_rows(config.data) if config.game == "arena" else rows(config.data)
        write(file, to_lines(fresh))
    return from_lines(file.read_text(encoding="utf-8"))


def _trainer(
    config: Config, run: Run, base: Base, learnt: Sequence[Row]
) -> tuple[Any, list[dict[str, Any]], dict[str, int]]:
    """TRL's trainer over the rows in the order they are learnt, a sample, the rows' tokens."""
    from datasets import Dataset
    from trl import SFTConfig

    rng = np.random.default_rng(config.seed)
    tokenizer = tokenizer_of(base)
    sequences = [tokens(row, tokenizer) for row in learnt]
    lengths = [len(sequence["input_ids"]) for sequence in sequences]
    epochs = range(config.num_train_epochs)
    order = [i for _ in epochs for i in grouped(lengths, config.batch_size, rng)]
    arguments = SFTConfig(
        **stage.arguments(config, run, base),
        max_steps=config.max_steps,
        num_train_epochs=1,  # the order holds all of them
        train_sampling_strategy="sequential",
        max_length=None,
    )
    trainer = _sft_trainer(base.device == "cpu")(
        model=read_base(base),
        args=arguments,
        train_dataset=Dataset.from_list([sequences[i] for i in order]),
        processing_class=tokenizer,
        peft_config=peft_config(config.lora),
    )
    dataset = trainer.train_dataset
    token_counts = {
        "all": sum(map(len, dataset["input_ids"])),
        "in_loss": sum(sum(label != -100 for label in labels) for labels in dataset["labels"]),
    }
    first = stage.sample(dataset[0]["input_ids"], dataset[0]["labels"], tokenizer)
    return stage.without_printer(trainer), first, token_counts


def _sft_trainer(on_cpu: bool) -> Any:
    """TRL's SFTTrainer, on a CPU with the loss of `scored`."""
    from trl import SFTTrainer

    if not on_cpu:
        return SFTTrainer  # its fused head projects the learnt tokens alone on a GPU

    class OnCPU(SFTTrainer):
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch=None
        ) -> Any:
            if return_outputs:
                raise NotImplementedError("this loss has no logits to return")
            log_probs, entropy, hits, _ = scored(model, inputs["input_ids"], inputs["labels"])
            count = len(log_probs) if num_items_in_batch is None else num_items_in_batch
            metrics = self._metrics["train" if self.model.training else "eval"]
            metrics["entropy"].append(entropy.mean().item())
            metrics["mean_token_accuracy"].append(hits.float().mean().item())
            self._total_train_tokens += int(inputs["attention_mask"].sum())
            metrics["num_tokens"] = [self._total_train_tokens]
            return -log_probs.sum() / count

    return OnCPU
