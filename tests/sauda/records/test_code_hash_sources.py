"""Our own sources: other names and places leave every hash, any other literal or operator none."""

import ast
import builtins
import os
import shutil
import subprocess
import symtable
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import unwrap
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from env import get_task
from sauda.games.arena import ARENA
from sauda.games.bazaar import BAZAAR
from sauda.policies import BUYERS, LABS
from sauda.records.code_hash import code_hash
from sauda.records.code_hash.source import definition_of, is_ours
from sauda.records.code_hash.text import template
from sauda.records.code_hash.values import parts

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PACKAGES = ("env", "sauda")
PROGRAM = """
from env import get_task
from sauda.records.code_hash import code_hash
from sauda.games.arena import ARENA
from sauda.games.bazaar import BAZAAR
from sauda.llm.policy import LLMPolicy
from sauda.policies import BUYERS, LABS
for name in ("classic/marketplace_arena", "bazaar/rushed", "arena/coalition_market"):
    task = get_task(name)
    print(name, code_hash(task.env, task.learner, task.grade), code_hash(task.opponents))
for policy in (*BUYERS.values(), *LABS.values(), LLMPolicy, BAZAAR.prompt, ARENA.prompt):
    print(code_hash(policy))
"""


def hashes(folder: Path) -> str:
    """What PROGRAM prints with the packages in `folder`."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def today() -> str:
    return hashes(ROOT)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of our packages."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.pyc"))
    return tmp_path


def modules(folder: Path) -> list[Path]:
    """The modules to rewrite: those of the games and of who plays them."""
    rooms = ("env", "sauda/policies", "sauda/language", "sauda/games", "sauda/llm")
    return [path for room in rooms for path in sorted((folder / room).rglob("*.py"))]


# Names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


class Bound(ast.NodeVisitor):
    """The private names that a package binds itself, and every keyword it calls with."""

    def __init__(self) -> None:
        self.private: set[str] = set()
        self.keywords: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self.private |= {node.name} & {*filter(is_private, [node.name])}
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
            self.private |= {*filter(is_private, [name])}
        elif isinstance(node, ast.keyword) and node.arg:
            self.keywords.add(node.arg)
        self.generic_visit(node)


def local_names(source: str, keywords: set[str]) -> set[str]:
    """Names that are variables of functions wherever they occur in a module."""
    local, others = set(), {*keywords, *dir(builtins)}

    def look(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            own = symbol.is_local() or symbol.is_parameter() or symbol.is_free()
            is_local = table.get_type() == "function" and own and not symbol.is_imported()
            (local if is_local else others).add(symbol.get_name())
        for inner in table.get_children():
            look(inner)

    look(symtable.symtable(source, "module", "exec"))
    return {name for name in local - others if not name.startswith((".", "__"))}


class Renamed(ast.NodeTransformer):
    """Every name in `names` gets another one, wherever it stands; definitions get a docstring."""

    def __init__(self, names: set[str], variables: set[str]) -> None:
        self.names, self.variables = names, variables

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        for field in ("id", "attr", "name", "arg", "asname", "rest"):
            value = getattr(node, field, None)
            names = self.names
            if not isinstance(node, ast.Attribute | ast.alias | ast.keyword):
                names = names | self.variables
            if isinstance(value, str) and value in names:
                setattr(node, field, f"{value}_")
        if isinstance(node, ast.Nonlocal | ast.Global):
            node.names = [f"{name}_" * (name in self.variables) or name for name in node.names]
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is None:
            node.body.insert(0, ast.Expr(ast.Constant("Another docstring.")))
        return node


def test_other_names_docstrings_and_layout_leave_every_hash(sources: Path, today: str):
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules(sources)}
    bound, renamed = Bound(), 0
    for tree in trees.values():
        bound.visit(tree)
    for path, tree in trees.items():
        variables = local_names(path.read_text(encoding="utf-8"), bound.keywords)
        renamed += len(variables)
        changed = ast.fix_missing_locations(Renamed(bound.private, variables).visit(tree))
        path.write_text(ast.unparse(changed), encoding="utf-8")
    assert len(bound.private) > 300
    assert renamed > 500
    assert hashes(sources) == today


# Places


def test_definitions_in_other_modules_leave_every_hash(sources: Path, today: str):
    """All that a module holds moves to a new one, from where the old one imports it."""
    moved = 0
    for path in modules(sources):
        names = [
            name
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            for name in defined(node)
        ]
        if path.stem == "__init__" or path.stem == "__main__" or not names:
            continue
        body = path.with_name(f"{path.stem}_moved.py")
        path.rename(body)
        dotted = ".".join(body.relative_to(sources).with_suffix("").parts)
        path.write_text(f"from {dotted} import {', '.join(dict.fromkeys(names))}\n", "utf-8")
        moved += 1
    assert moved > 70
    assert hashes(sources) == today


def defined(node: ast.stmt) -> list[str]:
    """The names that a statement of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    return []


def test_renamed_folders_and_modules_leave_every_hash(sources: Path, today: str):
    for package, old, new in (("env", "bazaar", "haggling"), ("sauda", "policies", "players")):
        (sources / package / old).rename(sources / package / new)
        for path in [p for name in PACKAGES for p in (sources / name).rglob("*.py")]:
            text = path.read_text(encoding="utf-8")
            text = text.replace(f"{package}.{old}", f"{package}.{new}")
            text = text.replace(f"from {package} import {old}\n", f"from {package} import {new}\n")
            path.write_text(text, encoding="utf-8")
    program = PROGRAM.replace("sauda.policies", "sauda.players")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=sources, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, today), done.stderr


# What is done

BAZAAR_TASK, LABS_TASK = get_task("classic/marketplace_arena"), get_task("arena/coalition_market")
ROOTS = {
    "a bazaar task": (BAZAAR_TASK.env, BAZAAR_TASK.grade, BAZAAR_TASK.opponents),
    "an arena task": (LABS_TASK.env, LABS_TASK.grade, LABS_TASK.opponents),
    "a buyer": (BUYERS["expert"],),
    "a lab": (LABS["planner"],),
    "a prompt and its parser": (BAZAAR.prompt.render, BAZAAR.prompt.parse),
    "a lab's prompt and its parser": (ARENA.prompt.render, ARENA.prompt.parse),
}
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr, ast.MatMult: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Not: ast.Invert, ast.USub: ast.UAdd, ast.Invert: ast.Not,
    ast.UAdd: ast.USub, ast.RShift: ast.LShift, ast.LShift: ast.RShift,
}  # fmt: skip


def reached(roots: tuple[Any, ...]) -> list[FunctionType | type]:
    """Every function and class of ours that `roots` reach."""
    values, seen, open_ = [], set(), list(roots)
    while open_:
        value = open_.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        open_ += parts(value).values
        value = unwrap(value) if callable(value) else value
        if isinstance(value, FunctionType | type) and is_ours(value):
            values.append(value)
    return values


def source_of(value: FunctionType | type) -> ast.AST:
    return definition_of(value, sys.modules[value.__module__].__file__)


def places(node: ast.AST, left_out: tuple[ast.AST, ...] = ()) -> Iterator[ast.AST]:
    """Every part of a definition that does something: no docstrings, no annotations."""
    for name, field in ast.iter_fields(node):
        for child in field if isinstance(field, list) else [field]:
            idle = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not idle and name not in ("annotation", "returns"):
                yield from () if child in left_out else (child, *places(child, left_out))


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, Any]]:
    """Every literal and operator of a definition: its node, the field, another value for it.

    A function's own defaults are left out: they are evaluated before they are hashed.
    """
    arguments = getattr(node, "args", None)
    defaults = [] if arguments is None else [*arguments.defaults, *arguments.kw_defaults]
    for part in places(node, tuple(defaults)):
        if isinstance(part, ast.Constant) and part.value is not ...:
            yield part, "value", other(part.value)
        for field in ("op", "ops"):
            operators = getattr(part, field, None)
            if isinstance(operators, list):
                for i, operator in enumerate(operators):
                    new = OPERATORS[type(operator)]()
                    yield part, field, [*operators[:i], new, *operators[i + 1 :]]
            elif operators is not None:
                yield part, field, OPERATORS[type(operators)]()


def other(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    return value + ("x" if isinstance(value, str) else b"x" if isinstance(value, bytes) else 1)


@contextmanager
def changed(part: ast.AST, field: str, value: Any) -> Iterator[None]:
    """A definition's syntax with one change, as if its source were another."""
    before = getattr(part, field)
    setattr(part, field, value)
    template.cache_clear()
    try:
        yield
    finally:
        setattr(part, field, before)
        template.cache_clear()


@pytest.mark.parametrize("roots", ROOTS.values(), ids=ROOTS)
def test_any_other_literal_or_operator_in_what_is_reached_is_another_hash(roots):
    """Each one changes its definition's text; of every hundredth the whole hash is computed."""
    whole, number = code_hash(*roots), 0
    for value in reached(roots):
        plain = parts(value).text
        for change in changes(source_of(value)):
            number += 1
            with changed(*change):
                assert parts(value).text != plain, ast.dump(change[0])
                assert number % 100 or code_hash(*roots) != whole, ast.dump(change[0])
    assert number > 100
    assert code_hash(*roots) == whole


@pytest.mark.parametrize("roots", ROOTS.values(), ids=ROOTS)
def test_any_two_statements_in_another_order_are_another_text(roots):
    for value in reached(roots):
        plain = parts(value).text
        for part in places(source_of(value)):
            body = getattr(part, "body", None)
            for i, pair in enumerate(pairwise(body) if isinstance(body, list) else ()):
                if not any(map(is_silent, pair)) and ast.dump(pair[0]) != ast.dump(pair[1]):
                    swapped = [*body[:i], *pair[::-1], *body[i + 2 :]]
                    with changed(part, "body", swapped):
                        assert parts(value).text != plain, ast.unparse(pair[0])


def is_silent(node: ast.AST) -> bool:
    """Whether a statement says what a name is and does nothing."""
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Nonlocal | ast.Pass | ast.Expr)
