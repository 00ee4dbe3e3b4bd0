"""`python -m sauda rollouts`: many games of one language model, here or behind servers."""

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, interval
from sauda.commands.machines.options import add_engine_options, chosen_engine, exit_code
from sauda.records.store import write

TOKEN = "SAUDA_ENDPOINT_TOKEN"


def add(commands: Any) -> None:
    """Add `rollouts` to the commands of `python -m sauda`."""
    parser = add_command(commands, "rollouts", rollouts)
    parser.add_argument("--task", default="bazaar/open")
    parser.add_argument("--player", default="", help="a model that every worker loads")
    parser.add_argument(
        "--server", nargs="+", default=[], metavar="URL", help=f"servers; their token is {TOKEN}"
    )
    parser.add_argument("--model", default="", help="what the servers call the model")
    parser.add_argument(
        "--constrained", action="store_true", help="servers decode under the schema of legal moves"
    )
    parser.add_argument("--split", default="holdout", help="train or holdout seeds")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument(
        "--batch", type=int, default=None, help="games of a piece: 50, of servers 4 x --in-flight"
    )
    parser.add_argument(
        "--in-flight", type=int, default=64, help="requests of one worker at a time"
    )
    parser.add_argument("--folder", type=Path, required=True, help="where pieces are kept")
    parser.add_argument("--out", type=Path, default=None, help="file for figures and columns, JSON")
    add_engine_options(parser)


def rollouts(options: argparse.Namespace) -> int:
    """Play the games that are not kept yet, then print and write the figures of all of them."""
    from sauda.scale.pieces.rollouts import BATCH, Rollouts, play, result

    usual = 4 * options.in_flight if options.server else BATCH
    wanted = Rollouts(
        options.task,
        options.player,
        tuple(options.server),
        options.model,
        options.constrained,
        options.split,
        options.episodes,
        usual if options.batch is None else options.batch,
        options.in_flight,
        os.environ.get(TOKEN),
    )

    def run() -> None:
        with chosen_engine(options) as engine:
            play(wanted, options.folder, engine)
        figures = result(wanted, options.folder)
        if options.out is not None:
            config = {name: value for name, value in asdict(wanted).items() if name != "token"}
            write(options.out, json.dumps({"config": config, "data": figures}, indent=1) + "\n")
        _print(figures)

    return exit_code(run)


def _print(figures: Mapping[str, Any]) -> None:
    ends = ", ".join(f"{end} {count}" for end, count in figures["ends"].items() if count)
    print(f"n {figures['n']:,}  grade {interval(figures['grade'])}  {ends}")
    print(
        f"{figures['tokens']:,} tokens, {figures['invalid_replies']} invalid replies; one worker "
        f"played {figures['games_a_minute']:.3g} games a minute, "
        f"{figures['games_a_cpu_minute']:.3g} a minute of its CPU"
    )
    for source, count in figures["replies"].items():
        print(f"{count:,} replies of {source}")
