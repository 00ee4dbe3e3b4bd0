"""The scripted buyers of the published game: contestants, and rivals where several buyers compete.

They play by the published rules, faults included: `rule_based` bargains against the opening ask to
the end, and none tries to influence the seller's schedule.
"""

from math import floor

import numpy as np

from ..types import Accept, Action, Observation, Offer, WalkAway
from .seller import capitulation_rate


def rule_based(obs: Observation, rng: np.random.Generator) -> Action:
    """The published teacher: a random opening share, then random steps toward the opening ask."""
    ask, budget = obs.opening_ask, obs.reservation
    if ask <= 0.5 * budget:
        return Accept()
    if ask > budget:
        return WalkAway()
    if obs.bid is None:
        price = ask * rng.uniform(0.25, 0.40)
    else:
        price = obs.bid + (ask - obs.bid) * rng.uniform(0.20, 0.35)
    return _offer(obs, min(price, 0.8 * budget))


def smart(obs: Observation, rng: np.random.Generator) -> Action:
    """The published heuristic: small steps after a big drop, accepts at 0.55 of the budget."""
    ask, budget, deadline = obs.ask, obs.reservation, obs.own.get("deadline")
    if obs.bid is None:
        return _careful(obs, 0.4 * obs.opening_ask)
    if deadline is not None and obs.round >= deadline and ask <= budget:
        return Accept()
    if ask <= 0.55 * budget:
        return Accept()
    if obs.rounds_left <= 1:
        return WalkAway() if ask > 0.75 * budget else Accept()
    if deadline is not None and obs.round >= deadline - 1:
        return _offer(obs, min(0.95 * ask, 0.7 * budget))
    big_drop = obs.drop is not None and obs.drop > 0.05 * obs.opening_ask
    return _careful(obs, obs.bid + (0.02 if big_drop else 0.05) * budget)


def _careful(obs: Observation, price: float) -> Action:
    if obs.tells is not None and obs.tells.verbal_deception_cue > 0.4:
        price *= 0.92
    if capitulation_rate(obs.table.past) > 0.3:
        price *= 0.95
    return _offer(obs, min(max(price, 0.3 * obs.opening_ask), 0.7 * obs.reservation))


def aggressive(obs: Observation, rng: np.random.Generator) -> Action:
    """The published hard-liner: aims at 0.35 of the budget and leaves rather than pay much more."""
    target = 0.35 * obs.reservation
    if obs.bid is None:
        return _offer(obs, 0.7 * target)
    if obs.ask <= 1.1 * target:
        return Accept()
    if obs.rounds_left <= 1:
        return WalkAway()
    return _offer(obs, min(target, target * (0.7 + 0.05 * obs.round)))


def naive(obs: Observation, rng: np.random.Generator) -> Action:
    """The published soft buyer: bids 0.80, then 0.85 of the opening ask, then accepts.

    In the published tasks it can always pay; in other tasks it leaves if it cannot.
    """
    if obs.round >= 2:
        return Accept() if obs.ask <= obs.reservation else WalkAway()
    return _offer(obs, (0.80, 0.85)[obs.round] * obs.opening_ask)


def _offer(obs: Observation, price: float) -> Offer:
    """The legal bid next to `price`, from the smallest unit of money to the budget.

    Rounded down: `naive` bids exactly 0.85 of the ask, and any more would count as capitulation.
    """
    per_rupee = 10**obs.table.decimals
    steps = max(1, floor(min(price, obs.reservation) * per_rupee + 1e-6))
    return Offer(steps / per_rupee if obs.table.decimals else steps)
