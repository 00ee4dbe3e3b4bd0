"""`python -m sauda run NAME`: run an experiment, save its result and print it as a table.

Settings other than those of the artifact are printed, and saved only where `--out` says.
"""

import argparse
from typing import Any

from sauda.commands.console import add_command
from sauda.experiments import find, index


def add(commands: Any) -> None:
    """Add `run` to the commands of `python -m sauda`; no experiment is imported for it."""
    parser = add_command(commands, "run", run)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "experiments:\n" + "\n".join(
        f"  {name:16} {place.about}" for name, place in index().items()
    )
    parser.add_argument("name", choices=index(), metavar="NAME", help="of the experiment")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="its settings; NAME --help names them"
    )


def run(options: argparse.Namespace) -> int:
    """Run one experiment, save its result and print its rows."""
    from sauda.experiments.base import lines

    found = find(options.name)
    command = found.kind.files[0].command
    if not command.startswith("run "):
        raise ValueError(f"{found.file} needs data that are not shipped: python -m sauda {command}")
    chosen = vars(found.parser(f"python -m sauda run {options.name}").parse_args(options.options))
    made, file = found.run(chosen, chosen.pop("out"))
    print(f"wrote {file}" if file else "not saved: --out FILE keeps the result of other settings")
    for line in lines(found.table(made.data.as_json())):
        print(line)
    return 0
