"""What the training stages share: from the settings to a published adapter and its artifact."""

import errno
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sauda.llm.model import ADAPTERS, CannotLoad, adapter_folder
from sauda.llm.model import Model as ServedModel
from sauda.records.store import ROOT, digest, save, sha256, write
from sauda.train.checks import acceptance, evaluate_checkpoints
from sauda.train.kept_runs import Keeper
from sauda.train.model import (
    ADAPTER_WEIGHTS,
    FULL,
    TOY,
    Base,
    find_base,
    load_served,
    publish,
    read_adapter,
    save_adapter,
)
from sauda.train.run import (
    LOGGED,
    RUNS,
    Heartbeat,
    Run,
    Stopped,
    append,
    check_disk,
    check_log,
    curve,
    hardware,
    latest,
    lines,
    locked,
    open_run,
    resumed_steps,
    step_of,
    watch,
)

CHECKPOINTS = 2  # that are kept; older ones are removed
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SPARE_DISK = 200 * 2**20  # bytes beside the checkpoints: rows, log, adapter


@dataclass(frozen=True)
class Prepared:
    """A stage that is ready to train."""

    trainer: Any  # of TRL or transformers
    max_steps: int
    summary: Callable[[], Mapping[str, Any]]  # of the data, for the artifact, after training
    logged: Sequence[str] = LOGGED  # the figures of the trainer's log that are kept
    best: Callable[[], int] | None = None  # the step whose adapter is kept; None: the last one
    # The acceptance check and other figures of the trained model; None: those of a player.
    evaluate: Callable[[ServedModel], dict[str, Any]] | None = None
    must_pass: bool = True  # the acceptance check, or the run is refused
    publishes: bool = True  # the adapter; a control's figures are all that is kept of it


def train(
    stage: str,
    config: Any,
    folder: Path | None,
    resume: bool,
    prepare: Callable[[Any, Run, Base, Heartbeat], Prepared],
) -> dict[str, Any]:
    """Run a stage to its end and write its adapter and artifact; returns the artifact's data.

    Raises Stopped, CannotLoad or NoWeights with the reason, before training where possible. One
    process at a time trains in a folder.
    """
    folder = folder or RUNS / name_of(stage, config)
    with locked(folder):
        return _train_in(folder, stage, config, resume, prepare)


def _train_in(
    folder: Path,
    stage: str,
    config: Any,
    resume: bool,
    prepare: Callable[[Any, Run, Base, Heartbeat], Prepared],
) -> dict[str, Any]:
    """`train` in a folder that no other process trains in."""
    import torch

    adapter = init_adapter(config)
    begins_with = adapter and {
        "name": config.init_adapter,
        "sha256": sha256(adapter / ADAPTER_WEIGHTS),
    }
    full = getattr(config, "full_fine_tuning", False)
    run = open_run(folder, asdict(config) | {"begins with": begins_with}, resume)
    torch.set_num_threads(config.threads)
    with Heartbeat() as heartbeat:
        base = find_base(
            config.model,
            folder,
            config.per_device_train_batch_size,
            config.copies + (FULL if full else 0),
            "never" if full else getattr(config, "four_bits", "short"),
        )
        prepared = prepare(config, run, base, heartbeat)
        if prepared.max_steps < 1:
            raise Stopped(
                "these settings give no step of the optimizer; ask for more to learn from"
            )
        _train(prepared, config, run, heartbeat, resume)
        if prepared.best is not None:
            read_adapter(prepared.trainer.model, run.snapshots / str(prepared.best()))
        heartbeat.status = "saving the adapter and trying it on hold-out prompts"
        about = {"stage": stage, "init_adapter": begins_with, "log": digest(curve(lines(run.log)))}
        save_adapter(prepared.trainer.model, folder / "adapter", base, about)
        served = load_served(folder / "adapter", base, config.threads)
        if prepared.evaluate is not None:
            figures = prepared.evaluate(served)
        else:
            figures = _played(served, config, run, base, heartbeat) | {"init_adapter": begins_with}
        heartbeat.status = f"trained {len(curve(lines(run.log)))} steps"
    data = _run_data(stage, run, base) | figures | prepared.summary()
    data = _finish(stage, config, run, prepared, data)
    if (keeper := _keeper(config, run)) is not None:
        keeper.keep(data["log"][-1]["step"])
    return data


def _keeper(config: Any, run: Run) -> Keeper | None:
    """What copies the run elsewhere; None where its settings name no place."""
    results = getattr(config, "keep_in", "")
    return Keeper(run, results) if results else None


def _played(
    served: ServedModel, config: Any, run: Run, base: Base, heartbeat: Heartbeat
) -> dict[str, Any]:
    """The acceptance check of a trained player, and the games of every checkpoint's adapter."""
    return {
        "acceptance": acceptance(served, config.game, config.acceptance_prompts),
        "checkpoint_evaluations": evaluate_checkpoints(
            run,
            config.game,
            config.eval_games,
            lambda snapshot: load_served(snapshot, base, config.threads),
            heartbeat.report,
        ),
    }


def _train(prepared: Prepared, config: Any, run: Run, heartbeat: Heartbeat, resume: bool) -> None:
    """Train from the start or the last checkpoint, with the log and the checks around it."""
    checkpoint = latest(run.folder) if resume else None
    check_disk(run.folder, _disk_needed(prepared, config.save_steps))
    first = 0 if checkpoint is None else step_of(checkpoint)
    check_log(run, first)
    if first == prepared.max_steps:  # killed between the last step and the end
        read_adapter(prepared.trainer.model, checkpoint)
        return
    append(run.log, {"begun": first, "hardware": hardware()})
    prepared.trainer.add_callback(watch(run, heartbeat, first, prepared.logged))
    if (keeper := _keeper(config, run)) is not None:
        prepared.trainer.add_callback(keeper.callback())  # after `watch`, which seals checkpoints
    with disk_errors_explained(run.folder):
        prepared.trainer.train(
            resume_from_checkpoint=None if checkpoint is None else str(checkpoint)
        )


def run_name(
    stage: str,
    model: str,
    game: str = "bazaar",
    seed: int = 0,
    trained_from: str = "",
    full: bool = False,
) -> str:
    """The name of a run's adapter and files: sft, sft-arena, sft-MODEL, sft-arena-MODEL, sft-seed1.

    The small model, the bazaar and the seed 0 are left out of the name. `trained_from` is the
    stage whose adapter the run trains further, where it is another than usual: grpo-from-distill.
    `full` says that all weights learn.
    """
    parts = [stage]
    if game != "bazaar":
        parts.append(game)
    if model != "mini":
        parts.append(Path(model).name)
    if trained_from:
        parts.append(f"from-{trained_from}")
    if full:
        parts.append("full")
    if seed:
        parts.append(f"seed{seed}")
    return "-".join(parts)


def name_of(stage: str, config: Any) -> str:
    """The name of the run of `config`, which says an unusual stage that it trains further."""
    name, usual = (getattr(of, "init_adapter", "") for of in (config, type(config)))
    trained_from = "" if name == usual or "/" in name or config.model == TOY else name or "base"
    full = getattr(config, "full_fine_tuning", False)
    return run_name(stage, config.model, config.game, config.seed, trained_from, full)


def init_adapter(config: Any) -> Path | None:
    """The folder of the adapter that a stage trains further; None where it starts a new one.

    Raises CannotLoad where it is missing.
    """
    name = getattr(config, "init_adapter", "")
    if not name:
        return None
    if (folder := adapter_folder(name)) is None:
        raise CannotLoad(
            f"no adapter {name!r} to train further; train that stage first, or name its folder by "
            "--init-adapter"
        )
    return folder


def sample(ids: Sequence[int], labels: Sequence[int], tokenizer: Any) -> list[dict[str, Any]]:
    """One sequence, an entry a token, with whether it is learnt (its label is not -100)."""
    return [
        {"text": tokenizer.decode([token]), "in_loss": label != -100}
        for token, label in zip(ids, labels, strict=True)
    ]


def arguments(config: Any, run: Run, base: Base) -> dict[str, Any]:
    """The arguments that every trainer takes, in the names of TRL and transformers."""
    from datasets import disable_progress_bars
    from transformers.utils import logging

    logging.set_verbosity_error()
    disable_progress_bars()
    on_cpu, full = base.device == "cpu", getattr(config, "full_fine_tuning", False)
    return {
        "output_dir": str(run.folder),
        "per_device_train_batch_size": config.per_device_train_batch_size,
        "gradient_accumulation_steps": config.gradient_accumulation_steps,
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": "cosine",
        "warmup_steps": config.warmup_steps,
        "max_grad_norm": config.max_grad_norm,
        "weight_decay": 0.0,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_steps": config.save_steps,
        "save_total_limit": CHECKPOINTS,
        "seed": config.seed,
        "use_cpu": on_cpu,
        # bf16 weights compute as they are, with their adapter in fp32; fp32 ones compute in bf16
        "bf16": full and not on_cpu,
        "activation_checkpointing": base.checkpointing,
        "dataloader_pin_memory": not on_cpu,
        "disable_tqdm": True,
        "report_to": "none",
    }


def without_printer(trainer: Any) -> Any:
    """`trainer` without the callback that prints every log line; the heartbeat reports instead."""
    for callback in trainer.callback_handler.callbacks:
        if type(callback).__name__ == "PrinterCallback":
            trainer.remove_callback(callback)
            break
    return trainer


def _disk_needed(prepared: Prepared, save_steps: int) -> int:
    """Bytes on disk: checkpoints hold the adapter, its two moments and the one it started from.

    All in fp32; of every checkpoint the adapter is kept.
    """
    parameters = prepared.trainer.model.parameters()
    adapter = 4 * sum(p.numel() for p in parameters if p.requires_grad)
    return adapter * (4 * (CHECKPOINTS + 1) + math.ceil(prepared.max_steps / save_steps)) + (
        SPARE_DISK
    )


@contextmanager
def disk_errors_explained(folder: Path) -> Iterator[None]:
    """Turn what libraries raise where a checkpoint cannot be written into one sentence."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        full = isinstance(error, SafetensorError) or getattr(error, "errno", None) in DISK_FULL
        if not full and "inline_container" not in str(error):  # torch.save's own words
            raise
        kept = latest(folder)
        raise Stopped(
            f"could not write under {folder}: {str(error).strip().splitlines()[0]}; "
            f"{f'{kept.name} is kept' if kept else 'there is no checkpoint yet'}. Make room and "
            "continue with --resume"
        ) from error


def _run_data(stage: str, run: Run, base: Base) -> dict[str, Any]:
    log = lines(run.log)
    steps = curve(log)
    return {
        "stage": stage,
        "base": {
            "name": base.name,
            "origin": base.weights.origin,
            "sha256": base.weights.sha256,
            "precision": base.precision,
        },
        "log": steps,
        "resumed": resumed_steps(log),
        "hardware": next((row["hardware"] for row in log[::-1] if "hardware" in row), hardware()),
        "seconds": steps[-1]["seconds"],
        "num_tokens": steps[-1]["num_tokens"],
    }


def _finish(
    stage: str, config: Any, run: Run, prepared: Prepared, data: dict[str, Any]
) -> dict[str, Any]:
    """Publish an accepted adapter. A toy or a trial stays in its folder, accepted or not.

    So does a run on a data set that is not shipped, whose words are not ours to publish. Raises
    Stopped where the acceptance check fails; the adapter then stays in the run's folder.
    """
    trial = config.model == TOY or config.trial or bool(getattr(config, "source", ""))
    check = data["acceptance"]
    if not (check["passed"] or trial or not prepared.must_pass):
        write(run.folder / "refused.json", json.dumps(data, indent=1))
        raise Stopped(
            f"the acceptance check refused the adapter: valid {check['valid']:.3f}, faults "
            f"{check['faults'][:3]}; see {run.folder / 'refused.json'}"
        )
    name = name_of(stage, config)
    if prepared.publishes:
        data["adapter"] = publish(
            run.folder / "adapter", name, run.folder / "adapters" if trial else ADAPTERS
        )
    save(f"training/{name}.json", asdict(config), data, run.folder if trial else ROOT)
    return data
