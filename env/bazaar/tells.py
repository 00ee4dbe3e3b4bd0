"""What a seller's manner gives away: twelve published signals and three on the item's condition.

Scores lie in [0, 1]. The classic sellers' manner follows the published formulas, in which most of
the variance is the round number (a fault that stays, because buyers' moves depend on it).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tells:
    """One reading of the seller; the defaults are those of a seller who shows nothing."""

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
    condition_score: float | None = None  # None where nothing was said of the condition
    depreciation_score: float | None = None
    condition_label: str = "unknown"


def classic_tells(table: Any, seller: Mapping[str, Any]) -> Tells:
    """The published manner of a classic seller, before it answers the bid of this round.

    `seller` holds its "terms" and its "chance": for each round, draws in the order of
    `classic_seller.DRAWS`, of which the last six are standard normal.
    """
    terms, t = seller["terms"], table.round
    spread = terms.anchor - terms.reserve
    pressed = 1 - (table.asks[-1] - terms.reserve) / spread if spread else 1.0
    u = min(1.0, terms.inventory_pressure * t / terms.rounds + 0.3 * pressed)
    *_, urgency, confidence, deception, fidget, emotional, topic = seller["chance"][t - 1]
    signals = _MANNERS[terms.persona](u, t)
    asks = table.asks
    stalling = len(asks) > 2 and abs(asks[-1] - asks[-2]) < 1.0
    return Tells(
        verbal_urgency=_noisy(signals["urgency"], urgency, signals.get("urgency_noise", 0.1)),
        verbal_confidence=_noisy(signals["confidence"], confidence),
        verbal_deception_cue=_noisy(signals.get("deception"), deception),
        price_rounding=signals.get("rounding", "round"),
        offer_speed=signals["speed"],
        concession_pattern="stalling" if stalling else signals["pattern"],
        fidget_level=_noisy(signals["fidget"], fidget),
        eye_contact=signals["eyes"],
        posture=signals["posture"],
        repeat_phrases=int(stalling),
        topic_changes=max(0, int(signals["topics"] + 0.5 * topic)) if "topics" in signals else 0,
        emotional_escalation=_noisy(signals.get("emotional"), emotional),
    )


def _noisy(mean: float | None, draw: float, sd: float = 0.1) -> float:
    return 0.0 if mean is None else min(1.0, max(0.0, mean + sd * draw))


def _default(u: float, t: int) -> dict[str, Any]:
    return {
        "urgency": 0.6 * u,
        "confidence": 0.6 - 0.3 * u,
        "fidget": 0.4 * u,
        "eyes": "steady" if u < 0.5 else "avoidant",
        "posture": "neutral",
        "speed": "normal",
        "pattern": "steady",
    }


def _deceptive(u: float, t: int) -> dict[str, Any]:
    return {
        "urgency": 0.1,
        "urgency_noise": 0.015,  # 0.15 of a noise whose standard deviation is 0.1
        "confidence": 0.3 + 0.5 * u,
        "deception": 0.7 * u,
        "fidget": 0.6 * u,
        "eyes": "intense",
        "posture": "leaning_in",
        "rounding": "precise",
        "speed": "instant",
        "pattern": "erratic",
        "topics": 3 * u,
    }


def _impatient(u: float, t: int) -> dict[str, Any]:
    return {
        "urgency": 0.4 + 0.1 * t,
        "confidence": 0.7 - 0.05 * t,
        "fidget": 0.3 + 0.08 * t,
        "emotional": 0.12 * t,
        "eyes": "intense" if t < 3 else "avoidant",
        "posture": "arms_crossed" if t > 2 else "neutral",
        "speed": "instant",
        "pattern": "front_loaded",
    }


def _collaborative(u: float, t: int) -> dict[str, Any]:
    return {
        "urgency": 0.8 * u,
        "confidence": 0.5,
        "fidget": 0.3 * u,
        "eyes": "steady",
        "posture": "leaning_in",
        "speed": "deliberate",
        "pattern": "steady",
    }


_MANNERS = {
    "default": _default,
    "deceptive": _deceptive,
    "impatient": _impatient,
    "collaborative": _collaborative,
}
