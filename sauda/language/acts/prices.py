"""Amounts in a text of a declared currency, found by the reader of rupees.

`money` counts "$5" as foreign, so that no dollar is taken for a rupee in a game. A text that
declares dollars is first written with rupee signs, character for character; the numbers stay.
"""

import re
from collections.abc import Mapping

from env import rupees
from sauda.language import money
from sauda.language.acts.types import DOLLARS, RUPEES

# The signs and words of a currency, each with rupees in the same number of characters.
IN_RUPEES: Mapping[str, Mapping[str, str]] = {
    RUPEES: {},
    DOLLARS: {"$": "₹", "dollars": "rupees ", "dollar": "rupee ", "usd": "inr"},
}
_SIGNS = re.compile(r"\$|\b(?:dollars?|usd)\b", re.IGNORECASE)
_MARKED = re.compile(r"[₹]|\b(?:rupees?|inr|rs|bucks?)\b", re.IGNORECASE)


def as_rupees(text: str, currency: str) -> str:
    """`text` with the signs of `currency` replaced by those of rupees, at the same positions.

    Raises ValueError for a currency that is not in IN_RUPEES.
    """
    if currency not in IN_RUPEES:
        raise ValueError(f"no currency {currency!r}; currencies are {', '.join(IN_RUPEES)}")
    signs = IN_RUPEES[currency]
    return _SIGNS.sub(lambda match: signs.get(match.group().lower(), match.group()), text)


def amounts(text: str, currency: str) -> list[tuple[float, bool]]:
    """Every amount in `text`, in order, and whether a currency sign or word marks it."""
    written = as_rupees(text, currency)
    return [
        (mention.amount, bool(_MARKED.search(written[mention.start : mention.end])))
        for mention in money.prices(written)
    ]


def written(amount: float, currency: str) -> str:
    """`amount` as a text of `currency` has it: ₹1,20,000 or $1,250."""
    if currency == RUPEES:
        return rupees(amount)
    whole = f"{amount:,.2f}".removesuffix(".00")
    return f"${whole}" if currency == DOLLARS else whole
