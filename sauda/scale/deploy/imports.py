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
from collections.abc import Iterator, Sequence
from pathlib import Path

IMPORTS_WITHIN = 300  # seconds for the app
ENTRY = "app"  # the module that a Space runs


class NoEnvironment(RuntimeError):
    """No fresh environment could be made; the message says why."""


def fresh_environment(folder: Path, python: str, requirements: Sequence[str]) -> Path:
    """The Python of a new environment in `folder` that has `requirements` and what they need.

    `python` is a version such as "3.12". Packages come from the index that uv is set to. Raises
    NoEnvironment where uv, that Python version or a package is not available.
    """
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
    if uv is None:
        raise NoEnvironment("uv is not installed: `pip install -e .[dev]` brings it")
    made = folder / "bin" / "python"
    steps = [[uv, "venv", "--quiet", "--no-python-downloads", "--python", python, str(folder)]]
    if requirements:
        steps.append([uv, "pip", "install", "--quiet", "--python", str(made), *requirements])
    for step in steps:
        run = subprocess.run(step, capture_output=True, text=True)
        if run.returncode:
            raise NoEnvironment(f"`uv {step[1]}` for Python {python}: {run.stderr.strip()[-800:]}")
    return made


def import_faults(python: Path, folder: Path) -> list[str]:
    """What a staged folder imports and `python` does not have, a sentence each.

    `app` must load. A package that only an extra brings may be missing elsewhere, where a function
    or a command imports it.
    """
    program = [str(python), "-P", str(Path(__file__)), str(folder)]
    run = subprocess.run(program, capture_output=True, text=True, timeout=IMPORTS_WITHIN)
    if run.returncode:
        return [f"importing {ENTRY}: {run.stderr.strip().splitlines()[-1]}"]
    unresolved = json.loads(run.stdout.splitlines()[-1])
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


def unresolved(folder: Path) -> dict[str, str]:
    """Each imported package that this Python does not find, with the first place that imports it.

    Imports in a `try` that catches their absence are left out.
    """
    found = {}
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        for name, line in imported(ast.parse(path.read_text(encoding="utf-8"))):
            if name not in found and importlib.util.find_spec(name) is None:
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
