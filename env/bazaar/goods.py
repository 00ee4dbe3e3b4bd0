"""Which goods, and which parts of goods, a sentence names, and which items they go with.

In `goods.csv` names go with categories, with words in an item's name, or with what another row
goes with ("@"); "-" excepts the items with a word. A name counts as it sounds, after "=" only as it
is spelt. What goes with nothing is not in the catalogue.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from ..core import read_rows
from .ear import sound, spelt
from .types import Item


@cache
def _rows() -> Mapping[str, tuple[frozenset[str], tuple[str, ...]]]:
    """By the name of a row: its names of goods, and what they go with."""
    return {
        row["name"]: (
            frozenset(
                word[0] + spelt(word)[0] if word[0] == "=" else sound(spelt(word)[0])
                for word in row["words"].split()
            ),
            tuple(row["goods"].split(";")),
        )
        for row in read_rows("bazaar/goods.csv")
    }


@cache
def _names() -> frozenset[str]:
    return frozenset[str]().union(*(names for names, _ in _rows().values()))


@lru_cache(maxsize=50_000)
def named(text: str) -> frozenset[str]:
    """The names of goods and parts in a text."""
    words = [word.removesuffix("'s") for word in spelt(text)]
    return _names() & {*map(sound, words), *(f"={word}" for word in words)}


@cache
def unfit(item: Item | None) -> frozenset[str]:
    """The names that do not go with an item; every name where the item is not known."""
    if not item:
        return _names()
    words = {item.category, *re.findall(r"\w+", item.name)}

    def goes(row: str) -> bool:
        goods = _rows()[row][1]
        barred = any(entry[1:] in words for entry in goods if entry[:1] == "-")
        return not barred and any(
            goes(entry[1:]) if entry[:1] == "@" else entry in words for entry in goods
        )

    return _names().difference(*(names for row, (names, _) in _rows().items() if goes(row)))


def fits(text: str, item: Item | None) -> bool:
    """Whether every name of goods or parts in a text goes with an item."""
    return named(text).isdisjoint(unfit(item))
