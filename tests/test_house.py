"""The house rules that ruff does not know. Imports point one way, down the list of rooms, and
nothing heavy comes along; a function fits on a screen; tests reach for no private names.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from sauda.commands import COMMANDS
from sauda.records.store import REPOSITORY as ROOT
from tests.support.running import output_of

LAYERS = ("benchmarks", "app", "panels", "sauda", "env")
ROOMS = (  # layers, and what is in sauda; each may import those after it
    "__main__", "commands", "experiments", "benchmarks", "app", "panels", "cloud", "serve",
    "sessions", "train", "played", "players", "pool", "llm", "games", "policies", "language",
    "records", "statistics", "fairness", "env",
)  # fmt: skip
PACKAGES = {  # without what an installation of the games leaves in env/build
    layer: sorted({*(ROOT / layer).rglob("*.py")} - {*(ROOT / "env" / "build").rglob("*.py")})
    for layer in LAYERS
}
MODULES = [ROOT / "app.py", *(path for paths in PACKAGES.values() for path in paths)]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
HEAVY = {"torch", "transformers", "peft", "trl"}
OPEN = {  # modules of the games from which names are taken
    "env.arena.broker", "env.arena.prompt", "env.bazaar.prompt", "env.language",
    "env.fingerprint", "env.language.money", "env.language.numerals",
}  # fmt: skip
MOST_FUNCTION_LINES = 60
# Names that say nothing of what they hold, for variables and parameters; as a field of a record, or
# an attribute, one is read after the name of what has it.
EMPTY_NAMES = {"found", "kept", "one", "own", "said", "some", "told"}
NAMED_TUPLE = {"_asdict", "_fields", "_replace", "_make"}  # public, in spite of the underscore
OVERRIDDEN = {"_get_per_token_logps_and_entropies"}  # TRL's hook, which our trainer replaces


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


def all_imports(path: Path) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Every import of a file: the module, the names taken from it, the line."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, (), node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module, tuple(alias.name for alias in node.names), node.lineno


def module_name(path: Path) -> str:
    """The dotted name: `sauda.train.sft` of sauda/train/sft.py, `env` of env/__init__.py."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


NAMES = {module_name(path) for path in MODULES}


def imported_modules(path: Path) -> Iterator[tuple[str, int]]:
    """The dotted name and line of each import: `from sauda import train` gives `sauda.train`."""
    for module, names, line in all_imports(path):
        submodules = [f"{module}.{name}" for name in names if f"{module}.{name}" in NAMES]
        yield from ((name, line) for name in submodules)
        if len(submodules) < max(len(names), 1):
            yield module, line


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
                    faults.append(f"{path.relative_to(ROOT)}: {error}")
            assert not faults, "\n".join(faults)

        test.__name__, test.__doc__ = rule.__name__, rule.__doc__
        return test

    return decorate


def room_of(module: str) -> str:
    """The room of one of our modules; "" for one of others."""
    return module.removeprefix("sauda.").split(".")[0] if module.split(".")[0] in LAYERS else ""


@for_every(MODULES)
def test_a_room_imports_only_itself_and_the_rooms_below(path: Path):
    room = room_of(module_name(path))
    if room == "sauda" or path.name == "inspect_tasks.py":
        return  # sauda/__init__.py is in no room; the tasks for Inspect ask the oracle, if at hand
    above = ROOMS[: ROOMS.index(room)]
    for module, line in imported_modules(path):
        if to := room_of(module):
            assert to in ROOMS, f"line {line} imports {module}, a room without a place"
            assert to not in above, f"line {line} imports {module} from a room above"


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions count too: they hide a circle and do not break it."""
    graph = {
        module_name(path): {name for name, _ in imported_modules(path)} - {module_name(path)}
        for path in MODULES
    }
    TopologicalSorter(graph).prepare()  # raises CycleError with the circle's modules


def test_no_rooms_of_the_page_import_each_other_in_a_circle():
    """A room is a folder of `panels/`, or a file beside them; its list of tabs is above all."""
    graph: dict[str, set[str]] = {}
    for path in PACKAGES["panels"]:
        room = (*module_name(path).split("."), "")[1]
        to = {module.split(".")[1] for module, _ in imported_modules(path) if "panels." in module}
        graph.setdefault(room, set()).update(to - {room})
    TopologicalSorter(graph).prepare()


@for_every(PACKAGES["env"])
def test_the_games_need_numpy_and_the_standard_library_only(path: Path):
    allowed = {"env", "numpy", *sys.stdlib_module_names}
    if ROOT / "env" / "adapters" in path.parents:
        allowed |= {"gymnasium", "inspect_ai", "negmas", "openenv", "pettingzoo", "sauda_env"}
        allowed |= {"verifiers"}
        allowed |= {"sauda"} if path.name == "inspect_tasks.py" else set()  # its oracle, if at hand
    for module, _, line in all_imports(path):
        assert module.split(".")[0] in allowed, f"line {line} imports {module}"


PUBLIC = {
    alias.asname or alias.name
    for node in ast.walk(tree(ROOT / "env" / "__init__.py"))
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


@for_every([path for path in MODULES if path not in PACKAGES["env"]])
def test_other_packages_import_only_the_public_names_of_the_games(path: Path):
    for module, names, line in all_imports(path):
        if module.split(".")[0] == "env" and module not in OPEN:
            assert module == "env", f"line {line} imports {module}; take the name from env"
            assert set(names) <= PUBLIC, f"line {line} imports a name that env does not offer"


ALL_COMMANDS = ", ".join(sorted({f"sauda.commands.{module}" for module, _ in COMMANDS.values()}))


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("env", {"sauda", "panels", "gradio", "scipy"}),
        ("sauda.__main__", {"numpy", "env", "sauda.records"}),  # the index of the commands
        pytest.param(ALL_COMMANDS, HEAVY | {"gradio", "panels"}, marks=pytest.mark.slow),
        pytest.param("app", HEAVY | {"sauda.experiments"}, marks=pytest.mark.slow),
    ],
)
def test_nothing_comes_along_that_would_take_seconds(by, names):
    code = f"import {by}, sys; print(*sorted({names} & set(sys.modules)))"
    assert output_of(sys.executable, "-c", code, cwd=ROOT, timeout=120).split() == []


@pytest.mark.slow
@for_every(MODULES)
def test_a_function_fits_on_a_screen(path: Path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= MOST_FUNCTION_LINES, f"{node.name} has {lines} lines"


def empty_names(node: ast.AST) -> Iterator[str]:
    """The EMPTY_NAMES that are bound in a tree, fields of classes left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield from {child.id} & EMPTY_NAMES
        elif isinstance(child, ast.arg):
            yield from {child.arg} & EMPTY_NAMES
        is_field = isinstance(node, ast.ClassDef) and isinstance(child, ast.AnnAssign)
        yield from () if is_field else empty_names(child)


@pytest.mark.parametrize("room", PACKAGES)
def test_variables_are_named_for_what_they_hold(room):
    named = {path: list(empty_names(tree(path))) for path in PACKAGES[room]}
    places = [f"{path.relative_to(ROOT)}: {', '.join(names)}" for path, names in named.items()
              if names]  # fmt: skip
    assert not places, "\n".join(places)


@pytest.mark.slow
@for_every(TESTS)
def test_tests_import_no_other_test_module(path: Path):
    for module, _, line in all_imports(path):
        shared = module.startswith("tests.support.") or module.split(".")[0] != "tests"
        assert shared, f"line {line} imports {module}; what tests share stands in tests/support/"


@pytest.mark.slow
@for_every(TESTS)
def test_tests_use_no_private_name_of_ours(path: Path):
    """Neither by import, nor as an attribute, nor by `monkeypatch.setattr(module, "_name", …)`.

    A test's own classes, and named tuples, have attributes with an underscore.
    """
    own = {*LAYERS, "tests"}
    used = [name for module, names, _ in all_imports(path) if module.split(".")[0] in own
            for name in names if is_private(name)]  # fmt: skip
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            itself = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            used += [] if itself else [ast.unparse(node)]
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "getattr")):
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            used += [t for t in texts if isinstance(t, str) and any(map(is_private, t.split(".")))]
    assert not used, used


def is_private(name: str) -> bool:
    """Whether a name says by its underscore that its module keeps it to itself."""
    public = name.startswith("__") or name in NAMED_TUPLE | OVERRIDDEN
    return name.startswith("_") and not public
