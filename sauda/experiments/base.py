"""`@experiment` makes a function a command, a registered artifact and what `verify` repeats.

The function's parameters are its settings: options of `python -m sauda run NAME`, recorded in the
file's config. Their defaults are what the artifact holds; other settings never replace it. Keyword-
only parameters say how it is computed and not what, and are not recorded: `workers`, the number of
processes and an option too; `root`, the folder of the artifacts that it reads.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from sauda.records import check_least, store
from sauda.records.kinds import Check, Kind, Method, entry, register_kind
from sauda.records.schemas.base import Record

Data = Mapping[str, Any]  # a JSON value of the result type
# Of an artifact, a number of worker processes, and the folder of the artifacts.
Replay = Callable[[store.Artifact, int, Path], Data]
PRINTED = 100  # rows of a table at most
PLAYERS = "players"  # a setting: whom the rows are about


@dataclass(frozen=True)
class Experiment:
    """A function that fills one artifact; called as that function."""

    function: Callable[..., Data]
    file: str  # under artifacts/
    kind: Kind
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
        parser = argparse.ArgumentParser(prog=prog, description=self.kind.schema.__doc__)
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
        if PLAYERS in self.settings():
            about = "measure these players alone and leave the rows of others as they are recorded"
            parser.add_argument("--anew", nargs="+", default=(), metavar="PLAYER", help=about)
        about = "save there, and not as the artifact"
        parser.add_argument("--out", type=Path, metavar="FILE", help=about)
        return parser

    def run(
        self, chosen: Mapping[str, Any], out: Path | None = None, root: Path = store.ROOT
    ) -> tuple[store.Artifact, Path | None]:
        """Call the function with these options; its result, and the file where it is saved.

        It is saved as `out` where that is given, else as the artifact, but only with the settings
        that this is registered with: others are saved nowhere. Raises ValueError for a whole number
        that is too low.
        """
        chosen = {name: store.to_tuple(value) for name, value in chosen.items()}
        anew = chosen.pop("anew", ())
        check_least(chosen, {"seed": 0})
        settings = {name: chosen[name] for name in self.settings()}
        config = settings | {name: store.sha256(path) for name, path in self.inputs.items()}
        if anew:
            data = self.renew(anew, chosen, store.load(self.file, root))
        else:
            data = self.function(**chosen)
        made = store.new_artifact(self.file, config, data)
        if out:
            store.write(out, made.as_text())
        elif settings == self.settings():
            out = root / store.write_artifact(made, root).file
        return made, out

    def renew(
        self, players: tuple[str, ...], chosen: Mapping[str, Any], recorded: store.Artifact
    ) -> Data:
        """The recorded result with the rows of some players measured anew.

        Raises ValueError where they are no players of it, or where something that depends on no
        player is not as recorded, so that all are to be measured.
        """
        then, settings = recorded.data.as_json(), recorded.settings()
        names = settings[PLAYERS]
        if settings != {name: chosen[name] for name in settings} or not {*players} <= {*names}:
            raise ValueError(f"--anew takes players of artifacts/{self.file}: {', '.join(names)}")
        fresh = json.loads(json.dumps(self.function(**{**chosen, PLAYERS: players})))
        differs = [n for n in then if n not in ("rows", "models") and then[n] != fresh[n]]
        if differs:
            raise ValueError(f"{', '.join(differs)} differ from artifacts/{self.file}: omit --anew")
        rows = [row for row in then["rows"] if row["player"] not in players] + fresh["rows"]
        rows.sort(key=lambda row: names.index(row["player"]))
        result = {**then, "rows": rows}
        if "models" in then:  # an experiment on scripts alone has none
            result["models"] = then["models"] | fresh["models"]
        return result

    def replay(self, artifact: store.Artifact, workers: int, root: Path) -> Data:
        """The result of calling the function again with the recorded settings."""
        chosen = {n: value for n, value in artifact.settings().items() if n not in self.inputs}
        how = {"workers": workers, "root": root}
        return self.function(**chosen, **{n: v for n, v in how.items() if n in self.parameters})


def experiment(
    file: str,
    result: type[Record],
    *,
    checks: str,
    method: Method = "replayed",
    replay: Replay | None = None,
    model_hashes: Callable[[], Mapping[str, str]] = dict,
    inputs: Mapping[str, Path] = MappingProxyType({}),
) -> Callable[[Callable[..., Data]], Experiment]:
    """Register a function as what fills `file`, a line of `files.csv`, with a `result`.

    `checks` says in words what `verify` repeats. `replay` takes the place of calling the function
    again; the recorded "models" are its own. `model_hashes` gives today's fingerprints of what the
    result records of each of those models.
    """

    def register(function: Callable[..., Data]) -> Experiment:
        def repeat(artifact: store.Artifact, workers: int, root: Path) -> Data:
            if not replay:
                return registered.replay(artifact, workers, root)
            models = {n: v for n, v in artifact.data.as_json().items() if n == "models"}
            return {**replay(artifact, workers, root), **models}

        check = Check(method, checks, repeat)
        kind = register_kind(Kind(entry(file).kind, result, check, model_hashes))
        registered = Experiment(function, file, kind, inputs)
        return registered

    return register


def rows_in(data: Data) -> Iterator[Data]:
    """The first rows of each table in a result, without lists in them and fingerprints."""
    for table in data.values():
        if isinstance(table, list):
            for row in [row for row in table if isinstance(row, Mapping)][:PRINTED]:
                shown = (name for name in row if not isinstance(row[name], list))
                yield {name: row[name] for name in shown if name != "hashes"}


def lines(rows: Iterable[Data]) -> Iterable[str]:
    """Rows as lines of text: aligned columns, with a line of names where the columns change."""
    names: Sequence[str] = ()
    for row in rows:
        if list(row) != names:
            names = list(row)
            yield "  ".join(f"{name:>12}" for name in names)
        yield "  ".join(f"{text(value):>12}" for value in row.values())


def text(value: Any) -> str:
    """A value of a row in few characters; of what has an interval, the mean [low, high]."""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping) and {"mean", "low", "high"} <= value.keys():
        return f"{value['mean']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, Mapping):
        return " ".join(f"{name} {text(x)}" for name, x in value.items())
    return "–" if value is None else str(value)
