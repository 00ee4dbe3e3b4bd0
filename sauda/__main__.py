"""Index of the commands: `python -m sauda COMMAND`. Everything that makes a number is a command."""

import argparse
import sys
from collections.abc import Sequence

from sauda.commands import (
    compare_models,
    dialogues,
    episodes,
    evaluate,
    measurements,
    readme,
    screenshots,
    train,
    verify,
)
from sauda.commands.bench import command as bench
from sauda.commands.loadtest import command as loadtest
from sauda.commands.machines import deploy, jobs, rollouts, shards

GROUPS = (episodes, evaluate, compare_models, measurements, dialogues, train, jobs, shards,
          rollouts, verify, bench, loadtest, readme, screenshots, deploy)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0 for success, 1 for a failed check, 2 for a mistake in the call."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except ValueError as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0


def parser() -> argparse.ArgumentParser:
    """The parser of every command and its options."""
    index = argparse.ArgumentParser(prog="python -m sauda", description=__doc__)
    commands = index.add_subparsers(required=True, metavar="COMMAND")
    for group in GROUPS:
        group.add(commands)
    return index


if __name__ == "__main__":
    sys.exit(main())
