"""The hash of code follows what code does: comments are nothing, a constant is everything."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from env import TASKS, get_task, naive, rule_based
from sauda.policies import BUYERS
from sauda.records.code_hash import code_hash

PLAIN = """
SHARE = 0.4

def half(price):
    return price * SHARE

def bid(price):
    return round(half(price), 2)
"""
PROGRAM = """
from env import get_task
from sauda.records.code_hash import code_hash
from sauda.policies import BUYERS
task = get_task("classic/marketplace_arena")
print(code_hash(task.env, task.grade), code_hash(task.opponents), code_hash(*BUYERS.values()))
print(code_hash({"sauda", "of", "many", "words"}, frozenset("abcdef")))
"""


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a text as one and the same module of ours."""
    name = "sauda.written_for_a_test"
    count = iter(range(100))

    def module(text: str) -> ModuleType:
        path = tmp_path / f"version_{next(count)}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    yield module
    sys.modules.pop(name, None)


def test_comments_docstrings_and_layout_do_not_change_it(written):
    plain = code_hash(written(PLAIN).bid)
    commented = PLAIN.replace(
        "    return price * SHARE",
        '    """Four tenths."""\n\n    # why: see the paper\n    return (\n  price  *  SHARE)',
    )
    assert code_hash(written(commented).bid) == plain


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SHARE = 0.4", "SHARE = 0.5"),  # a constant, two steps away
        ("price * SHARE", "price / SHARE"),  # another function
        ("half(price), 2", "half(price), 3"),  # its own text
    ],
)
def test_a_change_of_what_it_does_anywhere_it_reaches_changes_it(written, before, after):
    assert code_hash(written(PLAIN).bid) != code_hash(written(PLAIN.replace(before, after)).bid)


def test_code_that_is_not_reached_does_not_change_the_hash(written):
    plain = code_hash(written(PLAIN).bid)
    assert code_hash(written(PLAIN + "\nOTHER = 1\n\ndef walk(): return OTHER\n").bid) == plain


def test_functions_that_call_each_other_have_a_hash(written):
    text = "def a(n): return b(n)\n\ndef b(n): return a(n - {step}) if n else 0\n"
    one, again, two = (code_hash(written(text.format(step=step)).a) for step in (1, 1, 2))
    assert one == again != two


def test_a_value_that_a_function_took_along_counts(written):
    text = "def maker(share):\n    def bid(price):\n        return price * share\n    return bid\n"
    maker = written(text).maker
    assert code_hash(maker(0.4)) == code_hash(maker(0.4)) != code_hash(maker(0.5))


def test_a_function_behind_a_cache_counts(written):
    text = "from functools import cache\n\n@cache\ndef low(n):\n    return n * 2\n\n" + (
        "def bid(n):\n    return low(n)\n"
    )
    plain = code_hash(written(text).bid)
    assert code_hash(written(text.replace("n * 2", "n * 3")).bid) != plain


def test_a_dataclass_counts_with_its_numbers():
    assert code_hash(BUYERS["linear"]) != code_hash(BUYERS["boulware"])


def test_another_opponent_is_another_hash():
    task = get_task("classic/single_deal")
    assert code_hash(task.opponents) != code_hash({**task.opponents, "seller": naive})
    assert code_hash(task.opponents) != code_hash({**task.opponents, "rival_1": rule_based})


def test_tasks_that_differ_in_one_number_have_hashes_of_their_own():
    rules = {code_hash(task.env, task.learner, task.grade) for task in TASKS.values()}
    assert len(rules) == len(TASKS)
    assert all(len(digest) == 12 for digest in rules)


@pytest.mark.slow
def test_it_is_the_same_in_every_run_of_the_interpreter():
    hashes = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1
