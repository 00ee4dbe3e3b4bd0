"""The values of a bazaar game: actions, the public table, what each side knows, the state.

Prices are rupees; a table's `decimals` says how fine they may be. Rounds are counted from 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from env.bazaar.listings import Item
from env.bazaar.tells import Tells
from env.core import EndReason


@dataclass(frozen=True, slots=True)
class Offer:
    """A price: an ask from the seller, a bid from a buyer. The message is what is said with it."""

    price: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class Accept:
    """Take the other side's last price."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class WalkAway:
    """Leave without a deal."""

    message: str = ""


Action = Offer | Accept | WalkAway


@dataclass(frozen=True, slots=True)
class Move:
    """What the table saw of one move; `tells` is the seller's manner, where it shows one."""

    agent: str
    action: Action
    tells: Tells | None = None


@dataclass(frozen=True, slots=True)
class Deal:
    """How one deal of an episode came out, as everyone may know it."""

    end: EndReason
    by: str  # the agent whose move ended it
    price: float | None  # rupees; None without an agreement
    rounds: int
    opening_ask: float
    buyer: str = "buyer"  # who bought, where several compete


@dataclass(frozen=True, slots=True)
class Rival:
    """What a buyer sees of another one: never a price."""

    name: str
    active: bool
    bids: int  # closed rounds in which it bid


class Table(NamedTuple):
    """Everything public about the deal in play, and the deals before it.

    A named tuple because a new one is made at every move, four times as fast as a dataclass.
    """

    item: Item
    rounds: int  # limit of rounds for a deal
    deals: int  # deals in the episode
    decimals: int  # of a price
    seller_type: str = ""  # disclosed in the classic family only
    round: int = 0  # buyer moves made
    asks: tuple[float, ...] = ()
    bids: tuple[float, ...] = ()
    moves: tuple[Move, ...] = ()
    past: tuple[Deal, ...] = ()
    rivals: tuple[Rival, ...] = ()
    outbid: bool = False  # a rival bid more in the last closed round


@dataclass(frozen=True, slots=True)
class Observation:
    """What one agent may see: the table, and what it alone knows."""

    agent: str
    table: Table
    own: Mapping[str, Any]

    @property
    def reservation(self) -> float:
        """The agent's own reservation price."""
        return self.own["reservation"]

    @property
    def budget(self) -> float:
        """The most a buyer can pay without loss: its reservation price, or less in its purse."""
        return min(self.own["reservation"], self.own.get("purse", self.own["reservation"]))

    @property
    def round(self) -> int:
        return self.table.round

    @property
    def rounds_left(self) -> int:
        """Moves the buyer still has, this one included."""
        return self.table.rounds - self.table.round

    @property
    def opening_ask(self) -> float:
        return self.table.asks[0]

    @property
    def ask(self) -> float:
        return self.table.asks[-1]

    @property
    def bid(self) -> float | None:
        """The buyer's last bid; None before the first."""
        return self.table.bids[-1] if self.table.bids else None

    @property
    def drop(self) -> float | None:
        """How far the ask fell with the seller's last move; None before it countered once."""
        asks = self.table.asks
        return round(asks[-2] - asks[-1], 2) if len(asks) > 1 else None

    @property
    def tells(self) -> Tells | None:
        """The seller's manner with its last move."""
        return self.table.moves[-1].tells if self.table.moves else None

    def priced(self, price: float) -> float:
        """`price` rounded as this table counts money."""
        decimals = self.table.decimals
        return round(price, decimals) if decimals else round(price)


@dataclass(frozen=True, slots=True)
class Instance:
    """One deal's item and what each side alone knows, its "reservation" price at least.

    A buyer may also have a "purse" that binds it instead of its reservation price, a "discount"
    that a round costs, and a "deadline".
    """

    item: Item
    buyer: Mapping[str, Any]
    seller: Mapping[str, Any]
    rivals: tuple[Mapping[str, Any], ...] = ()  # the other buyers' own, where they compete
    rounds: int | None = None  # limit of this deal, where it is drawn


@dataclass(frozen=True, slots=True)
class State:
    """A game in play. `private["nature"]` holds the instances of all its deals."""

    table: Table
    turn: str | None
    private: Mapping[str, Any]
    end: EndReason | None = None
