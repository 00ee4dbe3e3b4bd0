"""What the stages of training share: from the command to a published adapter and its artifact."""

import errno
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sauda.llm.backends.model import (
    ADAPTERS,
    CannotLoad,
    Model,
    adapter_folder,
    check_base,
    load,
    with_adapter,
)
from sauda.records.store import ROOT, digest, save, sha256, write
from sauda.train.acceptance import arena_gate, gate
from sauda.train.adapter import WEIGHTS, publish, read_adapter, save_adapter
from sauda.train.base import BASES, TOY, Base, LoRA, base, lora, network
from sauda.train.checkpoint_evaluation import probes
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
    opened,
    resumes,
    step_of,
    watch,
)

KEPT = 2  # checkpoints
GATES = {"bazaar": gate, "arena": arena_gate}  # by game
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SPARE_DISK = 200 * 2**20  # bytes beside the checkpoints: rows, log, adapter


@dataclass(frozen=True)
class Prepared:
    """A stage that can begin: TRL's trainer, its steps, what the artifact tells of its data."""

    trainer: Any
    steps: int
    told: Callable[[], Mapping[str, Any]]  # once it is done
    logged: Mapping[str, str] = field(default_factory=lambda: LOGGED)


def train(
    stage: str,
    config: Any,
    folder: Path | None,
    resume: bool,
    prepare: Callable[[Any, Run, Base, Heartbeat], Prepared],
) -> dict[str, Any]:
    """Run a stage to its end and write its adapter and artifact; returns the artifact's data.

    Raises Stopped, CannotLoad or NoWeights with the reason, before training where it can be known.
    """
    import torch

    name = name_of(stage, config)
    folder = folder or RUNS / name
    before = after(config)
    made = {
        "stage": stage,
        "after": before and {"name": config.after, "sha256": sha256(before / WEIGHTS)},
    }
    run = opened(folder, asdict(config) | {"begins with": made["after"]}, resume)
    torch.set_num_threads(config.threads)
    with Heartbeat() as heartbeat:
        found = base(config.model, folder, config.at_once, config.copies)
        ready = prepare(config, run, found, heartbeat)
        start = latest(folder) if resume else None
        check_disk(folder, _needed(ready, config.checkpoint_every))
        begun = 0 if start is None else step_of(start)
        check_log(run, begun)
        if begun == ready.steps:  # killed between the last step and the end
            read_adapter(ready.trainer.model, start)
        else:
            append(run.log, {"begun": begun})
            ready.trainer.add_callback(watch(run, heartbeat, begun, ready.logged))
            with told_if_full(folder):
                ready.trainer.train(resume_from_checkpoint=None if start is None else str(start))
        heartbeat.status = "saving the adapter and trying it on hold-out prompts"
        made["log"] = digest(curve(lines(run.log)))
        save_adapter(ready.trainer.model, folder / "adapter", found, made)
        served = as_served(folder / "adapter", found, config.threads)
        judged = GATES[config.game](served, config.gate)
        probed = probes(
            run,
            config.game,
            config.probe,
            lambda adapter: as_served(adapter, found, config.threads),
            lambda text: setattr(heartbeat, "status", text),
        )
        heartbeat.status = f"trained {len(curve(lines(run.log)))} steps"
    told = _told(stage, run, found, judged) | ready.told()
    told |= {"after": made["after"], "probes": probed}
    return _finish(stage, config, run, told)


def name_of(stage: str, config: Any) -> str:
    """What the run's adapter and files are called: sft, sft-arena, sft-MODEL, sft-arena-MODEL.

    The small model goes without its name, and so does the bazaar.
    """
    game = "" if config.game == "bazaar" else f"-{config.game}"
    return stage + game + ("" if config.model == "mini" else f"-{Path(config.model).name}")


def after(config: Any) -> Path | None:
    """The folder of the adapter that a stage goes on from; None where it begins a new one.

    Raises CannotLoad where it is not there.
    """
    name = getattr(config, "after", "")
    if not name:
        return None
    if (found := adapter_folder(name)) is None:
        raise CannotLoad(
            f"no adapter {name!r} to go on from; train that stage first, or name its folder by "
            "--after"
        )
    return found


def learner(found: Base, adapter: Path | None) -> Any:
    """The base's network with an adapter that learns: a new one, or `adapter` that learns on.

    Raises CannotLoad where that one was trained on other weights or is damaged.
    """
    from peft import get_peft_model

    if adapter is None:
        return get_peft_model(network(found), lora(LoRA()))
    check_base(adapter, found.weights)
    begun = with_adapter(network(found), adapter, learns=True)
    # checkpoints look there for the base's config, and need not ask the Hub
    begun.peft_config["default"].base_model_name_or_path = str(found.weights.folder)
    return begun


def as_served(adapter: Path, found: Base, threads: int) -> Model:
    """The model with an adapter, as it is served."""
    return load(f"{BASES.get(found.name, found.weights.folder)}+{adapter}", threads=threads)


def sample(ids: Sequence[int], labels: Sequence[int], tokenizer: Any) -> list[dict[str, Any]]:
    """One sequence, a token an entry, with whether it is learnt (its label is not -100)."""
    return [
        {"text": tokenizer.decode([token]), "learnt": label != -100}
        for token, label in zip(ids, labels, strict=True)
    ]


def tokenizer_of(found: Base) -> Any:
    """The base's tokenizer, with a token to pad with."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(found.weights.folder)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def arguments(config: Any, run: Run, found: Base) -> dict[str, Any]:
    """What every trainer is told, as TRL and transformers name it."""
    from datasets import disable_progress_bars
    from transformers.utils import logging

    logging.set_verbosity_error()
    disable_progress_bars()
    on_cpu = found.device == "cpu"
    return {
        "output_dir": str(run.folder),
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": "cosine",
        "warmup_steps": config.warmup,
        "max_grad_norm": config.clip,
        "weight_decay": 0.0,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_steps": config.checkpoint_every,
        "save_total_limit": KEPT,
        "seed": config.seed,
        "use_cpu": on_cpu,
        "bf16": False,  # the weights are in bf16 themselves; the adapter stays in fp32
        "activation_checkpointing": not on_cpu,
        "dataloader_pin_memory": not on_cpu,
        "disable_tqdm": True,
        "report_to": "none",
    }


def quiet(trainer: Any) -> Any:
    """`trainer` without the callback that prints every log line; ours are told by a heartbeat."""
    for callback in trainer.callback_handler.callbacks:
        if type(callback).__name__ == "PrinterCallback":
            trainer.remove_callback(callback)
            break
    return trainer


def _needed(ready: Prepared, every: int) -> int:
    """Bytes on disk: checkpoints hold the adapter, two moments of it and the one it began with.

    All in fp32; and of every checkpoint the adapter is kept.
    """
    parameters = ready.trainer.model.parameters()
    learning = 4 * sum(p.numel() for p in parameters if p.requires_grad)
    return learning * (4 * (KEPT + 1) + math.ceil(ready.steps / every)) + SPARE_DISK


@contextmanager
def told_if_full(folder: Path) -> Iterator[None]:
    """Turn what libraries raise where a checkpoint cannot be written into one sentence."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        full = isinstance(error, SafetensorError) or getattr(error, "errno", None) in FULL
        if not full and "inline_container" not in str(error):  # torch.save's own words
            raise
        kept = latest(folder)
        raise Stopped(
            f"could not write under {folder}: {str(error).strip().splitlines()[0]}; "
            f"{f'{kept.name} is kept' if kept else 'there is no checkpoint yet'}. Make room and go "
            "on with --resume"
        ) from error


def _told(stage: str, run: Run, found: Base, judged: dict[str, Any]) -> dict[str, Any]:
    log = lines(run.log)
    steps = curve(log)
    return {
        "stage": stage,
        "base": {
            "name": found.name,
            "origin": found.weights.origin,
            "sha256": found.weights.sha256,
            "precision": found.precision,
        },
        "log": steps,
        "resumed": resumes(log),
        "gate": judged,
        "hardware": hardware(),
        "seconds": steps[-1]["seconds"],
        "tokens": steps[-1]["tokens"],
    }


def _finish(stage: str, config: Any, run: Run, data: dict[str, Any]) -> dict[str, Any]:
    """Publish what passed the gate. A toy or a trial stays in its folder, and need not pass.

    Raises Stopped where the gate is failed; the adapter then stays in the run's folder.
    """
    trial = config.model == TOY or config.trial
    if not (data["gate"]["passed"] or trial):
        write(run.folder / "refused.json", json.dumps(data, indent=1))
        raise Stopped(
            f"the gate refused the adapter: valid {data['gate']['valid']:.3f}, faults "
            f"{data['gate']['faults'][:3]}; see {run.folder / 'refused.json'}"
        )
    name = name_of(stage, config)
    data["adapter"] = publish(
        run.folder / "adapter", name, run.folder / "adapters" if trial else ADAPTERS
    )
    file, asked = f"training/{name}.json", asdict(config)
    save(file, asked, data, run.folder if trial else ROOT)
    return data
