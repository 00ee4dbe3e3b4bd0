"""The catalogue of items that sellers offer, with list prices in whole rupees.

It was written for this project from general knowledge of Indian markets in the mid 2020s and copies
no data set. The items are in `listings.csv` beside this module, which is read once, at import.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CONDITIONS = ("new", "like_new", "very_good", "good", "acceptable")
LOWEST_PRICE, HIGHEST_PRICE = 50, 80_000  # rupees, both allowed
LONGEST_NAME = 44  # characters
HEADER = ["name", "category", "condition", "list_price"]


@dataclass(frozen=True, slots=True)
class Item:
    """An item for sale; its name fits into "for this {name}"."""

    name: str
    category: str
    condition: str  # new, like_new, very_good, good or acceptable
    list_price: int  # whole rupees


def items_from_csv(lines: Iterable[str]) -> tuple[Item, ...]:
    """The items in CSV text with a header. Raises ValueError that names the first bad line."""
    rows = csv.reader(lines, quoting=csv.QUOTE_NONE)
    header = next(rows, None)
    if header != HEADER:
        raise ValueError(f"listings.csv line 1: expected the header {HEADER}, got {header}")
    items: dict[str, Item] = {}
    for row in rows:
        where = f"listings.csv line {rows.line_num}"
        if len(row) != len(HEADER) or any(field != field.strip() for field in row):
            raise ValueError(f"{where}: expected 4 fields with no space around them, got {row}")
        name, category, condition, price = row
        digits_only = price.isascii() and price.isdigit()
        checks = {
            f"a name of 1 to {LONGEST_NAME} characters": 0 < len(name) <= LONGEST_NAME,
            "a name without quotes": not set(name) & set("\"'"),
            "a name not used above": name not in items,
            "a category": category != "",
            f"a condition among {', '.join(CONDITIONS)}": condition in CONDITIONS,
            f"whole rupees from {LOWEST_PRICE} to {HIGHEST_PRICE}": digits_only
            and LOWEST_PRICE <= int(price) <= HIGHEST_PRICE,
        }
        for expected, holds in checks.items():
            if not holds:
                raise ValueError(f"{where}: expected {expected}, got {row}")
        items[name] = Item(name, category, condition, int(price))
    return tuple(items.values())


CATALOGUE: tuple[Item, ...] = items_from_csv(
    Path(__file__).with_name("listings.csv").read_text(encoding="utf-8").splitlines()
)
