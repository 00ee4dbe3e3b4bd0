"""Every kind of artifact and every file: what a new artifact is registered in.

An experiment registers its kind by its decorator, in its own file in `sauda/experiments/`, which is
imported when the kind is asked for; so is the module of a kind IN_TRAINING, whose KIND it is.
`registry.py` holds one entry per kind that is made in another way: those of the open market are in
`market.py`, of roles in `roles.py`, of dialogues in `dialogues.py`. `types.py` says what stands in
an entry, `amounts.py` counts what `verify` has to do.
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from sauda.records.kinds.registry import KINDS as REGISTERED
from sauda.records.kinds.roles import CONTROLS
from sauda.records.kinds.types import METHODS as METHODS
from sauda.records.kinds.types import ArtifactError as ArtifactError
from sauda.records.kinds.types import Entry as Entry
from sauda.records.kinds.types import Kind
from sauda.records.schemas.base import Record

IN_TRAINING = {"training_run/1": "sauda.train.results", "selector/1": "sauda.train.selector"}


def _experiments() -> Any:
    return import_module("sauda.experiments")  # late: that package depends on this one


class Kinds(Mapping[str, Kind]):
    """Every kind by its name; that of an experiment is imported when it is asked for."""

    def __getitem__(self, name: str) -> Kind:
        experiment = name.partition("/")[0]
        if experiment in _experiments().names():
            kind = _experiments().find(experiment).kind
            return {kind.name: kind}[name]
        if name in IN_TRAINING:
            return import_module(IN_TRAINING[name]).KIND  # late, as experiments are
        return REGISTERED[name]

    def __iter__(self) -> Iterator[str]:
        yield from REGISTERED
        yield from IN_TRAINING
        yield from (_experiments().find(name).kind.name for name in _experiments().names())

    def __len__(self) -> int:
        return len(REGISTERED) + len(IN_TRAINING) + len(_experiments().names())


KINDS = Kinds()


def __getattr__(name: str) -> Any:
    """FILES, the entries of all kinds: made when they are asked for, since it imports them all."""
    if name != "FILES":
        raise AttributeError(name)
    return tuple(entry for kind in KINDS.values() for entry in kind.entries())


def amount(kind: str, config: Mapping[str, Any], data: Record) -> str:
    """How much `verify` has to replay or recompute, such as 53,000 episodes."""
    check = KINDS[kind].check
    return f"{check.amount(config, data):,} {check.unit}"


def training_runs() -> list[str]:
    """The names of the registered runs of training, in the order of their stages."""
    files = (known.file for known in KINDS["training_run/1"].entries())
    return [file.removeprefix("training/").removesuffix(".json") for file in files]


def entry(file: str) -> Entry:
    """The registered line on `file`; raises ArtifactError for a file it does not know.

    An evaluation of one's own may be called evaluation/NAME.json; one of the arena
    evaluation/arena-NAME.json; a run of another model training/STAGE-NAME.json, that of a role
    training/roles-ROLE-NAME.json.
    """
    name = _experiments().name_of(file)
    there = name in _experiments().names()
    kinds = [_experiments().find(name).kind] if there else []
    trained = map(KINDS.__getitem__, IN_TRAINING) if file.startswith("training/") else ()
    kinds += [*REGISTERED.values(), *trained]
    for kind in kinds:
        for known in kind.entries():
            if known.file == file:
                return known
    if run := re.fullmatch(
        r"training/roles-(buyer|seller|opener|responder|generalist)"
        rf"({'|'.join(CONTROLS)})?(-[\w.-]+)?\.json",
        file,
    ):
        control = CONTROLS[run[2]].option if run[2] else ""
        seed = re.search(r"-seed(\d+)\.json$", file)
        command = f"python -m sauda train roles --role {run[1]}{control}"
        command += f" --seed {seed[1]}" if seed else ""
        return Entry(file, "role_run/1", command, "A training run of a role", "")
    if re.fullmatch(r"training/(sft|distill|grpo|dpo)(-[\w.-]+)?\.json", file):
        stage = re.split(r"[-.]", file.removeprefix("training/"))[0]
        game = " --game arena" if file.startswith(f"training/{stage}-arena") else ""
        seed = re.search(r"-seed(\d+)\.json$", file)
        again = f" --seed {seed[1]}" if seed else ""
        before = re.search(r"-from-([a-z]+(-arena)?)", file)
        again += f" --init-adapter {before[1]}" if before else ""
        command = f"python -m sauda train {stage}{game}{again}"
        return Entry(file, "training_run/1", command, "A training run", "")
    if re.fullmatch(r"evaluation/[\w-]+\.json", file):
        of_arena = file.startswith("evaluation/arena-")
        kind, family = ("arena/2", " --family arena") if of_arena else ("evaluation/1", "")
        command = f"python -m sauda evaluate{family} --out {file}"
        return Entry(file, kind, command, "An evaluation of one's own", "")
    known_files = ", ".join(known.file for kind in KINDS.values() for known in kind.entries())
    raise ArtifactError(f"no artifact {file!r}; artifacts are {known_files}, evaluation/NAME.json")
