"""`python -m sauda compare-models`: language models beside scripted policies."""

import argparse
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.records.store import load


def add(commands: Any) -> None:
    """Add `compare-models` to the commands of `python -m sauda`."""
    parser = add_command(commands, "compare-models", compare_models)
    parser.add_argument("--game", choices=("bazaar", "arena"), default="bazaar")
    parser.add_argument(
        "--games",
        type=int,
        help="of the open market, 150 by default; of each task of the arena, "
        "200; slow rows play a part of them",
    )
    parser.add_argument(
        "--models", nargs="+", metavar="NAME",
        help="bazaar: such as mini mini+sft, the base first; by default it and every stage whose "
        "adapter is here",
    )  # fmt: skip
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the recorded games of unchanged scripts, and those of models with the same "
        "weights, sampling, prompt and parser, on whatever CPU they were played",
    )


def compare_models(options: argparse.Namespace) -> int:
    """Play the comparison of one game, save it and print its tables."""
    from sauda.experiments.base import lines
    from sauda.experiments.comparison import arena_grids, bazaar_grids, in_arena, in_bazaar, table
    from sauda.experiments.comparison import compare_models as compare

    if options.game == "arena":
        asked = in_arena(arena_grids(options.games or 200))
    else:
        asked = in_bazaar(bazaar_grids(options.games or 150, options.models or ()))
    recorded = load(asked.file).data.as_json() if options.keep else None
    data = compare(asked, recorded=recorded)
    save_measured(asked.file, asked.config, data)
    for line in lines(table(data)):
        print(line)
    return 0
