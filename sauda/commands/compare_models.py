"""`python -m sauda compare-models` and `before-after`: language models beside scripted policies."""

import argparse
from dataclasses import asdict
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.records.store import load


def add(commands: Any) -> None:
    """Add `compare-models` and `before-after` to the commands of `python -m sauda`."""
    parser = add_command(commands, "compare-models", compare_models)
    parser.add_argument(
        "--game", choices=("bazaar", "arena"), default="bazaar", help="arena: on market_round"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the recorded games of unchanged scripts, and those of models with the same "
        "weights, sampling, prompt and parser, on whatever CPU they were played",
    )
    add_command(commands, "before-after", before_after)


def compare_models(options: argparse.Namespace) -> int:
    """Play the comparison of one game, save it and print its tables."""
    from sauda.evaluation.models.comparison import compare_models as compare
    from sauda.evaluation.models.config import CONFIGS, FILES

    config, file = CONFIGS[options.game](), FILES[options.game]
    data = compare(config, recorded=load(file).data.as_json() if options.keep else None)
    save_measured(file, asdict(config), data)
    for row in data["rows"]:
        counts = "  ".join(f"{name} {row[name]}" for name in config.game.table.model_counts[:4])
        print(
            f"{row['task']:18} {row['policy']:24} n {row['n']:4}  grade {row['grade']['mean']:.4f} "
            f"[{row['grade']['low']:.4f}, {row['grade']['high']:.4f}]  "
            f"forfeits {row['ends']['forfeit']}  {counts}"
        )
    for gain in data["stage_gains"]:
        print(
            f"{gain['task']:28} {gain['before']:>10} to {gain['after']:10} {gain['on']:6} n "
            f"{gain['n']:4} {gain['difference']:+.4f} [{gain['low']:+.4f}, {gain['high']:+.4f}]"
        )
    for gap in data.get("gap_closed", ()):
        print(
            f"{gap['task']:28} {gap['policy']:10} n {gap['n']:4} {gap['share']:.1%} "
            f"[{gap['low']:.1%}, {gap['high']:.1%}] of the gap to {config.goal} closed"
        )
    return 0


def before_after(options: argparse.Namespace) -> int:
    """Save the games before and after training and print the chosen pairs."""
    from sauda.evaluation.models.before_after import Config, compare

    config = Config()
    data = compare(config)
    save_measured("episodes/before_after.json", asdict(config), data)
    for played in data["tasks"]:
        for pair in played["chosen"]:
            sides = (f"{pair[s]['policy']} {pair[s]['grade']:.4f}" for s in ("before", "after"))
            print(
                f"{played['task']:14} n {len(played['seeds'])}  {pair['why']:6} seed {pair['seed']}"
                f"  {'  '.join(sides)}  {pair['difference']:+.4f}"
            )
    return 0
