"""A hash of what an object does: its source and all of ours that it reaches, comments left out.

Two rows may be compared only where the task and its opponents were the same; this tells. It follows
names from a definition to the definitions and constants they stand for, within `env` and `sauda`.
"""

import ast
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from inspect import unwrap
from types import FunctionType, ModuleType
from typing import Any

OURS = ("env", "sauda")


def code_hash(*roots: Any) -> str:
    """Twelve hex digits over the code and constants that `roots` reach; stable across comments."""
    seen: dict[str, str] = {}
    values = [_canonical(root, seen) for root in roots]
    text = "\n".join([*values, *(f"{name}={seen[name]}" for name in sorted(seen))])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _canonical(value: Any, seen: dict[str, str]) -> str:
    """A text for `value` that holds no address; definitions it reaches are added to `seen`."""
    if isinstance(value, partial):
        return _canonical((value.func, value.args, value.keywords), seen)
    if isinstance(value, FunctionType | type):
        return _definition(value, seen)
    if isinstance(unwrap(value), FunctionType):  # behind a cache
        return _definition(unwrap(value), seen)
    if isinstance(value, ModuleType):
        return value.__name__
    if is_dataclass(value):
        parts = {f.name: getattr(value, f.name) for f in fields(value)}
        return f"{_definition(type(value), seen)}{_canonical(parts, seen)}"
    if isinstance(value, Mapping):
        items = ((_canonical(k, seen), _canonical(v, seen)) for k, v in value.items())
        return "{" + ",".join(f"{k}:{v}" for k, v in items) + "}"
    if isinstance(value, tuple | list):
        return "[" + ",".join(_canonical(v, seen) for v in value) + "]"
    if isinstance(value, set | frozenset):  # its order depends on the interpreter's run
        return "{" + ",".join(sorted(_canonical(v, seen) for v in value)) + "}"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    return repr(value)


def _definition(value: FunctionType | type, seen: dict[str, str]) -> str:
    name = f"{value.__module__}.{value.__qualname__}"
    if value.__module__.split(".")[0] not in OURS or name in seen:
        return name
    seen[name] = ""  # marks it as on the way: definitions may refer to each other
    text, names = _source(value)
    scope = vars(sys.modules[value.__module__]) | _enclosed(value)
    reached = {n: _canonical(scope[n], seen) for n in names if n in scope}
    seen[name] = f"{text} {reached}"
    return name


def _enclosed(value: FunctionType | type) -> dict[str, Any]:
    """The values a function took along from the function that made it."""
    cells = getattr(value, "__closure__", None)
    if not cells:
        return {}
    names = value.__code__.co_freevars
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


@cache
def _source(value: FunctionType | type) -> tuple[str, tuple[str, ...]]:
    """A definition's syntax without docstrings, and the names it uses."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    # Python 3.12 gave definitions a field; without it a hash is the same there as on 3.11.
    return ast.dump(tree).replace(", type_params=[]", ""), tuple(names)
