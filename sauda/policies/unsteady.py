"""A buyer whose hand is unsteady: its prices come out with an error, as a language model's do.

The price of an offer, or the ask of an acceptance, moves by a normal error of `error` percent of
the own limit and is rounded to whole percent; a price next to an affordable ask takes it. An error
of 0 leaves every move as it is.
"""

from dataclasses import dataclass

import numpy as np

from env import (
    ACCEPT,
    WALK,
    Accept,
    BatchView,
    Buyers,
    Moves,
    Observation,
    Offer,
    Policy,
    WalkAway,
)
from sauda.policies.pilot import Intent, Position, moves, of_observation, of_view


@dataclass(frozen=True)
class Unsteady:
    """Plays the moves of `policy` with errors of `error` percent of its limit."""

    policy: Policy
    error: float

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        draw = rng.random(2)
        move = self.policy(obs, rng)
        if not self.error or isinstance(move, WalkAway):
            return move
        price = np.array([move.price if isinstance(move, Offer) else obs.ask], float)
        kind, bid = shake(of_observation(obs), price, self.error, draw[:1])
        return {ACCEPT: Accept(), WALK: WalkAway()}.get(int(kind[0])) or Offer(
            obs.priced(float(bid[0]))
        )


@dataclass(frozen=True)
class BatchUnsteady:
    """`Unsteady` over arrays; `buyers` must draw nothing."""

    buyers: Buyers
    error: float

    def __call__(self, view: BatchView) -> Moves:
        kind, price = self.buyers(view)
        if not self.error:
            return kind, price
        at = of_view(view)
        price = np.where(np.equal(kind, ACCEPT), at.ask, price)
        shaken_kind, bid = shake(at, price, self.error, view.chance()[0])
        return np.where(np.equal(kind, WALK), WALK, shaken_kind), bid


def shake(at: Position, price: np.ndarray, error: float, draw: np.ndarray) -> Moves:
    """The moves for prices in rupees, each with an error; `draw` is uniform, shape (n,)."""
    from scipy.special import ndtri

    percent = 100 * price / at.limit + error * ndtri(draw)
    return moves(at, Intent(percent, np.full(len(percent), -np.inf)))
