"""Runs kept in a repository of the Hub or in a folder, so that another machine can resume them.

`CommitScheduler` of huggingface_hub does not fit: it takes files while they are written and never
deletes one, and a kept run must be a consistent copy without the checkpoints that training dropped.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sauda.train.run import COMPLETE

NEW, BEFORE = ".{}.new", ".{}.before"  # beside a folder that is being replaced


def local_folder(results: str) -> Path | None:
    """The folder that results name as file:PATH; None where they name a repository."""
    return Path(results.removeprefix("file:")) if results.startswith("file:") else None


def upload(run: Path, results: str, api: Any = None) -> None:
    """Keep the folder of a run, which may be going on, in `results` under its name.

    It takes the place of what was kept, in one step. Raises OSError where that cannot be done.
    """
    if (kept := local_folder(results)) is not None:
        snapshot(run, made := kept / NEW.format(run.name))
        _replace(kept / run.name, made)
        return
    api = api or _hub()
    with tempfile.TemporaryDirectory() as made:
        snapshot(run, Path(made) / run.name)
        api.create_repo(results, private=True, exist_ok=True)
        api.upload_folder(
            repo_id=results,
            folder_path=Path(made) / run.name,
            path_in_repo=run.name,
            delete_patterns=["*"],  # checkpoints that have had their time
            commit_message=f"Keep the run of {run.name}",
        )


def download(name: str, results: str, into: Path, api: Any = None) -> Path | None:
    """Bring the run called `name` into a folder; returns where it is, or None if none was kept.

    A repository is made where there is none, so that a lack of rights shows before training.
    Raises OSError where that cannot be done.
    """
    made = into / NEW.format(name)
    shutil.rmtree(made, ignore_errors=True)
    if (kept := local_folder(results)) is not None:
        places = (kept / name, kept / BEFORE.format(name))  # the other if killed in `_replace`
        found = next((place for place in places if place.exists()), None)
        if found is None:
            return None
        shutil.copytree(found, made)
    else:
        api = api or _hub()
        api.create_repo(results, private=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as brought:
            api.snapshot_download(results, allow_patterns=[f"{name}/*"], local_dir=brought)
            if not (Path(brought) / name).exists():
                return None
            (Path(brought) / name).rename(made)
    _replace(into / name, made)
    return into / name


def snapshot(run: Path, to: Path) -> None:
    """Copy a run that may be going on so that one can go on from the copy.

    Whole checkpoints first, the log after them: a log that is ahead is cut back to the checkpoint,
    one behind it would lack steps for good.
    """
    shutil.rmtree(to, ignore_errors=True)
    for checkpoint in run.glob("checkpoint-*"):
        if (checkpoint / COMPLETE).exists():
            shutil.copytree(checkpoint, to / checkpoint.name)
    others = shutil.ignore_patterns("checkpoint-*")
    shutil.copytree(run, to, ignore=others, dirs_exist_ok=True)


def _replace(folder: Path, made: Path) -> None:
    """Put `made` in the place of a folder; whole at any time, there or as the one before."""
    before = folder.with_name(BEFORE.format(folder.name))
    if folder.exists():
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    made.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


def _hub() -> Any:
    from huggingface_hub import HfApi

    return HfApi()
