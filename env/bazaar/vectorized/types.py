"""Games over numpy arrays, thousands at once: their values, and what the buyers may see.

`rollout.play_batch` plays them move for move as `env.rollout` does: every formula keeps the order
of operations of the scalar one, so prices agree to the last bit. Arrays have shape (n,), or
(rounds, n) with the earliest round first; prices are rupees, NaN where there is none. There are no
messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...core import EndReason
from .rounding import rounded
from .sellers import BatchTells, ClassicSellers, MarketSellers

ENDS = tuple(EndReason)  # an end is stored as its index here
AGREEMENT, WALKAWAY, DEADLINE, FORFEIT = map(ENDS.index, EndReason)
RUNNING = -1
NOBODY = -1  # buyer of an item that was not sold
SELLER, BUYER = range(2)  # who ended a deal; the rivals have the next numbers

Moves = tuple[np.ndarray, np.ndarray]  # kinds and prices, (n,) each; a price counts with an OFFER


class Own(NamedTuple):
    """The private values of n buyers; every array has shape (n,)."""

    reservation: np.ndarray
    purse: np.ndarray  # infinite if there is none, as `deadline`
    discount: np.ndarray  # factor on a gain for each round after the first; 1 in the classic game
    deadline: np.ndarray  # a round

    @property
    def payable(self) -> np.ndarray:
        """The most that the rules let it pay: its purse, or without one its reservation price."""
        return np.where(np.isfinite(self.purse), self.purse, self.reservation)


@dataclass(frozen=True, slots=True)
class Deals:
    """One deal of each of n games before its first move, with the sellers' draws."""

    rounds: np.ndarray  # limit of rounds, int
    opening: np.ndarray  # opening ask
    list_price: np.ndarray
    seller_reservation: np.ndarray
    own: tuple[Own, ...]  # the learner's private values, then each rival's
    sellers: ClassicSellers | MarketSellers

    def remembering(self, past: Sequence["Outcome"]) -> "Deals":
        """The deals after `past` ones: the sellers remember them, the learner has spent."""
        if not past:
            return self
        spent = sum(np.nan_to_num(deal.price) for deal in past)
        learner, *rivals = self.own
        own = (learner._replace(purse=learner.purse - spent), *rivals)
        paid = [(deal.price, deal.asks[0]) for deal in past]
        return replace(self, own=own, sellers=self.sellers.remembering(paid))


@dataclass(frozen=True, slots=True)
class Games:
    """n games of one task before their first move, with all their draws."""

    task: str
    decimals: int  # of a price
    seller_type: str  # disclosed in the classic game only
    deals: tuple[Deals, ...]
    # Takes the turns in their games, counted from 0 over all deals, and the indices of the games,
    # (k,) each; returns the first two uniform draws of the learner at those turns, (2, k).
    chance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rivals: tuple["Buyers", ...] = ()  # the other buyers; they draw nothing
    liking: np.ndarray | None = None  # with rivals, (buyers, n): of equal bids the lowest rank wins


class BatchView(NamedTuple):
    """What one buyer of each game may see before its next move, named as in `Observation`."""

    decimals: int
    seller_type: str
    deals: int
    rounds: np.ndarray
    list_price: np.ndarray
    own: Own
    paid: tuple[np.ndarray, ...]  # of each earlier deal, share of its opening ask; NaN without one
    capitulation: np.ndarray | float  # `capitulation_rate` of the earlier deals
    round: int  # moves that the buyer has made
    asks: np.ndarray  # (round + 1, n)
    bids: np.ndarray  # (round, n)
    contested: np.ndarray | bool  # a rival is still active
    tells: Callable[[], BatchTells]  # of the seller's last move, from round 1
    chance: Callable[[], np.ndarray]  # the uniform draws of this turn, (2, n)

    @property
    def reservation(self) -> np.ndarray:
        return self.own.reservation

    @property
    def budget(self) -> np.ndarray:
        return np.minimum(self.own.reservation, self.own.purse)

    @property
    def rounds_left(self) -> np.ndarray:
        return self.rounds - self.round

    @property
    def opening_ask(self) -> np.ndarray:
        return self.asks[0]

    @property
    def ask(self) -> np.ndarray:
        return self.asks[-1]

    @property
    def bid(self) -> np.ndarray:
        """The buyer's last bid; from round 1, as `drop`."""
        return self.bids[-1]

    @property
    def drop(self) -> np.ndarray:
        return rounded(self.asks[-2] - self.asks[-1], 2)


Buyers = Callable[[BatchView], Moves]


class Outcome(NamedTuple):
    """The outcome of one deal of each game; after a forfeit the later deals have no asks."""

    asks: np.ndarray  # (rounds + 1, n)
    bids: np.ndarray  # (rounds, n): the learner's, legal ones
    end: np.ndarray  # index into ENDS
    by: np.ndarray  # who ended it: SELLER, BUYER or a rival's number
    buyer: np.ndarray  # who bought: 0 the learner, then its rivals, or NOBODY
    price: np.ndarray
    rounds: np.ndarray  # int: rounds played
    left: np.ndarray  # with rivals, the round in which the learner walked away; else NaN


@dataclass(frozen=True, slots=True)
class Results:
    """The outcomes of n games: one Outcome for each deal, the learner's shares and grades."""

    deals: tuple[Outcome, ...]
    share: np.ndarray  # (deals, n): share of the ZOPA, as `shares`
    parts: np.ndarray  # (deals, n): the grade of each deal alone, of which `grade` is made
    grade: np.ndarray  # (n,): the task's grade
