"""`python -m sauda dialogues`, `examples` and `acts`: dialogues in words and the acts in them."""

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.records.store import load, measured, sha256, write
from sauda.train.data.dialogues.reading import Loaded
from sauda.train.data.dialogues.sources import FILE, SOURCES, from_file, from_hub, shipped

SHOWN = 20  # rows that are left out, named one by one


def add(commands: Any) -> None:
    """Add the commands about dialogues to those of `python -m sauda`."""
    about = "put games of scripted policies into words: the dialogues that are shipped"
    add_command(commands, "dialogues", dialogues, about)
    about = "load dialogues, say what is left out and why, and make examples of each role"
    parser = add_command(commands, "examples", examples, about)
    _add_source(parser)
    parser.add_argument("--to", type=Path, help="file for the examples, one JSON object a line")
    about = "measure the reading of dialogue acts on the annotated dialogues of CraigslistBargains"
    parser = add_command(commands, "acts", acts, about)
    parser.add_argument("--data", type=Path, required=True, help="its validation file, JSON lines")
    parser.add_argument(
        "--check", action="store_true", help="compare with the artifact instead of writing it"
    )


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=SOURCES, help="data set; without one, the shipped one")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--data", type=Path, help="local file of the data set")
    place.add_argument("--hub", metavar="SPLIT", help="split to download from the Hub")


def dialogues(options: argparse.Namespace) -> int:
    """Save the shipped dialogues and print how many they are."""
    from sauda.train.data.dialogues.generated import Config
    from sauda.train.data.dialogues.generated import dialogues as run

    config = Config()
    data = run(config)
    save_measured(FILE, asdict(config), data)
    turns = sum(bool(text) for row in data["rows"] for text in row["utterance"])
    print(f"{len(data['rows'])} dialogues, {turns:,} turns with words")
    return 0


def examples(options: argparse.Namespace) -> int:
    """Print what is used and what is left out, and write the examples; 1 where nothing is used."""
    from sauda.train.data.dialogues.examples import examples as run

    loaded = _loaded(options)
    _print_left_out(loaded)
    made, left_out = run(loaded.dialogues)
    for (role, part), n in sorted(Counter((one.role, one.part) for one in made).items()):
        print(f"{role:10} {part:10} {n:7,} examples")
    for reason, n in left_out.items():
        print(f"turns left out, {reason}: {n:,}")
    if options.to:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in made)
        write(options.to, "".join(f"{line}\n" for line in lines))
        print(f"wrote {options.to}")
    return 0 if made else 1


def _loaded(options: argparse.Namespace) -> Loaded:
    """The dialogues that the options name; ValueError where they name half of a place."""
    if options.source is None and not (options.data or options.hub):
        return shipped()
    if options.source is None or not (options.data or options.hub):
        raise ValueError("name a data set with --source, and its place with --data or --hub")
    if options.data:
        return from_file(options.source, options.data)
    return from_hub(options.source, options.hub)


def _print_left_out(loaded: Loaded) -> None:
    for row in loaded.left_out[:SHOWN]:
        print(row)
    if len(loaded.left_out) > SHOWN:
        print(f"and {len(loaded.left_out) - SHOWN:,} more")
    for reason, n in loaded.counts().items():
        print(f"dialogues, {reason}: {n:,}")


def acts(options: argparse.Namespace) -> int:
    """Save how well acts are read, or compare it with the artifact: 1 where it differs."""
    from sauda.evaluation.language.acts import FILE as ACTS_FILE
    from sauda.evaluation.language.acts import quality
    from sauda.evaluation.verification.verify import differences

    name = "craigslist_bargains"
    loaded = from_file(name, options.data)
    data = quality(loaded.dialogues, loaded.counts())
    source = SOURCES[name]
    config = {
        "source": name,
        "licence": source.licence,
        "file": options.data.name,
        "sha256": sha256(options.data),
    }
    if options.check:
        fresh, recorded = measured(ACTS_FILE, config, data), load(ACTS_FILE)
        faults = [
            *differences(recorded.config, fresh.config, "config"),
            *differences(recorded.data.as_json(), fresh.data.as_json(), "data"),
        ]
        print("\n".join(faults) or f"artifacts/{ACTS_FILE} is what {options.data.name} gives")
        return int(bool(faults))
    save_measured(ACTS_FILE, config, data)
    for row in data["rows"]:
        print(
            f"{row['part']:9} {row['intent']:14} annotated {row['annotated']:4}  read "
            f"{row['read']:4}  precision {_share(row['precision'])}  recall {_share(row['recall'])}"
        )
    for row in data["prices"]:
        print(
            f"{row['part']:9} annotated prices found in texts declared {row['currency']}: "
            f"{row['found']} of {row['n']}"
        )
    for row in data["parts"]:
        print(
            f"{row['part']:9} {row['dialogues']} dialogues, {row['n']} turns: accuracy "
            f"{_share(row['accuracy'])}, always {row['usual']} {_share(row['usual_accuracy'])}"
        )
    return 0


def _share(share: dict[str, float] | None) -> str:
    if share is None:
        return "of none"
    return f"{share['mean']:.3f} [{share['low']:.3f}, {share['high']:.3f}]"
