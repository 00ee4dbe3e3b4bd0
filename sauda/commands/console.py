"""What the commands share: options, what failures exit with, saving, printing."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import Any

from sauda.cloud import CloudFault
from sauda.commands import COMMANDS
from sauda.records import lines, rows_in
from sauda.records.store import save

SHOWN = 10  # faults named of what is checked
Command = Callable[[argparse.Namespace], int]  # returns the exit code


def add_command(
    commands: Any, name: str, run: Command | None = None, about: str = ""
) -> argparse.ArgumentParser:
    """A new subcommand of `commands`; `about`, or the index of commands, says what it does."""
    text = (about or COMMANDS[name][1]).replace("%", "%%")  # argparse formats it
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def save_measured(file: str, config: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Save a measured artifact and print its path."""
    save(file, config, data)
    print(f"wrote artifacts/{file}")


def print_tables(data: Mapping[str, Any]) -> None:
    """Print the tables of a result."""
    print("\n".join(lines(rows_in(data))))


def report(about: str, faults: Sequence[str], most: int = SHOWN) -> bool:
    """Print what was checked with its first faults, `most` of them; whether it has none."""
    more = [f"and {len(faults) - most} places more"] if len(faults) > most else []
    lines = [f"{'FAIL' if faults else 'ok  '} {about}", *faults[:most], *more]
    print("\n     ".join(lines), flush=True)
    return not faults


def check_output(file: Path | None) -> None:
    """Raise ValueError for a folder, before anything is measured that could not be written."""
    if file is not None and file.is_dir():
        raise ValueError(f"{file} is a folder; --out names a file")


def mean_with_interval(figures: Mapping[str, float] | None) -> str:
    """A mean with its interval as text; None says that the quantity does not vary."""
    if figures is None:
        return "does not vary"
    return f"{figures['mean']:6.3f} [{figures['low']:6.3f}, {figures['high']:6.3f}]"


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add `--engine`, `--workers` and `--address`."""
    about = "processes here, or a Ray cluster"
    parser.add_argument("--engine", choices=("process", "ray"), default="process", help=about)
    parser.add_argument("--workers", type=int, default=2, help="processes, or CPUs of a local Ray")
    parser.add_argument(
        "--address", default=None, help="of a Ray cluster, HOST:PORT; without it one starts here"
    )


def choose_engine(options: argparse.Namespace) -> AbstractContextManager:
    """The engine that the options name; ValueError for an address without Ray."""
    from sauda.pool import engine

    if options.address and options.engine != "ray":
        raise ValueError("--address is that of a Ray cluster: say --engine ray as well")
    return engine(options.engine, options.workers, options.address)


def with_reason(command: Callable[[argparse.Namespace], int | None]) -> Command:
    """The command; where the Hub, a worker, the disk or a model refuses, it says why: status 1."""

    @wraps(command)
    def run(options: argparse.Namespace) -> int:
        from huggingface_hub.errors import HTTPError  # of whichever client it speaks through

        from sauda.llm.model import CannotLoad, NoWeights
        from sauda.pool import WorkersLost

        refusals = (CloudFault, WorkersLost, OSError, MemoryError, HTTPError, CannotLoad, NoWeights)
        try:
            return command(options) or 0
        except refusals as error:
            print(f"sauda: {str(error) or type(error).__name__}", file=sys.stderr)
            return 1

    return run
