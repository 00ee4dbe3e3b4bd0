"""What a text of a person says at a table: the one reading that a game and its page go by.

`Heard` tells of a text whether it takes the other side's price or leaves, which price and extras it
offers or by which others it names one, what it claims or asks, and, where it names no price, what
kind of talk it is. Who hears it is a seat. A model's reply is JSON and is read by its prompt.

A question about what an extra costs asks for none. A bid that names no extra keeps those of the
last bid, as people expect of a bargain; one that names some holds these, and more than these where
it says "delivery too". "Without delivery" takes one out.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from env import EXTRAS, Table, ear
from env.language.money import price as price_in
from sauda.language.phrases import language_of
from sauda.language.small_talk import read_closing, read_heard, slip, small_talk
from sauda.language.spoken import prices_of
from sauda.language.stances import Relative, relative

NAMES = {
    "delivery": r"deliver\w*|ghar (?:tak|pahuncha\w*)|डिलीवरी|घर तक|घर पहुँचा\w*",
    "warranty": r"warrant\w*|guarantee(?!d)\w*|guaranty|वारंटी|गारंटी",
    "later": r"(?:pay\w*|paid) (?:you )?(?:later|next (?:week|month))|later payment|udhaa?r"
    r"|baad (?:mein|me) paise|उधार|बाद में पैसे",
}
ANY = "|".join(NAMES.values())
MORE = rf"(?:(?:\s*,\s*|\s+(?:or|and|nor|ya|aur|या|और)\s+)(?:{ANY}))*"
REFUSES = (
    r"without|no|not|minus|excluding|skip|drop|cancel|no need (?:of|for)"
    r"|(?:do not|don.?t) (?:need|want)|bina|बिना"
)
REFUSED = (
    r"(?:is )?not (?:needed|required|wanted)|ke bina|(?:ki zaroo?rat )?nahi\w*|mat|hata\w*"
    r"|के बिना|(?:की ज़?रूरत )?नहीं|मत|हटा\w*"
)
LEFT_OUT = re.compile(
    rf"\b(?:{REFUSES})\s+(?:(?:the|any|a|your|free|home)\s+)*(?:{ANY}){MORE}"
    rf"|(?:{ANY}){MORE}\s+(?:{REFUSED})",
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


@dataclass(frozen=True)
class Heard:
    """A text as `hearer` hears it at a table; each part is read once, when it is asked for."""

    text: str
    seen: Table
    hearer: str  # "buyer" or "seller"

    @cached_property
    def relative(self) -> Relative | None:
        """The way that it names its price by others, as "200 more"; None where it does not."""
        return relative(self.text)

    @cached_property
    def closing(self) -> str:
        """What it does to the hearer's last price: accept, agree, …, leave, or "" for nothing.

        A price worked out from others is another one: "10 % off and it is a deal" takes none.
        """
        named, _ = prices_of(self.seen, self.hearer)
        return "" if self.relative else read_closing(self.text, named[-1] if named else None)

    @cached_property
    def price(self) -> int | float | None:
        """The price that it offers, in rupees; None for none, several, or one that may be a slip.

        Also None for a way to name one by others, whose price depends on what is on the table.
        """
        offered = read_heard(self.text, self.seen, self.hearer).offered
        if self.relative or slip(offered):
            return None
        try:
            amount = price_in(offered)
        except ValueError:
            return None
        return int(amount) if amount == int(amount) else amount

    @cached_property
    def act(self) -> str:
        """What it claims or asks, a key of the corpus, such as "outside"; "" for nothing."""
        return ear.act_in(self.text)[0]

    @property
    def asks_cost(self) -> bool:
        """Whether it asks what an extra costs the seller."""
        return self.act in {f"ask_{extra}" for extra in self.seen.extras}

    def extras(self, held: Collection[str] = ()) -> frozenset[str]:
        """The extras of the bid that it makes, where the last one `held` these."""
        return extras_in(self.text, held) if self.seen.extras else frozenset()

    @cached_property
    def talk(self) -> str:
        """The kind of answer that it gets where it makes no move: a key of ANSWERS."""
        return small_talk(self.text, self.seen, self.hearer)

    @property
    def language(self) -> str:
        """That it is written in; "" for digits alone."""
        return language_of(self.text)
