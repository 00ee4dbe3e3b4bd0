"""A training run on disk: what was asked, the log as it grows, whole checkpoints, a heartbeat.

Nothing that was done is lost: a log line is on disk before the next step begins, and a checkpoint
counts only once a list of its files' hashes stands beside them.
"""

import json
import math
import os
import platform
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sauda.llm.backends.weights import CACHE
from sauda.records.store import sha256, write

RUNS = CACHE / "training"
WHOLE = "whole.json"  # in a checkpoint: every file's hash, written last
LIBRARIES = ("torch", "transformers", "peft", "trl")
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")  # of a checkpoint
BEAT = 60.0  # seconds between two lines of a heartbeat, at most (R15)
LOGGED = {  # our name of each figure of TRL's log that we keep
    "loss": "loss",
    "learning_rate": "learning_rate",
    "grad_norm": "grad_norm",
    "mean_token_accuracy": "mean_token_accuracy",
    "entropy": "entropy",
}


class Stopped(ValueError):
    """A run cannot begin or go on; the message says why, and what is kept."""


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
    def begun(self) -> bool:
        """Whether anything was done that a new run would lose."""
        return any((self.folder / name).exists() for name in ("log.jsonl", "pairs.jsonl"))

    @property
    def asked(self) -> Path:
        return self.folder / "run.json"


def opened(folder: Path, asked: Mapping[str, Any], resume: bool) -> Run:
    """The run in `folder` that does what was `asked`: a new one, or the same one gone on with.

    Its threads may be others, for they belong to the machine. Raises Stopped where a run is there
    and `resume` is not said, or the other way round, or where it was asked for something else.
    """
    run = Run(folder)
    if not resume:
        if run.begun:
            raise Stopped(f"there is a run in {folder}; go on with it by --resume, or remove it")
        write(run.asked, json.dumps(asked, indent=1) + "\n")
        return run
    if not run.asked.exists():
        raise Stopped(f"there is no run in {folder} to resume")
    before = json.loads(run.asked.read_text(encoding="utf-8"))
    now = json.loads(json.dumps(asked))
    keys = sorted({*before, *now} - {"threads"})
    if other := [key for key in keys if before.get(key) != now.get(key)]:
        raise Stopped(f"the run in {folder} was asked for another {', '.join(other)}")
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
    """The whole lines of `log`; none where it is not there yet."""
    if not log.exists():
        return []
    text = log.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def curve(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The steps that count, each once: what came after the checkpoint gone on from is replaced."""
    steps: dict[int, dict[str, Any]] = {}
    for line in found:
        if "begun" in line:
            steps = {step: row for step, row in steps.items() if step <= line["begun"]}
        else:
            steps[line["step"]] = dict(line)
    return [steps[step] for step in sorted(steps)]


def check_log(run: Run, step: int) -> None:
    """Refuse to go on from `step` where the log does not tell of it: its lines cannot be made up.

    Raises Stopped.
    """
    if step and step not in {row["step"] for row in curve(lines(run.log))}:
        raise Stopped(
            f"there is a checkpoint of step {step} in {run.folder}, and {run.log.name} does not "
            "tell of that step; put the log back, or remove the folder and begin anew"
        )


def resumes(found: Sequence[Mapping[str, Any]]) -> list[int]:
    """The steps at which the run was gone on with."""
    return [line["begun"] for line in found if "begun" in line][1:]


def seal(checkpoint: Path) -> None:
    """Say that `checkpoint` is whole: its files are on disk, and these are their hashes."""
    hashes = {}
    for file in sorted(p for p in checkpoint.rglob("*") if p.is_file() and p.name != WHOLE):
        with file.open("rb") as content:
            os.fsync(content.fileno())
        hashes[file.relative_to(checkpoint).as_posix()] = sha256(file)
    write(checkpoint / WHOLE, json.dumps(hashes, indent=1))


def keep_adapter(run: Run, step: int) -> None:
    """Keep the adapter as it stood after `step`, when its checkpoint is long gone."""
    made = run.snapshots / f"{step}.tmp"
    made.mkdir(parents=True, exist_ok=True)
    for name in ADAPTER:
        shutil.copy(run.folder / f"checkpoint-{step}" / name, made)
    shutil.rmtree(run.snapshots / str(step), ignore_errors=True)
    made.rename(run.snapshots / str(step))


def latest(folder: Path) -> Path | None:
    """The last whole checkpoint; one that a kill left half is passed over.

    Raises Stopped where a file of it is not what was written.
    """
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=step_of, reverse=True):
        if not (checkpoint / WHOLE).exists():
            print(f"{checkpoint.name} is not whole and is passed over", flush=True)
            continue
        for name, expected in json.loads((checkpoint / WHOLE).read_text("utf-8")).items():
            file = checkpoint / name
            if not file.exists() or sha256(file) != expected:
                raise Stopped(
                    f"{file} is damaged; remove {checkpoint} to go on from the one before it"
                )
        return checkpoint
    return None


def step_of(checkpoint: Path) -> int:
    """The step at which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


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
    """Says its `status` every `every` seconds while it is entered, also within a long step."""

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

    def _beat(self) -> None:
        while not self._over.wait(self.every):
            self.say(f"{time.strftime('%H:%M:%S')} {self.status}")


def watch(run: Run, heartbeat: Heartbeat, begun: int, logged: Mapping[str, str] = LOGGED) -> Any:
    """A callback of transformers that logs every step, seals checkpoints and stops at NaN.

    Tokens and seconds go on from those of step `begun`.
    """
    from transformers import TrainerCallback

    before = next((row for row in curve(lines(run.log)) if row["step"] == begun), {})
    tokens, seconds = before.get("tokens", 0), before.get("seconds", 0.0)
    clock = time.monotonic()

    class Watch(TrainerCallback):
        seen = 0  # tokens that the trainer counts from before this start

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.seen = state.num_input_tokens_seen

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if "loss" not in logs:
                return
            figures = {ours: float(logs[its]) for its, ours in logged.items() if its in logs}
            check_finite(figures, state.global_step, run.folder)
            spent = time.monotonic() - clock
            row = {
                "step": state.global_step,
                "tokens": tokens + int(logs["num_tokens"]) - self.seen,
                "seconds": round(seconds + spent, 3),
                **figures,
            }
            append(run.log, row)
            done = state.global_step - begun
            left = (state.max_steps - state.global_step) * spent / done
            heartbeat.status = (
                f"step {state.global_step} of {state.max_steps}, loss {figures['loss']:.4f}, "
                f"{(row['tokens'] - tokens) / spent:.0f} tokens/s, {left / 60:.0f} min left"
            )

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            keep_adapter(run, state.global_step)  # before it counts: a kill between loses none
            seal(run.folder / f"checkpoint-{state.global_step}")

    return Watch()


def check_finite(figures: Mapping[str, float], step: int, folder: Path) -> None:
    """Raise Stopped where a figure of `step` is no number; the last checkpoint stays."""
    for name, value in figures.items():
        if not math.isfinite(value):
            kept = latest(folder)
            raise Stopped(
                f"{name} is {value} at step {step}; "
                f"{f'{kept} is kept' if kept else 'there is no checkpoint yet'}. "
                "Try a lower --learning-rate"
            )


def hardware() -> dict[str, Any]:
    """On what the run was made."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        "device": gpu or f"{platform.machine()} CPU",
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "packages": {name: version(name) for name in LIBRARIES},
    }
