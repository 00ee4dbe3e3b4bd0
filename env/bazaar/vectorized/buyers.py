"""The scripted buyers of `classic.py` and `TimeDependent` over arrays; the same moves."""

from dataclasses import dataclass

import numpy as np

from ...core import Policy
from ..classic import aggressive, naive, rule_based, smart
from ..market import TimeDependent
from .rounding import batch_conceded, rounded
from .sellers import ACCEPT, OFFER, WALK
from .types import BatchView, Buyers, Moves


def batch_rule_based(view: BatchView) -> Moves:
    """`rule_based` over arrays."""
    ask, budget, (draw, _) = view.opening_ask, view.reservation, view.chance()
    if view.round:
        price = view.bid + (ask - view.bid) * _uniform(0.20, 0.35, draw)
    else:
        price = ask * _uniform(0.25, 0.40, draw)
    kind = np.where(ask <= 0.5 * budget, ACCEPT, (ask > budget) * WALK)
    return kind, _offer(view, np.minimum(price, 0.8 * budget))


def _uniform(low: float, high: float, draw: np.ndarray) -> np.ndarray:
    return low + (high - low) * draw


def batch_smart(view: BatchView) -> Moves:
    """`smart` over arrays."""
    ask, budget, deadline = view.ask, view.reservation, view.own.deadline
    if not view.round:
        return OFFER, _careful(view, 0.4 * view.opening_ask)
    late = view.round >= deadline
    step = np.where(view.drop > 0.05 * view.opening_ask, 0.02, 0.05)
    price = _careful(view, view.bid + step * budget)
    closing = _offer(view, np.minimum(0.95 * ask, 0.7 * budget))
    last = np.where(ask > 0.75 * budget, WALK, ACCEPT)
    kind = np.where((late & (ask <= budget)) | (ask <= 0.55 * budget), ACCEPT, OFFER)
    kind = np.where((kind == OFFER) & (view.rounds_left <= 1), last, kind)
    return kind, np.where(view.round >= deadline - 1, closing, price)


def _careful(view: BatchView, price: np.ndarray) -> np.ndarray:
    if view.round:
        price = np.where(view.tells().verbal_deception_cue > 0.4, price * 0.92, price)
    price = np.where(view.capitulation > 0.3, price * 0.95, price)
    price = np.maximum(price, 0.3 * view.opening_ask)
    return _offer(view, np.minimum(price, 0.7 * view.reservation))


def batch_aggressive(view: BatchView) -> Moves:
    """`aggressive` over arrays."""
    target = 0.35 * view.reservation
    if not view.round:
        return OFFER, _offer(view, 0.7 * target)
    kind = np.where(view.ask <= 1.1 * target, ACCEPT, (view.rounds_left <= 1) * WALK)
    return kind, _offer(view, np.minimum(target, target * (0.7 + 0.05 * view.round)))


def batch_naive(view: BatchView) -> Moves:
    """`naive` over arrays."""
    if view.round >= 2:
        return np.where(view.ask <= view.reservation, ACCEPT, WALK), view.ask
    return OFFER, _offer(view, (0.80, 0.85)[view.round] * view.opening_ask)


def _offer(view: BatchView, price: np.ndarray) -> np.ndarray:
    per_rupee = 10**view.decimals
    steps = np.floor(np.minimum(price, view.reservation) * per_rupee + 1e-6)
    return np.maximum(1, steps) / per_rupee


@dataclass(frozen=True)
class BatchTimeDependent:
    """`TimeDependent.buy` over arrays, with the same settings."""

    exponent: float
    opening: float = 0.3

    def __call__(self, view: BatchView) -> Moves:
        ask, budget, left = view.ask, view.budget, view.rounds_left
        limit, step = np.minimum(budget, view.opening_ask), 10**-view.decimals
        best = self.opening * limit
        share = batch_conceded(view.round, view.rounds, self.exponent)
        price = rounded(np.minimum(best + share * (limit - best), limit), view.decimals)
        price = np.maximum(view.bid if view.round else step, price)
        accepts = (ask <= np.minimum(price, budget)) | ((left <= 1) & (ask <= limit))
        leaves = (budget < step) | ~accepts & (left <= 1)
        return np.where(leaves, WALK, accepts * ACCEPT), price


_FORMS = {
    rule_based: batch_rule_based,
    smart: batch_smart,
    aggressive: batch_aggressive,
    naive: batch_naive,
}


def batch_form(policy: Policy) -> Buyers | None:
    """`policy` over arrays; None if it has no such form."""
    if isinstance(policy, TimeDependent):
        return BatchTimeDependent(policy.exponent, policy.opening)
    return _FORMS.get(policy)
