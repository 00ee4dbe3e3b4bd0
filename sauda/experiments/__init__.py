"""Experiments: one file each, with its result type, its function and what `verify` repeats.

`NAME.py` fills NAME.json under artifacts/; `base.py` is what they share, and `verify.py` repeats
any of them. A module is imported only when its experiment is asked for.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

FOLDER = Path(__file__).parent
# Modules that fill several files by a command of their own, with the kinds of those files.
SEVERAL: Mapping[str, tuple[str, ...]] = {
    "comparison": ("model_comparison", "arena_model_comparison"),
    "evaluate": ("evaluation", "arena"),
}


@cache
def names() -> tuple[str, ...]:
    """The names of all experiments that `run` knows, in order; imports none of them."""
    files = sorted(FOLDER.glob("*.py"))
    return tuple(f.stem for f in files if "\n@experiment(" in f.read_text(encoding="utf-8"))


def kinds() -> Iterator[str]:
    """The names of the kinds that all modules here fill, without a version."""
    yield from names()
    yield from (kind for several in SEVERAL.values() for kind in several)


def name_of(file: str) -> str:
    """The name that an experiment has if it fills `file`."""
    return PurePath(file).stem.replace("-", "_")


def about(name: str) -> str:
    """What an experiment measures: the first line of its module, which is not imported."""
    module = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(module) or "").partition("\n")[0]


def find(name: str) -> Any:
    """The `Experiment` of this name, imported; raises ValueError where there is none."""
    if name not in names():
        raise ValueError(f"no experiment {name!r}; experiments are {', '.join(names())}")
    import_module(f"sauda.experiments.{name}")
    return import_module("sauda.experiments.base").EXPERIMENTS[name]


def find_kind(name: str) -> Any:
    """The `Kind` of this name without a version, its module imported; None where there is none."""
    if name not in kinds():
        return None
    module = next((module for module, several in SEVERAL.items() if name in several), name)
    import_module(f"sauda.experiments.{module}")
    return import_module("sauda.experiments.base").KINDS[name]
