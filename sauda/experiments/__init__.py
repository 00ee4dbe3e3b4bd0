"""Experiments: each with its result type, its function and what `verify` repeats.

The experiment NAME is the function of that name and fills NAME.json under artifacts/; `base.py` is
what they share, and `verify.py` repeats any of them. A module is imported only when one of its
experiments is asked for.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
DECORATED = re.compile(
    r"^@experiment\(\s*[^,]+,\s*(\w+),.*?\)\ndef (\w+)\(", re.DOTALL | re.MULTILINE
)


class Place(NamedTuple):
    """Where an experiment stands."""

    module: str
    about: str  # what it measures: the first line of its result type


@cache
def index() -> dict[str, Place]:
    """The place of each experiment by name, in order, read from the source: none is imported."""
    places = {}
    for path in FOLDER.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        for result, name in DECORATED.findall(source):
            about = re.search(
                rf'^class {result}\(.*?"""(.*?)\.?("""|$)', source, re.DOTALL | re.MULTILINE
            )
            places[name] = Place(f"sauda.experiments.{path.stem}", about[1])
    return dict(sorted(places.items()))


def name_of(file: str) -> str:
    """The name that an experiment has if it fills `file`."""
    return PurePath(file).stem.replace("-", "_")


def find(name: str) -> Any:
    """The `Experiment` of this name, imported; raises ValueError where there is none."""
    if name not in index():
        raise ValueError(f"no experiment {name!r}; experiments are {', '.join(index())}")
    import_module(index()[name].module)
    return import_module("sauda.experiments.base").EXPERIMENTS[name]
