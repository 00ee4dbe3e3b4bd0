"""What the training stages share: settings, a run's folder, its log and checkpoints, its artifact.

The training loop, its checkpoints and its log are those of transformers' Trainer. A run that was
killed resumes from its last complete checkpoint and ends as if it had never stopped.
"""

import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from jinja2 import Template

from sauda.games import game_of
from sauda.llm.engine import Sampling
from sauda.llm.model import ADAPTERS, CACHE, CannotLoad, adapter_folder
from sauda.llm.model import Model as ServedModel
from sauda.records import check_least
from sauda.records.seeds import TRAINED
from sauda.records.store import ROOT, device, digest, read_object, save, sha256, write
from sauda.train.model import (
    ADAPTER_WEIGHTS,
    TOY,
    Base,
    find_base,
    load_served,
    publish,
    read_adapter,
    save_adapter,
)

RUNS = CACHE / "training"
SETTINGS_FILE = "run.json"  # in a run's folder
SAMPLE = "sample.json"  # there: the first sequence of a run that plays, token by token
STATE_FILE = "trainer_state.json"  # in a checkpoint: the Trainer's step and log
LIBRARIES = ("torch", "transformers", "peft", "trl")
LOGGED = ("loss", "learning_rate", "grad_norm", "mean_token_accuracy", "entropy")  # of TRL's log
LEAST = {  # of settings that are whole numbers; 1 of all others
    "max_steps": -1, "seed": 0, "first_seed": 0, "eval_games": 0, "near": 0,
}  # fmt: skip
# When a run is resumed.
MAY_CHANGE = {"threads", "minutes", "trial", "report_to", "push_to_hub", "hub_model_id"}


class Stopped(ValueError):
    """A run cannot start, resume or go on; the message says why, and what is kept."""


def option(about: str, default: Any = MISSING) -> Any:
    """A setting with what the help of the command says about it."""
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True, kw_only=True)
class StageSettings:
    """Settings of every stage, in the names of TrainingArguments; defaults are what we report."""

    model: str = option("toy, mini, 8b, or a folder or repository", "mini")
    per_device_train_batch_size: int = option("rows per pass; lower where memory is short", 4)
    learning_rate: float = option("peak, after the warmup")
    warmup_steps: float = option("below 1 a share of the steps", 0.05)
    lr_scheduler_type: str = option("how the rate falls: a name of transformers", "cosine")
    max_grad_norm: float = 1.0
    save_steps: int = option("steps between two checkpoints")
    acceptance_prompts: int = option("hold-out prompts of the acceptance check", 48)
    threads: int = option("of torch on a CPU", 1)
    minutes: float = option("of training, after which the run ends; 0 for no limit", 0.0)
    seed: int = option("of every draw in training", 0)
    trial: bool = option("keep the adapter in the run's folder", False)
    report_to: str = option("where the log goes too: trackio, wandb, tensorboard", "none")
    push_to_hub: bool = option("keep the run on the Hub; --resume brings it back", False)
    hub_model_id: str = option("its repository, OWNER/NAME", "")

    stage: ClassVar[str]
    game: ClassVar[str] = "bazaar"
    copies: ClassVar[int] = 0  # of the weights beside those that learn
    speech: ClassVar[Mapping[str, float]] = {}  # how its player's sentences are drawn, see Decoder
    # What only some stages offer.
    init_adapter: ClassVar[str] = ""
    four_bits: ClassVar[str] = "short"
    eval_games: ClassVar[int] = 0

    def __post_init__(self) -> None:
        check_least(vars(self), LEAST)
        if (first := getattr(self, "first_seed", 0)) not in TRAINED:
            raise ValueError(
                f"--first-seed is a training seed below {TRAINED.stop:,}, not {first:,}; "
                "those above judge what was learnt"
            )
        tasks = getattr(self, "tasks", ())  # which only some stages have
        if others := [name for name in tasks if game_of(name).name != self.game]:
            raise ValueError(f"{', '.join(others)}: no task of the {self.game}")
        if self.push_to_hub and self.hub_model_id.count("/") != 1:
            raise ValueError("--push-to-hub needs a repository OWNER/NAME by --hub-model-id")

    @property
    def is_trial(self) -> bool:
        """Whether the adapter stays in the run's folder, accepted or not."""
        return self.trial or self.model == TOY

    @property
    def name(self) -> str:
        """The name of the run's adapter and files, with the initial adapter if that is unusual."""
        init = self.init_adapter
        ordinary = init == type(self).init_adapter or "/" in init or self.model == TOY
        trained_from = "" if ordinary else init or "base"
        return run_name(self.stage, self.model, self.game, self.seed, trained_from)


@dataclass(frozen=True, kw_only=True)
class PlayerSettings(StageSettings):
    """Settings of a stage in which the learner plays whole games."""

    init_adapter: str = option(
        "adapter to train further: a stage's name or a folder; '' for a new one"
    )
    constrained: bool = option("replies under a grammar, for a base that writes no moves", False)
    temperature: float = 0.7  # of the replies
    max_new_tokens: int = 40  # of a reply
    # SFT has used these seeds as well: the learner meets some games again, and plays them itself.
    first_seed: int = option("training seeds run up from it")
    eval_games: int = option("training games that every checkpoint plays", 0)

    copies: ClassVar[int] = 1  # the player's weights

    @property
    def sampling(self) -> Sampling:
        """How the learner's replies are sampled."""
        return Sampling(self.temperature, top_p=1.0, max_new_tokens=self.max_new_tokens)


def run_name(
    stage: str, model: str, game: str = "bazaar", seed: int = 0, trained_from: str = ""
) -> str:
    """The name of a run's adapter and files: sft, sft-arena, sft-MODEL, sft-arena-MODEL, sft-seed1.

    The small model, the bazaar and the seed 0 are left out of the name. `trained_from` is the
    stage whose adapter the run trains further, where it is another than usual: grpo-from-people.
    It comes last, since it may have a seed of its own.
    """
    parts = (
        stage,
        "" if game == "bazaar" else game,
        "" if model == "mini" else Path(model).name,
        f"seed{seed}" if seed else "",
        trained_from and f"from-{trained_from}",
    )
    return "-".join(filter(None, parts))


@dataclass(frozen=True)
class Run:
    """A run in its folder, and the base that it trains."""

    settings: Any  # of a stage
    folder: Path
    base: Base
    resume: bool = False
    init: Mapping[str, str] | None = None  # name and hash of the adapter that is trained further


def start_run(settings: StageSettings, folder: Path | None, resume: bool) -> Run:
    """A new run in a folder, or the one that is there, to resume; its base is found or made.

    Raises Stopped, CannotLoad or NoWeights with the reason.
    """
    import torch

    folder = folder or RUNS / settings.name
    adapter = init_adapter(settings)
    init = adapter and {"name": settings.init_adapter, "sha256": sha256(adapter / ADAPTER_WEIGHTS)}
    if resume and settings.push_to_hub and not (folder / SETTINGS_FILE).exists():
        from huggingface_hub import snapshot_download

        snapshot_download(settings.hub_model_id, local_dir=folder)
    keep_settings(folder, asdict(settings) | {"begins with": init}, resume)
    torch.set_num_threads(settings.threads)
    base = find_base(
        settings.model,
        folder,
        settings.per_device_train_batch_size,
        settings.copies,
        settings.four_bits,
    )
    return Run(settings, folder, base, resume, init)


def keep_settings(folder: Path, settings: Mapping[str, Any], resume: bool) -> None:
    """Write the settings of a new run, or compare them with those of the run that is resumed.

    Raises Stopped where a new run would overwrite one or learn from rows that one with other
    settings made, or where the run to resume is missing or has other settings, and DamagedFile
    where its settings cannot be read.
    """
    file = folder / SETTINGS_FILE
    now = json.loads(json.dumps(settings))
    before = read_object(file) if file.exists() else now
    keys = sorted({*before, *now} - MAY_CHANGE)
    changed = [key for key in keys if before.get(key) != now.get(key)]
    if not resume:
        if last_checkpoint(folder) is not None or (folder / "pairs.jsonl").exists():
            raise Stopped(f"there is a run in {folder}; continue it by --resume, or remove it")
        if changed and any(folder.glob("rows*.jsonl")):
            raise Stopped(
                f"the rows in {folder} are of a run with another {', '.join(changed)}; "
                "name another folder by --out, or remove this one"
            )
        write(file, json.dumps(settings, indent=1) + "\n")
        return
    if not file.exists():
        raise Stopped(f"there is no run in {folder} to resume")
    if changed:
        raise Stopped(f"the run in {folder} was started with another {', '.join(changed)}")


def named_object(name: str) -> Any:
    """What "module:function" names: a teacher or a reward of the user's own.

    Raises ValueError where there is nothing of that name, or no function.
    """
    module, _, attribute = name.partition(":")
    try:
        named = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"expected module:function, and {name!r} cannot be had: {error}") from None
    if not callable(named):
        raise ValueError(f"expected module:function, and {name!r} is {named!r}, no function")
    return named


def init_adapter(settings: StageSettings) -> Path | None:
    """The folder of the adapter that a stage trains further; None where it starts a new one.

    Raises CannotLoad where it is missing.
    """
    name = settings.init_adapter
    if not name:
        return None
    if (folder := adapter_folder(name)) is None:
        raise CannotLoad(
            f"no adapter {name!r} to train further; train that stage first, or name its folder by "
            "--init-adapter"
        )
    return folder


def last_checkpoint(folder: Path) -> Path | None:
    """The last complete checkpoint in a folder, None where there is none."""
    for _, checkpoint in sorted(checkpoints_in(folder).items(), reverse=True):
        try:
            json.loads((checkpoint / STATE_FILE).read_text(encoding="utf-8"))  # written last
            return checkpoint
        except (FileNotFoundError, json.JSONDecodeError):
            print(f"{checkpoint.name} is incomplete and is skipped", flush=True)
    return None


def checkpoints_in(folder: Path) -> dict[int, Path]:
    """The folders of a run's checkpoints by step, incomplete ones included."""
    steps = {path.name.rpartition("-")[2]: path for path in folder.glob("checkpoint-*")}
    return {int(step): path for step, path in steps.items() if step.isdecimal()}


def training_arguments(run: Run) -> dict[str, Any]:
    """The arguments that every trainer takes, in the names of transformers and TRL."""
    from datasets import disable_progress_bars
    from transformers.utils import logging

    logging.set_verbosity_error()
    disable_progress_bars()
    settings, base = run.settings, run.base
    on_cpu = base.device == "cpu"
    return {
        "output_dir": str(run.folder),
        "per_device_train_batch_size": settings.per_device_train_batch_size,
        "gradient_accumulation_steps": settings.gradient_accumulation_steps,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.lr_scheduler_type,
        "warmup_steps": settings.warmup_steps,
        "max_grad_norm": settings.max_grad_norm,
        "weight_decay": 0.0,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,  # `run_log` stops there
        "save_steps": settings.save_steps,
        "save_total_limit": None if settings.eval_games else 2,  # each plays games at the end
        "seed": settings.seed,
        "use_cpu": on_cpu,
        "activation_checkpointing": base.checkpointing,
        "dataloader_pin_memory": not on_cpu,
        "report_to": settings.report_to,
        "push_to_hub": settings.push_to_hub,
        "hub_model_id": settings.hub_model_id or None,
        "hub_strategy": "all_checkpoints",  # another machine resumes; it needs earlier ones too
        "hub_private_repo": True,
    }


def train_to_end(run: Run, trainer: Any) -> None:
    """Train from the start, or from the last checkpoint of a run that is resumed."""
    from transformers import TrainerState

    if trainer.args.max_steps == 0:
        raise Stopped("these settings give no step of the optimizer; ask for more to learn from")
    checkpoint = last_checkpoint(run.folder) if run.resume else None
    if checkpoint is not None:
        state = TrainerState.load_from_json(str(checkpoint / STATE_FILE))
        done = state.global_step == state.max_steps  # killed between the last step and the end
        if done or is_over(state.log_history, run.settings.minutes):
            trainer.state = state
            read_adapter(trainer.model, checkpoint)
            return
    trainer.add_callback(run_log(run.folder, run.settings.minutes))
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))


def is_over(history: Sequence[Mapping[str, Any]], minutes: float) -> bool:
    """Whether a run has had its minutes of training, by its log; never where they are 0."""
    return bool(minutes) and log_steps(history)[-1]["seconds"] >= 60 * minutes


def run_log(folder: Path, minutes: float) -> Any:
    """A callback that adds to the Trainer's log what spans several starts; it ends a run.

    These are tokens and seconds since the run's first step, and where each start begun, on which
    machine. A run ends at NaN, or with a checkpoint after so many minutes.
    """
    from transformers import TrainerCallback

    class RunLog(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            before = (log_steps(state.log_history) or [{"num_tokens": 0, "seconds": 0.0}])[-1]
            self.tokens = before["num_tokens"] - state.num_input_tokens_seen
            self.began = time.monotonic() - before["seconds"]
            state.log_history.append({"begun": state.global_step, "hardware": hardware()})

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if "loss" in logs:
                check_finite({n: logs[n] for n in LOGGED if n in logs}, state.global_step, folder)
                state.log_history[-1] |= {
                    "num_tokens": self.tokens + int(logs["num_tokens"]),
                    "seconds": round(time.monotonic() - self.began, 3),
                }
                if is_over(state.log_history, minutes):
                    control.should_training_stop = control.should_save = True

    return RunLog()


def check_finite(figures: Mapping[str, float], step: int, folder: Path) -> None:
    """Raise Stopped where a figure of `step` is NaN or infinite; checkpoints are kept."""
    for name, value in figures.items():
        if not math.isfinite(value):
            last = last_checkpoint(folder)
            raise Stopped(
                f"{name} is {value} at step {step}; "
                f"{f'{last} is kept' if last else 'there is no checkpoint yet'}. "
                "Try a lower --learning-rate"
            )


def append(file: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a file of JSON lines, on disk when this returns; a torn last line is cut off."""
    with file.open("a+b") as lines:
        lines.seek(0)
        content = lines.read()
        lines.truncate(content.rfind(b"\n") + 1)
        lines.write(json.dumps(row, allow_nan=False).encode() + b"\n")
        lines.flush()
        os.fsync(lines.fileno())


def log_steps(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries of the Trainer's log that are optimizer steps."""
    return [entry for entry in history if "loss" in entry]


def save_and_load(run: Run, trainer: Any, logged: Sequence[str] = LOGGED) -> ServedModel:
    """Save the trained weights, with the log's digest, and load it as the page serves it."""
    about = {
        "stage": run.settings.stage,
        "init_adapter": run.init,
        "log": digest(log_rows(trainer, logged)),
        **run.settings.speech,
    }
    save_adapter(trainer.model, run.folder / "adapter", run.base, about)
    return load_served(run.folder / "adapter", run.base, run.settings.threads)


def log_rows(trainer: Any, logged: Sequence[str]) -> list[dict[str, Any]]:
    """One row per optimizer step with the figures that an artifact keeps."""
    return [
        {name: row[name] for name in ("step", "num_tokens", "seconds")}
        | {name: float(row[name]) for name in logged if name in row}
        for row in log_steps(trainer.state.log_history)
    ]


def sample(ids: Sequence[int], labels: Sequence[int], tokenizer: Any) -> list[dict[str, Any]]:
    """One sequence, an entry per token, with whether it is in the loss (its label is not -100).

    Tokens that end within a letter share an entry with those that complete it.
    """
    entries: list[dict[str, Any]] = []
    held: list[int] = []
    for place, (token, label) in enumerate(zip(ids, labels, strict=True), 1):
        held.append(token)
        text = tokenizer.decode(held)
        if text.endswith("\N{REPLACEMENT CHARACTER}") and place < len(ids):
            continue
        entries.append({"text": text, "in_loss": label != -100})
        held = []
    return entries


def hardware() -> dict[str, Any]:
    """The machine, the threads and the libraries of a run."""
    import torch

    return {
        "device": device(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "packages": {name: version(name) for name in LIBRARIES},
    }


def save_run(
    run: Run,
    trainer: Any,
    figures: Mapping[str, Any],
    logged: Sequence[str] = LOGGED,
    publishes: bool = True,
    must_pass: bool = True,
) -> dict[str, Any]:
    """Publish an accepted adapter and save the run's artifact; returns its data.

    A trial stays in its folder, accepted or not. Raises Stopped where the acceptance check fails
    and the adapter `must_pass` it; the adapter then stays in the run's folder.
    """
    settings, base, log = run.settings, run.base, log_rows(trainer, logged)
    starts = [row for row in trainer.state.log_history if "begun" in row]
    data = {
        "stage": settings.stage,
        "base": {
            "name": base.name,
            "origin": base.weights.origin,
            "sha256": base.weights.sha256,
            "precision": base.precision,
        },
        "log": log,
        "resumed": [start["begun"] for start in starts[1:]],
        "hardware": starts[-1]["hardware"],
        "seconds": log[-1]["seconds"],
        "num_tokens": log[-1]["num_tokens"],
        **figures,
    }
    trial, check = settings.is_trial, data["acceptance"]
    if not (check["passed"] or trial or not must_pass):
        write(run.folder / "refused.json", json.dumps(data, indent=1))
        raise Stopped(
            f"the acceptance check refused the adapter: valid {check['valid']:.3f}, faults "
            f"{check['faults'][:3]}; see {run.folder / 'refused.json'}"
        )
    if publishes:
        root = run.folder / "adapters" if trial else ADAPTERS
        data["adapter"] = publish(run.folder / "adapter", settings.name, root)
    save(f"training/{settings.name}.json", asdict(settings), data, run.folder if trial else ROOT)
    if settings.push_to_hub:
        write(run.folder / "README.md", model_card(settings, data))
        trainer.push_to_hub()
    return data


def model_card(settings: StageSettings, data: Mapping[str, Any]) -> str:
    """The model card of a run, made from what its artifact holds."""
    template = Template(Path(__file__).with_name("model_card.jinja").read_text(encoding="utf-8"))
    games = (data.get("checkpoint_evaluations") or [None])[-1]
    text = json.dumps(asdict(settings), indent=1)
    return template.render(settings=settings, data=data, games=games, text=text) + "\n"
