"""What a text of a person says at a table: the one reading that a game and its page go by.

`Heard` tells of a text whether it takes the other side's price or leaves, which price and extras it
offers or by which others it names one, what it claims or asks, and, where it names no price, what
kind of talk it is. Who hears it is a seat. A model's reply is JSON and is read by its prompt.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from env import Table, ear
from env.language.money import price as price_in
from sauda.language.extras import extras_in
from sauda.language.phrases import language_of
from sauda.language.small_talk import read_closing, read_heard, slip, small_talk
from sauda.language.spoken import prices_of
from sauda.language.stances import Relative, relative


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
