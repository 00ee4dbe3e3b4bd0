"""The goods in the visitor's language: names, conditions and categories.

The Hindi names of the catalogue stand in `items_hi.csv`, written for this project.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sauda.language.lines import HINDI

NAMES = Path(__file__).with_name("items_hi.csv")
CONDITIONS: Mapping[str, str] = {
    "new": "नई हालत",
    "like_new": "नई जैसी हालत",
    "very_good": "बहुत अच्छी हालत",
    "good": "अच्छी हालत",
    "acceptable": "चलने लायक़ हालत",
}
CATEGORIES: Mapping[str, str] = {
    "Bicycles and vehicles": "साइकिल और गाड़ियाँ",
    "Books and stationery": "किताबें और लिखने का सामान",
    "Electronics": "इलेक्ट्रॉनिक सामान",
    "Footwear": "जूते-चप्पल",
    "Furniture": "फ़र्नीचर",
    "Handicrafts and decor": "हस्तशिल्प और सजावट",
    "Home appliances": "घरेलू उपकरण",
    "Jewellery": "गहने",
    "Kitchenware": "रसोई का सामान",
    "Mobile phones": "मोबाइल फ़ोन",
    "Textiles and clothing": "कपड़े",
    "Toys and sports": "खिलौने और खेल",
}


@cache
def hindi_names() -> Mapping[str, str]:
    """The Hindi name of each item of the catalogue and of the classic markets."""
    with NAMES.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row["hindi"] for row in csv.DictReader(lines)}


def name_in(language: str, name: str) -> str:
    """An item's name; as it is where the language is not Hindi or the name has no Hindi form."""
    return hindi_names().get(name, name) if language == HINDI else name


def condition_in(language: str, condition: str) -> str:
    """An item's condition in words."""
    words = condition.replace("_", " ")
    return CONDITIONS.get(condition, words) if language == HINDI else words


def category_in(language: str, category: str) -> str:
    """An item's category."""
    return CATEGORIES.get(category, category) if language == HINDI else category
