"""`python -m sauda examples` and `acts`: dialogues in words and the acts in them."""

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.records.store import load, new_artifact, sha256, write
from sauda.train.dialogues import SOURCES, from_file, load_dialogues, load_shipped, report_use


def add(commands: Any) -> None:
    """Add the commands about dialogues to those of `python -m sauda`."""
    parser = add_command(commands, "examples", examples)
    parser.add_argument("--source", choices=SOURCES, help="data set; without one, the shipped one")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--data", type=Path, help="local file of the data set")
    place.add_argument("--hub", metavar="SPLIT", help="split to download from the Hub")
    parser.add_argument("--to", type=Path, help="file for the examples, one JSON object per line")
    parser = add_command(commands, "acts", acts)
    about = (
        "its validation file, JSON lines; without it the shipped dialogues, and nothing is saved"
    )
    parser.add_argument("--data", type=Path, help=about)
    parser.add_argument(
        "--check", action="store_true", help="compare with the artifact instead of writing it"
    )


def examples(options: argparse.Namespace) -> int:
    """Print what is used and what is left out, and write the examples.

    Raises ValueError where nothing is used and where the file cannot be written.
    """
    from sauda.language.acts import examples as run

    loaded = load_dialogues(options.source or "", options.data, options.hub or "")
    made, left_out = run(report_use(loaded))
    for (role, part), n in sorted(Counter((one.role, one.part) for one in made).items()):
        print(f"{role:10} {part:10} {n:7,} examples")
    for reason, n in left_out.items():
        print(f"turns left out, {reason}: {n:,}")
    if options.to:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in made)
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

    What is left out is printed before. Dialogues in which one side has no words are used: their
    acts are read as well.
    """
    from sauda.experiments.acts import acts as measure
    from sauda.experiments.base import lines

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
    print("\n".join(lines(measure.table(data))))
    return 0


def _compare(file: str, config: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """Print where the artifact in `file` differs from the data; 1 where it does."""
    from sauda.experiments.verify import differences

    fresh, recorded = new_artifact(file, config, data), load(file)
    faults = [
        *differences(recorded.config, fresh.config, "config"),
        *differences(recorded.data.as_json(), fresh.data.as_json(), "data"),
    ]
    print("\n".join(faults) or f"artifacts/{file} is what {config['file']} gives")
    return int(bool(faults))
