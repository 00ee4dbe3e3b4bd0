"""Games over numpy arrays, thousands at once: their values, and what the buyers may see.

`batch_play.play_batch` plays them move for move as `rollout` does: every formula keeps the order of
the scalar one, so prices agree to the last bit. Arrays have shape (n,), or (rounds, n) with the
earliest round first; prices are rupees, NaN where there is none. Nothing is said. The games come
from `batch_games`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from env.bazaar.vectorized.rounding import rounded
from env.bazaar.vectorized.sellers import BatchTells, ClassicSellers, MarketSellers
from env.core import EndReason

ENDS = tuple(EndReason)  # an end is its place here
AGREEMENT, WALKAWAY, DEADLINE, FORFEIT = map(ENDS.index, EndReason)
RUNNING = -1
NOBODY = -1  # bought it
SELLER, BUYER = range(2)  # who ended a deal; the rivals follow

Moves = tuple[np.ndarray, np.ndarray]  # kinds and prices, (n,) each; a price counts with an OFFER


class Own(NamedTuple):
    """What a buyer alone knows, n times."""

    reservation: np.ndarray
    purse: np.ndarray  # infinite where there is none, like `deadline`
    discount: np.ndarray  # what a deal keeps of its worth, a round; 1 in the classic game
    deadline: np.ndarray  # a round

    @property
    def payable(self) -> np.ndarray:
        """What the rules let it pay: its purse binds it instead of its reservation price."""
        return np.where(np.isfinite(self.purse), self.purse, self.reservation)


@dataclass(frozen=True, slots=True)
class Deals:
    """One deal of each of n games before its first move, with the sellers' chance."""

    rounds: np.ndarray  # limit of each, int
    opening: np.ndarray  # first ask
    list_price: np.ndarray
    seller_reservation: np.ndarray
    own: tuple[Own, ...]  # the learner's, then each rival's
    sellers: ClassicSellers | MarketSellers

    def remembering(self, past: Sequence["Outcome"]) -> "Deals":
        """The same after `past` deals: the sellers remember them, the learner has spent."""
        spent = sum(np.nan_to_num(deal.price) for deal in past)
        learner, *rivals = self.own
        own = (learner._replace(purse=learner.purse - spent), *rivals)
        paid = [(deal.price, deal.asks[0]) for deal in past]
        return replace(self, own=own, sellers=self.sellers.remembering(paid))


@dataclass(frozen=True, slots=True)
class Games:
    """n games of one task before their first move, with all their chance."""

    task: str
    decimals: int  # of a price
    seller_type: str  # disclosed in the classic family only
    deals: tuple[Deals, ...]
    # The first two uniform draws of the learner at its turns, (2, k): the turns in their games,
    # counted from 0 over all deals, and the places of the games, (k,) each.
    chance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rivals: tuple["Buyers", ...] = ()  # in a crowd; they draw nothing
    liking: np.ndarray | None = None  # in a crowd, (buyers, n): of equal bids the lowest wins


class BatchView(NamedTuple):
    """What one buyer of each game may see before its next move, named as in `Observation`."""

    decimals: int
    seller_type: str
    deals: int
    rounds: np.ndarray
    own: Own
    capitulation: np.ndarray | float  # `capitulation_rate` of the deals before
    round: int  # moves made
    asks: np.ndarray  # (round + 1, n)
    bids: np.ndarray  # (round, n)
    contested: np.ndarray | bool  # a rival is still active
    tells: Callable[[], BatchTells]  # with the seller's last move, from round 1
    chance: Callable[[], np.ndarray]  # of this turn, (2, n)

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
        """From round 1, like `drop`."""
        return self.bids[-1]

    @property
    def drop(self) -> np.ndarray:
        return rounded(self.asks[-2] - self.asks[-1], 2)


Buyers = Callable[[BatchView], Moves]


class Outcome(NamedTuple):
    """How one deal of each game came out; one that a forfeit kept from beginning has no asks."""

    asks: np.ndarray  # (rounds + 1, n)
    bids: np.ndarray  # (rounds, n): the learner's, legal ones
    end: np.ndarray  # places in ENDS
    by: np.ndarray  # who ended it: SELLER, BUYER or a rival
    buyer: np.ndarray  # who bought: 0 the learner, then its rivals, or NOBODY
    price: np.ndarray
    rounds: np.ndarray  # int: those of the table
    left: np.ndarray  # the round in which the learner walked from a crowd, NaN


@dataclass(frozen=True, slots=True)
class Results:
    """How n games came out: an outcome a deal; the learner's shares, (deals, n), and grades."""

    deals: tuple[Outcome, ...]
    share: np.ndarray  # of the ZOPA, as `shares` has it
    grade: np.ndarray  # (n,): the task's
