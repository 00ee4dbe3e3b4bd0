"""`python -m sauda train|weights|examples|acts`: stages, the base model, dialogues in words."""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields, make_dataclass, replace
from pathlib import Path
from typing import Any, get_args

from sauda.commands.console import add_command, print_tables, save_measured, with_reason
from sauda.llm.model import smollm2
from sauda.records import read_table
from sauda.records.store import load, new_artifact, sha256, write
from sauda.train import LIKE_PEOPLE, module_of, settings_of
from sauda.train.dialogues import SOURCES, from_file, load_dialogues, load_shipped, report_use

# By name: what is trained, and how.
TRAINED = {row["stage"]: row["about"] for row in read_table(Path(__file__).with_name("stages.csv"))}
SIMPLE = (int, float, str, bool)  # types of a setting that is an option, alone or in a tuple


def add(commands: Any) -> None:
    """Add these commands to those of `python -m sauda`; no stage is imported."""
    add_command(commands, "weights", weights)
    parser = add_command(commands, "train", train)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "stages:\n" + "\n".join(f"  {name:14} {TRAINED[name]}" for name in TRAINED)
    parser.add_argument("stage", choices=TRAINED, metavar="STAGE", help="what is trained")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="its settings; STAGE --help names them"
    )
    parser = add_command(commands, "examples", examples)
    parser.add_argument("--source", choices=SOURCES, help="data set; without one, the shipped one")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--data", type=Path, help="local file of the data set")
    place.add_argument("--hub", metavar="SPLIT", help="split to download from the Hub")
    parser.add_argument("--to", type=Path, help="file for the examples, one JSON object per line")
    for name, run, without in (
        ("acts", acts, "; without it the shipped dialogues, and nothing is saved"),
        ("likeness", likeness, ""),
    ):
        parser = add_command(commands, name, run)
        about = f"the validation file of CraigslistBargains, JSON lines{without}"
        parser.add_argument("--data", type=Path, help=about)
        parser.add_argument(
            "--check", action="store_true", help="compare with the artifact instead of writing it"
        )


@with_reason
def train(options: argparse.Namespace) -> int:
    """Train one stage and print its figures."""
    parser = argparse.ArgumentParser(
        f"python -m sauda train {options.stage}", description=TRAINED[options.stage]
    )
    if options.stage in SMALL:
        parser.parse_args(options.options)  # it has no settings
        return SMALL[options.stage]()
    return train_stage(options.stage, options.options)


def read_settings(stage: str, arguments: Sequence[str]) -> tuple[Any, argparse.Namespace]:
    """The settings of a stage with the given options, by HfArgumentParser; folder and resume.

    The game and the model `toy` decide the defaults. Raises ValueError for values that no run has.
    """
    from transformers import HfArgumentParser

    kinds = settings_of(stage)
    first = argparse.ArgumentParser(f"python -m sauda train {stage}", add_help=False)
    first.add_argument("--game", choices=kinds, default=next(iter(kinds)))
    first.add_argument("--model")
    chosen, _ = first.parse_known_args(arguments)
    defaults = kinds[chosen.game]()
    if chosen.model == "toy":
        toy = {
            name: value for name, value in module_of(stage).TOY.items() if hasattr(defaults, name)
        }
        defaults = replace(defaults, **toy)
    described = defaults if stage in LIKE_PEOPLE else module_of(stage)
    about = described.__doc__.partition("\n")[0]
    parser = HfArgumentParser(options_of(defaults), prog=first.prog, description=about)
    parser.add_argument("--game", choices=kinds, default=chosen.game)
    parser.add_argument("--out", type=Path, help="the run's folder; by default in a cache")
    parser.add_argument("--resume", action="store_true", help="from the last complete checkpoint")
    given, place = parser.parse_args_into_dataclasses(arguments, look_for_args_file=False)
    values = {name: tuple(x) if isinstance(x, list) else x for name, x in vars(given).items()}
    return replace(defaults, **values), place


def options_of(settings: Any) -> type:
    """The settings that are numbers, texts or lists of them, as a class for HfArgumentParser."""
    options = []
    for each in fields(settings):
        value, about = getattr(settings, each.name), each.metadata
        if each.type in SIMPLE:
            options.append((each.name, each.type, field(default=value, metadata=about)))
        elif get_args(each.type)[1:] == (...,) and (of := get_args(each.type)[0]) in SIMPLE:
            default = field(default_factory=lambda value=value: list(value), metadata=about)
            options.append((each.name, list[of], default))
    return make_dataclass("Options", options)


def train_stage(stage: str, arguments: Sequence[str]) -> int:
    """Run a stage of a language model and print its figures."""
    settings, place = read_settings(stage, arguments)
    data = module_of(stage).train(settings, place.out, place.resume)
    accepted, last = data["acceptance"], data["log"][-1]
    print(
        f"{data['stage']} {data['base']['name']}: {last['step']} steps, "
        f"{data['num_tokens']:,} tokens, "
        f"{data['seconds'] / 60:.1f} min, loss {last['loss']:.4f}; acceptance check n "
        f"{accepted['n']}, valid {accepted['valid']:.3f}, {figures_of(data)}"
    )
    return 0


def figures_of(data: Mapping[str, Any]) -> str:
    """What a run is judged by: kinds of replies of a player, the loss of a role."""
    same = f"{data['acceptance']['same_kind']:.3f}"
    if "best_step" in data:
        best = next(row for row in data["validations"] if row["step"] == data["best_step"])
        return (
            f"same act as the thought {same}; best validation loss {best['loss']:.4f} "
            f"(perplexity {best['perplexity']:.2f}) at step {best['step']}"
        )
    return f"same kind as the teacher {same}"


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


@with_reason
def weights(options: argparse.Namespace) -> None:
    """Print where the small base model is."""
    base = smollm2()
    print(f"{base.folder}\nsha256 {base.sha256}\nfrom {base.origin}")


def examples(options: argparse.Namespace) -> int:
    """Print what is used and what is left out, and write the examples.

    Raises ValueError where nothing is used and where the file cannot be written.
    """
    from sauda.language.acts import examples as run

    loaded = load_dialogues(options.source or "", options.data, options.hub or "")
    made, left_out = run(report_use(loaded))
    for (role, part), n in sorted(
        Counter((example.role, example.part) for example in made).items()
    ):
        print(f"{role:10} {part:10} {n:7,} examples")
    for reason, n in left_out.items():
        print(f"turns left out, {reason}: {n:,}")
    if options.to:
        lines = (json.dumps(asdict(example), ensure_ascii=False) for example in made)
        try:
            write(options.to, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            raise ValueError(
                f"cannot write {options.to}: {error.strerror}; name a file with --to"
            ) from None
        print(f"wrote {options.to}")
    return 0


def acts(options: argparse.Namespace) -> int:
    """Save how well acts are read, or compare it with the artifact: 1 where it differs.

    Dialogues in which one side has no words are used: their acts are read as well.
    """
    from sauda.experiments.reading import acts as measure

    return measure_dialogues(options, measure)


def likeness(options: argparse.Namespace) -> int:
    """Save how like people the sellers of `bazaar/people` are, or compare it with the artifact."""
    from sauda.experiments.likeness import likeness as measure

    if options.data is None:
        raise ValueError("what people answered is in no shipped dialogues: name a file with --data")
    return measure_dialogues(options, measure)


def measure_dialogues(options: argparse.Namespace, measure: Any) -> int:
    """Save what an experiment measures on dialogues, or compare it; what is left out is printed."""
    if options.data is None and options.check:
        raise ValueError("--check compares with the artifact, and needs its --data FILE")
    name = "craigslist_bargains"
    loaded = (
        load_shipped() if options.data is None else from_file(name, options.data, one_sided=True)
    )
    data = measure(dialogues=report_use(loaded), counts=loaded.counts())
    if options.data is not None:
        licence, sha = SOURCES[name].licence, sha256(options.data)
        config = {"source": name, "licence": licence, "file": options.data.name, "sha256": sha}
        if options.check:
            return _compare(measure.file, config, data)
        save_measured(measure.file, config, data)
    print_tables(data)
    return 0


def ear() -> int:
    """Train the ear of both seats and print how it reads the development sentences."""
    from sauda.train.ear import train as fit

    for row in fit():
        print(
            f"{row.seat:7} {row.sentences:,} sentences of {row.meanings} meanings; margin"
            f" {row.margin:.2f}, right {row.right:.3f}, wrong {row.wrong:.3f},"
            f" of none {row.taken:.3f}"
        )
    return 0


def _compare(file: str, config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """Print where the artifact in `file` differs from the data; 1 where it does."""
    from sauda.records.store import differences

    fresh, recorded = new_artifact(file, config, data), load(file)
    faults = [
        *differences(recorded.config, fresh.config, "config"),
        *differences(recorded.data.as_json(), fresh.data.as_json(), "data"),
    ]
    print("\n".join(faults) or f"artifacts/{file} is what {config['file']} gives")
    return int(bool(faults))


SMALL = {"selector": selector, "ear": ear}  # stages of no language model
