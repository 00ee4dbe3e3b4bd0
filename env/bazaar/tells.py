"""Tells: observable signals in a seller's manner that depend on its hidden values.

Twelve signals are published, three more concern the item's condition; levels lie in [0, 1]. The
classic sellers' manner follows the published formulas, in which most of the variance comes from the
round number. That fault stays, because the published buyers' moves depend on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tells:
    """The signals of one move; the defaults are neutral."""

    verbal_urgency: float = 0.0
    verbal_confidence: float = 0.5
    verbal_deception_cue: float = 0.0
    price_rounding: str = "round"  # or precise
    offer_speed: str = "normal"  # or instant, deliberate
    concession_pattern: str = "steady"  # or erratic, front_loaded, stalling
    fidget_level: float = 0.0
    eye_contact: str = "steady"  # or avoidant, intense
    posture: str = "neutral"  # or leaning_in, leaning_back, arms_crossed
    repeat_phrases: int = 0
    topic_changes: int = 0
    emotional_escalation: float = 0.0
    condition_score: float | None = None  # None if nothing was said about the condition
    depreciation_score: float | None = None
    condition_label: str = "unknown"


def classic_tells(table: Any, seller: Mapping[str, Any]) -> Tells:
    """The published manner of a classic seller as it replies to the bid of this round.

    `seller` holds its "terms" and its "chance": for each round, draws in the order of
    `classic.seller.DRAWS`, of which the last six are standard normal. The noise has a standard
    deviation of 0.1.
    """
    terms, t, asks = seller["terms"], table.round, table.asks
    spread = terms.anchor - terms.reserve
    pressed = 1 - (asks[-1] - terms.reserve) / spread if spread else 1.0
    u = min(1.0, terms.inventory_pressure * t / terms.rounds + 0.3 * pressed)
    stalling = len(asks) > 2 and abs(asks[-1] - asks[-2]) < 1.0
    return _MANNERS[terms.persona](u, t, stalling, *seller["chance"][t - 1][-6:])


# Each function takes the true urgency u, the round t, whether the ask stalls, and six standard
# normal draws: for urgency, confidence, deception, fidget, emotion and topics.


def _default(u, t, stalling, urgency, confidence, deception, fidget, emotion, topics) -> Tells:
    return Tells(
        verbal_urgency=_clip(0.6 * u + 0.1 * urgency),
        verbal_confidence=_clip(0.6 - 0.3 * u + 0.1 * confidence),
        fidget_level=_clip(0.4 * u + 0.1 * fidget),
        concession_pattern="stalling" if stalling else "steady",
        eye_contact="steady" if u < 0.5 else "avoidant",
        repeat_phrases=int(stalling),
    )


def _deceptive(u, t, stalling, urgency, confidence, deception, fidget, emotion, topics) -> Tells:
    return Tells(
        verbal_urgency=_clip(0.1 + 0.015 * urgency),
        verbal_confidence=_clip(0.3 + 0.5 * u + 0.1 * confidence),
        verbal_deception_cue=_clip(0.7 * u + 0.1 * deception),
        price_rounding="precise",
        offer_speed="instant",
        concession_pattern="stalling" if stalling else "erratic",
        fidget_level=_clip(0.6 * u + 0.1 * fidget),
        eye_contact="intense",
        posture="leaning_in",
        repeat_phrases=int(stalling),
        topic_changes=max(0, int(3 * u + 0.5 * topics)),
    )


def _impatient(u, t, stalling, urgency, confidence, deception, fidget, emotion, topics) -> Tells:
    return Tells(
        verbal_urgency=_clip(0.4 + 0.1 * t + 0.1 * urgency),
        verbal_confidence=_clip(0.7 - 0.05 * t + 0.1 * confidence),
        offer_speed="instant",
        concession_pattern="stalling" if stalling else "front_loaded",
        fidget_level=_clip(0.3 + 0.08 * t + 0.1 * fidget),
        eye_contact="intense" if t < 3 else "avoidant",
        posture="arms_crossed" if t > 2 else "neutral",
        repeat_phrases=int(stalling),
        emotional_escalation=_clip(0.12 * t + 0.1 * emotion),
    )


def _collaborative(
    u, t, stalling, urgency, confidence, deception, fidget, emotion, topics
) -> Tells:
    return Tells(
        verbal_urgency=_clip(0.8 * u + 0.1 * urgency),
        verbal_confidence=_clip(0.5 + 0.1 * confidence),
        offer_speed="deliberate",
        concession_pattern="stalling" if stalling else "steady",
        fidget_level=_clip(0.3 * u + 0.1 * fidget),
        posture="leaning_in",
        repeat_phrases=int(stalling),
    )


def _clip(level: float) -> float:
    return 0.0 if level < 0.0 else 1.0 if level > 1.0 else level


_MANNERS = {
    "default": _default,
    "deceptive": _deceptive,
    "impatient": _impatient,
    "collaborative": _collaborative,
}
