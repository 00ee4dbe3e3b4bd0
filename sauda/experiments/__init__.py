"""Experiments: each with its function and what `verify` repeats; commands alone import them.

The experiment NAME is the function of that name; `sauda/records/files.csv` says which file it
fills, and `kinds.csv` beside it in which module it stands. `base.py` is what experiments share, and
`verify.py` repeats any of them. A module is imported only when one of its experiments is asked for.
"""

from pathlib import PurePath
from pkgutil import resolve_name
from typing import Any

from sauda.records.kinds import FILES, KINDS, Entry

RUN = "python -m sauda run "


def index() -> dict[str, Entry]:
    """What an experiment fills, by name, in order; imports none of them."""
    made = {f.command.removeprefix(RUN): f for f in FILES if f.command.startswith(RUN)}
    return dict(sorted(made.items()))


def find(name: str) -> Any:
    """The `Experiment` of this name, imported; raises ValueError where there is none."""
    if name not in index():
        for entry in FILES:
            if PurePath(entry.file).stem == name:
                raise ValueError(f"{entry.file} is made by `{entry.command}`")
        raise ValueError(f"no experiment {name!r}; experiments are {', '.join(index())}")
    module = KINDS[index()[name].kind].repeat.partition(":")[0]
    return resolve_name(f"{module}:{name}")
