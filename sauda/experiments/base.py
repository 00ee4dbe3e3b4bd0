"""`@experiment` makes a function a command that fills an artifact, and what `verify` calls again.

The function's parameters are its settings: options of `python -m sauda run NAME`, recorded in the
file's config. Their defaults are what the artifact holds; other settings never replace it. Keyword-
only parameters say how it is computed and not what, and are not recorded: `workers`, the number of
processes and an option too; `root`, the folder of the artifacts that it reads.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from sauda.records import check_least, store
from sauda.records.kinds import entry

Data = Mapping[str, Any]  # a JSON value of the result type


@dataclass(frozen=True)
class Experiment:
    """A function that fills one artifact; called as that function."""

    function: Callable[..., Data]
    file: str  # under artifacts/, a line of `files.csv`
    inputs: Mapping[str, Path]  # files read: digests are recorded

    def __call__(self, *settings: Any, **named: Any) -> Data:
        return self.function(*settings, **named)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters of the function, by name."""
        return signature(self.function).parameters

    def settings(self) -> dict[str, Any]:
        """The recorded parameters with their defaults."""
        recorded = Parameter.POSITIONAL_OR_KEYWORD
        return {name: p.default for name, p in self.parameters.items() if p.kind is recorded}

    def parser(self, prog: str) -> argparse.ArgumentParser:
        """The options of `prog`: one per setting, with its type and default, and --out."""
        parser = argparse.ArgumentParser(prog=prog, description=entry(self.file).about)
        for name in [*self.settings(), *{"workers"} & self.parameters.keys()]:
            default, hint = self.parameters[name].default, self.parameters[name].annotation
            several = isinstance(default, tuple)
            usual = " ".join(map(str, default)) if several else str(default)
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=get_args(hint)[0] if several else hint,
                nargs="+" if several else None,
                default=default,
                help=f"default: {usual}".replace("%", "%%"),
            )
        about = "save there, and not as the artifact"
        parser.add_argument("--out", type=Path, metavar="FILE", help=about)
        return parser

    def run(
        self, chosen: Mapping[str, Any], out: Path | None = None, root: Path = store.ROOT
    ) -> tuple[store.Artifact, Path | None]:
        """Call the function with these options; its result, and the file where it is saved.

        It is saved as `out` where that is given, else as the artifact, but only with the default
        settings: others are saved nowhere. Raises ValueError for a whole number that is too low.
        """
        chosen = {name: store.to_tuple(value) for name, value in chosen.items()}
        check_least(chosen, {"seed": 0})
        settings = {name: chosen[name] for name in self.settings()}
        config = settings | {name: store.sha256(path) for name, path in self.inputs.items()}
        made = store.new_artifact(self.file, config, self.function(**chosen))
        if out:
            store.write(out, made.as_text())
        elif settings == self.settings():
            out = root / store.write_artifact(made, root).file
        return made, out

    def replay(self, artifact: store.Artifact, workers: int, root: Path) -> Data:
        """The result of calling the function again with the recorded settings."""
        chosen = {n: value for n, value in artifact.settings().items() if n not in self.inputs}
        how = {"workers": workers, "root": root}
        return self.function(**chosen, **{n: v for n, v in how.items() if n in self.parameters})


def experiment(
    file: str, inputs: Mapping[str, Path] = MappingProxyType({})
) -> Callable[[Callable[..., Data]], Experiment]:
    """Make a function the experiment that fills `file`."""
    return partial(Experiment, file=file, inputs=inputs)
