"""Every artifact: `files.csv` lists the files, a kind says what a file holds and how it is checked.

A kind is registered by the module that fills its files, when that is imported: an experiment by its
decorator in `sauda/experiments/`, other kinds by `register_kind`. `files.csv` names the module.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from sauda.records import read_table
from sauda.records.schemas.base import Record

# Every file has a checksum. What else `verify` checks, the strongest first: all data is computed
# again, to the last digit; scripts and rules are played again, and what a language model wrote is
# not; data is computed again from data that is not; nothing, of a file that is written by hand.
Method = Literal["replayed", "replayed in part", "recomputed", "checksum only"]


class ArtifactError(ValueError):
    """An artifact is missing or is not what its reader expects; `command` makes it."""

    def __init__(self, fault: str, command: str = "") -> None:
        super().__init__(f"{fault}; make it with `{command}`" if command else fault)
        self.fault, self.command = fault, command


@dataclass(frozen=True)
class Entry:
    """One file under artifacts/: the command that makes it, what it holds, the tabs showing it."""

    file: str
    kind: str
    command: str
    about: str
    tab: str
    module: str = ""  # that registers its kind


@dataclass(frozen=True)
class Check:
    """How `verify` checks a kind beside its checksum."""

    method: Method
    about: str
    # The data as it should be, of an artifact, a number of processes, and the folder of artifacts.
    recompute: Callable[..., Mapping[str, Any]]

    def __str__(self) -> str:
        return f"{self.method}: {self.about}"


@dataclass(frozen=True)
class Kind:
    """One kind of artifact."""

    name: str  # with its version, as files have it
    schema: type[Record]  # of their `data`
    check: Check
    # Today's fingerprints of what it records of each of its models; {} where it has none.
    model_hashes: Callable[[], Mapping[str, str]] = dict


ROOT = Path(__file__).resolve().parents[2] / "artifacts"
RUN = "training_run/1"  # of a player; such a file is listed once it is there


LISTED = [
    Entry(**row | {"command": f"python -m {row['command']}"})
    for row in read_table(Path(__file__).with_name("files.csv"))
]
ENTRIES = {
    entry.file: entry for entry in LISTED if entry.kind != RUN or (ROOT / entry.file).exists()
}
FILES = tuple(ENTRIES[file] for file in sorted(ENTRIES))
MODULES = {entry.kind: entry.module for entry in LISTED}


class Kinds(dict[str, Kind]):
    """Every kind by its name; its module, which registers it, is imported when it is asked for."""

    def __missing__(self, name: str) -> Kind:
        import_module(MODULES[name])
        return self[name]


KINDS = Kinds()


def register_kind(kind: Kind) -> Kind:
    """Make a kind of artifact known; called where its data is filled, when that is imported."""
    KINDS[kind.name] = kind
    return kind


def training_runs() -> list[str]:
    """The names of the registered runs of training, in the order of their stages."""
    files = (entry.file for entry in ENTRIES.values() if entry.kind == RUN)
    return [file.removeprefix("training/").removesuffix(".json") for file in files]


# Control runs of a role, with less of the schedule: by the end of their names, the options of the
# command.
CONTROLS = {
    "-control": " --no-schedule",
    "-one-cycle": " --cycles 1",
    "-one-rate": " --layer-decay 1",
}


# Runs by the names that `name` of their settings gives them.
_OF_MODEL = r"(?:-(?!full\b|seed\d|from-)(?P<model>[\w.-]+?))?"
NAMED_RUNS = (
    (
        re.compile(
            r"training/(?P<stage>roles)-(?P<role>buyer|seller|opener|responder|generalist)"
            rf"(?P<control>{'|'.join(CONTROLS)})?(?:-(?P<source>[a-z]+(?:_[a-z]+)+))?{_OF_MODEL}"
            r"(?:-seed(?P<seed>\d+))?\.json"
        ),
        "role_run/1",
        "A training run of a role",
    ),
    (
        re.compile(
            rf"training/(?P<stage>sft|form|reward|distill|people|talks|grpo|dpo)(?:-(?P<game>arena))?{_OF_MODEL}"
            r"(?P<full>-full)?(?:-seed(?P<seed>\d+))?(?:-from-(?P<init>[\w.-]+))?\.json"
        ),
        RUN,
        "A training run",
    ),
)


def command_of(run: Mapping[str, str]) -> str:
    """The command that makes a run, by the parts of its name; "" for a part that is not there."""
    init = "''" if run.get("init") == "base" else run.get("init")
    options = {
        "game": run.get("game"), "role": run.get("role"), "source": run.get("source"),
        "data": "FILE" if run.get("source") else "", "model": run["model"],
        "init-adapter": init, "seed": run["seed"],
    }  # fmt: skip
    words = [f"--{name} {value}" for name, value in options.items() if value]
    flags = CONTROLS.get(run.get("control", ""), "") + " --full-fine-tuning" * bool(run.get("full"))
    return " ".join(["python -m sauda train", run["stage"], *words]) + flags


def entry(file: str) -> Entry:
    """The registered line on `file`; raises ArtifactError for a file it does not know.

    An evaluation of one's own may be called evaluation/NAME.json; one of the arena
    evaluation/arena-NAME.json; a run of another model training/STAGE-NAME.json, that of a role
    training/roles-ROLE-NAME.json.
    """
    if file in ENTRIES:
        return ENTRIES[file]
    for pattern, kind, about in NAMED_RUNS:
        if run := pattern.fullmatch(file):
            return Entry(file, kind, command_of(run.groupdict("")), about, "")
    if run := re.fullmatch(r"evaluation/(arena-)?[\w-]+\.json", file):
        kind, family = ("arena/2", " --family arena") if run[1] else ("evaluation/1", "")
        command = f"python -m sauda evaluate{family} --out {file}"
        return Entry(file, kind, command, "An evaluation of one's own", "")
    raise ArtifactError(
        f"no artifact {file!r}; sauda/records/files.csv names those there are, and one's own"
        " evaluation is evaluation/NAME.json, in the arena evaluation/arena-NAME.json"
    )
