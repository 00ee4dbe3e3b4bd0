"""The hash of code is blind to names and places, and sees everything else: a pair a rule."""

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sauda
from sauda.records.code_hash import code_hash

RULES, OTHER = "sauda.rules_for_a_test", "sauda.other_for_a_test"


@pytest.fixture
def hashed(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """The hash of `bid` in a module of ours; `rules` is the text of a second one."""
    count = itertools.count()

    def module(name: str, text: str) -> ModuleType:
        path = tmp_path / f"version_{next(count)}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    def of(text: str, rules: str = "", root: str = "bid") -> str:
        sys.modules["sauda"].rules_for_a_test = module(RULES, rules)
        return code_hash(getattr(module(OTHER, text), root))

    yield of
    sys.modules.pop(RULES, None)
    sys.modules.pop(OTHER, None)


HALF = "SHARE = 0.4\ndef half(price): return price * SHARE\n"
SAME = {
    "a function's own name and its parameters'": (
        HALF + "def bid(price): return half(price=price)",
        "_S = 0.4\ndef _h(p): return p * _S\ndef bid(x): return _h(p=x)",
    ),
    "a local variable": (
        "def bid(x):\n    low = x * 2\n    return [low for low in range(low)]",
        "def bid(y):\n    b = y * 2\n    return [a for a in range(b)]",
    ),
    "names in nested functions, lambdas and nonlocal": (
        "def bid(x):\n n = 0\n def add(k=1):\n  nonlocal n\n  n += k\n  return lambda m: m + n\n"
        " return add(k=2)(x)",
        "def bid(y):\n c = 0\n def go(z=1):\n  nonlocal c\n  c += z\n  return lambda q: q + c\n"
        " return go(z=2)(y)",
    ),
    "names in match, except, with and :=": (
        "def bid(x):\n try:\n  match x:\n   case [a, *b]: return a, b\n   case {'k': c, **d}: "
        "return c, d\n   case int() as e: return e\n except ValueError as f: raise f from f\n"
        " with open(x) as g: return (h := g), h",
        "def bid(z):\n try:\n  match z:\n   case [n, *m]: return n, m\n   case {'k': o, **p}: "
        "return o, p\n   case int() as q: return q\n except ValueError as r: raise r from r\n"
        " with open(z) as s: return (t := s), t",
    ),
    "docstrings, comments and layout": (
        "def bid(x): return x + 1",
        '"""A module."""\ndef bid(x):\n    """Bids."""\n    # more\n    return (x\n       + 1)',
    ),
    "annotations of plain types": (
        "def bid(x): y = x; return y",
        "def bid(x: float) -> float:\n    z: int\n    y: float = x\n    return y",
    ),
    "private attributes and methods": (
        "class bid:\n def __init__(self, k): self._k = k\n def _two(self): return self._k * 2\n"
        " def __call__(self): return self._two()",
        "class bid:\n def __init__(self, k): self._n = k\n def _b(self): return self._n * 2\n"
        " def __call__(self): return self._b()",
    ),
    "private methods that a subclass overrides": (
        "class A:\n def _a(self): return 1\n def go(self): return self._a()\n"
        "class bid(A):\n def _a(self): return 2",
        "class B:\n def _b(self): return 1\n def go(self): return self._b()\n"
        "class bid(B):\n def _b(self): return 2",
    ),
    "the parameters of a constructor": (
        "class Box:\n def __init__(self, k): self.k = k\ndef bid(): return Box(k=1)",
        "class Case:\n def __init__(self, n): self.k = n\ndef bid(): return Case(n=1)",
    ),
    "the parameters of a partial's function": (
        "from functools import partial\ndef f(x, y): return x - y\nbid = partial(f, y=1)\n"
        "def g(): return partial(f, y=2)",
        "from functools import partial\ndef h(a, b): return a - b\nbid = partial(h, b=1)\n"
        "def i(): return partial(h, b=2)",
    ),
    "what other packages are imported as": (
        "import numpy as np\ndef bid(n): return np.random.default_rng(n)",
        "from numpy.random import default_rng as g\ndef bid(n): return g(n)",
    ),
    "an import inside of the function": (
        "import numpy as np\nfrom math import floor\ndef bid(n): return floor(np.mean(n))",
        "def bid(n):\n    import math\n    import numpy\n    return math.floor(numpy.mean(n))",
    ),
}
ONE_MODULE = HALF + "def bid(x): return half(x)"
IMPORTS = (
    "from sauda.rules_for_a_test import half\ndef bid(x): return half(x)",
    "from sauda.rules_for_a_test import half as h\ndef bid(x): return h(x)",
    "from sauda import rules_for_a_test as rules\ndef bid(x): return rules.half(x)",
    "import sauda.rules_for_a_test\ndef bid(x): return sauda.rules_for_a_test.half(x)",
    "def bid(x):\n    from sauda.rules_for_a_test import half\n    return half(x)",
    "def bid(x):\n    import sauda.rules_for_a_test as r\n    return r.half(x)",
    "def bid(x):\n    from sauda import rules_for_a_test\n    return rules_for_a_test.half(x)",
)
DIFFERENT = {
    "the type of a number": ("def bid(): return 1", "def bid(): return 1.0"),
    "a truth value": ("def bid(): return 1", "def bid(): return True"),
    "the order of statements": ("def bid(x): x += 1; x *= 2", "def bid(x): x *= 2; x += 1"),
    "the order of parameters": ("def bid(a, b): return a", "def bid(a, b): return b"),
    "which variable is meant": (
        "def bid(x):\n y = x + 1\n return [x for y in y]",
        "def bid(x):\n y = x + 1\n return [y for y in y]",
    ),
    "a default": ("def bid(x=1): return x", "def bid(x=1.0): return x"),
    "which parameter has a default": (
        "def bid(*, a=1, b): return a - b",
        "def bid(*, a, b=1): return a - b",
    ),
    "a default of a nested function": (
        "def bid():\n def f(x=1): return x\n return f",
        "def bid():\n def f(x=2): return x\n return f",
    ),
    "a default that was computed": (
        "N = 2\ndef bid(x=N + 1): return x",
        "N = 3\ndef bid(x=N + 1): return x",
    ),
    "which parameter a keyword names": (
        "def f(a, b): return a - b\ndef bid(x): return f(a=x, b=1)",
        "def f(a, b): return a - b\ndef bid(x): return f(b=x, a=1)",
    ),
    "a closure": (
        "def make(k):\n return lambda: k\nbid = make(1)",
        "def make(k):\n return lambda: k\nbid = make(2)",
    ),
    "one of two lambdas on a line": (
        "bid, no = lambda x: x + 1, lambda x: x + 2",
        "no, bid = lambda x: x + 1, lambda x: x + 2",
    ),
    "an argument of a partial": (
        "from functools import partial\ndef f(x): return x\nbid = partial(f, 1)",
        "from functools import partial\ndef f(x): return x\nbid = partial(f, 2)",
    ),
    "a field of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A: x: int\nbid = A(1)",
        "from dataclasses import dataclass\n@dataclass\nclass A: x: int\nbid = A(2)",
    ),
    "the order of fields": (
        "from typing import NamedTuple\nclass bid(NamedTuple):\n x: int\n y: int",
        "from typing import NamedTuple\nclass bid(NamedTuple):\n y: int\n x: int",
    ),
    "a class variable for a field": (
        "from dataclasses import dataclass\nfrom typing import ClassVar\n@dataclass\nclass bid:\n"
        " x: int = 1",
        "from dataclasses import dataclass\nfrom typing import ClassVar\n@dataclass\nclass bid:\n"
        " x: ClassVar[int] = 1",
    ),
    "a type by which another package validates": (
        "from pydantic import BaseModel\nclass bid(BaseModel):\n x: int",
        "from pydantic import BaseModel\nclass bid(BaseModel):\n x: float",
    ),
    "a type by which a function is chosen": (
        "from functools import singledispatch\n@singledispatch\ndef f(x): return x\n"
        "@f.register\ndef bid(x: int): return 1",
        "from functools import singledispatch\n@singledispatch\ndef f(x): return x\n"
        "@f.register\ndef bid(x: float): return 1",
    ),
    "a method of a parameter's type": (
        "class A:\n def low(self): return 1\ndef bid(a: A): return a.low()",
        "class A:\n def low(self): return 2\ndef bid(a: A): return a.low()",
    ),
    "a member of an enumeration": (
        "from enum import Enum\nclass E(Enum):\n A = 1\n B = 2\nbid = E.A",
        "from enum import Enum\nclass E(Enum):\n A = 1\n B = 2\nbid = E.B",
    ),
    "the order of a mapping": ("bid = {'a': 1, 'b': 2}", "bid = {'b': 2, 'a': 1}"),
    "one number of a long array": (
        "import numpy as np\nbid = np.arange(5000)",
        "import numpy as np\nbid = np.arange(5000)\nbid[2500] = 0",
    ),
    "the flags of a pattern": (
        "import re\nbid = re.compile('a')",
        "import re\nbid = re.compile('a', re.I)",
    ),
    "a decorator": (
        "from functools import cache\n@cache\ndef bid(x): return x",
        "from functools import lru_cache\n@lru_cache(3)\ndef bid(x): return x",
    ),
    "a base class": (
        "class A:\n def f(self): return 1\nclass bid(A): pass",
        "class A:\n def f(self): return 2\nclass bid(A): pass",
    ),
    "a function that is not called any more": (
        HALF + "def bid(x): return half(x)",
        HALF + "def bid(x): return x",
    ),
    "a format": ("def bid(x): return f'{x:.2f}'", "def bid(x): return f'{x:.3f}'"),
    "a conversion": ("def bid(x): return f'{x!r}'", "def bid(x): return f'{x!s}'"),
    "a private method that a subclass no longer overrides": (
        "class A:\n def _a(self): return 1\nclass bid(A):\n def _a(self): return 2",
        "class A:\n def _a(self): return 1\nclass bid(A):\n def _b(self): return 2",
    ),
    "a function of another package": (
        "import numpy as np\ndef bid(x): return np.floor(x)",
        "import numpy as np\ndef bid(x): return np.ceil(x)",
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_hash_ignores_names_and_layout(hashed, one: str, other: str):
    assert hashed(one) == hashed(other)


@pytest.mark.parametrize("text", IMPORTS)
def test_the_hash_ignores_the_place_of_a_definition_and_the_form_of_its_import(hashed, text: str):
    assert hashed(text, HALF) == hashed(ONE_MODULE)
    assert hashed(text, HALF.replace("0.4", "0.5")) == hashed(ONE_MODULE.replace("0.4", "0.5"))
    assert hashed(text, HALF) != hashed(text, HALF.replace("0.4", "0.5"))


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_the_hash_changes_with_what_the_code_computes(hashed, one: str, other: str):
    assert hashed(one) != hashed(other)


def test_a_module_that_is_handed_on_counts_with_what_it_defines(hashed):
    text = "from sauda import rules_for_a_test as r\ndef bid(): return r"
    assert hashed(text, HALF) == hashed(text, "import math\n" + HALF)
    assert hashed(text, HALF) != hashed(text, HALF.replace("*", "/"))


def test_a_private_method_and_a_static_one_can_be_hashed(hashed):
    text = "class A:\n @staticmethod\n def f(x): return x * {}\n def g(self): return 1\n"
    for root in ("bid = A.f", "bid = A().g"):
        assert hashed(text.format(2) + root) == hashed(text.format(2) + root)
        assert hashed(text.format(2) + root) != hashed(text.format("'2'") + root.replace("g", "f"))


def test_functions_in_a_circle_differ_by_what_any_of_them_does(hashed):
    text = "def bid(n): return b(n)\ndef b(n): return c(n)\ndef c(n): return {}\n"
    hashes = [hashed(text.format(last)) for last in ("bid(n)", "b(n)", "c(n)", "bid(n - 1)", "1")]
    assert len(set(hashes)) == len(hashes)


def test_a_definition_without_source_is_refused_by_name(hashed):
    with pytest.raises(TypeError, match=r"sauda.other_for_a_test.Point has no source"):
        hashed("from collections import namedtuple\nbid = namedtuple('Point', 'x y')")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(VALUES, VALUES)
def test_values_have_one_hash_only_where_they_are_written_alike(one, other):
    assert (code_hash(one) == code_hash(other)) == (repr(one) == repr(other))


@settings(deadline=None, max_examples=20)
@given(st.permutations([*"abcdef", 1, 2.0, None]))
def test_the_order_of_a_set_does_not_count(order):
    assert code_hash(set(order)) == code_hash({*"abcdef", 1, 2.0, None})
    assert code_hash(set(order)) != code_hash({*"abcdef", 1, 2.5, None})


def test_a_file_of_ours_counts_by_its_content_and_another_path_by_its_last_part():
    ours = sorted((Path(sauda.__file__).parent / "language").glob("*.csv"))
    assert len({code_hash(path) for path in ours}) == len(ours) > 1
    assert code_hash(ours[0]) != code_hash(Path("/home/a") / ours[0].name)
    assert code_hash(Path("/home/a/cache")) == code_hash(Path("/home/b/cache"))


def test_numbers_of_numpy_count_by_type_and_value():
    numbers = [np.float64(1), np.float32(1), np.int64(1), 1, 1.0, np.array([1.0]), np.array([1])]
    assert len({code_hash(number) for number in numbers}) == len(numbers)
