"""The values of a bazaar game: items, tells, actions, the public table, the state.

Prices are rupees; a table's `decimals` says how fine they may be. Rounds are counted from 0.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core import EndReason, read_rows

# The catalogue of items that sellers offer, with list prices in whole rupees.
#
# It was written for this project from general knowledge of Indian markets in the mid 2020s and
# copies no data set. The items are in `listings.csv` beside this module, which is read once, at
# import.


@dataclass(frozen=True, slots=True)
class Item:
    """An item for sale; its name fits into "for this {name}"."""

    name: str
    category: str
    condition: str  # new, like_new, very_good, good or acceptable
    list_price: int  # whole rupees


CATALOGUE: tuple[Item, ...] = tuple(
    Item(row["name"], row["category"], row["condition"], int(row["list_price"]))
    for row in read_rows("bazaar/listings.csv")
)


# Tells: observable signals in a seller's manner that depend on its hidden values.
#
# Twelve signals are published, three more concern the item's condition; levels lie in [0, 1].


@dataclass(frozen=True, slots=True)
class Tells:
    """The signals of one move; the defaults are neutral."""

    verbal_urgency: float = 0.0
    verbal_confidence: float = 0.5
    verbal_deception_cue: float = 0.0
    price_rounding: str = "round"  # or precise
    offer_speed: str = "normal"  # or instant, deliberate
    concession_pattern: str = "steady"  # or erratic, front_loaded, stalling
    fidget_level: float = 0.0
    eye_contact: str = "steady"  # or avoidant, intense
    posture: str = "neutral"  # or leaning_in, leaning_back, arms_crossed
    repeat_phrases: int = 0
    topic_changes: int = 0
    emotional_escalation: float = 0.0
    condition_score: float | None = None  # None if nothing was said about the condition
    depreciation_score: float | None = None
    condition_label: str = "unknown"


# Actions, what is public, and what each side knows

EXTRAS = ("delivery", "warranty", "later")  # what a package may hold; later: the buyer pays later


@dataclass(frozen=True, slots=True)
class Offer:
    """An ask by the seller or a bid by a buyer, in rupees, with a message in words.

    Where a table has extras a bid may ask for some of them, by name, for the same price.
    """

    price: float
    message: str = ""
    extras: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Accept:
    """Agrees to the other side's last price."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class WalkAway:
    """Leaves without a deal."""

    message: str = ""


Action = Offer | Accept | WalkAway


@dataclass(frozen=True, slots=True)
class Move:
    """One public move; `tells` is the seller's manner, if it shows one."""

    agent: str
    action: Action
    tells: Tells | None = None


@dataclass(frozen=True, slots=True)
class Deal:
    """The public outcome of one deal of an episode."""

    end: EndReason
    by: str  # the agent whose move ended it
    price: float | None  # rupees; None without an agreement
    rounds: int
    opening_ask: float
    buyer: str = "buyer"  # the winner, where several compete
    extras: tuple[str, ...] = ()  # what the price includes, in the order of EXTRAS


@dataclass(frozen=True, slots=True)
class Rival:
    """What a buyer sees of another buyer: never a price."""

    name: str
    active: bool
    bids: int  # closed rounds in which it bid


class Table(NamedTuple):
    """Everything public about the deal in play and the deals before it.

    A named tuple, because a new one is made at every move, four times as fast as a dataclass.
    """

    item: Item
    rounds: int  # limit of rounds for a deal
    deals: int  # deals in the episode
    decimals: int  # of a price
    seller_type: str = ""  # disclosed in the classic game only
    round: int = 0  # buyer moves made
    asks: tuple[float, ...] = ()
    bids: tuple[float, ...] = ()
    moves: tuple[Move, ...] = ()
    past: tuple[Deal, ...] = ()
    rivals: tuple[Rival, ...] = ()
    outbid: bool = False  # a rival bid more in the last closed round
    standing: bool = False  # the best bid counts and not the last, and words count: the open market
    version: int = 0  # of the rules by which any words count; 0 where they do not
    extras: tuple[str, ...] = ()  # that a bid may hold; the seller alone knows which stands

    @property
    def bid(self) -> float | None:
        """The bid that counts, the last or where bids stand the best; None before the first.

        With extras it is the highest price: which bid stands, the seller alone knows.
        """
        if not self.bids:
            return None
        return max(self.bids) if self.standing else self.bids[-1]

    @property
    def offers(self) -> list[Offer]:
        """The buyer's bids with their words and extras."""
        made = (move.action for move in self.moves if move.agent == "buyer")
        return [action for action in made if isinstance(action, Offer)]


@dataclass(frozen=True, slots=True)
class Observation:
    """What one agent may see: the table and its private values `own`."""

    agent: str
    table: Table
    own: Mapping[str, Any]

    @property
    def reservation(self) -> float:
        """The agent's own reservation price."""
        return self.own["reservation"]

    @property
    def budget(self) -> float:
        """The most a buyer can pay without a loss: the lower of reservation price and purse."""
        return self.most_for(())

    def most_for(self, extras: Collection[str]) -> float:
        """The same for the thing with these extras, by what they are worth to the buyer."""
        worth = sum(self.own["values"][name] for name in extras)
        limit = self.own["reservation"] + worth
        return min(limit, self.own.get("purse", limit))

    @property
    def round(self) -> int:
        return self.table.round

    @property
    def rounds_left(self) -> int:
        """Moves that the buyer has left, this one included."""
        return self.table.rounds - self.table.round

    @property
    def opening_ask(self) -> float:
        return self.table.asks[0]

    @property
    def ask(self) -> float:
        return self.table.asks[-1]

    @property
    def bid(self) -> float | None:
        """The bid that counts, the last or where bids stand the best; None before the first."""
        return self.table.bid

    @property
    def drop(self) -> float | None:
        """How far the ask fell with the seller's last move; None before its first counter-offer."""
        asks = self.table.asks
        return round(asks[-2] - asks[-1], 2) if len(asks) > 1 else None

    @property
    def tells(self) -> Tells | None:
        """The seller's manner with its last move."""
        return self.table.moves[-1].tells if self.table.moves else None

    def priced(self, price: float) -> float:
        """`price` rounded to the table's `decimals`."""
        decimals = self.table.decimals
        return round(price, decimals) if decimals else round(price)


@dataclass(frozen=True, slots=True)
class Instance:
    """One deal's item and the private values of each side, at least a "reservation" price.

    A buyer may also have a "purse", which then limits its bids instead of the reservation price, a
    "discount" (the factor on a gain for each round after the first), and a "deadline" (a round).
    With extras a buyer has its "values" and a seller its "costs", in rupees by name.
    """

    item: Item
    buyer: Mapping[str, Any]
    seller: Mapping[str, Any]
    rivals: tuple[Mapping[str, Any], ...] = ()  # private values of the other buyers
    rounds: int | None = None  # limit of rounds of this deal; None: that of the environment


@dataclass(frozen=True, slots=True)
class State:
    """The state of play. `private["nature"]` holds the instances of all deals."""

    table: Table
    turn: str | None
    private: Mapping[str, Any]
    end: EndReason | None = None
