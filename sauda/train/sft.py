"""Supervised fine-tuning of a LoRA adapter on the teacher's moves, by TRL's SFTTrainer.

    python -m sauda train sft                  # the buyer of the bazaar
    python -m sauda train sft --game arena     # a lab of the GPU arena

The loss counts the completions alone and is computed by `losses.score_tokens`. What is made once,
the rows and their tokens, stays in the run's folder; a folder made on one machine serves another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sauda.records.store import digest
from sauda.train import common, people_rows, teacher_rows
from sauda.train.checks import check_player
from sauda.train.common import option
from sauda.train.losses import choices_loss, score_tokens, score_vocabulary
from sauda.train.model import LoRA, peft_config, read_base, tokenizer_of, trainable

TOY = {
    "per_device_train_batch_size": 8, "save_steps": 2, "acceptance_prompts": 6, "eval_games": 2,
    "rows": 64, "num_train_epochs": 1,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SFTStageSettings(common.StageSettings):
    """Settings in the names of TRL's SFTConfig, but for the rows that are learnt."""

    lora_r: int = option("rank of the adapter", LoRA.r)
    lora_alpha: int = option("its scale, times the rank", LoRA.lora_alpha)
    num_train_epochs: int = option("passes over the rows", 1)
    gradient_accumulation_steps: int = option("passes per step of the optimizer", 1)
    learning_rate: float = 1e-3  # LoRA wants ten times the usual
    save_steps: int = 350
    max_steps: int = option("ends the run early, for a trial; -1 and 0 train on all rows", -1)
    eval_games: int = option("training games that every checkpoint plays", 24)
    stage: ClassVar[str] = "sft"

    @property
    def is_trial(self) -> bool:
        """Also a run that ends early."""
        return super().is_trial or self.max_steps > 0


@dataclass(frozen=True, kw_only=True)
class SFTSettings(SFTStageSettings, people_rows.PeopleRowSettings):
    """Settings of the buyer of the bazaar, for a GPU; on a CPU lower the rows and the passes."""

    rows: int = option("deals to learn from", 33_000)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["sft"].items())
    first_seed: int = option("training seeds run up from it", 10_000)

    lora_r: int = option("rank of the adapter", 16)
    lora_alpha: int = option("its scale, times the rank", 32)
    per_device_train_batch_size: int = 32
    save_steps: int = 517


@dataclass(frozen=True, kw_only=True)
class ArenaSFTSettings(SFTStageSettings, teacher_rows.ArenaRowSettings):
    """Settings of a lab of the GPU arena; an hour on one core."""

    per_device_train_batch_size: int = 8  # actions, of which a game has many
    save_steps: int = 150
    eval_games: int = 16
    game: ClassVar[str] = "arena"


SETTINGS = (SFTSettings, ArenaSFTSettings)


def train(
    settings: SFTStageSettings,
    folder: Path | None = None,
    resume: bool = False,
    make_rows: Callable[[Any], Sequence[teacher_rows.Row]] | None = None,
) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do.

    It goes on from the adapter that the settings name, or makes a new one.
    """
    run = common.start_run(settings, folder, resume)
    of_game = teacher_rows.arena_rows if settings.game == "arena" else people_rows.make_rows
    rows = teacher_rows.load_rows(run.folder, partial(make_rows or of_game, settings))
    if adapter := common.init_adapter(settings):
        return train_on(run, rows, trainable(run.base, adapter))
    lora = peft_config(LoRA(settings.lora_r, settings.lora_alpha))
    return train_on(run, rows, read_base(run.base), lora)


def train_on(
    run: common.Run, rows: Sequence[teacher_rows.Row], network: Any, lora: Any = None
) -> dict:
    """Train `network`, with a new adapter by the config `lora` if given, on `rows` to the end."""
    from trl import SFTConfig

    settings, tokenizer = run.settings, tokenizer_of(run.base)
    sequences = load_sequences(run, rows, tokenizer)
    lengths = list(map(len, sequences["input_ids"]))
    batch = settings.per_device_train_batch_size * settings.gradient_accumulation_steps
    rng = np.random.default_rng(settings.seed)
    epochs = range(settings.num_train_epochs)
    order = [i for _ in epochs for i in teacher_rows.order_by_length(lengths, batch, rng)]
    trainer = sft_trainer()(
        model=network,
        args=SFTConfig(
            **common.training_arguments(run),
            max_steps=settings.max_steps or -1,
            num_train_epochs=1,  # the order holds all of them
            train_sampling_strategy="sequential",
            max_length=None,
            remove_unused_columns=False,
        ),
        data_collator=partial(collate, padding=tokenizer.pad_token_id),
        train_dataset=sequences.select(order),
        processing_class=tokenizer,
        peft_config=lora,
    )
    common.train_to_end(run, trainer)
    served = common.save_and_load(run, trainer)

    used = order[: trainer.state.global_step * batch]  # a run may end before it has used them all
    learnt = [rows[i] for i in sorted(set(used))]
    first = sequences[used[0]]
    counts = teacher_rows.summarize_rows(learnt)
    in_loss = [sum(label != -100 for label in labels) for labels in sequences["labels"]]
    counts["tokens"] = {
        "all": sum(lengths[i] for i in used),
        "in_loss": sum(in_loss[i] for i in used),
    }
    figures = {
        "rows": counts | {"sha256": digest(teacher_rows.to_lines(learnt))},
        "sample": common.sample(first["input_ids"], first["labels"], tokenizer),
    }
    return common.save_run(run, trainer, check_player(run, served) | figures)


def load_sequences(run: common.Run, rows: Sequence[teacher_rows.Row], tokenizer: Any) -> Any:
    """The Dataset of the rows' tokens, made once and then read from the run's folder."""
    from datasets import Dataset

    file = run.folder / "sequences.parquet"
    if not file.exists():
        encode = teacher_rows.encode
        made = Dataset.from_list([encode(row, tokenizer) for row in rows])
        made.to_parquet(file)
    return Dataset.from_parquet(str(file), cache_dir=str(run.folder / "sequences"))


def collate(rows: Sequence[Mapping[str, Any]], padding: int) -> dict[str, Any]:
    """Rows as tensors of shape (rows, tokens), padded on the right.

    Where rows have choices, also these and their weights for each supervised token of the batch.
    """
    import torch
    from torch.nn.utils.rnn import pad_sequence

    ids, labels = ([torch.tensor(row[key]) for row in rows] for key in ("input_ids", "labels"))
    many = ("choices", "weights") if "choices" in rows[0] else ()
    return {
        "input_ids": pad_sequence(ids, True, padding),
        "labels": pad_sequence(labels, True, -100),
        "attention_mask": pad_sequence(list(map(torch.ones_like, ids)), True),
    } | {key: [*chain.from_iterable(row[key] for row in rows)] for key in many}


def sft_trainer() -> Any:
    """TRL's SFTTrainer with the loss of `score_tokens`, and of choices where rows have them."""
    from trl import SFTTrainer

    class Supervised(SFTTrainer):
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch=None
        ) -> Any:
            if return_outputs:
                raise NotImplementedError("this loss has no logits to return")
            ids, labels = inputs["input_ids"], inputs["labels"]
            if "choices" in inputs:
                scored, log_probs = score_vocabulary(model, ids, labels)
                loss = choices_loss(log_probs, inputs["choices"], inputs["weights"])
            else:
                scored = score_tokens(model, ids, labels)
                count = len(scored.log_probs) if num_items_in_batch is None else num_items_in_batch
                loss = -scored.log_probs.sum() / count
            metrics = self._metrics["train" if self.model.training else "eval"]
            metrics["entropy"].append(scored.entropy.mean().item())
            metrics["mean_token_accuracy"].append(scored.hits.float().mean().item())
            self._total_train_tokens += int(inputs["attention_mask"].sum())
            metrics["num_tokens"] = [self._total_train_tokens]
            return loss

    return Supervised
