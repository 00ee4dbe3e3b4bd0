"""Where the source of a function or class is: its syntax tree, and what its module imports."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

OURS = ("env", "sauda")  # packages whose definitions are followed; others count by name

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Definition = Function | ast.ClassDef


def is_ours(value: FunctionType | type | ModuleType) -> bool:
    """Whether a function, class or module belongs to one of our packages."""
    name = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return (name or "").split(".")[0] in OURS


def definition_of(value: FunctionType | type, file: str) -> Definition:
    """The syntax of a function or class that is defined in `file`; TypeError where it has none."""
    index = _index(file)
    if isinstance(value, type):
        node = index.get(value.__qualname__)
    elif value.__name__ == "<lambda>":
        node = _lambda(value.__code__, file)
    else:
        node = index.get((value.__code__.co_name, value.__code__.co_firstlineno))
    if node is None:
        raise TypeError(f"{value.__module__}.{value.__qualname__} has no source in {file}")
    return node


@cache
def foreign_names(file: str) -> dict[str, str]:
    """What each name that a module imports from other packages stands for, such as np: numpy."""
    imports = {}
    for node in _statements(_tree(file).body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, target in imported(node).items():
                if target.split(".")[0] not in OURS:
                    imports[name] = target
    return imports


def own_names(file: str) -> set[str]:
    """The names of what a module defines or assigns itself."""
    names = set()
    for node in _statements(_tree(file).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {t.id for target in targets for t in ast.walk(target) if hasattr(t, "id")}
    return names


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import binds, and the dotted path of each."""
    if isinstance(node, ast.ImportFrom):
        return {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return {
        a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0]
        for a in node.names
    }


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"), file)


@cache
def _index(file: str) -> dict[Any, Definition]:
    """Classes by qualified name, functions by name and first line, which is that of a decorator."""
    return dict(_entries(_tree(file), ""))


def _entries(node: ast.AST, prefix: str) -> Iterator[tuple[Any, Definition]]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            inner = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = [child.lineno, *(decorator.lineno for decorator in child.decorator_list)]
            yield (child.name, min(lines)), child
            inner = f"{prefix}{child.name}.<locals>."
        yield from _entries(child, inner)


def _lambda(code: CodeType, file: str) -> ast.Lambda | None:
    """The lambda whose body is one of the places that its instructions come from."""
    places = {
        (line, column, end_line, end_column)
        for line, end_line, column, end_column in code.co_positions()
    }
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body = node.body
            if (body.lineno, body.col_offset, body.end_lineno, body.end_col_offset) in places:
                return node
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, also those under `if` and `try`."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try):
                yield from _statements(getattr(node, part, []))
