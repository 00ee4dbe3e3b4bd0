"""The five archetypes of scripted labs: the parameters that `opponents.scripted_lab` plays by."""

from collections.abc import Mapping
from typing import NamedTuple


class Character(NamedTuple):
    """The parameters of an archetype."""

    margin: float  # least gain of a trade, in credits
    bid: float  # share of its own gain that it offers for a block
    ask: float  # credits that it asks for each hour of a spare block
    greed: float  # ask of a counter-offer, as a multiple of the missing gain
    eagerness: float  # chance in a round that it opens a trade
    proposes: bool  # proposes coalitions
    commits: bool  # commits spare blocks to active coalitions


CHARACTERS: Mapping[str, Character] = {
    "cooperative": Character(1.0, 0.45, 1.0, 1.1, 0.9, True, True),
    "selfish": Character(8.0, 0.15, 4.0, 1.5, 0.6, False, False),
    "deadline_panicked": Character(4.0, 0.30, 1.5, 1.1, 0.9, True, True),
    "deceptive": Character(5.0, 0.20, 3.0, 1.4, 0.8, True, False),
    "retaliatory": Character(4.0, 0.35, 2.0, 1.2, 0.7, False, True),
}

# Credits of margin, by archetype and the last signal of the other lab.
SWAY: Mapping[str, Mapping[str, float]] = {
    "cooperative": {"urgency": -1.0, "fairness": -0.5, "coalition": -0.5},
    "selfish": {"urgency": 2.0},
    "deadline_panicked": {"threat": -2.0, "urgency": 1.0},
    "deceptive": {"urgency": 2.0, "fairness": 1.0},
    "retaliatory": {"threat": 3.0, "fairness": -1.0},
}
