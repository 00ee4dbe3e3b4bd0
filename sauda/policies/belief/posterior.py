"""The posterior over sellers given the public table: a sample of sellers, each with a weight.

Prior and likelihood are the public rules of the open market (`env.bazaar.market`): how types,
reservation prices and opening asks are drawn, how asks fall, which bids are refused, when a seller
walks, what it claims, how its manner follows. Only the public table is read. Prices are shares of
the opening ask inside this package and rupees outside.

A person who sells follows no such rules, and is read by a looser version of them: the opening ask
says nothing of the type, asks may stray from their path, a refusal or a claim has half the weight,
silence and manner have none. These four settings are assumptions, fitted to no data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from env import LOW_BID, SELLER_TYPES, Table
from sauda.language import tells as language
from sauda.policies.belief.likelihood import (
    PERSON_WEIGHT,
    UNSEEN_MANNER,
    claim_chances,
    claim_likelihoods,
    claim_log_likelihood,
    manner_log_likelihood,
    refusal_log_likelihood,
)
from sauda.policies.belief.sample import SAMPLE_SIZE, draw_sample, opening_ask, systematic_indices
from sauda.policies.best_response.sellers import Sellers

# The claim that each signal of a message stands for.
CLAIMED: Mapping[str, str] = {"deception": "rival", "confidence": "final", "urgency": "urgent"}


@dataclass(frozen=True)
class Belief:
    """A weighted sample of n sellers that represents the posterior."""

    opening: float  # opening ask in rupees
    sellers: Sellers  # prices in units of the opening ask
    kinds: np.ndarray  # (n,), index into SELLER_TYPES
    weights: np.ndarray  # (n,), sum 1

    @property
    def floors(self) -> np.ndarray:
        """The reservation price of each seller in rupees, shape (n,)."""
        return self.opening * self.sellers.reservation

    def types(self) -> dict[str, float]:
        """The probability of each type of SELLER_TYPES; they sum to 1."""
        return {
            name: float(self.weights[self.kinds == i].sum()) for i, name in enumerate(SELLER_TYPES)
        }

    def quantile(self, share: float | np.ndarray) -> np.ndarray:
        """The quantile of the reservation price at `share`, in [0, 1]; rupees, shape of `share`."""
        order = np.argsort(self.floors)
        middle = np.cumsum(self.weights[order]) - self.weights[order] / 2
        return np.interp(share, middle, self.floors[order])

    def histogram(self, edges: np.ndarray) -> np.ndarray:
        """The probability of a reservation price in each bin of `edges` (rupees, rising).

        Shape (len(edges) - 1,).
        """
        return np.histogram(self.floors, edges, weights=self.weights)[0]

    def drawn(self, count: int) -> "Belief":
        """At most `count` sellers at even steps through the belief, by reservation price.

        Systematic resampling, so nothing is drawn.
        """
        order = np.argsort(self.floors, kind="stable")
        steps = systematic_indices(self.weights[order], count)
        kept, times = np.unique(order[steps], return_counts=True)
        return Belief(self.opening, _subset(self.sellers, kept), self.kinds[kept], times / count)


def believe(table: Table, tells: bool = True, words: bool = True, person: bool = False) -> Belief:
    """The belief given all that `table` shows of the deal in play.

    Prices always count: the opening ask, each ask and each refusal. `tells` adds the seller's
    manner, if it is that of an open-market seller; `words` adds the claims that `claim_in` finds.
    `person` says that a person sells, who follows no rule of the market.
    """
    sample = draw_sample(table, person)
    sellers, opening = sample.sellers, opening_ask(table)
    log, best = np.zeros(SAMPLE_SIZE), LOW_BID
    first, *replies = [m for m in table.moves if m.agent == "seller"] or [None]
    for t, (bid, ask, reply) in enumerate(
        zip(table.bids, table.asks[1:], replies, strict=False), 1
    ):
        bid, ask = bid / opening, ask / opening
        refused = refusal_log_likelihood(sellers, t, bid, best, ask)
        log += np.where(sample.strange, 0.0, (PERSON_WEIGHT if person else 1.0) * refused)
        best = max(best, bid)
        # A classic seller has a disclosed type and a manner of its own, which is not modelled.
        manner = None if table.seller_type or person else reply.tells
        claim = claim_in(reply.action.message) if words else None
        chances = claim_chances(sample, t)
        if tells and manner is not None:
            log += np.logaddexp(
                manner_log_likelihood(manner, sellers, t, ask, claim_likelihoods(chances, claim)),
                UNSEEN_MANNER,
            )
        elif claim is not None:
            log += claim_log_likelihood(chances, claim, person=manner is None)
    if words and first is not None and (claim := claim_in(first.action.message)):
        log += claim_log_likelihood(claim_chances(sample, 0), claim, person=True)
    likely = np.exp(log - log.max())
    return Belief(opening, sellers, sample.kinds, likely / likely.sum())


@lru_cache(maxsize=4_096)
def claim_in(message: str) -> str:
    """The claim of CLAIMS that `sauda.language.tells` finds in a message; "" for none.

    The tell with the highest score decides: deception stands for a rival, confidence for a last
    price.
    """
    signals = [tell for tell in language.read(message) if tell.signal in CLAIMED]
    return CLAIMED[max(signals, key=lambda tell: tell.score).signal] if signals else ""


def _subset(sellers: Sellers, kept: np.ndarray) -> Sellers:
    """The sellers at the indices `kept`, shape (m,)."""
    arrays = {f.name: getattr(sellers, f.name) for f in fields(sellers)}
    return replace(sellers, **{k: v[kept] for k, v in arrays.items() if isinstance(v, np.ndarray)})
