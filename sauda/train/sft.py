"""Supervised fine-tuning on teacher rows: TRL's SFTTrainer, a LoRA adapter, loss on completions.

On a CPU the loss is computed by `scored`: what a batch's prompts begin with alike is read once for
all of them, and only the tokens that are learnt are projected on the vocabulary. Both are exact.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sauda.artifact import ROOT, digest, save, write
from sauda.policies.model import ADAPTERS, Model, load
from sauda.train.adapter import publish, read_adapter, save_adapter
from sauda.train.base import BASES, TOY, Base, LoRA, base, lora, network
from sauda.train.data import (
    DataConfig,
    Row,
    from_lines,
    grouped,
    rows,
    summary,
    to_lines,
    tokens,
)
from sauda.train.gate import gate
from sauda.train.run import (
    RUNS,
    Heartbeat,
    Run,
    Stopped,
    append,
    check_disk,
    curve,
    hardware,
    latest,
    lines,
    opened,
    resumes,
    step_of,
    watch,
)

STAGE = "sft"
KEPT = 2  # checkpoints
SPARE_DISK = 200 * 2**20  # bytes beside the checkpoints: rows, log, adapter


@dataclass(frozen=True)
class Config:
    """What is trained on what, and how; the defaults are the numbers we report."""

    model: str = "mini"  # toy, mini, 8b, or a folder or repository
    data: DataConfig = DataConfig()  # noqa: RUF009 (frozen)
    lora: LoRA = LoRA()  # noqa: RUF009
    epochs: int = 1
    batch: int = 8  # rows a step
    at_once: int = 8  # rows a pass; lower where memory is short
    learning_rate: float = 1e-3  # ten times a full fine-tuning's, as LoRA wants
    warmup: float = 0.05  # of the steps; then a cosine to 0
    clip: float = 1.0  # of the gradient's norm
    checkpoint_every: int = 10  # steps: a minute or two on two cores (R25)
    steps: int = -1  # ends early there, for a trial; -1 trains on all rows
    gate: int = 48  # hold-out prompts
    threads: int = 2  # of torch on a CPU
    seed: int = 0  # of the adapter's first values and of the rows' order


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end and write its adapter and artifact; returns the artifact's data.

    Raises Stopped, CannotLoad or NoWeights with the reason, before training where it can be known.
    """
    import torch

    folder = folder or RUNS / name_of(config)
    run = opened(folder, asdict(config), resume)
    torch.set_num_threads(config.threads)
    with Heartbeat() as heartbeat:
        found = base(config.model, folder, config.at_once)
        taught = _rows(config, run)
        heartbeat.status = f"reading the model for {len(taught):,} rows"
        trainer, sample, count = _trainer(config, run, found, taught)
        start = latest(folder) if resume else None
        check_disk(folder, _needed(trainer.model))
        begun = 0 if start is None else step_of(start)
        if begun == steps_of(config, len(taught)):  # killed between the last step and the end
            read_adapter(trainer.model, start)
        else:
            append(run.log, {"begun": begun})
            trainer.add_callback(watch(run, heartbeat, begun))
            trainer.train(resume_from_checkpoint=None if start is None else str(start))
        heartbeat.status = "saving the adapter and trying it on hold-out prompts"
        made = {"stage": STAGE, "after": None, "log": digest(curve(lines(run.log)))}
        save_adapter(trainer.model, folder / "adapter", found, made)
        judged = gate(trained(folder, found, config.threads), config.gate)
        heartbeat.status = f"trained {len(curve(lines(run.log)))} steps"
    data = _data(run, found, taught, count, judged) | {"sample": sample}
    return finish(config, run, data)


def name_of(config: Config) -> str:
    """What the run's adapter and files are called: sft for the small model, else sft-MODEL."""
    return STAGE if config.model == "mini" else f"{STAGE}-{Path(config.model).name}"


def steps_of(config: Config, count: int) -> int:
    """How many steps a run over `count` rows has."""
    if config.steps > 0:
        return config.steps
    passes = math.ceil(count * config.epochs / config.at_once)
    return math.ceil(passes / max(1, config.batch // config.at_once))


def finish(config: Any, run: Run, data: dict[str, Any]) -> dict[str, Any]:
    """Publish what passed the gate. A toy or a trial stays in its folder, and need not pass.

    Raises Stopped where the gate is failed; the adapter then stays in the run's folder.
    """
    trial = config.model == TOY or config.steps > 0
    if not (data["gate"]["passed"] or trial):
        write(run.folder / "refused.json", json.dumps(data, indent=1))
        raise Stopped(
            f"the gate refused the adapter: valid {data['gate']['valid']:.3f}, faults "
            f"{data['gate']['faults'][:3]}; see {run.folder / 'refused.json'}"
        )
    name = name_of(config)
    data["adapter"] = publish(
        run.folder / "adapter", name, run.folder / "adapters" if trial else ADAPTERS
    )
    file, asked = f"training/{name}.json", asdict(config)
    save(file, asked, data, run.folder if trial else ROOT)
    return data


def trained(folder: Path, found: Base, threads: int) -> Model:
    """The model as it is served, with the adapter under `folder`."""
    named = BASES.get(found.name, found.weights.folder)
    return load(f"{named}+{folder / 'adapter'}", threads=threads)


def _rows(config: Config, run: Run) -> list[Row]:
    """The run's rows, made once and then read from its folder."""
    file = run.folder / "rows.jsonl"
    if not file.exists():
        write(file, to_lines(rows(config.data)))
    return from_lines(file.read_text(encoding="utf-8"))


def _trainer(
    config: Config, run: Run, found: Base, taught: Sequence[Row]
) -> tuple[Any, list[dict[str, Any]], dict[str, int]]:
    """TRL's trainer over the rows in the order they are learnt, a sample, the rows' tokens."""
    from datasets import Dataset, disable_progress_bars
    from transformers import AutoTokenizer
    from transformers.utils import logging
    from trl import SFTConfig

    logging.set_verbosity_error()
    disable_progress_bars()
    rng = np.random.default_rng(config.seed)
    tokenizer = AutoTokenizer.from_pretrained(found.weights.folder)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    sequences = [tokens(row, tokenizer) for row in taught]
    lengths = [len(sequence["input_ids"]) for sequence in sequences]
    order = [i for _ in range(config.epochs) for i in grouped(lengths, config.batch, rng)]
    on_cpu = found.device == "cpu"
    arguments = SFTConfig(
        output_dir=str(run.folder),
        max_steps=config.steps,
        num_train_epochs=1,  # the order has them all
        per_device_train_batch_size=config.at_once,
        gradient_accumulation_steps=max(1, config.batch // config.at_once),
        train_sampling_strategy="sequential",
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=config.warmup,
        max_grad_norm=config.clip,
        weight_decay=0.0,
        max_length=None,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_steps=config.checkpoint_every,
        save_total_limit=KEPT,
        seed=config.seed,
        use_cpu=on_cpu,
        bf16=False,  # the weights are in bf16 themselves; the adapter stays in fp32
        activation_checkpointing=not on_cpu,
        dataloader_pin_memory=not on_cpu,
        disable_tqdm=True,
        report_to="none",
    )
    trainer = _sft_trainer(on_cpu)(
        model=network(found),
        args=arguments,
        train_dataset=Dataset.from_list([sequences[i] for i in order]),
        processing_class=tokenizer,
        peft_config=lora(config.lora),
    )
    for callback in trainer.callback_handler.callbacks:
        if type(callback).__name__ == "PrinterCallback":
            trainer.remove_callback(callback)
            break
    learnt = trainer.train_dataset
    count = {
        "all": sum(map(len, learnt["input_ids"])),
        "learnt": sum(sum(label != -100 for label in labels) for labels in learnt["labels"]),
    }
    return trainer, _sample(learnt[0], tokenizer), count


def _sample(row: Any, tokenizer: Any) -> list[dict[str, Any]]:
    """One row in chat format, a token an entry, with whether it is learnt."""
    return [
        {"text": tokenizer.decode([token]), "learnt": label != -100}
        for token, label in zip(row["input_ids"], row["labels"], strict=True)
    ]


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
            log_probs, entropy, hits = scored(model, inputs["input_ids"], inputs["labels"])
            count = len(log_probs) if num_items_in_batch is None else num_items_in_batch
            metrics = self._metrics["train" if self.model.training else "eval"]
            metrics["entropy"].append(entropy.mean().item())
            metrics["mean_token_accuracy"].append(hits.float().mean().item())
            self._total_train_tokens += int(inputs["attention_mask"].sum())
            metrics["num_tokens"] = [self._total_train_tokens]
            return -log_probs.sum() / count

    return OnCPU


def scored(model: Any, input_ids: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Log-probability, entropy and hit of each learnt token of a batch, each shape (learnt,).

    `input_ids` and `labels` have shape (rows, tokens), padded on the right; labels are -100 where
    nothing is learnt. The tokens that all rows begin with are read once, their keys and values
    shared: gradients flow through them as through copies.
    """
    import torch

    network = model.get_base_model() if hasattr(model, "get_base_model") else model
    shared = _shared(input_ids, labels)
    cache = _read_once(network, input_ids, shared) if shared and len(input_ids) > 1 else None
    start = shared if cache is not None else 0
    hidden = network.model(
        input_ids=input_ids[:, start:], past_key_values=cache, use_cache=cache is not None
    ).last_hidden_state
    targets = labels[:, start + 1 :]
    learnt = targets != -100
    logits = network.lm_head(hidden[:, :-1][learnt]).float()
    chances = torch.log_softmax(logits, dim=-1)
    told = targets[learnt]
    with torch.no_grad():
        entropy = -(chances.exp() * chances).sum(-1)
        hits = logits.argmax(-1) == told
    return chances.gather(-1, told[:, None])[:, 0], entropy, hits


def _shared(input_ids: Any, labels: Any) -> int:
    """How many leading tokens all rows have alike, short of the first that predicts a label."""
    same = ((input_ids == input_ids[:1]) & (labels == -100)).all(0)
    return max(0, int(same.int().cumprod(0).sum()) - 1)


def _read_once(network: Any, input_ids: Any, shared: int) -> Any:
    """The cache of the first `shared` tokens, spread over all rows."""
    from transformers import DynamicCache

    cache = DynamicCache(config=network.config)
    network.model(input_ids=input_ids[:1, :shared], past_key_values=cache, use_cache=True)
    for layer in cache.layers:
        layer.keys = layer.keys.expand(len(input_ids), -1, -1, -1)
        layer.values = layer.values.expand(len(input_ids), -1, -1, -1)
    return cache


def _needed(model: Any) -> int:
    """Bytes on disk: checkpoints hold the adapter and two moments of it in fp32."""
    learning = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return 3 * 4 * learning * (KEPT + 1) + SPARE_DISK


def _data(
    run: Run, found: Base, taught: Sequence[Row], count: dict[str, int], judged: dict[str, Any]
) -> dict[str, Any]:
    log = lines(run.log)
    steps = curve(log)
    return {
        "stage": STAGE,
        "base": {
            "name": found.name,
            "origin": found.weights.origin,
            "sha256": found.weights.sha256,
            "precision": found.precision,
        },
        "rows": summary(taught) | {"tokens": count, "sha256": digest(to_lines(taught))},
        "log": steps,
        "resumed": resumes(log),
        "gate": judged,
        "hardware": hardware(),
        "seconds": steps[-1]["seconds"],
        "tokens": steps[-1]["tokens"],
    }
