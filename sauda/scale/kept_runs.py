"""Runs kept in a repository of the Hub or in a folder, so that another machine can resume them.

`CommitScheduler` of huggingface_hub does not fit: it takes files while they are written and never
deletes one, and a kept run must be a consistent copy without the checkpoints that training dropped.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sauda.train.run import COMPLETE, LOCK

NEW, BEFORE = ".{}.new", ".{}.before"  # beside a folder that is being replaced


def local_folder(results: str) -> Path | None:
    """The folder that results name as file:PATH; None where they name a repository."""
    return Path(results.removeprefix("file:")) if results.startswith("file:") else None


def upload(run: Path, results: str, api: Any = None) -> None:
    """Copy the folder of a run, which may be training, to `results` under its name.

    The copy replaces the former one in a single step. Raises OSError where that cannot be done.
    """
    if (kept := local_folder(results)) is not None:
        snapshot(run, copy := kept / NEW.format(run.name))
        _replace(kept / run.name, copy)
        return
    api = api or _hub()
    with tempfile.TemporaryDirectory() as folder:
        snapshot(run, Path(folder) / run.name)
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
        api.create_repo(results, private=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as downloaded:
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


def _replace(folder: Path, copy: Path) -> None:
    """Replace a folder by `copy`; at any time at least one of the two is complete on disk."""
    before = folder.with_name(BEFORE.format(folder.name))
    if folder.exists():
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    copy.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


def _hub() -> Any:
    from huggingface_hub import HfApi

    return HfApi()
