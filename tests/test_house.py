"""The house rules: the length of a function; what tests may reach for and skip."""

import ast
from pathlib import Path

import pytest

from tests.support.source import MODULES, TESTS, for_every, functions, imports, tree

MOST_FUNCTION_LINES = 60
OURS = {"app", "benchmarks", "env", "panels", "sauda", "tests"}
NAMED_TUPLE = {"_asdict", "_fields", "_replace", "_make"}  # public, in spite of the underscore
OVERRIDDEN = {"_get_per_token_logps_and_entropies"}  # TRL's hook, which our trainer replaces

every_module = for_every(MODULES)
every_test_module = for_every(TESTS)


@pytest.mark.slow
@every_module
def test_a_function_fits_on_a_screen(path: Path):
    for function in functions(path):
        lines = function.end_lineno - function.lineno + 1
        assert lines <= MOST_FUNCTION_LINES, f"{path}: {function.name} has {lines} lines"


@pytest.mark.slow
@every_test_module
def test_tests_import_no_other_test_module(path: Path):
    for module, _, line in imports(ast.walk(tree(path))):
        shared = module.startswith("tests.support.") or module.split(".")[0] != "tests"
        assert shared, f"{path}:{line} imports {module}; what tests share stands in tests/support/"


@pytest.mark.slow
@every_test_module
def test_tests_use_no_private_name_of_ours(path: Path):
    """Neither by import, nor as an attribute, nor by `monkeypatch.setattr(module, "_name", …)`."""
    used = [*private_imports(path), *private_attributes(path), *private_strings(path)]
    assert not used, f"{path}: {used}"


def private_imports(path: Path) -> list[str]:
    """Imported names of ours that begin with an underscore."""
    return [
        f"line {line}: {name} of {module}"
        for module, names, line in imports(ast.walk(tree(path)))
        for name in names
        if module.split(".")[0] in OURS and is_private(name)
    ]


def private_attributes(path: Path) -> list[str]:
    """Attributes with an underscore, but those of the test's own classes and of named tuples."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]


def private_strings(path: Path) -> list[str]:
    """Private names that are handed to `setattr` or `getattr` as strings."""
    return [
        f"line {node.lineno}: {argument.value}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "getattr"))
        for argument in node.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and any(map(is_private, argument.value.split(".")))
    ]


def is_private(name: str) -> bool:
    """Whether a name says by its underscore that its module keeps it to itself."""
    return (
        name.startswith("_")
        and not name.startswith("__")
        and name not in (NAMED_TUPLE | OVERRIDDEN)
    )
