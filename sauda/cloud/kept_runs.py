"""Runs kept in a repository of the Hub or in a folder, so that another machine can resume them.

A stage by itself keeps its checkpoints on the Hub by `--push-to-hub`. A job keeps its whole folder,
also what a stage writes before its first checkpoint. `CommitScheduler` of huggingface_hub does not
fit: it takes files while they are written and never deletes one.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sauda.train.common import checkpoints_in, is_complete

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

    The copy is on disk before it replaces the former one, in a single step. Raises OSError where
    that cannot be done.
    """
    if (kept := local_folder(results)) is not None:
        snapshot(run, copy := kept / NEW.format(run.name))
        _flush(copy)
        _replace(kept / run.name, copy)
        return
    api = api or _hub()
    with tempfile.TemporaryDirectory() as folder, _as_os_errors(results):
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

    Incomplete checkpoints are left out, and the files beside the checkpoints are copied last: what
    a checkpoint has learnt from is on disk before it.
    """
    shutil.rmtree(to, ignore_errors=True)
    for checkpoint in checkpoints_in(run).values():
        if is_complete(checkpoint):
            shutil.copytree(checkpoint, to / checkpoint.name)
    others = shutil.ignore_patterns("checkpoint-*")
    shutil.copytree(run, to, ignore=others, dirs_exist_ok=True)


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
