"""Our source files as syntax trees, for the tests that check how the house is kept."""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYERS = ("benchmarks", "app", "panels", "sauda", "env")  # each may import those after it
ROOMS = (  # the same inside sauda
    "__main__",
    "commands",
    "serve",
    "cloud",
    "sessions",
    "train",
    "experiments",
    "llm",
    "games",
    "policies",
    "language",
    "records",
    "statistics",
    "fairness",
)
PACKAGES = {
    layer: sorted((ROOT / layer).rglob("*.py")) for layer in LAYERS if (ROOT / layer).is_dir()
}
MODULES = [ROOT / "app.py", *(path for paths in PACKAGES.values() for path in paths)]
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def named(path: Path) -> str:
    """The path from the root of the repository, as a test's id."""
    return str(path.relative_to(ROOT))


def module_name(path: Path) -> str:
    """The dotted name: `sauda.train.sft` of sauda/train/sft.py, `env` of env/__init__.py."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once, its relative imports written out in full."""
    parsed = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(parsed):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].relative_to(ROOT)
            node.module = ".".join([*folder.parts, *([node.module] if node.module else [])])
            node.level = 0
    return parsed


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Every import of a `tree`: the module, the names taken from it, the line."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, (), node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module, tuple(alias.name for alias in node.names), node.lineno


def imported_modules(path: Path) -> Iterator[tuple[str, int]]:
    """The dotted name and line of each import: `from sauda import train` gives `sauda.train`."""
    for module, names, line in imports(ast.walk(tree(path))):
        submodules = [f"{module}.{name}" for name in names if is_module(f"{module}.{name}")]
        for name in submodules:
            yield name, line
        if len(submodules) < max(len(names), 1):
            yield module, line


def is_module(name: str) -> bool:
    """Whether a dotted name is a module or a package of this repository."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs when the module is imported: not the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from at_import(child)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file, nested ones too."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def for_every(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a rule for `path`: it names every file that breaks the rule.

    A test a file and rule would be thousands, and take longer to collect than to run.
    """

    def decorate(rule: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            faults = []
            for path in paths:
                try:
                    rule(path)
                except AssertionError as error:
                    faults.append(f"{named(path)}: {error}")
            assert not faults, "\n".join(faults)

        test.__name__, test.__doc__ = rule.__name__, rule.__doc__
        return test

    return decorate
