"""What these commands share: options of an engine and of a job, the exit code of a failure."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sauda.records.provenance import REPOSITORY
from sauda.scale.kept_runs import local_folder
from sauda.scale.pieces.engines import ENGINES, Engine, EngineFault, engine
from sauda.scale.request import IMAGE, NoMachine, is_address


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add `--engine`, `--workers` and `--address`."""
    parser.add_argument(
        "--engine", choices=ENGINES, default="process", help="processes here, or a Ray cluster"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes, or CPUs of a local Ray")
    parser.add_argument(
        "--address", default=None, help="of a Ray cluster, HOST:PORT; without it one starts here"
    )


def chosen_engine(options: argparse.Namespace) -> AbstractContextManager[Engine]:
    """The engine that the options name; ValueError for an address without Ray."""
    if options.address and options.engine != "ray":
        raise ValueError("--address is that of a Ray cluster: say --engine ray as well")
    return engine(options.engine, options.workers, options.address)


def add_job_options(parser: argparse.ArgumentParser, timeout: str) -> None:
    """Add what every job of the Hub is asked with; `timeout` is that of one attempt."""
    parser.add_argument("--to", required=True, help="results: a repository OWNER/NAME or file:PATH")
    parser.add_argument("--source", default=None, help="repository to clone; by default origin")
    parser.add_argument("--revision", default=None, help="its commit; by default this tree's")
    parser.add_argument("--image", default=IMAGE)
    parser.add_argument("--timeout", default=timeout, help="such as 90m or 6h")
    parser.add_argument("--attempts", type=int, default=2)
    parser.add_argument("--dry-run", action="store_true", help="print the job; submit nothing")


def job_settings(options: argparse.Namespace, here: bool = False) -> dict[str, Any]:
    """The settings that every job takes; `here` trains from this tree where no source is named.

    Raises ValueError where this tree has no origin or no commit.
    """
    results = options.to
    if (folder := local_folder(results)) is not None:
        results = f"file:{folder.absolute()}"
    source = options.source or (str(REPOSITORY) if here else _git("remote", "get-url", "origin"))
    if is_address(source):
        revision = options.revision or _git("rev-parse", "HEAD")
    else:
        source, revision = str(Path(source).absolute()), ""
    asked = {name: getattr(options, name) for name in ("image", "timeout", "attempts")}
    return {"results": results, "source": source, "revision": revision, **asked}


def _git(*command: str) -> str:
    git = subprocess.run(["git", "-C", str(REPOSITORY), *command], capture_output=True, text=True)
    if git.returncode:
        raise ValueError(
            "this tree has no origin or no commit; name them by --source and --revision"
        )
    return git.stdout.strip()


def exit_code(action: Callable[[], object]) -> int:
    """0 once `action` has run; 1 where the Hub, a worker or the disk refuses, with the reason."""
    from huggingface_hub.errors import HTTPError  # of whichever client it speaks through

    try:
        action()
    except (EngineFault, NoMachine, OSError, HTTPError) as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    return 0
