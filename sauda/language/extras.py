"""The extras that a buyer's words ask for with a price: delivery, a warranty, paying later.

A question about what one costs asks for none. A bid that names none keeps those of the last bid,
as people expect of a bargain; one that names some holds these, and more than these where it says
"delivery too". "Without delivery" takes one out.
"""

import re
from collections.abc import Collection

from env import EXTRAS

NAMES = {
    "delivery": r"deliver\w*|ghar (?:tak|pahuncha\w*)|डिलीवरी|घर तक|घर पहुँचा\w*",
    "warranty": r"warrant\w*|guarant\w*|वारंटी|गारंटी",
    "later": r"(?:pay\w*|paid) (?:you )?(?:later|next (?:week|month))|later payment|udhaa?r"
    r"|baad (?:mein|me) paise|उधार|बाद में पैसे",
}
ANY = "|".join(NAMES.values())
MORE = rf"(?:(?:\s*,\s*|\s+(?:or|and|nor|ya|aur|या|और)\s+)(?:{ANY}))*"
LEFT_OUT = re.compile(
    rf"\b(?:without|no|bina|बिना)\s+(?:{ANY}){MORE}"
    rf"|(?:{ANY}){MORE}\s+(?:ke bina|nahi\w*|mat|के बिना|नहीं|मत)",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[^?.!,;।]*(?:[?.!,;।]|$)")
ADDS = re.compile(r"\b(?:also|too|plus|add\w*|as well|still|bhi)\b|भी", re.IGNORECASE)
ASKS = re.compile(r"\b(?:costs?|kharch\w*|lagt\w*|padt\w*)\b|ख़र्च|खर्च|लगत|लगेग|पड़त", re.IGNORECASE)


def extras_in(text: str, held: Collection[str] = ()) -> frozenset[str]:
    """The extras of the bid that `text` makes, where the last one `held` these."""
    asked_for = " ".join(clause for clause in CLAUSE.findall(text) if not ASKS.search(clause))
    out = _named(" ".join(LEFT_OUT.findall(asked_for)))
    named = _named(LEFT_OUT.sub(" ", asked_for))
    keeps = not named or out or ADDS.search(asked_for)
    return (frozenset(held) - out if keeps else frozenset()) | named


def _named(text: str) -> frozenset[str]:
    return frozenset(
        extra for extra in EXTRAS if re.search(rf"\b(?:{NAMES[extra]})", text, re.IGNORECASE)
    )
