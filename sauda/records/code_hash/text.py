"""A definition as text without names: local ones are numbers, ours are references, others paths.

What a name stands for is looked up in its module, so how it was imported does not matter. Names of
public attributes stay, because the type of the object before the dot is not known.
"""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from sauda.records.code_hash.names import (
    Names,
    Path,
    Reference,
    is_type,
    parameter_places,
    private_names,
)
from sauda.records.code_hash.scopes import Scope, parameters
from sauda.records.code_hash.source import Definition, foreign_names, imported

SILENT = {"ctx", "kind", "type_comment", "type_params"}  # fields that change nothing that is done
SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")  # annotations that dataclasses act on
# Decorators that do not read annotations; a function under any other one keeps its own.
PLAIN = ("builtins.", "functools.", "contextlib.", "dataclasses.", "abc.", "typing.")


class Template(NamedTuple):
    """A definition's text, with an @ for each of its references, in order.

    Annotations are not part of the text, but the `types` they name are reached: it is their methods
    that are called on a parameter.
    """

    text: str
    references: tuple[Reference, ...]
    types: frozenset[Reference]


@dataclass(frozen=True)
class Place:
    """Where a definition stands: all that its text depends on beside its syntax."""

    module: str
    file: str
    enclosed: tuple[str, ...] = ()  # variables of the function around it
    private: tuple[tuple[str, ...], ...] = ()  # private names of its class's bases, then its own
    annotated: bool = False  # whether a class's annotations drive what it does


@cache
def template(node: Definition, place: Place) -> Template:
    """The text of a definition. A function's own defaults are left out: their values count."""
    writer = _Writer(place)
    if isinstance(node, ast.ClassDef):
        writer.class_(node, place.annotated)
    else:
        writer.function(node, defaults=False)
    return Template(" ".join(writer.parts), tuple(writer.references), frozenset(writer.types))


class _Writer:
    """Writes syntax as words: a method for each kind of node that binds or holds a name."""

    def __init__(self, place: Place) -> None:
        self.parts: list[str] = []
        self.references: list[Reference] = []
        self.types: set[Reference] = set()
        module = vars(sys.modules[place.module])
        self._names = Names(module, foreign_names(place.file), place.enclosed)
        self._scope: Scope | None = None
        self._numbers: dict[tuple[Scope, str], int] = {}
        self._private: list[dict[str, str]] = []
        self._fields_annotated = False
        for names in place.private:
            self._add_private(names)

    def write(self, value: Any) -> None:
        """A node, a list of them, or a plain field."""
        if isinstance(value, ast.AST):
            getattr(self, f"_{type(value).__name__}", self._any)(value)
        elif isinstance(value, list):
            self.parts.append("[")
            for item in value:
                if isinstance(item, ast.AnnAssign):
                    self._follow(item.annotation)
                if not self._is_idle(item):
                    self.write(item)
            self.parts.append("]")
        else:
            self.parts.append("~" if value is None else ascii(value))

    def _any(self, node: ast.AST) -> None:
        fields = [getattr(node, name) for name in node._fields if name not in SILENT]
        self._group(type(node).__name__, *fields)

    def _group(self, head: str, *values: Any) -> None:
        self.parts.append(f"({head}")
        for value in values:
            self.write(value)
        self.parts.append(")")

    def _is_idle(self, node: Any) -> bool:
        """Whether a statement only declares a name, such as an import, and has no other effect."""
        match node:
            case ast.Pass() | ast.Global() | ast.Nonlocal() | ast.Expr(value=ast.Constant()):
                return True
            case ast.AnnAssign(value=None):
                return not self._scope.is_class
            case ast.Import() | ast.ImportFrom():
                return all(self._scope.imported(name) for name in imported(node))
        return False

    # Names

    @contextmanager
    def _inside(self, node: ast.AST) -> Iterator[None]:
        outer, self._scope = self._scope, Scope(node, self._scope)
        yield
        self._scope = outer

    def _path(self, node: ast.AST | None) -> Path | None:
        return self._names.path(node, self._scope)

    def _bound(self, name: str | None) -> str:
        """A name where a scope binds it."""
        scope = None if name is None else self._scope and self._scope.where(name)
        return f"{name}" if scope is None else self._local(scope, name)

    def _local(self, scope: Scope, name: str) -> str:
        """A variable as a number, by first use; a name in a class's body as an attribute."""
        if scope.is_class:
            return self._attribute(name)
        return f"%{self._numbers.setdefault((scope, name), len(self._numbers))}"

    def _attribute(self, name: str) -> str:
        label = next((table[name] for table in self._private if name in table), name)
        return f".{label}"

    def _add_private(self, names: tuple[str, ...]) -> None:
        depth = len(self._private)
        self._private.append({name: f"private {depth}.{i}" for i, name in enumerate(names)})

    def _Name(self, node: ast.Name) -> None:
        self._write_path(self._path(node))

    def _Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path is None:
            self.write(node.value)
            self.parts.append(self._attribute(node.attr))
        else:
            self._write_path(path)

    def _write_path(self, path: Path) -> None:
        if path.reference is not None:
            self.references.append(path.reference)
        start = self._local(*path.local) if path.local else path.words or "@"
        self.parts += [start, *map(self._attribute, path.rest)]

    def _follow(self, annotation: ast.AST) -> None:
        """The types of ours that an annotation names."""
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                with suppress(SyntaxError):  # the text of a Literal
                    self._follow(ast.parse(node.value, mode="eval").body)
            path = self._path(node)
            if path is not None and path.reference is not None and is_type(path.value):
                self.types.add(path.reference)

    # Definitions

    def function(self, node: Any, defaults: bool = True) -> None:
        """A function or lambda; a parameter that a method takes by name alone keeps that name."""
        decorators, arguments = getattr(node, "decorator_list", []), node.args
        annotated = any(not self._is_plain(decorator) for decorator in decorators)
        method = self._scope is not None and self._scope.is_class
        self.parts.append(f"({type(node).__name__}")
        self.write(decorators)
        if defaults:
            self.write([*arguments.defaults, "|", *arguments.kw_defaults])
        counted = (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)
        self.write([*map(len, counted), bool(arguments.vararg), bool(arguments.kwarg)])
        with self._inside(node):
            for argument in parameters(arguments):
                self.parts.append(self._bound(argument.arg))
                if method and argument in arguments.kwonlyargs:
                    self.parts.append(argument.arg)
            annotations = [argument.annotation for argument in parameters(arguments)]
            annotations.append(getattr(node, "returns", None))
            for annotation in filter(None, annotations):
                self._follow(annotation)
            self.write(annotations if annotated else [])
            self.write(node.body)
        self.parts.append(")")

    def _is_plain(self, decorator: ast.AST) -> bool:
        path = self._path(decorator.func if isinstance(decorator, ast.Call) else decorator)
        words = path.words if path is not None else ""
        return words.startswith(PLAIN) and "singledispatch" not in words

    def _FunctionDef(self, node: Any) -> None:
        self.parts.append(self._bound(node.name))
        self.function(node)

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:
        self.function(node)

    def class_(self, node: ast.ClassDef, annotated: bool) -> None:
        """A class with its methods; fields by name and order, where no `annotated` by type too."""
        self.parts.append("(ClassDef")
        self.write([*node.decorator_list, "|", *node.bases, "|", *node.keywords])
        outer, self._fields_annotated = self._fields_annotated, annotated
        with self._inside(node):
            self.write(node.body)
        self._fields_annotated = outer
        self.parts.append(")")

    def _ClassDef(self, node: ast.ClassDef) -> None:
        self.parts.append(self._bound(node.name))
        self._add_private(private_names(node))
        self.class_(node, annotated=True)
        self._private.pop()

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if not self._scope.is_class:
            self._group("Assign", [node.target], node.value)
            return
        names = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node.annotation)}
        self._group("Field", node.target, node.value, sorted(names.intersection(SPECIAL)))
        if self._fields_annotated:
            self.write(node.annotation)

    # Calls and other nodes that hold names

    def _Call(self, node: ast.Call) -> None:
        places = self._parameter_places(node)
        self.parts.append("(Call")
        self.write(node.func)
        self.write(node.args)
        for keyword in node.keywords:
            self._group(f"keyword {places.get(keyword.arg, keyword.arg)}", keyword.value)
        self.parts.append(")")

    def _parameter_places(self, node: ast.Call) -> dict[str, int]:
        """The parameters of what is called, by name, where it is a function or class of ours."""
        path = self._path(node.func)
        if path is not None and path.words == "functools.partial" and node.args:
            path = self._path(node.args[0])
        if path is None or path.rest:
            return {}
        if path.local is None:
            return parameter_places(path.value)
        scope, name = path.local
        function = scope.function(name)
        arguments = [] if function is None else parameters(function.args)
        return {argument.arg: place for place, argument in enumerate(arguments)}

    def _comprehension(self, node: Any) -> None:
        first = node.generators[0]
        self.parts.append(f"({type(node).__name__}")
        self.write(first.iter)  # which runs outside
        with self._inside(node):
            for generator in node.generators:
                inner = None if generator is first else generator.iter
                self._group("for", generator.target, inner, generator.ifs, generator.is_async)
            values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            self.write([*values])
        self.parts.append(")")

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension

    def _Import(self, node: Any) -> None:
        for name, target in imported(node).items():
            self.parts.append(f"(Import {self._bound(name)}")
            self._write_path(self._names.imported(target))
            self.parts.append(")")

    _ImportFrom = _Import

    def _ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._group(f"ExceptHandler {self._bound(node.name)}", node.type, node.body)

    def _MatchAs(self, node: ast.MatchAs) -> None:
        self._group(f"MatchAs {self._bound(node.name)}", node.pattern)

    def _MatchStar(self, node: ast.MatchStar) -> None:
        self._group(f"MatchStar {self._bound(node.name)}")

    def _MatchMapping(self, node: ast.MatchMapping) -> None:
        self._group(f"MatchMapping {self._bound(node.rest)}", node.keys, node.patterns)

    def _JoinedStr(self, node: ast.JoinedStr) -> None:
        """An f-string; Python's versions differ in how they split the text between its fields."""
        self.parts.append("(JoinedStr")
        text = ""
        for value in node.values:
            if isinstance(value, ast.Constant):
                text += value.value
                continue
            self.write(ast.Constant(text))
            self.write(value)
            text = ""
        self.write(ast.Constant(text))
        self.parts.append(")")

    def _FormattedValue(self, node: ast.FormattedValue) -> None:
        form = node.format_spec if getattr(node.format_spec, "values", None) else None
        self._group("FormattedValue", node.value, node.conversion, form)

    def _Constant(self, node: ast.Constant) -> None:
        self.parts.append(f"{type(node.value).__name__}:{node.value!a}")
