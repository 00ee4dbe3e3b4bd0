"""Every kind of artifact and every file, and where they are registered.

Data is filled by one module, which holds its type and registers its kind when it is imported: an
experiment by its decorator in `sauda/experiments/`, other kinds by `register_kind`; MODULES says
where those are. `registry.py` holds the kinds that have not moved to their modules yet. `types.py`
says what stands in an entry.
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from sauda.records.kinds.registry import KINDS as NOT_MOVED
from sauda.records.kinds.training import CONTROLS, role_command
from sauda.records.kinds.types import METHODS as METHODS
from sauda.records.kinds.types import REGISTERED, Kind, register_kind
from sauda.records.kinds.types import ArtifactError as ArtifactError
from sauda.records.kinds.types import Entry as Entry
from sauda.records.schemas.base import Record

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
}
for _kind in NOT_MOVED.values():
    register_kind(_kind)


def _import_of(file: str) -> None:
    """Import the modules that may have registered `file`: these depend on this one."""
    package = import_module("sauda.experiments")
    if (name := package.name_of(file)) in package.names():
        package.find(name)
    for module in {module for start, module in MODULES.items() if file.startswith(start)}:
        import_module(module)


def _import_all() -> None:
    package = import_module("sauda.experiments")
    for module in {*MODULES.values(), *(f"{package.__name__}.{n}" for n in package.names())}:
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


def __getattr__(name: str) -> Any:
    """FILES, the entries of all kinds by file: made when asked for, since it imports them all."""
    if name != "FILES":
        raise AttributeError(name)
    entries = (entry for kind in KINDS.values() for entry in kind.entries())
    return tuple(sorted(entries, key=lambda entry: entry.file))


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
    _import_of(file)
    for kind in REGISTERED.values():
        for known in kind.entries():
            if known.file == file:
                return known
    if run := re.fullmatch(
        r"training/roles-(buyer|seller|opener|responder|generalist)"
        rf"({'|'.join(CONTROLS)})?(-[\w.-]+)?\.json",
        file,
    ):
        seed = re.search(r"-seed(\d+)\.json$", file)
        command = f"python -m sauda {role_command(run[1], run[2] or '')}"
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
