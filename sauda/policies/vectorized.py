"""`BATCH`: the scripted buyers of BUYERS over arrays, by name; they make the same moves."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from env import (
    ACCEPT,
    OFFER,
    WALK,
    BatchView,
    Buyers,
    Moves,
    Policy,
    rounded,
)
from env import batch_form as form_of_env
from sauda.policies import BUYERS
from sauda.policies.bazaar import Wait, leave, random, tit_for_tat
from sauda.policies.expert import (
    BLUFF,
    HABITS,
    JUST_SHORT,
    LIST_PRICE_HOLD,
    RIVALS_ACCEPT,
    SMALLER_FALL,
    UNKNOWN,
    Habits,
    expert,
)
from sauda.policies.pilot import Pilot
from sauda.policies.unsteady import BatchUnsteady, Unsteady


def bids(view: BatchView, price: np.ndarray, leaves: np.ndarray | bool = False) -> Moves:
    """`bazaar.bid` over arrays, or a walk where `leaves`."""
    step = 10**-view.decimals
    fits = np.minimum(np.maximum(rounded(price, view.decimals), step), view.budget)
    return np.where(leaves | (view.budget < step), WALK, OFFER), fits


def otherwise(accepts: np.ndarray, moves: Moves) -> Moves:
    """Acceptances where `accepts`, else `moves`."""
    kind, price = moves
    return np.where(accepts, ACCEPT, kind), price


@dataclass(frozen=True)
class BatchWait:
    """`Wait` over arrays, with the same settings."""

    opening: float = 0.48
    dodge: float = 0.01

    def __call__(self, view: BatchView) -> Moves:
        settled = bool(view.round) and view.drop == 0
        accepts = (view.ask <= view.budget) & (settled | (view.rounds_left <= 1))
        share = self.opening + self.dodge * (view.round % 2)
        return otherwise(accepts, bids(view, np.minimum(share * view.opening_ask, view.budget)))


def batch_tit_for_tat(view: BatchView) -> Moves:
    """`tit_for_tat` as a buyer, over arrays."""
    limit, last = np.minimum(view.budget, view.opening_ask), view.rounds_left <= 1
    price = view.bid + np.maximum(0, view.drop) if view.round else 0.3 * limit
    price = np.minimum(price, limit)
    accepts = (view.ask <= price) | (last & (view.ask <= view.budget))
    return otherwise(accepts, bids(view, price, leaves=last))


def batch_random(view: BatchView) -> Moves:
    """`random` as a buyer, over arrays."""
    draw, share = view.chance()
    accepts = (draw >= 0.1) & (draw < 0.2) & (view.ask <= view.budget)
    price = share * np.minimum(view.budget, view.ask)
    return otherwise(accepts, bids(view, price, leaves=draw < 0.1))


def batch_leave(view: BatchView) -> Moves:
    """`leave` over arrays."""
    return np.full(len(view.ask), WALK), np.full(len(view.ask), np.nan)


def batch_expert(view: BatchView) -> Moves:
    """`expert` over arrays."""
    price = np.maximum(_price(view), view.bid if view.round else 0)
    per_rupee = 10**view.decimals
    price = np.ceil(price * per_rupee - 1e-6) / per_rupee
    return otherwise(view.ask <= np.minimum(price, view.budget), bids(view, price))


def _price(view: BatchView) -> np.ndarray:
    habits = HABITS.get(view.seller_type, UNKNOWN)
    next_ask = _next_ask(view, habits)
    price = np.minimum(_hold(view, habits), view.ask)
    if view.round:
        refused = view.bid >= rounded(habits.enough * view.asks[-2], 6)
        resting = np.where(refused, view.ask, habits.enough * view.ask)
        price = np.where(_rests(view, habits), resting, price)
    pressed = view.contested & (next_ask <= RIVALS_ACCEPT * view.reservation)
    return np.where(pressed | (_useful_moves(view) <= 1), next_ask, price)


def _hold(view: BatchView, habits: Habits) -> np.ndarray:
    opening = view.opening_ask
    usual = habits.floor * opening * (1.0 if view.deals > 1 else habits.enough)
    hold = LIST_PRICE_HOLD * opening
    if view.round:
        near = np.maximum(hold, JUST_SHORT * (view.ask - view.drop))
        hold = np.where(view.tells().looks_away, near, hold)
    return np.where(opening >= view.reservation, hold, usual)


def _next_ask(view: BatchView, habits: Habits) -> np.ndarray:
    ask, opening = view.ask, view.opening_ask
    if not view.round:
        return ask
    foreseen = np.minimum(np.maximum(ask - view.drop, habits.floor * opening), ask)
    bluffed = (view.seller_type == "deceptive") & (view.drop > BLUFF * view.asks[-2])
    return np.where((opening >= view.reservation) | bluffed, ask, foreseen)


def _rests(view: BatchView, habits: Habits) -> np.ndarray:
    drop = view.drop
    if not habits.equal_falls or len(view.asks) <= 2:
        return drop == 0
    smaller = drop < SMALLER_FALL * (view.asks[-3] - view.asks[-2])
    return np.where(drop > 0, smaller, drop == 0)


def _useful_moves(view: BatchView) -> np.ndarray:
    left, deadline = view.rounds_left, view.own.deadline
    return np.where(view.round >= deadline, left, np.minimum(left, deadline - view.round))


_FORMS = {
    expert: batch_expert,
    tit_for_tat: batch_tit_for_tat,
    random: batch_random,
    leave: batch_leave,
}


def batch_form(policy: Policy) -> Buyers | None:
    """`policy` over arrays; None if it has no such form, as a language model."""
    if isinstance(policy, Wait):
        return BatchWait(policy.opening, policy.dodge)
    if isinstance(policy, Pilot):
        return policy.batch
    if isinstance(policy, Unsteady):
        steady = batch_form(policy.policy)
        return steady and BatchUnsteady(steady, policy.error)
    return _FORMS.get(policy) or form_of_env(policy)


# A buyer that is not in it is played one game at a time.
BATCH: Mapping[str, Buyers] = MappingProxyType(
    {name: form for name, policy in BUYERS.items() if (form := batch_form(policy))}
)
