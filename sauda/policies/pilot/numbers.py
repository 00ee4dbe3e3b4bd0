"""The numbers of a position as the pilot reads them: those that the prompt shows, over arrays.

Prices are whole percent of the buyer's own limit and the discount whole percent, rounded as in
`sauda.games.bazaar_prompt`, so that whoever reads the prompt can know every input of the network.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from env import BatchView, Observation

FEATURES = (
    "list price", "cost of a round", "useful moves left", "moves left", "round",
    "first ask", "ask", "last fall", "fall before", "fall in all",
    "best bid", "last bid", "bid before", "first bid", "gap", "first move", "second move",
    "rival", "deals left", "purse", "paid before", "deals paid", "last deal paid",
)  # fmt: skip
FAR = 3.0  # limits: a price or a purse above it reads as it
LONG = 12.0  # moves that count as 1


class Position(NamedTuple):
    """What n buyers see before a move; arrays of shape (n,), prices in rupees."""

    limit: np.ndarray
    list_price: np.ndarray
    discount: np.ndarray
    deadline: np.ndarray  # a round; infinite if there is none
    rounds: np.ndarray
    asks: np.ndarray  # (moves made + 1, n)
    bids: np.ndarray  # (moves made, n)
    purse: np.ndarray
    deals: int
    paid: tuple[np.ndarray, ...]  # of each earlier deal, share of its first ask; NaN without one
    contested: np.ndarray | bool  # a rival is still active

    @property
    def round(self) -> int:
        return len(self.bids)

    @property
    def ask(self) -> np.ndarray:
        return self.asks[-1]

    @property
    def budget(self) -> np.ndarray:
        return np.minimum(self.limit, self.purse)


def of_view(view: BatchView) -> Position:
    """The position of every buyer in a batch."""
    own = view.own
    return Position(
        own.reservation, view.list_price, own.discount, own.deadline, view.rounds, view.asks,
        view.bids, own.purse, view.deals, view.paid, view.contested,
    )  # fmt: skip


def of_observation(obs: Observation) -> Position:
    """The position of one buyer, n = 1."""
    table, own = obs.table, obs.own

    def one(value: float | None, absent: float = np.inf) -> np.ndarray:
        return np.array([absent if value is None else value], float)

    paid = (np.nan if d.price is None else d.price / d.opening_ask for d in table.past)
    return Position(
        one(obs.reservation), one(table.item.list_price), one(own.get("discount"), 1.0),
        one(own.get("deadline")), one(table.rounds), np.array(table.asks, float)[:, None],
        np.array(table.bids, float).reshape(-1, 1), one(own.get("purse")), table.deals,
        tuple(map(one, paid)), any(rival.active for rival in table.rivals),
    )  # fmt: skip


def percent(price: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """`price` in whole percent of `limit`, halves rounded up, as `prompt.shown`."""
    return np.floor(100 * price / limit + 0.5)


def features(at: Position) -> np.ndarray:
    """The inputs of the network, shape (n, len(FEATURES)), near [-1, 1]; 0 where a game is over."""
    shown = [percent(price, at.limit) / 100 for price in at.asks]
    bid = [percent(price, at.limit) / 100 for price in at.bids]
    zero, made, first, ask = np.zeros(len(at.limit)), at.round, shown[0], shown[-1]
    falls = [a - b for a, b in pairwise(shown)]
    best = np.max(bid, axis=0) if made else zero
    last = bid[-1] if made else zero
    left = at.rounds - made
    earlier = [np.nan_to_num(share) for share in at.paid]
    career = at.deals > 1
    purse = np.floor(100 * at.purse / at.limit) / 100 if career else zero
    columns = (
        percent(at.list_price, at.limit) / 100,
        10 * (1 - np.round(100 * at.discount) / 100),
        np.minimum(left, at.deadline - made) / LONG,
        left / LONG,
        zero + made / LONG,
        first,
        ask,
        10 * falls[-1] if made else zero,
        10 * falls[-2] if made > 1 else zero,
        first - ask,
        best,
        last,
        bid[-2] if made > 1 else zero,
        bid[0] if made else zero,
        ask - best,
        zero + (made == 0),
        zero + (made == 1),
        zero + at.contested,
        zero + (at.deals - len(earlier) - 1) / 10,
        np.minimum(purse, 10 * FAR) / 10,
        zero + sum(earlier) / max(1, len(earlier)),
        zero + len(earlier) / 10,
        earlier[-1] if earlier else zero,
    )
    return np.clip(np.nan_to_num(np.stack(columns, axis=1)), -FAR, FAR)
