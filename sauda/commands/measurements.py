"""Commands that measure one property of the games, the policies or the models, as an artifact."""

import argparse
from dataclasses import asdict
from typing import Any

from sauda.commands.console import add_command, interval, save_measured


def add(commands: Any) -> None:
    """Add the measurements to the commands of `python -m sauda`."""
    parser = add_command(commands, "seller-quality", seller_quality)
    parser.add_argument("--models", default="mini", help="by name, with commas; or null")
    parser.add_argument("--published", type=int, default=10, help="published games a persona")
    parser.add_argument("--hard", type=int, default=3, help="games a persona and hostile buyer")


def seller_quality(options: argparse.Namespace) -> int:
    """Save the quality of a model's words as a seller and print each criterion."""
    from sauda.evaluation.seller.quality import Config, quality

    models = tuple(dict.fromkeys(name for name in options.models.split(",") if name))
    config = Config(models, options.published, options.hard)
    data = quality(config)
    save_measured("seller_quality.json", asdict(config), data)
    for row in data["rows"]:
        print(f"{row['criterion']}: {row['about']} {row['target']}")
        for side, cell in row["sides"].items():
            met = {True: "meets", False: "FAILS", None: ""}[cell["meets"]]
            print(f"  {side:20} n {cell['n']:4} {cell['of']:6} {interval(cell)}  {met}")
    return 0
