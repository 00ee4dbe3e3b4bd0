"""What names stand for: a local variable, a value of ours, something of another package."""

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import unwrap
from types import FunctionType, ModuleType, UnionType
from typing import Any, get_origin

from sauda.records.code_hash.scopes import Scope
from sauda.records.code_hash.source import OURS, is_ours

# What Python puts into every module: where it stands and what it is called.
OF_MODULE = {
    "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__", "__package__",
    "__path__", "__spec__",
}  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """The way to a value: from a definition's own names, or from the top of an imported package."""

    names: tuple[str, ...]
    imported: bool = False


@dataclass(frozen=True)
class Path:
    """What a name with attributes after it stands for, and the attributes that are left.

    One of three is set: the `local` variable, a `reference` to a value of ours, or the `words` that
    name something of another package. `value` is what the reference leads to, where that is known.
    """

    local: tuple[Scope, str] | None = None
    reference: Reference | None = None
    words: str = ""
    value: Any = None
    rest: tuple[str, ...] = ()


@dataclass(frozen=True)
class Names:
    """The names that a definition sees outside of its own scopes."""

    module: Mapping[str, Any]
    foreign: Mapping[str, str]  # imported from other packages: the dotted path of each
    enclosed: tuple[str, ...]  # variables of the function around it

    def path(self, node: ast.AST | None, scope: Scope | None) -> Path | None:
        """What a name, or attributes after a name, stand for; None for any other expression."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        name, rest = node.id, tuple(attributes)
        bound = None if scope is None else scope.where(name)
        if bound is not None:
            target = bound.imported(name)
            if target is None:
                return Path(local=(bound, name), rest=rest)
            return self.imported(target, rest)
        if name in self.enclosed:
            return Path(reference=Reference((name,)), rest=rest)
        if name in self.foreign:
            return self.imported(self.foreign[name], rest)
        if name in self.module and name not in OF_MODULE:
            return self._followed(Reference((name,)), rest)
        known = "builtins" if hasattr(builtins, name) else "unknown"
        return Path(words=f"{known}.{name}", rest=rest)

    def imported(self, target: str, rest: tuple[str, ...] = ()) -> Path:
        """What is imported under the dotted path `target`."""
        if target.split(".")[0] in OURS:
            return self._followed(Reference(tuple(target.split(".")), imported=True), rest)
        return Path(words=".".join([target, *rest]))

    def _followed(self, reference: Reference, rest: tuple[str, ...]) -> Path:
        """A value of ours; attributes of our modules are part of the way to it."""
        value = look_up(reference, self.module)
        while rest and isinstance(value, ModuleType) and is_ours(value):
            value = attribute(value, rest[0])
            reference = Reference((*reference.names, rest[0]), reference.imported)
            rest = rest[1:]
        return Path(reference=reference, value=value, rest=rest)


def look_up(reference: Reference, names: Mapping[str, Any]) -> Any:
    """The value that a reference leads to; `names` are those that its definition sees."""
    first, *rest = reference.names
    value = import_module(first) if reference.imported else names[first]
    for name in rest:
        value = attribute(value, name)
    return value


def attribute(value: Any, name: str) -> Any:
    """An attribute, which may be a module of a package that nobody imported yet."""
    if isinstance(value, ModuleType) and not hasattr(value, name):
        return import_module(f"{value.__name__}.{name}")
    return getattr(value, name)


def parameter_places(value: Any) -> dict[str, int]:
    """The place of each parameter by its name, of a function or class of ours; else none."""
    value, skipped = unwrap(value) if callable(value) else value, 0
    if isinstance(value, type) and is_ours(value):
        value, skipped = vars(value).get("__init__"), 1
    if not isinstance(value, FunctionType) or not is_ours(value):
        return {}
    code = value.__code__
    if code.co_filename == "<string>":  # written by dataclass: its parameters are public fields
        return {}
    names = code.co_varnames[skipped : code.co_argcount + code.co_kwonlyargcount]
    return {name: place for place, name in enumerate(names)}


def is_type(value: Any) -> bool:
    """Whether a value is a class of ours, or made of types."""
    if isinstance(value, type):
        return is_ours(value)
    return isinstance(value, UnionType) or get_origin(value) is not None


@cache
def private_names(node: ast.ClassDef) -> tuple[str, ...]:
    """The attributes with a leading underscore that a class's body or methods bind, in order."""
    attributes = [name for name in Scope(node, None).names() if is_private(name)]
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            attributes += [child.attr] * is_private(child.attr)
    return tuple(dict.fromkeys(attributes))


def is_private(name: str) -> bool:
    """Whether a name begins with an underscore and is none of Python's own, such as __init__."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
