"""The same sellers with other signals: candid, neutral and misleading ones.

A seller's signals are its claims and its manner. They change none of its prices, so whoever reads
them plays other games and whoever does not plays the same ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from env import CLAIMS, Instance, Table, Task, Tells, claim_at

CANDID, NEUTRAL, MISLEADING = MODES = ("candid", "neutral", "misleading")
SILENT = 1.0  # the draw of a round in which no claim is considered
QUIET = (0.0,) * 7  # the noise of a manner that shows its causes as they are
LEVELS = (
    "verbal_urgency", "verbal_confidence", "verbal_deception_cue", "fidget_level",
    "emotional_escalation",
)  # fmt: skip
# The two words that an open-market seller's signal may have, each by the other.
OPPOSITE: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "price_rounding": {"precise": "round", "round": "precise"},
        "offer_speed": {"instant": "normal", "normal": "instant"},
        "eye_contact": {"avoidant": "steady", "steady": "avoidant"},
        "posture": {"leaning_in": "neutral", "neutral": "leaning_in"},
    }
)


def signalling(task: Task, mode: str) -> Task:
    """An open-market `task` whose sellers signal in one of MODES; their prices are the same.

    Candid sellers claim only what is true, and their manner shows its causes without noise. Neutral
    ones claim nothing and show no manner. Misleading ones claim only what is false, and their
    manner shows the opposite.
    """
    manner = task.env.manner
    shown = {CANDID: manner, NEUTRAL: None, MISLEADING: partial(opposite, manner)}[mode]
    draw = partial(_drawn, task.env.draw, mode)
    return replace(task, env=replace(task.env, draw=draw, manner=shown))


def _drawn(
    draw: Callable[[np.random.Generator], Sequence[Instance]], mode: str, rng: np.random.Generator
) -> tuple[Instance, ...]:
    return tuple(
        replace(deal, seller={**deal.seller, **_signals(deal.seller, mode)}) for deal in draw(rng)
    )


def _signals(own: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """The seller's stance and draws, in which each round's claim is as `mode` has it."""
    stance = own["stance"]
    willing = replace(stance, type=replace(stance.type, bluff_rate=1.0))
    chance = []
    for t, row in enumerate(own["chance"], start=1):
        walk, _, _, _, line, *_ = row
        kind = None if mode == NEUTRAL else _claim(willing, own["chance"], t, mode == CANDID)
        speaks, draw = (SILENT, 0.0) if kind is None else (0.0, (kind + 0.5) / len(CLAIMS))
        chance.append((walk, speaks, draw, 0.0, line, *QUIET))
    return {"stance": willing, "chance": tuple(chance)}


def _claim(stance: Any, chance: Sequence[Sequence[float]], t: int, true: bool) -> int | None:
    """The index in CLAIMS of a claim of round `t` that is true or false; None without one.

    The search begins at another claim each round, so that sellers vary what they say.
    """
    for step in range(len(CLAIMS)):
        kind = (t + step) % len(CLAIMS)
        walk, _, _, _, *rest = chance[t - 1]
        tried = list(chance)
        tried[t - 1] = (walk, 0.0, (kind + 0.5) / len(CLAIMS), 0.0, *rest)
        if claim_at({"stance": stance, "chance": tried}, t)[1] == true:
            return kind
    return None


def opposite(
    manner: Callable[[Table, Mapping[str, Any]], Tells], table: Table, seller: Mapping[str, Any]
) -> Tells:
    """A manner that shows low for high and each word for its opposite."""
    shown = manner(table, seller)
    levels = {name: 1 - getattr(shown, name) for name in LEVELS}
    words = {name: words[getattr(shown, name)] for name, words in OPPOSITE.items()}
    return replace(shown, **levels, **words)
