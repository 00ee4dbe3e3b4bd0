"""Every artifact: `files.csv` lists the files, `kinds.csv` says what those of a kind hold.

It also names the function that computes their data again, which is imported when `verify` asks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
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


@dataclass(frozen=True)
class Kind:
    """One kind of artifact: what its files hold, and how `verify` checks them."""

    name: str  # with its version, as files have it
    holds: str  # the type of their `data`, as "MODULE:CLASS" of `schemas/`
    repeat: str  # the function that computes the data again, as "MODULE:FUNCTION"
    models: str  # that of today's fingerprints of what is recorded of each model; "" for none
    method: Method
    about: str  # what is checked beside the checksum

    def __str__(self) -> str:
        return f"{self.method}: {self.about}"

    @property
    def schema(self) -> type[Record]:
        """The type of the data."""
        return resolve_name(f"{__package__}.schemas.{self.holds}")

    def recompute(self, artifact: Any, workers: int, root: Path) -> Mapping[str, Any]:
        """The data of `artifact` as it should be, by so many processes, without its "models".

        Other artifacts that it needs are those in the folder `root`.
        """
        return resolve_name(self.repeat)(artifact, workers, root)

    def model_hashes(self) -> Mapping[str, str]:
        """Today's fingerprints of what the data records of each of its models."""
        return resolve_name(self.models)() if self.models else {}


ROOT = Path(__file__).resolve().parents[2] / "artifacts"
RUN = "training_run/1"  # of a player; such a file is listed once it is there


LISTED = {
    row["file"]: Entry(**row | {"command": f"python -m {row['command']}"})
    for row in read_table(Path(__file__).with_name("files.csv"))
}
ENTRIES = {file: e for file, e in LISTED.items() if e.kind != RUN or (ROOT / file).exists()}
FILES = tuple(ENTRIES[file] for file in sorted(ENTRIES))
KINDS = {row["name"]: Kind(**row) for row in read_table(Path(__file__).with_name("kinds.csv"))}


def training_runs() -> list[str]:
    """The names of the registered runs of training, in the order of their stages."""
    files = (entry.file for entry in ENTRIES.values() if entry.kind == RUN)
    return [file.removeprefix("training/").removesuffix(".json") for file in files]


STAGES = "roles|sft|form|reward|distill|people|talks|candid|listens|heeds|settles|grpo|dpo"
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
