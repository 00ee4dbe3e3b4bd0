"""Whether a staged folder runs with its requirements alone, tried in a fresh environment.

The file is also the program that the fresh Python runs, so it needs the standard library only.
"""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

IMPORTS_WITHIN = 300  # seconds for the app
ENTRY = "app"  # the module that a Space runs


class NoEnvironment(RuntimeError):
    """No fresh environment could be made; the message says why."""


class NoPython(NoEnvironment):
    """There is no Python of that version on this machine."""


def fresh_environment(folder: Path, python: str, requirements: Sequence[str]) -> Path:
    """The Python of a new environment in `folder` that has `requirements` and what they need.

    `python` is a version such as "3.12". Packages come from the index that uv is set to. Raises
    NoPython where that version is not here, NoEnvironment where uv or a package is not available.
    """
    made = folder / "bin" / "python"
    _uv(NoPython, python, "venv", "--no-python-downloads", "--python", python, str(folder))
    if requirements:
        _uv(NoEnvironment, python, "pip", "install", "--python", str(made), *requirements)
    return made


def fresh_packages(folder: Path, python: str, requirements: Sequence[str]) -> None:
    """Put `requirements` and what they need into `folder`, from wheels for a Python `python`.

    That Python need not be here. Raises NoEnvironment where uv or a wheel is not available.
    """
    target = ["--python-version", python, "--only-binary", ":all:", "--target", str(folder)]
    _uv(NoEnvironment, python, "pip", "install", *target, *requirements)


def _uv(fault: type[NoEnvironment], python: str, *arguments: str) -> None:
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
    if uv is None:
        raise NoEnvironment("uv is not installed: `pip install -e .[dev]` brings it")
    run = subprocess.run([uv, *arguments, "--quiet"], capture_output=True, text=True)
    if run.returncode:
        raise fault(f"`uv {arguments[0]}` for Python {python}: {run.stderr.strip()[-800:]}")


def import_faults(python: Path, folder: Path) -> list[str]:
    """What a staged folder imports and `python` does not have, a sentence each.

    `app` must load. A package that only an extra brings may be missing elsewhere, where a function
    or a command imports it.
    """
    program = [str(python), "-P", str(Path(__file__)), str(folder)]
    run = subprocess.run(program, capture_output=True, text=True, timeout=IMPORTS_WITHIN)
    if run.returncode:
        return [f"importing {ENTRY}: {run.stderr.strip().splitlines()[-1]}"]
    return _as_faults(json.loads(run.stdout.splitlines()[-1]), folder)


def package_faults(packages: Path, folder: Path) -> list[str]:
    """What a staged folder imports and neither `packages` nor this Python's library has.

    Nothing is loaded: `packages` may be for another Python.
    """

    def is_there(name: str) -> bool:
        if name in sys.stdlib_module_names:
            return True
        return PathFinder.find_spec(name, [str(folder), str(packages)]) is not None

    return _as_faults(unresolved(folder, is_there), folder)


def _as_faults(unresolved: Mapping[str, str], folder: Path) -> list[str]:
    optional = extras(folder)
    return [
        f"{place}: imports {name}, which requirements.txt does not bring and no extra names"
        for name, place in unresolved.items()
        if name not in optional
    ]


def extras(folder: Path) -> set[str]:
    """The import names of the packages that extras of pyproject.toml bring."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [line for extra in project["optional-dependencies"].values() for line in extra]
    names = (line.partition("==")[0].partition("[")[0].strip() for line in listed)
    return {name.lower().replace("-", "_") for name in names}


def is_here(name: str) -> bool:
    """Whether this Python finds a package."""
    return importlib.util.find_spec(name) is not None


def unresolved(folder: Path, is_there: Callable[[str], bool] = is_here) -> dict[str, str]:
    """Each imported package that is not there, with the first place that imports it.

    Imports in a `try` that catches their absence are left out.
    """
    found = {}
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        for name, line in imported(ast.parse(path.read_text(encoding="utf-8"))):
            if name not in found and not is_there(name):
                found[name] = f"{place}:{line}"
    return found


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The packages that a module imports anywhere, with lines; not those it can do without."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Try) and any(map(_catches_absence, node.handlers)):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0], node.lineno
        yield from imported(node)


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    names = {getattr(node, "id", "") for node in ast.walk(handler.type or ast.Pass())}
    return bool(names & {"ImportError", "ModuleNotFoundError"})


def main() -> None:
    """Import the app of the folder that is named, then print what is unresolved as JSON."""
    folder = Path(sys.argv[1]).resolve()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    importlib.import_module(ENTRY)
    print(json.dumps(unresolved(folder)))


if __name__ == "__main__":
    main()
