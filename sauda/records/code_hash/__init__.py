"""`code_hash`: hashes what a definition computes, independently of names and comments.

`values.py` says what a value consists of, `text.py` writes a definition without its names (with
`scopes.py` and `source.py`), `colours.py` joins the texts along their references into one digest.
"""

import hashlib
from typing import Any

from sauda.records.code_hash.colours import colours
from sauda.records.code_hash.values import graph

__all__ = ["code_hash"]


def code_hash(*roots: Any) -> str:
    """Twelve hex digits over the code and constants that `roots` reach within our packages.

    Equal for definitions that differ in names, places, comments, docstrings or annotations alone;
    different after a change of any literal, operator, order or constant that is reached. A
    positional parameter of a method counts by its place: a caller that names it is not followed.
    """
    nodes, keys = graph(roots)
    digests = colours(nodes)
    return hashlib.sha256(b"".join(digests[key] for key in keys)).hexdigest()[:12]
