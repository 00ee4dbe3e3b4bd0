"""Runs kept in a repository of the Hub or in a folder, so that another machine can resume them.

`CommitScheduler` of huggingface_hub does not fit: it takes files while they are written and never
deletes one, and a kept run must be a consistent copy without the checkpoints that training dropped.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sauda.train.run import COMPLETE, LOCK, Run, append, check_complete

NEW, BEFORE = ".{}.new", ".{}.before"  # beside a folder that is being replaced


def local_folder(results: str) -> Path | None:
    """The folder that results name as file:PATH; None where they name a repository.

    Raises ValueError where the path is empty: a run would replace folders of the current one.
    """
    if not results.startswith("file:"):
        return None
    if not (path := results.removeprefix("file:")).strip():
        raise ValueError(f"a folder is named as file:PATH, and {results!r} has no path")
    return Path(path)


def check_place(results: str) -> None:
    """Raise ValueError where runs cannot be kept in `results`: neither OWNER/NAME nor file:PATH."""
    if local_folder(results) is None and not re.fullmatch(r"[\w.-]+/[\w.-]+", results):
        raise ValueError(
            f"results go to a repository OWNER/NAME or a folder file:PATH; not {results!r}"
        )


def upload(run: Path, results: str, api: Any = None) -> None:
    """Copy the folder of a run, which may be training, to `results` under its name.

    The copy is on disk and checked before it replaces the former one, in a single step. Raises
    OSError where that cannot be done, and Stopped where a file of a checkpoint is not what was
    sealed.
    """
    if (kept := local_folder(results)) is not None:
        _checked_snapshot(run, copy := kept / NEW.format(run.name))
        _flush(copy)
        _replace(kept / run.name, copy)
        return
    api = api or _hub()
    with tempfile.TemporaryDirectory() as folder, _as_os_errors(results):
        _checked_snapshot(run, Path(folder) / run.name)
        api.create_repo(results, private=True, exist_ok=True)
        api.upload_folder(
            repo_id=results,
            folder_path=Path(folder) / run.name,
            path_in_repo=run.name,
            delete_patterns=["*"],  # checkpoints that training removed
            commit_message=f"Keep the run of {run.name}",
        )


def download(name: str, results: str, into: Path, api: Any = None) -> Path | None:
    """Copy the run called `name` into a folder; returns its path, or None if no run was kept.

    A missing repository is created, so that a lack of rights shows before training.
    Raises OSError where that cannot be done.
    """
    copy = into / NEW.format(name)
    shutil.rmtree(copy, ignore_errors=True)
    if (kept := local_folder(results)) is not None:
        places = (kept / name, kept / BEFORE.format(name))  # the other if killed in `_replace`
        place = next((place for place in places if place.exists()), None)
        if place is None:
            return None
        shutil.copytree(place, copy)
    else:
        api = api or _hub()
        with tempfile.TemporaryDirectory(dir=into) as downloaded, _as_os_errors(results):
            api.create_repo(results, private=True, exist_ok=True)
            api.snapshot_download(results, allow_patterns=[f"{name}/*"], local_dir=downloaded)
            if not (Path(downloaded) / name).exists():
                return None
            (Path(downloaded) / name).rename(copy)
    _replace(into / name, copy)
    return into / name


def snapshot(run: Path, to: Path) -> None:
    """Copy a run that may be training, so that the copy can be resumed.

    Complete checkpoints are copied before the log: a log that is ahead is cut back to the
    checkpoint, a log behind it would lack steps for good.
    """
    shutil.rmtree(to, ignore_errors=True)
    for checkpoint in run.glob("checkpoint-*"):
        if (checkpoint / COMPLETE).exists():
            shutil.copytree(checkpoint, to / checkpoint.name)
    others = shutil.ignore_patterns("checkpoint-*", LOCK)
    shutil.copytree(run, to, ignore=others, dirs_exist_ok=True)


@dataclass(frozen=True)
class Retries:
    """How often a copy is tried, and the waits in between, which grow by a factor."""

    attempts: int = 5
    base: float = 1.0  # seconds before the second attempt
    factor: float = 2.0
    cap: float = 60.0  # seconds, of a wait
    jitter: float = 0.2  # share by which a wait is longer or shorter: clients do not return as one

    def wait(self, failures: int, rng: np.random.Generator) -> float:
        """Seconds to wait after so many failures, at least one."""
        length = min(self.cap, self.base * self.factor ** (failures - 1))
        return length * rng.uniform(1 - self.jitter, 1 + self.jitter)


@dataclass(frozen=True)
class Keeper:
    """Copies a run to `results` after each checkpoint. A copy that fails ends no training.

    What became of each copy is a line of `kept.jsonl` in the run's folder.
    """

    run: Run
    results: str  # a repository OWNER/NAME of the Hub, or a folder as file:PATH
    retries: Retries = Retries()
    copy: Callable[[Path, str], None] = upload
    sleep: Callable[[float], None] = time.sleep

    @property
    def record(self) -> Path:
        return self.run.folder / "kept.jsonl"

    def keep(self, step: int) -> bool:
        """Copy the run as it is after `step`; whether one of the attempts succeeded."""
        errors: list[str] = []
        rng = np.random.default_rng(step)
        while len(errors) < self.retries.attempts:
            if errors:
                self.sleep(self.retries.wait(len(errors), rng))
            try:
                self.copy(self.run.folder, self.results)
                break
            except (OSError, ValueError) as error:  # of the disk or the network; a torn copy
                errors.append(f"{type(error).__name__}: {error}".partition("\n")[0])
        kept = len(errors) < self.retries.attempts
        append(self.record, {"step": step, "kept": kept, "errors": errors})
        if not kept:
            print(f"step {step} was not copied to {self.results}: {errors[-1]}", flush=True)
        return kept

    def callback(self) -> Any:
        """A callback of transformers' Trainer that keeps each checkpoint once it is sealed."""
        from transformers import TrainerCallback

        keep = self.keep

        class Kept(TrainerCallback):
            def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                keep(state.global_step)

        return Kept()


def _checked_snapshot(run: Path, to: Path) -> None:
    """`snapshot`, and Stopped where a checkpoint of the copy is not what was sealed."""
    snapshot(run, to)
    for checkpoint in to.glob("checkpoint-*"):
        check_complete(checkpoint)


def _flush(folder: Path) -> None:
    """Write all files of a folder to the disk."""
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as content:
                os.fsync(content.fileno())


def _replace(folder: Path, copy: Path) -> None:
    """Replace a folder by `copy`; at any time at least one of the two is complete on disk."""
    before = folder.with_name(BEFORE.format(folder.name))
    if folder.exists():
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    copy.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


@contextmanager
def _as_os_errors(results: str) -> Iterator[None]:
    """Raise OSError for what the Hub's client raises where the network fails: its own kind."""
    from huggingface_hub.utils import httpx

    try:
        yield
    except httpx.TransportError as error:
        raise OSError(f"{results} cannot be reached: {error}") from error


def _hub() -> Any:
    from huggingface_hub import HfApi

    return HfApi()
