"""A training run on disk: its settings, its log, its checkpoints; a heartbeat while it trains.

A log line is on disk before the next step begins. A checkpoint counts only once the hashes of its
files are written beside them, so a killed run resumes from the last complete one.
"""

import json
import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sauda.llm.model import CACHE
from sauda.records.store import DamagedFile, device, read_lines, read_object, sha256, write
from sauda.train.model import learnt_files

RUNS = CACHE / "training"
LOCK = "run.lock"  # stays in the folder; the system releases it when the process ends, even killed
COMPLETE = "whole.json"  # in a checkpoint: every file's hash, written last
LIBRARIES = ("torch", "transformers", "peft", "trl")
BEAT = 60.0  # seconds between two lines of a heartbeat, at most: a silent job looks dead
LOGGED = ("loss", "learning_rate", "grad_norm", "mean_token_accuracy", "entropy")  # of TRL's log


def option(default: Any, help: str, least: int = 1) -> Any:
    """A dataclass field that `python -m sauda train STAGE` offers as an option.

    A whole number is at least `least`. The metadata's "help" is that of transformers'
    TrainingArguments; other fields are no options.
    """
    return field(default=default, metadata={"help": help, "least": least})


def options_of(config: Any) -> Iterator[Field]:
    """The fields of a stage's `config` that are options, those of its `data` included."""
    for each in fields(config):
        if "help" in each.metadata:
            yield each
        elif is_dataclass(each.default):
            yield from options_of(each.default)


def check_options(config: Any, given: Mapping[str, Any]) -> None:
    """Raise ValueError where a value `given` for an option of `config` is below its least."""
    for each in options_of(config):
        value, least = given.get(each.name), each.metadata["least"]
        if type(value) is int and value < least:
            flag = each.name.replace("_", "-")
            raise ValueError(f"--{flag} is a whole number of at least {least}, not {value}")


class Stopped(ValueError):
    """A run cannot start or resume; the message says why, and what is kept."""


@dataclass(frozen=True)
class Run:
    """The folder of one run."""

    folder: Path

    @property
    def log(self) -> Path:
        return self.folder / "log.jsonl"

    @property
    def snapshots(self) -> Path:
        return self.folder / "snapshots"

    @property
    def started(self) -> bool:
        """Whether the folder holds work that a new run would lose."""
        return any((self.folder / name).exists() for name in ("log.jsonl", "pairs.jsonl"))

    @property
    def settings(self) -> Path:
        return self.folder / "run.json"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Context: this process alone trains in `folder`; raises Stopped where another one does."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise Stopped(
            f"another training run is writing to {folder}; wait until it ends, or name another "
            "folder with --out"
        ) from None
    try:
        yield
    finally:
        lock.release()


def open_run(folder: Path, settings: Mapping[str, Any], resume: bool) -> Run:
    """A new run with `settings` in `folder`, or the one that is there, to resume.

    A resumed run may use another number of threads, publish what began as a trial, and be kept
    elsewhere. Raises Stopped where a new run would overwrite one, or where the run to resume is
    missing or has other settings, and DamagedFile where its settings cannot be read.
    """
    run = Run(folder)
    if not resume:
        if run.started:
            raise Stopped(f"there is a run in {folder}; continue it by --resume, or remove it")
        write(run.settings, json.dumps(settings, indent=1) + "\n")
        return run
    if not run.settings.exists():
        raise Stopped(f"there is no run in {folder} to resume")
    before = read_object(run.settings)
    now = json.loads(json.dumps(settings))
    keys = sorted({*before, *now} - {"threads", "trial", "keep_in"})
    if changed := [key for key in keys if before.get(key) != now.get(key)]:
        raise Stopped(f"the run in {folder} was started with another {', '.join(changed)}")
    return run


def append(log: Path, line: Mapping[str, Any]) -> None:
    """Add a line to `log`, on disk when this returns; a torn last line is cut off first."""
    with log.open("a+b") as file:
        file.seek(0)
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
        file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def lines(log: Path) -> list[dict[str, Any]]:
    """The complete lines of a run's log; none where the file does not exist.

    Raises DamagedFile, naming the line, where one is damaged or is of no step.
    """
    rows = read_lines(log)
    for number, row in enumerate(rows, 1):
        if type(row.get("begun", row.get("step"))) is not int:
            raise DamagedFile(log, f"line {number} has neither 'step' nor 'begun'")
    return rows


def curve(log: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row a step: a resumed run replaces the steps after the checkpoint that it resumed."""
    steps: dict[int, dict[str, Any]] = {}
    for line in log:
        if "begun" in line:
            steps = {step: row for step, row in steps.items() if step <= line["begun"]}
        else:
            steps[line["step"]] = dict(line)
    return [steps[step] for step in sorted(steps)]


def check_log(run: Run, step: int) -> None:
    """Raise Stopped where the log lacks `step`, from which the run is to resume."""
    if step and step not in {row["step"] for row in curve(lines(run.log))}:
        raise Stopped(
            f"there is a checkpoint of step {step} in {run.folder}, and {run.log.name} lacks that "
            "step; put the log back, or remove the folder and start again"
        )


def resumed_steps(log: Sequence[Mapping[str, Any]]) -> list[int]:
    """The steps from which the run was resumed."""
    return [line["begun"] for line in log if "begun" in line][1:]


def seal(checkpoint: Path) -> None:
    """Mark `checkpoint` as complete: write its files' hashes once they are all on disk."""
    hashes = {}
    for file in sorted(p for p in checkpoint.rglob("*") if p.is_file() and p.name != COMPLETE):
        with file.open("rb") as content:
            os.fsync(content.fileno())
        hashes[file.relative_to(checkpoint).as_posix()] = sha256(file)
    write(checkpoint / COMPLETE, json.dumps(hashes, indent=1))


def keep_adapter(run: Run, step: int) -> None:
    """Copy what has learnt by `step` to the snapshots, which outlive its checkpoint."""
    checkpoint, copy = run.folder / f"checkpoint-{step}", run.snapshots / f"{step}.tmp"
    copy.mkdir(parents=True, exist_ok=True)
    for name in learnt_files(checkpoint):
        shutil.copy(checkpoint / name, copy)
    shutil.rmtree(run.snapshots / str(step), ignore_errors=True)
    copy.rename(run.snapshots / str(step))


def latest(folder: Path) -> Path | None:
    """The last complete checkpoint, None where there is none; incomplete ones are skipped.

    Raises Stopped where a file of it is missing or changed, DamagedFile where the list of their
    hashes is damaged.
    """
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=step_of, reverse=True):
        if not (checkpoint / COMPLETE).exists():
            print(f"{checkpoint.name} is incomplete and is skipped", flush=True)
            continue
        check_complete(checkpoint)
        return checkpoint
    return None


def check_complete(checkpoint: Path) -> None:
    """Raise Stopped where a file of a sealed checkpoint is missing or changed.

    Raises DamagedFile where the list of their hashes is damaged.
    """
    for name, expected in read_object(checkpoint / COMPLETE).items():
        file = checkpoint / name
        if not file.exists() or sha256(file) != expected:
            raise Stopped(
                f"{file} is damaged; remove {checkpoint} to resume from the one before it"
            )


def step_of(checkpoint: Path) -> int:
    """The step at which a checkpoint was written; raises Stopped where its name has none."""
    step = checkpoint.name.rpartition("-")[2]
    if not step.isdecimal():
        raise Stopped(f"{checkpoint} is named after no step; remove it or rename it")
    return int(step)


def check_disk(folder: Path, needed: int) -> None:
    """Raise Stopped where fewer than `needed` bytes are free under `folder`."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Stopped(
            f"the run needs {needed / 2**20:,.0f} MiB under {folder} and {free / 2**20:,.0f} are "
            "free; make room or name another folder with --out"
        )


@dataclass
class Heartbeat:
    """A context that reports `status` by `say` every `every` seconds, also within a long step."""

    status: str = "preparing"
    every: float = BEAT
    say: Callable[[str], None] = field(default=lambda text: print(text, flush=True))
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Heartbeat":
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.say(self.status)

    def report(self, status: str) -> None:
        """Set the status that the next heartbeat prints."""
        self.status = status

    def _beat(self) -> None:
        while not self._over.wait(self.every):
            self.say(f"{time.strftime('%H:%M:%S')} {self.status}")


def watch(run: Run, heartbeat: Heartbeat, first: int, logged: Sequence[str] = LOGGED) -> Any:
    """A callback of transformers that logs every step, seals checkpoints and stops at NaN.

    Tokens and seconds count on from those of step `first`; `logged` names the kept figures.
    """
    from transformers import TrainerCallback

    before = next((row for row in curve(lines(run.log)) if row["step"] == first), {})
    tokens, seconds = before.get("num_tokens", 0), before.get("seconds", 0.0)
    clock = time.monotonic()

    class Watch(TrainerCallback):
        seen = 0  # tokens that the trainer counts from before this start

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.seen = state.num_input_tokens_seen

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if "loss" not in logs:
                return
            figures = {name: float(logs[name]) for name in logged if name in logs}
            check_finite(figures, state.global_step, run.folder)
            spent = time.monotonic() - clock
            row = {
                "step": state.global_step,
                "num_tokens": tokens + int(logs["num_tokens"]) - self.seen,
                "seconds": round(seconds + spent, 3),
                **figures,
            }
            append(run.log, row)
            done = state.global_step - first
            left = (state.max_steps - state.global_step) * spent / done
            heartbeat.status = (
                f"step {state.global_step} of {state.max_steps}, loss {figures['loss']:.4f}, "
                f"{(row['num_tokens'] - tokens) / spent:.0f} tokens/s, {left / 60:.0f} min left"
            )

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            keep_adapter(run, state.global_step)  # first: a kill in between loses no snapshot
            seal(run.folder / f"checkpoint-{state.global_step}")

    return Watch()


def check_finite(figures: Mapping[str, float], step: int, folder: Path) -> None:
    """Raise Stopped where a figure of `step` is NaN or infinite; checkpoints are kept."""
    for name, value in figures.items():
        if not math.isfinite(value):
            kept = latest(folder)
            raise Stopped(
                f"{name} is {value} at step {step}; "
                f"{f'{kept} is kept' if kept else 'there is no checkpoint yet'}. "
                "Try a lower --learning-rate"
            )


def hardware() -> dict[str, Any]:
    """The machine, the threads and the libraries of a run."""
    import torch

    return {
        "device": device(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "packages": {name: version(name) for name in LIBRARIES},
    }
