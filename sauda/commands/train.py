"""`python -m sauda train STAGE`, what compares runs of stages, and `weights`."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from sauda.commands.console import add_command, interval, save_measured
from sauda.llm.model import CannotLoad, NoWeights, smollm2
from sauda.policies.pilot import WEIGHTS as PILOT_FILE
from sauda.records.store import ROOT, save
from sauda.train import STAGES
from sauda.train.pilot.run import Config as Pilot
from sauda.train.run import check_options, options_of
from sauda.train.stages.roles import STAGE as ROLES

FAILURES = (CannotLoad, NoWeights, OSError, MemoryError)  # with a reason to print
TOYS = {  # settings of `--model toy`, for runs of seconds
    "sft": {
        "per_device_train_batch_size": 8, "gradient_accumulation_steps": 1, "save_steps": 2,
        "acceptance_prompts": 6, "eval_games": 2, "rows": 64,
    },
    "distill": {
        "init_adapter": "", "deals_per_round": 24, "constrained": True, "save_steps": 2,
        "acceptance_prompts": 6, "eval_games": 2,
    },
    "grpo": {
        "init_adapter": "", "prompts_per_step": 2, "num_generations": 4, "max_steps": 3,
        "per_device_train_batch_size": 4, "constrained": True, "save_steps": 1,
        "acceptance_prompts": 6,
    },
    "dpo": {
        "init_adapter": "", "gradient_accumulation_steps": 2, "constrained": True, "save_steps": 1,
        "acceptance_prompts": 6, "pairs": 6,
    },
    "roles": {
        "dialogues": 8, "validation_dialogues": 2, "holdout_dialogues": 4, "save_steps": 2,
    },
}  # fmt: skip


def add(commands: Any) -> None:
    """Add `train` and `weights` to the commands of `python -m sauda`."""
    add_command(commands, "weights", weights)
    stages = add_command(commands, "train").add_subparsers(
        dest="stage", required=True, metavar="STAGE"
    )
    for stage in (*STAGES, ROLES):
        _add_stage(stages, stage)
    about = "the small network that plays the open market, by PPO"
    _add_options(add_command(stages, "pilot", pilot, about), {"bazaar": Pilot()})
    about = "a linear rule of the open market, its numbers found by the cross-entropy method"
    add_command(stages, "tuned", tuned, about)
    about = "the softmax over scripted labs, by REINFORCE"
    add_command(stages, "selector", selector, about)


def _add_stage(stages: Any, stage: str) -> None:
    """The command of a stage, with an option for each field of its Config that is one."""
    module = import_module(f"sauda.train.stages.{stage}")
    configs = {game: config() for game, config in module.CONFIGS.items()}
    parser = add_command(stages, stage, train, module.__doc__.splitlines()[0])
    parser.add_argument("--game", choices=configs, default="bazaar")
    _add_options(parser, configs)


def _add_options(parser: argparse.ArgumentParser, configs: Mapping[str, Any]) -> None:
    """Where a run is kept, and an option for each field of its Config that is one, by game."""
    _add_folder(parser)
    for field in options_of(next(iter(configs.values()))):
        flag = f"--{field.name.replace('_', '-')}"
        names = dict.fromkeys((flag, f"--{field.name}"))  # TRL's own commands take both
        if field.type is bool:
            parser.add_argument(
                *names, action="store_true", default=None, help=field.metadata["help"]
            )
            continue
        several = isinstance(field.default, tuple)
        values = (_setting(c, field.name) for c in configs.values())
        defaults = (" ".join(map(str, value)) if several else f"{value!s}" for value in values)
        about = (
            f"{field.metadata['help']} (default {', in the arena '.join(dict.fromkeys(defaults))})"
        )
        form = {"type": get_args(field.type)[0], "nargs": "+"} if several else {"type": field.type}
        parser.add_argument(*names, **form, default=None, help=about)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=None, help="the run's folder; default a cache")
    parser.add_argument("--resume", action="store_true", help="from the last complete checkpoint")


def _setting(config: Any, name: str) -> Any:
    return getattr(config if hasattr(config, name) else config.data, name)


def train(options: argparse.Namespace) -> int:
    """Run one stage and print its figures; exit status 1, with the reason, where it cannot run."""
    module = import_module(f"sauda.train.stages.{options.stage}")
    try:
        data = module.train(configured(options), options.out, options.resume)
    except FAILURES as error:
        return _failed(error)
    accepted, last = data["acceptance"], data["log"][-1]
    ending = _role_ending(data) if options.stage == ROLES else _ending(data)
    print(
        f"{data['stage']} {data['base']['name']}: {last['step']} steps, "
        f"{data['num_tokens']:,} tokens, "
        f"{data['seconds'] / 60:.1f} min, loss {last['loss']:.4f}; acceptance check n "
        f"{accepted['n']}, valid {accepted['valid']:.3f}, {ending}"
    )
    return 0


def _failed(error: Exception) -> int:
    """Say why a run failed; the exit status."""
    print(f"sauda: {error or type(error).__name__}", file=sys.stderr)
    return 1


def _ending(data: Mapping[str, Any]) -> str:
    """How a player's replies are: their kinds, and their regret where checkpoints were judged."""
    kinds = f"same kind as the teacher {data['acceptance']['same_kind']:.3f}"
    last = (data["checkpoint_evaluations"] or [{}])[-1]
    if "regret" not in last:
        return kinds
    return f"{kinds}; regret {interval(last['regret'])}"


def _role_ending(data: Mapping[str, Any]) -> str:
    best = next(row for row in data["validations"] if row["step"] == data["best_step"])
    return (
        f"same act as the thought {data['acceptance']['same_kind']:.3f}; best validation loss "
        f"{best['loss']:.4f} (perplexity {best['perplexity']:.2f}) at step {best['step']}"
    )


def configured(options: argparse.Namespace) -> Any:
    """The Config of a stage and game with the given options; a toy is small by default.

    Raises ValueError for values that no run can have.
    """
    module = import_module(f"sauda.train.stages.{options.stage}")
    config = module.CONFIGS[options.game]()
    given = _given(options, module.Config)
    if given.get("model") == "toy":
        given = TOYS[options.stage] | given
    of_data = {name: given.pop(name) for name in list(given) if not hasattr(config, name)}
    if of_data:
        given["data"] = replace(config.data, **of_data)
    return replace(config, **given)


def _given(options: argparse.Namespace, config: Any) -> dict[str, Any]:
    """The options of `config` that the command line has, checked."""
    names = [field.name for field in options_of(config)]
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    check_options(config, given)
    return {name: tuple(x) if isinstance(x, list) else x for name, x in given.items()}


def pilot(options: argparse.Namespace) -> int:
    """Train the pilot, save its run and print its grades; other settings stay in their folder."""
    from sauda.train.pilot.run import FOLDER
    from sauda.train.pilot.run import train as run

    config, folder = Pilot(**_given(options, Pilot)), options.out or FOLDER
    data = run(config, folder, options.resume)
    usual = config == Pilot(threads=config.threads)
    save(PILOT_FILE, asdict(config), data, ROOT if usual else folder)
    print(f"wrote {PILOT_FILE} under {'artifacts' if usual else folder}")
    for row in data["final"]:
        print(f"{row['task']:14} error {row['error']:.0f} %  n {row['n']:,}  grade {interval(row)}")
    print(f"{data['parameters']:,} parameters a network, {data['seconds'] / 60:.1f} CPU minutes")
    return 0


def tuned(options: argparse.Namespace) -> int:
    """Search for the numbers of the tuned rule, save them and print them."""
    from sauda.policies.tuned import FILE
    from sauda.train.pilot.tuned import Config, search

    config = Config()
    data = search(config)
    save_measured(FILE, asdict(config), data)
    for part in ("price", "walk"):
        print(part, "  ".join(f"{name} {number:+.4f}" for name, number in data[part].items()))
    last = data["log"][-1]
    print(f"{last['step']} generations, elite {last['elite']:.4f}, {data['seconds']:.1f} CPU s")
    return 0


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
    """Print where the small base model is; exit status 1 if it is not available."""
    try:
        base = smollm2()
    except NoWeights as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    print(f"{base.folder}\nsha256 {base.sha256}\nfrom {base.origin}")
    return 0
