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


LISTED = {
    row["file"]: Entry(**row | {"command": f"python -m {row['command']}"})
    for row in read_table(Path(__file__).with_name("files.csv"))
}
ENTRIES = {file: e for file, e in LISTED.items() if e.kind != RUN or (ROOT / file).exists()}
FILES = tuple(ENTRIES[file] for file in sorted(ENTRIES))
MODULES = {entry.kind: entry.module for entry in LISTED.values()}


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


STAGES = "roles|sft|form|reward|distill|people|talks|candid|grpo|dpo"
OWN_RUN = re.compile(rf"training/({STAGES})\b[\w.-]*\.json")  # named by its stage and settings


def entry(file: str) -> Entry:
    """The registered line on `file`; raises ArtifactError for a file it does not know.

    An evaluation of one's own may be called evaluation/NAME.json; one of the arena
    evaluation/arena-NAME.json; a run of training is training/STAGE-NAME.json.
    """
    if file in LISTED:
        return LISTED[file]
    if run := OWN_RUN.fullmatch(file):
        kind = "role_run/1" if run[1] == "roles" else RUN
        return Entry(file, kind, "python -m sauda train STAGE", "A training run of one's own", "")
    if run := re.fullmatch(r"evaluation/(arena-)?[\w-]+\.json", file):
        kind, family = ("arena/2", " --family arena") if run[1] else ("evaluation/1", "")
        command = f"python -m sauda evaluate{family} --out {file}"
        return Entry(file, kind, command, "An evaluation of one's own", "")
    raise ArtifactError(
        f"no artifact {file!r}; sauda/records/files.csv names those there are, and one's own"
        " evaluation is evaluation/NAME.json, in the arena evaluation/arena-NAME.json"
    )
