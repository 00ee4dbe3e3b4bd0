"""How many of 40 one-line faults the fast tests of their own room notice.

    python tests/tools/mutate.py [--count 40] [--seed 20261126]

Each fault is made in a copy of the repository, one at a time, in a line of a function drawn at
random; then the tests of the deepest folder that mirrors the module's run, without those that need
the browser, the model or many seconds. A fault that no test notices is printed.
"""

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "runs", ".hypothesis")
FAST = "not (browser or model or slow or nightly)"
WHOLE_PAGE = ["tests/panels/test_page.py", "tests/panels/test_golden_views.py"]
LONGEST = 900  # seconds of one room's tests

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip


def main() -> int:
    """Print each fault that survives, and how many were noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20261126)
    options = parser.parse_args()
    noticed, made = 0, draw_faults(options.count, random.Random(options.seed))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "sauda"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        for number, (path, line, what, source) in enumerate(made, 1):
            original = (copy / path).read_text(encoding="utf-8")
            (copy / path).write_text(source, encoding="utf-8")
            killed = not tests_pass(copy, room_of(path))
            (copy / path).write_text(original, encoding="utf-8")
            noticed += killed
            told = "noticed " if killed else "SURVIVED"
            print(f"{number:3} {told} {path}:{line} {what}", flush=True)
    print(f"{noticed} of {len(made)} noticed")
    return 0


def draw_faults(count: int, rng: random.Random) -> list[tuple[Path, int, str, str]]:
    """`count` faults in different files: the file, the line, what changes, the whole new source."""
    places = [
        (path, number)
        for room in ("env", "sauda", "panels")
        for path in sorted((ROOT / room).rglob("*.py"))
        for number in range(len(list(nodes(ast.parse(path.read_text(encoding="utf-8"))))))
    ]
    rng.shuffle(places)
    drawn: dict[Path, tuple[Path, int, str, str]] = {}
    for path, number in places:
        if len(drawn) == count:
            break
        if path not in drawn:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            node = list(nodes(tree))[number]
            what = change(node)
            source = ast.unparse(ast.fix_missing_locations(tree))
            drawn[path] = (path.relative_to(ROOT), node.lineno, what, source)
    return list(drawn.values())


def nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes inside functions that `change` can change, in a fixed order."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if is_changeable(node):
                    yield node


def is_changeable(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in SWAPS
    if isinstance(node, ast.BinOp | ast.BoolOp):
        return type(node.op) in SWAPS
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    return isinstance(node, ast.If) or (isinstance(node, ast.Return) and node.value is not None)


def change(node: ast.AST) -> str:
    """Change the node in place; what was changed, in words."""
    before = ast.unparse(node).split("\n")[0][:60]
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value += 1
    elif isinstance(node, ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    return f"{before}  ->  {ast.unparse(node).split(chr(10))[0][:60]}"


def room_of(path: Path) -> list[str]:
    """The deepest folder of tests that mirrors the module; for the page also its golden tests."""
    folder = Path("tests", *path.parent.parts)
    while not list((ROOT / folder).rglob("test_*.py")):
        folder = folder.parent
    whole = WHOLE_PAGE if path.parts[0] == "panels" else []
    return list(dict.fromkeys([str(folder), *whole]))


def tests_pass(copy: Path, where: list[str]) -> bool:
    """Whether the fast tests pass; a run that takes too long counts as a fault that was noticed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", FAST, "-p", "no:cacheprovider"]
    try:
        run = subprocess.run(
            [*command, "--hypothesis-profile", "quick", *where],
            cwd=copy, capture_output=True, timeout=LONGEST, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return run.returncode in (0, 5)  # 5: the room has no fast test


if __name__ == "__main__":
    sys.exit(main())
