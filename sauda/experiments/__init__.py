"""Experiments: one file each, with its result type, its function and what `verify` repeats.

`NAME.py` fills NAME.json under artifacts/; `base.py` is what they share, and `verify.py` repeats
any of them. A module is imported only when its experiment is asked for.
"""

import ast
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The names of all experiments, in order; imports none of them."""
    files = sorted(FOLDER.glob("*.py"))
    return [file.stem for file in files if "\n@experiment(" in file.read_text(encoding="utf-8")]


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
