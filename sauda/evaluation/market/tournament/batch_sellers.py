"""Scripted sellers over arrays, for the batch engine; they make the moves of the scalar ones."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from env import (
    ACCEPT,
    SELLER_TYPES,
    Games,
    Policy,
    TimeDependent,
    batch_conceded,
    games_of,
)
from sauda.evaluation.market.tournament.players import TASK, task_against
from sauda.policies import SELLERS
from sauda.policies.bazaar import tit_for_tat


class NoTells(NamedTuple):
    """The tells of a seller without a manner; shape (n,)."""

    verbal_deception_cue: np.ndarray
    looks_away: np.ndarray


@dataclass(frozen=True)
class ScriptedSellers:
    """n sellers of one script; arrays have shape (n,), prices are whole rupees."""

    policy: Policy  # a TimeDependent or `tit_for_tat`
    list_price: np.ndarray
    reservation: np.ndarray
    rounds: np.ndarray  # int

    @property
    def opening(self) -> np.ndarray:
        """The opening asks."""
        return np.maximum(self.list_price, self.reservation)

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moves at round `t`: kinds and asks, (n,) each; `asks` and `bids` are (t, n)."""
        if isinstance(self.policy, TimeDependent):
            done = batch_conceded(t, self.rounds + 1, self.policy.exponent)
            ask = np.rint(self.opening - done * (self.opening - self.reservation))
            ask = np.minimum(np.maximum(ask, self.reservation), asks[-1])
            return (bids[-1] >= ask) * ACCEPT, ask
        rise = np.maximum(0, bids[-1] - bids[-2]) if t > 1 else 0
        ask = np.maximum(np.rint(asks[-1] - rise), self.reservation)
        least = np.where(t >= self.rounds, self.reservation, ask)
        return (bids[-1] >= least) * ACCEPT, ask

    def tells(self, t: int, asks: np.ndarray) -> NoTells:
        """No tells."""
        n = asks.shape[1]
        return NoTells(np.zeros(n), np.zeros(n, bool))


@lru_cache(maxsize=4)
def batch_games(seller: str, seeds: tuple[int, ...]) -> Games | None:
    """The games of `seeds` against the scripted `seller`; None where it has no batch form."""
    if ":" in seller or seller in SELLER_TYPES:
        return games_of(TASK, seeds, task_against(seller))
    policy = SELLERS.get(seller)  # none through language, whose games are played one by one
    if not (isinstance(policy, TimeDependent) or policy is tit_for_tat):
        return None
    games = games_of(TASK, seeds)
    (deal,) = games.deals
    sellers = ScriptedSellers(policy, deal.list_price, deal.seller_reservation, deal.rounds)
    return replace(games, deals=(replace(deal, opening=sellers.opening, sellers=sellers),))
