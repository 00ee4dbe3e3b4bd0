"""The command line of training: `python -m sauda train STAGE`."""

import argparse
import sys
from dataclasses import asdict, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.llm.backends.model import CannotLoad
from sauda.llm.backends.weights import NoWeights, smollm2
from sauda.train import STAGES

TOYS = {  # runs of seconds
    "sft": {"batch": 8, "at_once": 8, "checkpoint_every": 2, "gate": 6, "probe": 2, "rows": 64},
    "grpo": {
        "after": "", "groups": 2, "group": 4, "steps": 3, "at_once": 4, "constrained": True,
        "checkpoint_every": 1, "gate": 6,
    },
    "dpo": {
        "after": "", "batch": 2, "constrained": True, "checkpoint_every": 1, "gate": 6, "pairs": 6,
    },
}  # fmt: skip
OPTIONS = (
    ("--model", str, "toy, mini, 8b, or a folder or repository"),
    ("--after", str, "adapter to go on from (grpo, dpo): a stage, or a folder"),
    ("--rows", int, "deals to learn from (sft), in the arena actions"),
    ("--pairs", int, "pairs to learn from (dpo)"),
    ("--epochs", int, "times that every deal or pair is learnt (sft, dpo)"),
    ("--steps", int, "of the optimizer; ends sft early, for a trial"),
    ("--learning-rate", float, "highest, after the warmup"),
    ("--at-once", int, "sequences a pass, where memory is short"),
    ("--threads", int, "of torch on a CPU"),
)
FLAGS = (
    ("--constrained", "replies under a grammar, for a base that writes no moves yet (grpo, dpo)"),
    ("--trial", "keep the adapter in the run's folder (grpo, dpo)"),
)


def add(commands: Any) -> None:
    """Add `train`, `selector` and `weights` to the commands of `python -m sauda`."""
    about = "find or prepare the small base model; print where and which hash"
    add_command(commands, "weights", weights, about)
    about = "train the softmax over scripted labs by REINFORCE"
    add_command(commands, "selector", selector, about)
    about = f"train a language model: {', '.join(STAGES)}"
    sub = commands.add_parser("train", help=about, description=about)
    sub.set_defaults(run=train)
    sub.add_argument("stage", choices=STAGES)
    sub.add_argument("--out", type=Path, default=None, help="folder of the run; by default a cache")
    sub.add_argument("--game", default="bazaar", help="bazaar, or arena (sft, grpo)")
    sub.add_argument("--resume", action="store_true", help="go on from the last whole checkpoint")
    for name, kind, told in OPTIONS:
        sub.add_argument(name, type=kind, default=None, help=told)
    for name, told in FLAGS:
        sub.add_argument(name, action="store_true", default=None, help=told)


def train(options: argparse.Namespace) -> int:
    """Run one stage; 1 where the machine cannot, with the reason."""
    module = import_module(f"sauda.train.{options.stage}")
    try:
        config = configured(options, of_game(module, options.game))
        data = module.train(config, options.out, options.resume)
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


def of_game(module: Any, game: str) -> Any:
    """The stage's own settings for `game`; ValueError naming the games it is played in."""
    if game not in module.CONFIGS:
        known = ", ".join(module.CONFIGS)
        raise ValueError(f"{module.STAGE} is trained in: {known}; not in {game!r}")
    return module.CONFIGS[game]()


def configured(options: argparse.Namespace, config: Any) -> Any:
    """The stage's `config` with what was asked for; ValueError where it has no such setting."""
    names = [name.removeprefix("--").replace("-", "_") for name, *_ in (*OPTIONS, *FLAGS)]
    asked = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if asked.get("model") == "toy":
        asked = TOYS[options.stage] | asked
    data = getattr(config, "data", None)
    for size in ("rows", "pairs"):
        if size in asked and hasattr(data, size):
            asked["data"] = replace(data, **{size: asked.pop(size)})
    if strange := sorted(asked.keys() - {field.name for field in fields(config)}):
        told = ", ".join(f"--{name.replace('_', '-')}" for name in strange)
        raise ValueError(f"{options.stage} takes no {told}")
    return replace(config, **asked)


def selector(options: argparse.Namespace) -> int:
    """Train the selector, save its run and print what it ended on."""
    from sauda.train.selector import Config, select

    config = Config()
    data = select(config)
    save_measured("training/selector.json", asdict(config), data)
    for row in data["final"]:
        gain = row["less_expert"]
        print(
            f"{row['task']:24} n {row['n']}  ends on {row['policy']}  less the expert "
            f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]"
        )
    return 0


def weights(options: argparse.Namespace) -> int:
    """Print where the small base model is; 1 where it cannot be had."""
    try:
        base = smollm2()
    except NoWeights as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    print(f"{base.folder}\nsha256 {base.sha256}\nfrom {base.origin}")
    return 0
