"""The command line of training: `python -m sauda train STAGE`."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sauda.policies.model import CannotLoad
from sauda.policies.weights import NoWeights

TOY_ROWS, TOY_BATCH = 64, 8  # a run of seconds


def add(commands: Any) -> None:
    """Add `train` to the commands of `python -m sauda`."""
    about = "train a language model: sft"
    sub = commands.add_parser("train", help=about, description=about)
    sub.set_defaults(run=train)
    sub.add_argument("stage", choices=("sft",))
    sub.add_argument("--model", default="mini", help="toy, mini, 8b, or a folder or repository")
    sub.add_argument("--out", type=Path, default=None, help="folder of the run; by default a cache")
    sub.add_argument("--resume", action="store_true", help="go on from the last whole checkpoint")
    sub.add_argument("--rows", type=int, default=None, help="teacher rows to learn from")
    sub.add_argument("--epochs", type=int, default=None)
    sub.add_argument("--learning-rate", type=float, default=None)
    sub.add_argument("--at-once", type=int, default=None, help="rows a pass, where memory is short")
    sub.add_argument("--threads", type=int, default=None, help="of torch on a CPU")
    sub.add_argument("--steps", type=int, default=None, help="end early, for a trial")


def train(options: argparse.Namespace) -> int:
    """Run one stage; 1 where the machine cannot, with the reason."""
    from sauda.train import sft

    try:
        data = sft.train(configured(options), options.out, options.resume)
    except (CannotLoad, NoWeights, OSError, MemoryError) as error:
        print(f"sauda: {error or type(error).__name__}", file=sys.stderr)
        return 1
    gate, last = data["gate"], data["log"][-1]
    print(
        f"{data['stage']} {data['base']['name']}: {last['step']} steps, {data['tokens']:,} tokens, "
        f"{data['seconds'] / 60:.1f} min, loss {last['loss']:.4f}; gate n {gate['n']}, valid "
        f"{gate['valid']:.3f}, same kind as the teacher {gate['same_kind']:.3f}, prices off by "
        f"{gate['price_off']} %"
    )
    return 0


def configured(options: argparse.Namespace) -> Any:
    """The stage's config with what was asked for."""
    from sauda.train.sft import Config

    names = ("model", "epochs", "learning_rate", "at_once", "threads", "steps")
    asked = {name: getattr(options, name) for name in names}
    config = replace(
        Config(), **{name: value for name, value in asked.items() if value is not None}
    )
    rows = options.rows
    if config.model == "toy":
        config = replace(config, batch=TOY_BATCH, at_once=TOY_BATCH, checkpoint_every=2, gate=6)
        rows = rows or TOY_ROWS
    return replace(config, data=replace(config.data, rows=rows)) if rows else config
