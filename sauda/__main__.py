"""Index of the commands: `python -m sauda COMMAND`. Everything that makes a number is a command."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from sauda.commands import COMMANDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0 for success, 1 for a failed check, 2 for a mistake in the call."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print(index())
            return 0
        options = parse_arguments(arguments)
        return options.run(options)
    except ValueError as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0


def index() -> str:
    """A line for each command."""
    lines = [f"  {name:16} {about}" for name, (_, about) in COMMANDS.items()]
    usage = "usage: python -m sauda COMMAND; COMMAND --help says what it takes"
    return "\n".join([usage, "", *lines])


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command; `run` is the function that it calls.

    Only the module of the command is imported. Raises ValueError for a command that is not there.
    """
    name = arguments[0]
    if name not in COMMANDS:
        raise ValueError(f"no command {name!r}; commands are {', '.join(COMMANDS)}")
    parser = argparse.ArgumentParser(prog="python -m sauda")
    import_module(f"sauda.commands.{COMMANDS[name][0]}").add(parser.add_subparsers(required=True))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
