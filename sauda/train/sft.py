"""Supervised fine-tuning on teacher rows: TRL's SFTTrainer, a LoRA adapter, loss on completions.

On a CPU the loss is computed by `scored`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sauda.records.store import digest, write
from sauda.train import stage
from sauda.train.base import Base, LoRA, lora, network
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
from sauda.train.run import Heartbeat, Run

STAGE = "sft"


@dataclass(frozen=True)
class Config:
    """What is trained on what, and how; the defaults are the numbers we report."""

    model: str = "mini"  # toy, mini, 8b, or a folder or repository
    data: DataConfig = DataConfig()  # noqa: RUF009 (frozen)
    lora: LoRA = LoRA()  # noqa: RUF009
    epochs: int = 1
    batch: int = 4  # rows a step
    at_once: int = 4  # rows a pass; lower where memory is short
    learning_rate: float = 1e-3  # ten times a full fine-tuning's, as LoRA wants
    warmup: float = 0.05  # of the steps; then a cosine to 0
    clip: float = 1.0  # of the gradient's norm
    checkpoint_every: int = 10  # steps: a minute or two on two cores (R25)
    steps: int = -1  # ends early there, for a trial; -1 trains on all rows
    gate: int = 48  # hold-out prompts
    probe: int = 24  # training games that every checkpoint's adapter plays
    threads: int = 1  # of torch on a CPU
    seed: int = 0  # of the adapter's first values and of the rows' order

    copies = 0  # of the weights beside those that learn
    game = "bazaar"

    @property
    def trial(self) -> bool:
        """Whether the run ends early, and its adapter is not to be published."""
        return self.steps > 0


@dataclass(frozen=True)
class ArenaConfig(Config):
    """The same for a lab of the GPU arena."""

    data: ArenaData = ArenaData()  # noqa: RUF009
    batch: int = 8  # actions a step, a deal's being many
    at_once: int = 8
    checkpoint_every: int = 60
    probe: int = 16
    game = "arena"


CONFIGS = {"bazaar": Config, "arena": ArenaConfig}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`."""
    return stage.train(STAGE, config, folder, resume, _prepare)


def _prepare(config: Config, run: Run, found: Base, heartbeat: Heartbeat) -> stage.Prepared:
    taught = _rows(config, run)
    heartbeat.status = f"reading the model for {len(taught):,} rows"
    trainer, sample, count = _trainer(config, run, found, taught)
    summed = arena_summary(taught) if config.game == "arena" else summary(taught)
    told = summed | {"tokens": count, "sha256": digest(to_lines(taught))}
    return stage.Prepared(
        trainer, steps_of(config, len(taught)), lambda: {"rows": told, "sample": sample}
    )


def steps_of(config: Config, count: int) -> int:
    """How many steps a run over `count` rows has."""
    if config.steps > 0:
        return config.steps
    passes = math.ceil(count * config.epochs / config.at_once)
    return math.ceil(passes / max(1, config.batch // config.at_once))


def _rows(config: Config, run: Run) -> list[Row]:
    """The run's rows, made once and then read from its folder."""
    file = run.folder / "rows.jsonl"
    if not file.exists():
        made = arena_rows(config.data) if config.game == "arena" else rows(config.data)
        write(file, to_lines(made))
    return from_lines(file.read_text(encoding="utf-8"))


def _trainer(
    config: Config, run: Run, found: Base, taught: Sequence[Row]
) -> tuple[Any, list[dict[str, Any]], dict[str, int]]:
    """TRL's trainer over the rows in the order they are learnt, a sample, the rows' tokens."""
    from datasets import Dataset
    from trl import SFTConfig

    rng = np.random.default_rng(config.seed)
    tokenizer = stage.tokenizer_of(found)
    sequences = [tokens(row, tokenizer) for row in taught]
    lengths = [len(sequence["input_ids"]) for sequence in sequences]
    order = [i for _ in range(config.epochs) for i in grouped(lengths, config.batch, rng)]
    arguments = SFTConfig(
        **stage.arguments(config, run, found),
        max_steps=config.steps,
        num_train_epochs=1,  # the order has them all
        per_device_train_batch_size=config.at_once,
        gradient_accumulation_steps=max(1, config.batch // config.at_once),
        train_sampling_strategy="sequential",
        max_length=None,
    )
    trainer = _sft_trainer(found.device == "cpu")(
        model=network(found),
        args=arguments,
        train_dataset=Dataset.from_list([sequences[i] for i in order]),
        processing_class=tokenizer,
        peft_config=lora(config.lora),
    )
    learnt = trainer.train_dataset
    count = {
        "all": sum(map(len, learnt["input_ids"])),
        "learnt": sum(sum(label != -100 for label in labels) for labels in learnt["labels"]),
    }
    first = stage.sample(learnt[0]["input_ids"], learnt[0]["labels"], tokenizer)
    return stage.quiet(trainer), first, count


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
