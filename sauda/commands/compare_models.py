"""`python -m sauda compare-models`: language models beside scripted policies."""

import argparse
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.records.store import load


def add(commands: Any) -> None:
    """Add `compare-models` to the commands of `python -m sauda`."""
    parser = add_command(commands, "compare-models", compare_models)
    parser.add_argument(
        "--game", choices=("bazaar", "arena"), default="bazaar", help="arena: on market_round"
    )
    parser.add_argument(
        "--games", type=int, default=150, help="bazaar: of the open market; default: 150"
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
    from sauda.experiments.comparison import bazaar_grids, in_arena, in_bazaar, table
    from sauda.experiments.comparison import compare_models as compare

    of_arena = options.game == "arena"
    asked = in_arena() if of_arena else in_bazaar(bazaar_grids(options.games, options.models))
    recorded = load(asked.file).data.as_json() if options.keep else None
    data = compare(asked, recorded=recorded)
    save_measured(asked.file, asked.config, data)
    for line in lines(table(data)):
        print(line)
    return 0
