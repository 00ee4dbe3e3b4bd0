"""The sellers of both families over arrays: n times `classic_seller` or `market_seller`.

`asks_at` and `hazards_at` are the open market's formulas for arrays of any shapes that broadcast;
the best response is computed with them. Rounds are counted from 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..classic import Terms
from ..market import (
    FULL_HAZARD_GAP,
    FULL_PROGRESS,
    LOW_BID,
    RIVAL_HAZARD_FACTOR,
    Stance,
    threshold_at,
)
from .rounding import rounded

OFFER, ACCEPT, WALK = range(3)  # kinds of a move
Paid = Sequence[tuple[np.ndarray, np.ndarray]]  # per deal: price, NaN without one; opening ask


class BatchTells(NamedTuple):
    """The tells that a scripted buyer reads; shape (n,)."""

    verbal_deception_cue: np.ndarray
    looks_away: np.ndarray  # bool: eye_contact is "avoidant"


@dataclass(frozen=True, slots=True)
class ClassicSellers:
    """n published sellers; `terms` holds arrays where they differ."""

    terms: Terms
    walk: np.ndarray  # draws, (rounds, n), as the next two
    late: np.ndarray
    deception: np.ndarray
    fakes: np.ndarray  # (rounds, n) bool: makes a fake concession
    takes_back: np.ndarray  # (rounds, n) bool: takes its fake concessions back

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moves of `classic_seller` at round `t`: kinds and asks, (n,) each.

        `asks` and `bids` have shape (t, n).
        """
        own, offer, last_ask = self.terms, bids[-1], asks[-1]
        walks = (self.walk[t - 1] < own.walk_probability * t / own.rounds) & (
            offer < 0.9 * own.reserve
        )
        accepts = offer >= own.accept_at * last_ask
        if t / own.rounds > 0.75:
            eager = (offer - own.reserve) / (own.anchor - own.reserve)
            in_haste = self.late[t - 1] < eager * t / own.rounds * own.late
            accepts |= (offer >= own.reserve) & in_haste
        ask = own.anchor * (1 - np.minimum(0.25, own.rate) * t)
        if own.persona == "deceptive":
            ask = np.where(self.fakes[t - 1], ask * 0.92, ask)
        elif own.persona == "impatient" and t <= 2:
            ask = ask * (1 - 0.08 * t)
        elif own.persona == "collaborative" and t > 1:
            ask = 0.7 * ask + 0.3 * (1.1 * own.cost + last_ask) / 2
        ask = rounded(np.maximum(ask, own.reserve), 2)
        if t > 1:
            ask = np.maximum(np.maximum(ask, 0.95 * (ask + offer) / 2), own.reserve)
            if own.persona == "deceptive":
                ask = np.where(self.takes_back[t - 1], np.maximum(ask, 1.03 * last_ask), ask)
            ask = rounded(ask, 2)
        accepts |= ask <= offer
        return np.where(walks, WALK, accepts * ACCEPT), ask

    def tells(self, t: int, asks: np.ndarray) -> BatchTells:
        """`classic_tells` with the reply of round `t`; `asks` are those before it, (t, n)."""
        own, cue = self.terms, np.zeros(asks.shape[1])
        pressed = 1 - (asks[-1] - own.reserve) / (own.anchor - own.reserve)
        urgency = np.minimum(1.0, own.inventory_pressure * t / own.rounds + 0.3 * pressed)
        if own.persona == "deceptive":
            cue = _clip(0.7 * urgency + 0.1 * self.deception[t - 1])
        looks_away = {"default": urgency >= 0.5, "impatient": np.full(cue.shape, t >= 3)}
        return BatchTells(cue, looks_away.get(own.persona, np.zeros(cue.shape, bool)))

    def remembering(self, paid: Paid) -> "ClassicSellers":
        """The sellers after the deals `paid`: they concede less to a buyer that paid too much."""
        return replace(
            self, terms=replace(self.terms, rate=self.terms.rate * (1 - 0.3 * capitulation(paid)))
        )


@dataclass(frozen=True, slots=True)
class MarketSellers:
    """n sellers of the open market; `stance` and its type hold arrays."""

    stance: Stance
    walk: np.ndarray  # draws, (rounds, n), as `cue` and `eye`
    cue: np.ndarray
    eye: np.ndarray
    bluffs: np.ndarray  # (rounds, n) bool: makes a false claim
    in_time: np.ndarray  # share conceded with time after each round, (rounds, n)

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moves of `market_seller` at round `t`: kinds and asks, (n,) each.

        `asks` and `bids` have shape (t, n).
        """
        stance, kind, bid = self.stance, self.stance.type, bids[-1]
        before = bids[:-1].max(axis=0) if t > 1 else LOW_BID * stance.opening
        best = np.maximum(before, bid) if t > 1 else bid
        ask = asks_at(stance.opening, stance.resting, kind.reciprocity, self.in_time[t - 1], best)
        ask = np.minimum(asks[-1], np.ceil(ask - 1e-9))
        threshold = threshold_at(stance, t, ask)
        impatience = np.where(stance.rival, RIVAL_HAZARD_FACTOR, 1.0) * kind.impatience
        hazard = hazards_at(stance.opening, impatience, bid, before, threshold)
        return np.where(bid >= threshold, ACCEPT, (self.walk[t - 1] < hazard) * WALK), ask

    def tells(self, t: int, asks: np.ndarray) -> BatchTells:
        """`market_tells` with the reply of round `t`; `asks` is not used."""
        bluffing = self.bluffs[t - 1]
        cue = _clip(0.2 + 0.5 * bluffing + 0.15 * self.cue[t - 1])
        return BatchTells(cue, bluffing + 0.4 * self.eye[t - 1] > 0.6)


def asks_at(
    opening: np.ndarray,
    resting: np.ndarray,
    reciprocity: np.ndarray,
    in_time: np.ndarray,
    best_bid: np.ndarray,
) -> np.ndarray:
    """`ask_at` without rounding up; `in_time` is the share conceded with time."""
    low = LOW_BID * opening
    moved = np.minimum(1.0, np.maximum(0.0, (best_bid - low) / (opening - low)))
    return opening - (opening - resting) * ((1 - reciprocity) * in_time + reciprocity * moved)


def hazards_at(
    opening: np.ndarray,
    impatience: np.ndarray,
    bid: np.ndarray,
    best_before: np.ndarray,
    threshold: np.ndarray,
) -> np.ndarray:
    """`hazard_at`; `impatience` includes the factor for a rival."""
    progress = np.maximum(0.0, bid - best_before) / (FULL_PROGRESS * opening)
    distance = (threshold - bid) / (FULL_HAZARD_GAP * opening)
    stalled = 1 - np.minimum(1.0, progress)
    return impatience * stalled * np.minimum(1.0, np.maximum(0.0, distance))


def capitulation(paid: Paid) -> np.ndarray | float:
    """`capitulation_rate` of the deals `paid`; shape (n,), or 0.0 without deals."""
    recent = paid[-10:]
    return sum(price > 0.85 * ask for price, ask in recent) / len(recent) if recent else 0.0


def _clip(level: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, np.maximum(0.0, level))
