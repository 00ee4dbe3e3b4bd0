"""Imports point one way, app -> panels -> sauda -> env -> numpy, and nothing heavy comes along."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import env

ROOT = Path(__file__).parents[1]
LAYERS = ("app", "panels", "sauda", "env")  # each may import those after it
HEAVY = {"torch", "transformers", "peft", "trl"}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "loadtxt", "read_csv"}
MODULES = [
    ROOT / "app.py",
    *(path for layer in LAYERS[1:] for path in sorted((ROOT / layer).rglob("*.py"))),
]

every_module = pytest.mark.parametrize(
    "path", MODULES, ids=[str(path.relative_to(ROOT)) for path in MODULES]
)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(nodes: Iterator[ast.AST]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Every import: the module, the names taken from it, the line. Ours are never relative."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (), node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write the import out in full"
            yield node.module, tuple(alias.name for alias in node.names), node.lineno


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs when the module is imported: not the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from at_import(child)


@every_module
def test_a_module_imports_only_its_own_layer_and_those_below(path: Path):
    above = LAYERS[: LAYERS.index(layer(path))]
    for module, _, line in imports(ast.walk(tree(path))):
        assert module.split(".")[0] not in above, f"{path}:{line} imports {module}"


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) == "env"], ids=lambda p: p.stem)
def test_the_games_need_numpy_and_the_standard_library_only(path: Path):
    allowed = {"env", "numpy", *sys.stdlib_module_names}
    for module, _, line in imports(ast.walk(tree(path))):
        assert module.split(".")[0] in allowed, f"{path}:{line} imports {module}"


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if layer(p) != "env"],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_other_packages_import_only_the_public_names_of_the_games(path: Path):
    for module, names, line in imports(ast.walk(tree(path))):
        if module.split(".")[0] == "env":
            assert module == "env", f"{path}:{line} imports {module}; take the name from env"
            assert set(names) <= set(env.__all__), f"{path}:{line} imports a name env has not"


def test_every_public_name_of_the_games_is_there_once_and_in_order():
    assert len(set(env.__all__)) == len(env.__all__)
    assert all(hasattr(env, name) for name in env.__all__)


@every_module
def test_no_private_name_is_imported_from_another_module(path: Path):
    for module, names, line in imports(ast.walk(tree(path))):
        if module.split(".")[0] in LAYERS:
            private = [n for n in names if n.startswith("_") and not n.startswith("__")]
            assert not private, f"{path}:{line} imports {private} from {module}"


@every_module
def test_no_heavy_package_is_imported_with_the_module(path: Path):
    for module, _, line in imports(at_import(tree(path))):
        heavy = module.split(".")[0] in HEAVY
        assert not heavy, f"{path}:{line} imports {module} at import; do it where it is used"


@every_module
def test_only_the_store_opens_files_under_artifacts(path: Path):
    """A function that names the folder, by `store.ROOT` or in words, opens no file."""
    if path == ROOT / "sauda" / "records" / "store.py":
        return
    scopes = [at_import(tree(path))]
    scopes += [ast.walk(n) for n in ast.walk(tree(path)) if isinstance(n, ast.FunctionDef)]
    for scope in map(list, scopes):
        calls = [node for node in scope if isinstance(node, ast.Call)]
        opened = [call.lineno for call in calls if called(call.func) in OPENERS]
        named = any(map(names_the_folder, scope))
        assert not (named and opened), f"{path}:{opened} opens a file; use sauda.records.store.load"


def names_the_folder(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return str(node.value).split("/")[0] == "artifacts"
    return isinstance(node, ast.Name) and node.id == "ROOT"


def called(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def test_the_page_is_imported_without_torch_and_its_kin():
    code = f"import app, sys; print(sorted({HEAVY} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_the_games_are_imported_without_the_player_and_the_page():
    code = (
        "import env, sys; print(sorted({'sauda', 'panels', 'gradio', 'scipy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr
