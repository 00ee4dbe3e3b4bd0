"""`@experiment` makes a function a command, a registered artifact and what `verify` repeats.

The function's parameters are its settings: options of `python -m sauda run NAME`, recorded in the
file's config. Keyword-only parameters say how it is computed and not what: `workers`, the number of
processes, and `root`, the folder of the artifacts that it reads. They are not recorded.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, get_args

from sauda.experiments import name_of
from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.base import Record
from sauda.records.store import ROOT, Artifact, save, sha256

Data = Mapping[str, Any]  # a JSON value of the result type
Replay = Callable[[Artifact, int, Path], Data]  # artifact, worker processes, folder of artifacts

EXPERIMENTS: dict[str, "Experiment"] = {}  # those that are imported, by name
KINDS: dict[str, Kind] = {}  # of the modules that are imported, by name without a version


@dataclass(frozen=True)
class Experiment:
    """A function that fills one artifact; called as that function."""

    function: Callable[..., Data]
    file: str  # under artifacts/
    kind: Kind
    inputs: Mapping[str, Path] = field(default_factory=dict)  # files read: digests are recorded
    table: Callable[[Data], Iterable[Data]] = lambda data: data["rows"]  # the rows to print

    def __call__(self, *settings: Any, **named: Any) -> Data:
        return self.function(*settings, **named)

    def settings(self) -> dict[str, Any]:
        """The recorded parameters with their defaults."""
        parameters = signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD}

    def parser(self, prog: str) -> argparse.ArgumentParser:
        """The options of `prog`: one per setting, with its type and default."""
        parser = argparse.ArgumentParser(prog=prog, description=self.kind.schema.__doc__)
        for name, default in self.settings().items():
            several = isinstance(default, tuple)
            hint = signature(self.function).parameters[name].annotation
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=get_args(hint)[0] if several else hint,
                nargs="+" if several else None,
                default=default,
                help=f"default: {' '.join(map(str, default)) if several else default}",
            )
        return parser

    def run(self, chosen: Mapping[str, Any], root: Path = ROOT) -> Artifact:
        """Call the function with these settings and save its result."""
        chosen = {n: tuple(v) if isinstance(v, list) else v for n, v in chosen.items()}
        config = chosen | {name: sha256(path) for name, path in self.inputs.items()}
        return save(self.file, config, self.function(**chosen), root)

    def replay(self, artifact: Artifact, workers: int, root: Path) -> Data:
        """The result of calling the function again with the recorded settings."""
        recorded = artifact.settings()
        chosen = {name: recorded[name] for name in recorded if name not in self.inputs}
        how = {"workers": workers, "root": root}
        taken = signature(self.function).parameters
        return self.function(**chosen, **{n: v for n, v in how.items() if n in taken})


def experiment(
    file: str,
    result: type[Record],
    *,
    version: int,
    tab: str,
    checks: str,
    amount: Callable[[Data, Any], int],
    unit: str,
    method: str = "replayed",
    replay: Replay | None = None,
    name: str = "",
    model_hashes: str = "",
    **options: Any,
) -> Callable[[Callable[..., Data]], Experiment]:
    """Register a function as what fills `file` with a `result`, shown on `tab`.

    `checks` says in words what `verify` repeats, `amount` counts it in `unit`s from config and
    result, `method` is one of `METHODS`. `replay` takes the place of calling the function again.
    `name` is that of the module where the file has another, `model_hashes` is that of `Kind`,
    `options` are the last fields of `Experiment`.
    """

    def register(function: Callable[..., Data]) -> Experiment:
        def again(artifact: Artifact, workers: int, root: Path) -> Data:
            return (replay or registered.replay)(artifact, workers, root)

        called = name or name_of(file)
        files = (File(file, f"run {called}", tab),)
        check = Check(method, checks, amount, unit, again)
        kind = register_kind(Kind(f"{called}/{version}", result, files, check, model_hashes))
        registered = EXPERIMENTS[called] = Experiment(function, file, kind, **options)
        return registered

    return register


def register_kind(kind: Kind) -> Kind:
    """Make a kind of artifact known, whose files a command of its own fills."""
    KINDS[kind.name.partition("/")[0]] = kind
    return kind


def lines(rows: Iterable[Data]) -> Iterable[str]:
    """Rows as lines of text: aligned columns, with a line of names where the columns change."""
    names: Sequence[str] = ()
    for row in rows:
        if list(row) != names:
            names = list(row)
            yield "  ".join(f"{name:>12}" for name in names)
        yield "  ".join(f"{text(value):>12}" for value in row.values())


def text(value: Any) -> str:
    """A value of a row in few characters; an interval as its mean [low, high]."""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping) and "low" in value and "mean" in value:
        shown = f"{value['mean']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"
        rest = {name: x for name, x in value.items() if name not in ("mean", "low", "high")}
        return f"{shown} {text(rest)}".rstrip()
    if isinstance(value, Mapping):
        return " ".join(f"{name} {text(x)}" for name, x in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value))
    return "–" if value is None else str(value)
