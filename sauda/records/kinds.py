"""Every kind of artifact and every file, and where they are registered.

Data is filled by one module, which holds its type and registers its kind when it is imported: an
experiment by its decorator in `sauda/experiments/`, other kinds by `register_kind`; MODULES says
where those are.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

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
class File:
    """One file of a kind; `about` is the first line of the schema's docstring if it is left out."""

    name: str
    command: str  # after `python -m MODULE`
    tab: str
    about: str = ""
    module: str = "sauda"


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
    files: tuple[File, ...]
    check: Check
    # Today's fingerprints of what it records of each of its models; {} where it has none.
    model_hashes: Callable[[], Mapping[str, str]] = dict

    def entries(self) -> Iterator[Entry]:
        """One entry a file."""
        summary = self.schema.__doc__.partition("\n")[0].removesuffix(".")
        for file in self.files:
            command = f"python -m {file.module} {file.command}"
            yield Entry(file.name, self.name, command, file.about or summary, file.tab)


REGISTERED: dict[str, Kind] = {}  # by name: those whose module is imported


def register_kind(kind: Kind) -> Kind:
    """Make a kind of artifact known; called where its data is filled, when that is imported."""
    REGISTERED[kind.name] = kind
    return kind


SPEEDS, COMPARISON = "sauda.experiments.speeds", "sauda.experiments.comparison"
# The modules that register kinds whose files are not called as an experiment, by how these begin.
MODULES = {
    "bench.json": SPEEDS,
    "load.json": SPEEDS,
    "published.json": SPEEDS,
    "episodes/showcase": "sauda.experiments.episodes",
    "evaluation/": "sauda.experiments.evaluate",
    "evaluation/arena-model-comparison": COMPARISON,
    "evaluation/model-comparison": COMPARISON,
    "dialogues.json": "sauda.train.dialogues",
    "training/": "sauda.train.results",
    "training/roles": "sauda.experiments.roles",
    "training/selector": "sauda.train.selector",
}


def _import_of(file: str) -> None:
    """Import the modules that may have registered `file`: these depend on this one."""
    experiments = import_module("sauda.experiments")
    if (name := experiments.name_of(file)) in experiments.index():
        experiments.find(name)
    for module in {module for start, module in MODULES.items() if file.startswith(start)}:
        import_module(module)


def _import_all() -> None:
    index = import_module("sauda.experiments").index()
    for module in {*MODULES.values(), *(place.module for place in index.values())}:
        import_module(module)


class Kinds(Mapping[str, Kind]):
    """Every kind by its name; those that are not imported yet are when they are asked for."""

    def __getitem__(self, name: str) -> Kind:
        if name not in REGISTERED:
            _import_all()
        return REGISTERED[name]

    def __iter__(self) -> Iterator[str]:
        _import_all()
        return iter(sorted(REGISTERED))

    def __len__(self) -> int:
        _import_all()
        return len(REGISTERED)


KINDS = Kinds()


def _files() -> tuple[Entry, ...]:
    entries = (entry for kind in KINDS.values() for entry in kind.entries())
    return tuple(sorted(entries, key=lambda entry: entry.file))


def __getattr__(name: str) -> Any:
    """FILES, the entries of all kinds by file: made when asked for, since it imports them all."""
    if name != "FILES":
        raise AttributeError(name)
    return _files()


def training_runs() -> list[str]:
    """The names of the registered runs of training, in the order of their stages."""
    files = (known.file for known in KINDS["training_run/1"].entries())
    return [file.removeprefix("training/").removesuffix(".json") for file in files]


# The runs of roles

ROLES = {
    "buyer": "The log of a buyer's training, its losses by checkpoint and on hold-out dialogues",
    "seller": "The same of a seller",
    "generalist": "The same of a generalist, which speaks for both",
}
# Runs with the same dialogues and less of the schedule, by the end of their names: the option of
# the command, what they are, and the roles that have one. The generalist speaks for both roles.
CONTROLS = {
    "-control": (
        " --no-schedule",
        "Its control: the same dialogues, one cycle, one rate for all layers",
        tuple(ROLES),
    ),
    "-one-cycle": (
        " --cycles 1",
        "Its control for the cycles: one cycle, rates by layer",
        ("generalist",),
    ),
    "-one-rate": (
        " --layer-decay 1",
        "Its control for the rates by layer: two cycles, one rate",
        ("generalist",),
    ),
}


def role_command(role: str, control: str = "") -> str:
    """The command of a role's run; `control` is the end of its name."""
    return f"train roles --role {role}{CONTROLS[control][0] if control else ''}"


def entry(file: str) -> Entry:
    """The registered line on `file`; raises ArtifactError for a file it does not know.

    An evaluation of one's own may be called evaluation/NAME.json; one of the arena
    evaluation/arena-NAME.json; a run of another model training/STAGE-NAME.json, that of a role
    training/roles-ROLE-NAME.json.
    """
    _import_of(file)
    for known in (known for kind in REGISTERED.values() for known in kind.entries()):
        if known.file == file:
            return known
    seed = re.search(r"-seed(\d+)\.json$", file)
    again = f" --seed {seed[1]}" if seed else ""
    if run := re.fullmatch(
        r"training/roles-(buyer|seller|opener|responder|generalist)"
        rf"({'|'.join(CONTROLS)})?(-[\w.-]+)?\.json",
        file,
    ):
        command = f"python -m sauda {role_command(run[1], run[2] or '')}{again}"
        return Entry(file, "role_run/1", command, "A training run of a role", "")
    if run := re.fullmatch(r"training/(sft|distill|grpo|dpo)(-(arena)?[\w.-]*)?\.json", file):
        command = f"python -m sauda train {run[1]}{' --game arena' if run[3] else ''}{again}"
        return Entry(file, "training_run/1", command, "A training run", "")
    if run := re.fullmatch(r"evaluation/(arena-)?[\w-]+\.json", file):
        kind, family = ("arena/2", " --family arena") if run[1] else ("evaluation/1", "")
        command = f"python -m sauda evaluate{family} --out {file}"
        return Entry(file, kind, command, "An evaluation of one's own", "")
    known_files = ", ".join(known.file for known in _files())
    raise ArtifactError(f"no artifact {file!r}; artifacts are {known_files}, evaluation/NAME.json")
