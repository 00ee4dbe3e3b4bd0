"""Wrappers around a policy: the published steering, number for number, and a small honest one.

A wrapper is a pure function of an observation and a proposed action; `wrapper(obs, proposal)` gives
the action that is taken and how it differs. A null model under the same wrapper shows what the
wrapper does alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from env import Accept, IllegalAction, Observation, Offer, Tells, WalkAway

Action = Offer | Accept | WalkAway
Proposal = Action | IllegalAction  # the error stands for a completion without a legal move


@dataclass(frozen=True)
class Steered:
    """The action that is taken, and how it differs from the proposal, a sentence per change."""

    action: Action
    changes: tuple[str, ...] = ()


class Wrapper(Protocol):
    """Raises the proposal itself where it is an IllegalAction that the wrapper does not repair."""

    def __call__(self, obs: Observation, proposal: Proposal) -> Steered: ...


def keep(obs: Any, proposal: Any) -> Steered:
    """No wrapper: the proposal itself, of any game."""
    if isinstance(proposal, IllegalAction):
        raise proposal
    return Steered(proposal)


def honest(obs: Observation, proposal: Proposal) -> Steered:
    """Never retreats, never passes its limit or the other side's price; keeps the move otherwise.

    Taking a price beyond the limit becomes an offer at the limit, and an offer that meets the other
    side's price takes it. The invariants come last, as a maximum; no move stays no move.
    """
    if isinstance(proposal, IllegalAction | WalkAway):
        return keep(obs, proposal)
    sells = obs.agent == "seller"
    sign = -1 if sells else 1  # a seller is a buyer with the axis turned round
    standing, last = (obs.table.bids, obs.table.asks) if sells else (obs.table.asks, obs.table.bids)
    theirs = sign * standing[-1] if standing else math.inf
    limit = sign * _limit(obs)
    accepts = isinstance(proposal, Accept)
    if accepts and theirs <= limit:
        return Steered(proposal)
    changes = ["does not take a price beyond its limit"] if accepts else []
    price = theirs if accepts else sign * proposal.price
    if price > limit:
        price = limit
        changes += [] if accepts else ["held to its limit"]
    if last and price < sign * last[-1]:
        price = sign * last[-1]
        changes.append("does not retreat")
    if price >= theirs and theirs <= limit:
        return Steered(Accept(), (*changes, "takes a price that it meets"))
    if not changes:
        return Steered(proposal)
    if not price * sign > 0:
        return Steered(WalkAway(), (*changes, "has nothing to offer"))
    return Steered(Offer(price * sign), tuple(changes))


def _limit(obs: Observation) -> float:
    """The most a buyer, or the least a seller, may name: its limit as this table counts money."""
    scale = 10**obs.table.decimals
    if obs.agent == "seller":
        units = math.ceil(obs.reservation * scale)
    else:
        units = math.floor(obs.budget * scale)
    return units / scale if obs.table.decimals else units


# The published priors, by the personality that the classic game discloses.
URGENCY: Mapping[str, float] = {
    "default": 0.50, "deceptive": 0.45, "impatient": 0.68, "collaborative": 0.40
}  # fmt: skip
FLEXIBILITY: Mapping[str, float] = {
    "default": 0.50, "deceptive": 0.30, "impatient": 0.65, "collaborative": 0.72
}  # fmt: skip
SPEED: Mapping[str, float] = {"instant": 0.15, "normal": 0.05, "deliberate": -0.05}
URGENT_PATTERN: Mapping[str, float] = {
    "front_loaded": 0.15, "erratic": 0.08, "stalling": -0.10, "steady": 0.0
}  # fmt: skip
FLEXIBLE_PATTERN: Mapping[str, float] = {
    "front_loaded": 0.22, "steady": 0.08, "erratic": 0.03, "stalling": -0.18
}  # fmt: skip
FALLBACK = 0.3  # of the budget: the published bid in place of a completion without a move


@dataclass(frozen=True)
class Band:
    """The published steering's estimate of a position; prices in rupees."""

    nash: float
    floor: float
    ceiling: float
    accept_threshold: float


def steer(obs: Observation, proposal: Proposal) -> Steered:
    """The published post-processor of the buyer's move, in its order; the last step is its guard.

    A price is cut to the budget, as the published game did with every bid. Ours alone: a message
    stays only with the price that it was said with (the published one kept it within 10 %).
    """
    if obs.agent == "seller":
        raise ValueError("the published steering wraps a buyer, and this is a seller")
    changes: tuple[str, ...] = ()
    if isinstance(proposal, IllegalAction):
        proposal = Offer(FALLBACK * obs.budget)
        changes = ("no legal move: bids 0.3 of the budget",)
    if obs.budget <= 0 or obs.ask <= 0:
        return Steered(proposal, changes)
    steered = _steer(obs, proposal, band(obs))
    if isinstance(steered, Offer):
        steered = replace(steered, price=min(obs.priced(steered.price), _limit(obs)))
    return Steered(*_log_changes(proposal, steered, changes))


def _steer(obs: Observation, proposal: Action, limits: Band) -> Action:
    left = obs.rounds_left
    if isinstance(proposal, Accept):
        if obs.ask <= limits.accept_threshold or left <= 1:
            return proposal
        return Offer(_clip(limits.nash, limits.floor, limits.ceiling))
    if isinstance(proposal, WalkAway):
        if left <= 1 and obs.ask > 0.98 * obs.budget:
            return proposal
        if obs.ask <= limits.accept_threshold and left <= 2:
            return Accept()
        start = limits.floor if obs.bid is None else obs.bid
        price = start + max(1.0, 0.06 * obs.ask)
        return Offer(_clip(price, limits.floor, limits.ceiling))
    if left <= 1 and obs.ask <= limits.accept_threshold:
        return Accept()
    return _guard(obs, _clip(proposal.price, limits.floor, limits.ceiling), limits)


def _guard(obs: Observation, price: float, limits: Band) -> Offer:
    """The monotonic guard for proposed offers; an offer that replaces a walk may retreat."""
    last = obs.bid
    if last is not None and price < last:
        step = max(1.0, 0.15 * max(0.0, obs.ask - last))
        price = max(last, min(limits.ceiling, last + step))
    return Offer(price)


def band(obs: Observation) -> Band:
    """The published estimate of a position: the target price and what lies around it."""
    ask, budget = obs.ask, obs.budget
    late = _clip(obs.round / obs.table.rounds, 0, 1)
    urgency, flexibility = _read(obs)
    cost = _clip(ask * (0.58 - 0.18 * urgency + 0.08 * (1 - flexibility)), 1, 0.90 * ask)
    power = _clip(0.35 + 0.40 * urgency + 0.20 * flexibility - 0.30 * late, 0.20, 0.85)
    nash = _clip((1 - power) * budget + power * cost, 1, min(0.95 * budget, 1.02 * ask))
    slack = 0.28 + 0.45 * late + 0.12 * (1 - urgency)
    threshold = min(nash + (budget - nash) * slack, 0.95 * budget)
    floor = max(1.0, min(0.85 * nash, 0.65 * ask, 0.85 * budget))
    ceiling = min(threshold, ask * (0.90 + 0.08 * late))
    if obs.rounds_left <= 2:
        floor = max(floor, 0.87 * ask)
        ceiling = max(ceiling, floor)
    return Band(nash, min(floor, ceiling), ceiling, threshold)


def _read(obs: Observation) -> tuple[float, float]:
    """The seller's urgency and flexibility, posterior: 0.55 of the prior, 0.45 of the signal."""
    tells = obs.tells or Tells()
    persona = obs.table.seller_type if obs.table.seller_type in URGENCY else "default"
    doubt = 1 - (tells.verbal_confidence or 0.5)  # the published code reads 0 as 0.5
    urgency = _clip(
        0.35 * tells.verbal_urgency + 0.25 * tells.fidget_level + 0.20 * tells.emotional_escalation
        + 0.10 * tells.verbal_deception_cue + 0.10 * doubt
        + SPEED.get(tells.offer_speed, 0.0) + URGENT_PATTERN.get(tells.concession_pattern, 0.0),
        0, 1,
    )  # fmt: skip
    conceded = _clip((obs.drop or 0.0) / max(obs.ask, 1.0), 0, 1)
    flexibility = _clip(
        0.45 * conceded + 0.20 * doubt + 0.20 * tells.verbal_urgency
        + 0.15 * (1 - tells.verbal_deception_cue)
        + FLEXIBLE_PATTERN.get(tells.concession_pattern, 0.0),
        0, 1,
    )  # fmt: skip
    return (
        _clip(0.55 * URGENCY[persona] + 0.45 * urgency, 0, 1),
        _clip(0.55 * FLEXIBILITY[persona] + 0.45 * flexibility, 0, 1),
    )


def _log_changes(
    proposal: Action, steered: Action, changes: tuple[str, ...]
) -> tuple[Action, tuple[str, ...]]:
    """`steered` without words that no longer fit it, and the log with what was changed."""
    if type(proposal) is not type(steered):
        names = {Offer: "an offer", Accept: "an acceptance", WalkAway: "a walk"}
        became = f"{names[type(proposal)]} became {names[type(steered)]}"
        return replace(steered, message=""), (*changes, became)
    if isinstance(steered, Offer) and steered.price != proposal.price:
        return Offer(steered.price), (*changes, f"price {proposal.price:g} → {steered.price:g}")
    return replace(steered, message=proposal.message), changes


def _clip(number: float, low: float, high: float) -> float:
    return max(low, min(high, number))


WRAPPERS: Mapping[str, Wrapper] = {"steering": steer, "honest": honest}
