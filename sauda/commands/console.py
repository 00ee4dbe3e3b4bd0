"""What the commands share: adding one to the parser, saving its artifact, printing intervals."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from sauda.commands import COMMANDS
from sauda.records.store import save


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int] | None = None,
    about: str | None = None,
) -> argparse.ArgumentParser:
    """A new subcommand of `commands`; `run` takes the parsed options and returns the exit code.

    What it does is said by `about`, or by the index of commands.
    """
    text = (about or COMMANDS[name][1]).replace("%", "%%")  # argparse formats it
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def save_measured(file: str, config: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Save a measured artifact and print its path."""
    save(file, config, data)
    print(f"wrote artifacts/{file}")


def interval(figures: Mapping[str, float] | None) -> str:
    """A mean with its interval as text; None says that the quantity does not vary."""
    if figures is None:
        return "does not vary"
    return f"{figures['mean']:6.3f} [{figures['low']:6.3f}, {figures['high']:6.3f}]"
