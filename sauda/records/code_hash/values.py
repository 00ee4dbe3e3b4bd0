"""What a value consists of, as a graph: functions and classes of ours by their source.

Numbers and texts count by type and value, containers with their order, arrays in full. Objects of
other packages count by name, so another version of a library is no other hash.
"""

import hashlib
import re
import sys
from collections import ChainMap, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path
from types import EllipsisType, FunctionType, GenericAlias, MethodType, ModuleType, UnionType
from typing import Any, NamedTuple, get_args, get_origin

import numpy as np

from sauda.records.code_hash.colours import Node
from sauda.records.code_hash.names import is_private, look_up, parameter_places, private_names
from sauda.records.code_hash.source import OURS, Definition, definition_of, is_ours, own_names
from sauda.records.code_hash.text import Place, template

PLAIN = (bool, int, float, complex, str, bytes, type(None), EllipsisType)
# Whose representation says all there is to know of an object.
SPOKEN = {"builtins", "datetime", "decimal", "fractions", "operator", "uuid"}
# Bases that do not read the annotations of a class; another package's may.
BLIND_BASES = {"abc", "builtins", "collections.abc", "enum", "typing"}
FOLDERS = [Path(find_spec(name).origin).resolve().parent for name in OURS]


class Parts(NamedTuple):
    """A value's own text and the values it holds."""

    text: str
    values: Iterable[Any] = ()
    ordered: bool = True


def graph(roots: Iterable[Any]) -> tuple[dict[Hashable, Node], list[Hashable]]:
    """The nodes that `roots` reach, by key, and the keys of the roots themselves."""
    roots = list(roots)
    nodes: dict[Hashable, Node] = {}
    kept = []  # a key is an address: nothing may go before all are told apart
    open_ = list(roots)
    while open_:
        value = open_.pop()
        key = _key(value)
        if key in nodes:
            continue
        text, values, ordered = parts(value)
        values = list(values)
        nodes[key] = Node(text, tuple(map(_key, values)), ordered)
        kept += [value, values]
        open_ += values
    return nodes, [_key(root) for root in roots]


def _key(value: Any) -> Hashable:
    return (type(value), ascii(value)) if type(value) in PLAIN else id(value)


def parts(value: Any) -> Parts:
    """What `value` consists of."""
    if type(value) in PLAIN:
        return Parts(f"{type(value).__name__}:{value!a}")
    if isinstance(value, type):
        return _class(value) if is_ours(value) else Parts(_path(value))
    if isinstance(value, partial):
        return _partial(value)
    if isinstance(value, MethodType):
        return Parts(f"method {value.__name__}", (value.__self__, value.__func__))
    if isinstance(value, GenericAlias | UnionType) or get_origin(value) is not None:
        return Parts("type", (get_origin(value), *get_args(value)))
    if isinstance(value, ModuleType):
        return _module(value)
    if isinstance(unwrap(value) if callable(value) else value, FunctionType):  # behind a cache
        function = unwrap(value)
        return _function(function) if is_ours(function) else Parts(_path(function))
    if is_ours(type(value)) or is_dataclass(value) or isinstance(value, Enum):
        return Parts("instance", (type(value), *_state(value)))
    return _container(value) or _foreign(value)


def _state(value: Any) -> list[Any]:
    """What an instance of a class holds; the names of its fields stand in the class."""
    if isinstance(value, Enum):
        return [value.name, value.value]
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    slots = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())]
    state = [getattr(value, name) for name in slots if hasattr(value, name)]
    for name, part in getattr(value, "__dict__", {}).items():
        state += [None if is_private(name) else name, part]
    for kind in (tuple, list, dict, set, frozenset, str, int, float):
        if isinstance(value, kind):
            state.append(kind(value))
    return state


def _container(value: Any) -> Parts | None:
    if isinstance(value, defaultdict):
        return Parts("defaultdict", (value.default_factory, dict(value)))
    if isinstance(value, Mapping):
        return Parts("mapping", [part for item in value.items() for part in item])
    if isinstance(value, tuple | list):
        return Parts(type(value).__name__, value)
    if isinstance(value, set | frozenset):
        return Parts(type(value).__name__, value, ordered=False)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return Parts(f"array {value.shape}", value.ravel().tolist())
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return Parts(f"array {value.dtype.str} {value.shape} {content}")
    return None


def _foreign(value: Any) -> Parts:
    """An object of another package."""
    if isinstance(value, np.generic):
        return Parts(f"number {value.dtype.str} {value.tobytes().hex()}")
    if isinstance(value, re.Pattern):
        return Parts(f"pattern {value.flags}", (value.pattern,))
    if isinstance(value, Path):
        return _data(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return Parts(_path(value))
    kind = _path(type(value))
    text = ascii(value) if type(value).__module__ in SPOKEN or isinstance(value, np.dtype) else ""
    return Parts(f"object {kind} {'' if ' at 0x' in text else text}")


def _path(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _data(path: Path) -> Parts:
    """A file of our packages by its content; another path by its last part, as homes differ."""
    if path.is_file() and any(path.resolve().is_relative_to(folder) for folder in FOLDERS):
        return Parts(f"file {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return Parts(f"path {path.name!a}")


def _module(module: ModuleType) -> Parts:
    """A module used as a value: its public definitions by name."""
    if not is_ours(module):
        return Parts(module.__name__)
    names = sorted(name for name in own_names(module.__file__) if not name.startswith("_"))
    return Parts(f"module {' '.join(names)}", [getattr(module, name) for name in names])


def _partial(value: partial) -> Parts:
    places = parameter_places(value.func)
    names = [str(places.get(name, name)) for name in value.keywords]
    held = (value.func, *value.args, *value.keywords.values())
    return Parts(f"partial {len(value.args)} {' '.join(names)}", held)


# Definitions


def _function(function: FunctionType) -> Parts:
    names, enclosed = function.__globals__, _enclosed(function)
    module, file = names["__name__"], names["__file__"]
    owner = names.get(function.__qualname__.partition(".")[0])
    private = _private(owner) if isinstance(owner, type) and is_ours(owner) else ()
    place = Place(module, file, tuple(enclosed), private)
    text, values, _ = _defined(definition_of(function, file), place, ChainMap(enclosed, names))
    by_name = function.__kwdefaults__ or {}
    named = {i: by_name[n] for i, n in enumerate(function.__code__.co_varnames) if n in by_name}
    return Parts(f"{text} {[*named]}", [*values, function.__defaults__, [*named.values()]])


def _class(kind: type) -> Parts:
    file, enclosed = _file(kind), {}
    for member in vars(kind).values():
        enclosed |= _enclosed(unwrap(member)) if callable(member) else {}
    annotated = hasattr(kind, "__total__") or any(
        not is_ours(base) and base.__module__ not in BLIND_BASES for base in kind.__mro__
    )
    place = Place(kind.__module__, file, tuple(enclosed), _private(kind), annotated)
    names = ChainMap(enclosed, vars(sys.modules[kind.__module__]))
    return _defined(definition_of(kind, file), place, names)


def _private(kind: type) -> tuple[tuple[str, ...], ...]:
    """The private names of a class's bases and its own, the most basic first."""
    bases = [base for base in reversed(kind.__mro__) if is_ours(base)]
    return tuple(private_names(definition_of(base, _file(base))) for base in bases)


def _file(kind: type) -> str:
    return sys.modules[kind.__module__].__file__


def _defined(node: Definition, place: Place, names: Mapping[str, Any]) -> Parts:
    """A definition's text and all that it refers to by `names`."""
    text, references, types = template(node, place)
    reached = frozenset(look_up(reference, names) for reference in types)
    return Parts(text, [*(look_up(reference, names) for reference in references), reached])


def _enclosed(function: Any) -> dict[str, Any]:
    """The values in a function's closure, by name."""
    cells = getattr(function, "__closure__", None) or ()
    values = {}
    for name, cell in zip(function.__code__.co_freevars if cells else (), cells, strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not bound yet
            values[name] = None
    return values
