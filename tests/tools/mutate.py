"""How many of 40 one-line faults the fast tests of their own room notice.

    python tests/tools/mutate.py [--count 40] [--seed 20261126]

Each fault is made in a copy of the repository, one at a time, in a line of a function drawn at
random; then the tests of its room run, without those that need the browser, the model or many
seconds. A room's tests must pass before the first fault of the room, and a fault that makes them
take four times as long counts as noticed.
"""

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "runs", ".hypothesis")
COMMIT = (
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=mutate", "-c", "user.email=mutate@example.org", "commit", "-qm", "copied"],
)
RECORDED = "tests/sauda/policies/test_recorded.py"  # games of all scripts, in both games
WHOLE_PAGE = ("tests/panels/test_page.py", "tests/panels/test_golden_views.py")
CHATS = ("tests/panels/haggle/test_talk.py", "tests/panels/test_golden_views.py")
LONGEST = 600  # seconds of a room's tests without a fault
UNNOTICED = (0, 5)  # exit codes of pytest; the latter where the room has no fast test
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip


def main() -> int:
    """Print for each fault whether it was noticed, and how many were."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20261126)
    options = parser.parse_args()
    noticed, faults = 0, draw_faults(options.count, random.Random(options.seed))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "sauda"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        for command in COMMIT:  # some commands ask which commit they are run at
            subprocess.run(["git", *command], cwd=copy, check=True)
        for number, (path, line, what, source) in enumerate(faults, 1):
            tests = tests_of(path)
            limit = 30 + 4 * seconds_without_fault(copy, tests)
            original = (copy / path).read_text(encoding="utf-8")
            (copy / path).write_text(source, encoding="utf-8")
            killed = run_tests(copy, tests, limit) not in UNNOTICED
            (copy / path).write_text(original, encoding="utf-8")
            noticed += killed
            verdict = "noticed " if killed else "SURVIVED"
            print(f"{number:3} {verdict} {path}:{line} {what}", flush=True)
    print(f"{noticed} of {len(faults)} noticed")
    return 0


def draw_faults(count: int, rng: random.Random) -> list[tuple[Path, int, str, str]]:
    """`count` faults in different files: the file, the line, what changes, the whole new source."""
    paths = [path for room in ("env", "sauda", "panels") for path in (ROOT / room).rglob("*.py")]
    places = [(path, n) for path in sorted(paths) for n in range(len(list(nodes(parsed(path)))))]
    rng.shuffle(places)
    drawn: dict[Path, tuple[Path, int, str, str]] = {}
    for path, number in places:
        if path in drawn or len(drawn) == count:
            continue
        tree = parsed(path)
        node = list(nodes(tree))[number]
        before = ast.unparse(node).split("\n")[0][:60]
        change(node)
        what = f"{before}  ->  {ast.unparse(node).splitlines()[0][:60]}"
        source = ast.unparse(ast.fix_missing_locations(tree))
        drawn[path] = (path.relative_to(ROOT), node.lineno, what, source)
    return list(drawn.values())


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes inside functions that `change` can change, in a fixed order."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from filter(is_changeable, ast.walk(function))


def is_changeable(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in SWAPS
    if isinstance(node, ast.BinOp | ast.BoolOp):
        return type(node.op) in SWAPS
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Return):
        return ast.unparse(node) not in ("return", "return None")
    return isinstance(node, ast.If)


def change(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value += 1
    elif isinstance(node, ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    else:
        node.value = ast.Constant(None)


def tests_of(path: Path) -> tuple[str, ...]:
    """The tests of a module: the deepest folder that mirrors its own path or that of its room.

    For the games, whose rules all their tests play, it is the whole of tests/env and the recorded
    games of all scripts. The page's golden tests belong to every tab; chats, golden and others,
    to what is read, said and played in them.
    """
    room = Path("tests", path.parts[0] if path.parts[0] == "env" else path.with_suffix(""))
    while not list((ROOT / room).rglob("test_*.py")):
        room = room.parent
    if room == Path("tests/sauda"):  # of a file beside the rooms
        own = room / f"test_{path.stem}.py"
        return (str(own) if (ROOT / own).exists() else "tests/sauda/commands",)
    played = (RECORDED,) if path.parts[0] == "env" or "games" in path.parts else ()
    if path.parts[0] == "panels":
        return (str(room), *WHOLE_PAGE)
    chats = CHATS if path.parts[1] in ("language", "sessions") else ()
    return (str(room), *played, *chats)


@cache
def seconds_without_fault(copy: Path, where: tuple[str, ...]) -> float:
    """The seconds of the tests without a fault; raises ValueError where they fail."""
    began = monotonic()
    if run_tests(copy, where, LONGEST) not in UNNOTICED:
        raise ValueError(f"{' '.join(where)} fails or takes over {LONGEST} s without a fault")
    return monotonic() - began


def run_tests(copy: Path, where: tuple[str, ...], limit: float) -> int | None:
    """Pytest's exit code, or None after `limit` seconds."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *where]
    command += ["-m", "not (browser or model or slow or nightly)", "--hypothesis-profile", "quick"]
    try:
        return subprocess.run(command, cwd=copy, timeout=limit, capture_output=True).returncode
    except subprocess.TimeoutExpired:
        return None


if __name__ == "__main__":
    sys.exit(main())
