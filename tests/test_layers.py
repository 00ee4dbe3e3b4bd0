"""Imports point one way, app -> panels -> sauda -> env -> numpy, and nothing heavy comes along.

`benchmarks` stand above them all: nothing imports them.
"""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import env
from sauda.commands import COMMANDS
from tests.support.source import (
    MODULES,
    PACKAGES,
    ROOMS,
    ROOT,
    at_import,
    for_every,
    imported_modules,
    imports,
    module_name,
    tree,
)

HEAVY = {"torch", "transformers", "peft", "trl"}

every_module = for_every(MODULES)


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@for_every(PACKAGES["sauda"])
def test_a_room_of_sauda_imports_only_itself_and_the_rooms_below(path: Path):
    room = module_name(path).split(".")[1:2]
    if not room:
        return  # sauda/__init__.py is in no room
    above = ROOMS[: ROOMS.index(room[0])]
    for module, line in imported_modules(path):
        package, *rest = module.split(".")
        if package == "sauda" and rest:
            assert rest[0] in ROOMS, f"{path}:{line} imports {module}, a room without a place"
            assert rest[0] not in above, f"{path}:{line} imports {module} from a room above"


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions count too: they hide a circle and do not break it."""
    graph = {
        module_name(path): {name for name, _ in imported_modules(path)} - {module_name(path)}
        for path in MODULES
    }
    TopologicalSorter(graph).prepare()  # raises CycleError with the circle's modules


@for_every(PACKAGES["env"])
def test_the_games_need_numpy_and_the_standard_library_only(path: Path):
    allowed = {"env", "numpy", *sys.stdlib_module_names}
    if path.parent == ROOT / "env" / "adapters":
        allowed |= {"gymnasium", "openenv", "pettingzoo"}
    for module, _, line in imports(ast.walk(tree(path))):
        assert module.split(".")[0] in allowed, f"{path}:{line} imports {module}"


@for_every([p for p in MODULES if layer(p) != "env"])
def test_other_packages_import_only_the_public_names_of_the_games(path: Path):
    for module, names, line in imports(ast.walk(tree(path))):
        if module.split(".")[0] == "env":
            assert module == "env", f"{path}:{line} imports {module}; take the name from env"
            assert set(names) <= set(env.__all__), f"{path}:{line} imports a name env has not"


@every_module
def test_no_heavy_package_is_imported_with_the_module(path: Path):
    for module, _, line in imports(at_import(tree(path))):
        heavy = module.split(".")[0] in HEAVY
        assert not heavy, f"{path}:{line} imports {module} at import; do it where it is used"


def imported_of(names: set[str], by: str) -> list[str]:
    """Which of `names` a new process has imported after `import {by}`."""
    code = f"import {by}, sys; print(*sorted({names} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.slow
def test_the_page_is_imported_without_torch_and_its_kin():
    assert imported_of(HEAVY, by="app") == []


@pytest.mark.slow
def test_the_commands_are_imported_without_the_page_and_torch():
    """Every command would start seconds later; the index imports none of them."""
    assert imported_of({"numpy", "env", "sauda.records"}, by="sauda.__main__") == []
    modules = {f"sauda.commands.{module}" for module, _ in COMMANDS.values()}
    assert imported_of(HEAVY | {"gradio", "panels"}, by=", ".join(sorted(modules))) == []


def test_the_games_are_imported_without_the_player_and_the_page():
    assert imported_of({"sauda", "panels", "gradio", "scipy"}, by="env") == []
