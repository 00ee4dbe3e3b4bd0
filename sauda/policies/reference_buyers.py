"""Buyers that compare our classic game with the published one, in `sauda.experiments.reproduction`.

Those of EVERY_ROUND bid until the last round of a deal, so they show how many rounds there are. The
others make moves to which the two games reply differently.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway
from sauda.policies import BUYERS

Action = Offer | Accept | WalkAway


def hold(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids 0.45 of the opening ask in every round."""
    return _within_budget(obs, 0.45 * obs.opening_ask)


def slow_climb(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids 0.40 of the opening ask, then 0.02 more in every round."""
    return _within_budget(obs, (0.40 + 0.02 * obs.round) * obs.opening_ask)


def random_climb(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids 0.40 of the opening ask, then a uniform draw of up to 0.04 more in every round."""
    if obs.bid is None:
        return _within_budget(obs, 0.40 * obs.opening_ask)
    return _within_budget(obs, obs.bid + rng.uniform(0, 0.04) * obs.opening_ask)


def overbid(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids a fifth above its budget."""
    return Offer(obs.priced(1.2 * obs.reservation))


def overbid_once(obs: Observation, rng: np.random.Generator) -> Action:
    """Plays `rule_based`, but bids 5 % above its budget in one move of twenty."""
    if rng.random() < 0.05:
        return Offer(obs.priced(1.05 * obs.reservation))
    return BUYERS["rule_based"](obs, rng)


def accept_first(obs: Observation, rng: np.random.Generator) -> Action:
    """Accepts the opening ask."""
    return Accept()


def bid_then_leave(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids 0.75 of the opening ask, then walks away."""
    return WalkAway() if obs.round else _within_budget(obs, 0.75 * obs.opening_ask)


def zero_first(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids nothing in the first round of a deal, then plays `wait`."""
    return Offer(0.0) if obs.bid is None else BUYERS["wait"](obs, rng)


def unrounded(obs: Observation, rng: np.random.Generator) -> Action:
    """Bids as `rule_based` in the fixed-price tasks, but does not round its bids."""
    ask = obs.opening_ask
    if obs.bid is None:
        return Offer(ask * rng.uniform(0.25, 0.40))
    return Offer(min(obs.bid + (ask - obs.bid) * rng.uniform(0.20, 0.35), 0.8 * obs.reservation))


@dataclass(frozen=True)
class AcceptLast:
    """A buyer that plays another one and accepts the ask in the last round."""

    policy: Policy

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        return Accept() if obs.rounds_left <= 1 else self.policy(obs, rng)


def _within_budget(obs: Observation, price: float) -> Offer:
    return Offer(obs.priced(min(price, obs.reservation)))


EVERY_ROUND: Mapping[str, Policy] = MappingProxyType(
    {
        "hold": hold,
        "slow_climb": slow_climb,
        "random_climb": random_climb,
        "hold_accept": AcceptLast(hold),
        "slow_climb_accept": AcceptLast(slow_climb),
        "random_climb_accept": AcceptLast(random_climb),
    }
)
REFERENCE_BUYERS: Mapping[str, Policy] = MappingProxyType(
    {
        **EVERY_ROUND,
        "overbid": overbid,
        "overbid_once": overbid_once,
        "accept_first": accept_first,
        "bid_then_leave": bid_then_leave,
        "zero_first": zero_first,
        "unrounded": unrounded,
    }
)
