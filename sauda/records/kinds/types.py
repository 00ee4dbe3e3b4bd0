"""The types of the registry: kinds of artifacts, their files, and their checks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sauda.records.schemas.base import Record

RECOMPUTE = "sauda.evaluation.verification.recompute"  # the module of most verifiers

# Every file has a checksum. What else `verify` checks, the strongest first.
METHODS: Mapping[str, str] = {
    "replayed": "all of its data is computed again, to the last digit",
    "replayed in part": "scripts and rules are played again; what a language model wrote is not",
    "recomputed": "its data is computed again from data that is not",
    "checksum only": "it cannot be repeated, or is written by hand",
}


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

    method: str  # of METHODS
    about: str
    amount: Callable[[Mapping[str, Any], Any], int]  # of what is checked, from config and data
    unit: str  # of that amount
    # Returns the data as it should be; "module:function" where that module cannot be imported here.
    verifier: str | Callable[..., Mapping[str, Any]]

    def __str__(self) -> str:
        return f"{self.method}: {self.about}"

    def recompute(self) -> Callable[..., Mapping[str, Any]]:
        """The verifier, imported late: its package depends on this one."""
        return _imported(self.verifier)


def _imported(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """The function, imported late where its package depends on this one."""
    if not isinstance(function, str):
        return function
    module, _, function = function.partition(":")
    return getattr(import_module(module), function)


@dataclass(frozen=True)
class Kind:
    """One kind of artifact."""

    name: str  # with its version, as files have it
    schema: type[Record]  # of their `data`
    files: tuple[File, ...]
    check: Check
    # Today's fingerprints of what it records of each model: a function, or "module:function".
    model_hashes: Callable[[], Mapping[str, str]] | str | None = None

    def hashes_of_models(self) -> Mapping[str, str]:
        """Today's fingerprints of prompt and parser of its models; none where it has no models."""
        return _imported(self.model_hashes)() if self.model_hashes else {}

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
