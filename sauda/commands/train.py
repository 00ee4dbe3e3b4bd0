"""`python -m sauda train STAGE`, what compares runs of stages, and `weights`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields, make_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from sauda.commands.console import add_command, mean_with_interval, save_measured
from sauda.llm.model import CannotLoad, NoWeights, smollm2

TRAINED = {
    "sft": "a buyer or a lab, supervised fine-tuning on a teacher's moves",
    "distill": "a buyer or a lab, on a teacher's labels of its own games",
    "grpo": "a buyer, reinforcement learning on whole games",
    "dpo": "a buyer, on pairs of its replies to one position",
    "roles": "the words of a buyer or a seller, supervised fine-tuning on dialogues",
    "selector": "the softmax over scripted labs, by REINFORCE",
}
FAILURES = (CannotLoad, NoWeights, OSError, MemoryError)  # with a reason to print
SIMPLE = (int, float, str, bool)  # types of a setting that is an option, alone or in a tuple


def add(commands: Any) -> None:
    """Add `train` and `weights` to the commands of `python -m sauda`; no stage is imported."""
    add_command(commands, "weights", weights)
    parser = add_command(commands, "train", train)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "stages:\n" + "\n".join(f"  {name:14} {TRAINED[name]}" for name in TRAINED)
    parser.add_argument("stage", choices=TRAINED, metavar="STAGE", help="what is trained")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="its settings; STAGE --help names them"
    )


def train(options: argparse.Namespace) -> int:
    """Train one stage and print its figures; exit status 1, with the reason, where it cannot."""
    try:
        if options.stage == "selector":
            return selector()
        return train_stage(options.stage, options.options)
    except FAILURES as error:
        print(f"sauda: {error or type(error).__name__}", file=sys.stderr)
        return 1


def read_settings(stage: str, arguments: Sequence[str]) -> tuple[Any, argparse.Namespace]:
    """The settings of a stage with the given options, by HfArgumentParser; folder and resume.

    The game and the model `toy` decide the defaults. Raises ValueError for values that no run has.
    """
    from transformers import HfArgumentParser

    module = import_module(f"sauda.train.{stage}")
    first = argparse.ArgumentParser(f"python -m sauda train {stage}", add_help=False)
    first.add_argument("--game", choices=module.SETTINGS, default="bazaar")
    first.add_argument("--model")
    chosen, _ = first.parse_known_args(arguments)
    defaults = module.SETTINGS[chosen.game]()
    if chosen.model == "toy":
        toy = {name: value for name, value in module.TOY.items() if hasattr(defaults, name)}
        defaults = replace(defaults, **toy)
    parser = HfArgumentParser(
        options_of(defaults), prog=first.prog, description=module.__doc__.partition("\n")[0]
    )
    parser.add_argument("--game", choices=module.SETTINGS, default="bazaar")
    parser.add_argument("--out", type=Path, help="the run's folder; by default in a cache")
    parser.add_argument("--resume", action="store_true", help="from the last complete checkpoint")
    given, place = parser.parse_args_into_dataclasses(arguments, look_for_args_file=False)
    values = {name: tuple(x) if isinstance(x, list) else x for name, x in vars(given).items()}
    return replace(defaults, **values), place


def options_of(settings: Any) -> type:
    """The settings that are numbers, texts or several of them, as HfArgumentParser takes them."""
    options = []
    for each in fields(settings):
        value, about = getattr(settings, each.name), each.metadata
        if each.type in SIMPLE:
            options.append((each.name, each.type, field(default=value, metadata=about)))
        elif (
            (of := get_args(each.type)[:1])
            and of[0] in SIMPLE
            and get_args(each.type)[1:] == (...,)
        ):
            default = field(default_factory=lambda value=value: list(value), metadata=about)
            options.append((each.name, list[of[0]], default))
    return make_dataclass("Options", options)


def train_stage(stage: str, arguments: Sequence[str]) -> int:
    """Run a stage of a language model and print its figures."""
    settings, place = read_settings(stage, arguments)
    data = import_module(f"sauda.train.{stage}").train(settings, place.out, place.resume)
    accepted, last = data["acceptance"], data["log"][-1]
    print(
        f"{data['stage']} {data['base']['name']}: {last['step']} steps, "
        f"{data['num_tokens']:,} tokens, "
        f"{data['seconds'] / 60:.1f} min, loss {last['loss']:.4f}; acceptance check n "
        f"{accepted['n']}, valid {accepted['valid']:.3f}, {figures_of(data)}"
    )
    return 0


def figures_of(data: Mapping[str, Any]) -> str:
    """What a run is judged by: kinds of replies and regret of a player, the loss of a role."""
    same = f"{data['acceptance']['same_kind']:.3f}"
    if "best_step" in data:
        best = next(row for row in data["validations"] if row["step"] == data["best_step"])
        return (
            f"same act as the thought {same}; best validation loss {best['loss']:.4f} "
            f"(perplexity {best['perplexity']:.2f}) at step {best['step']}"
        )
    last = (data["checkpoint_evaluations"] or [{}])[-1]
    regret = f"; regret {mean_with_interval(last['regret'])}" if "regret" in last else ""
    return f"same kind as the teacher {same}{regret}"


def selector() -> int:
    """Train the selector, save its run and print what it ended on."""
    from sauda.train.selector import SelectorSettings, select

    settings = SelectorSettings()
    data = select(settings)
    save_measured("training/selector.json", asdict(settings), data)
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
