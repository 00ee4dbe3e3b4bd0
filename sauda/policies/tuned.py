"""`tuned`: a buyer that is a linear rule of eleven numbers, found by `python -m sauda train tuned`.

It reads the numbers of the prompt, as the pilot does, and moves as the pilot does: it is a pilot
with one linear layer in the place of its networks.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from sauda.policies.pilot import FEATURES, MIDDLE, RELUCTANCE, SPREAD, Network, Pilot
from sauda.records.store import ROOT, load

FILE = "training/tuned.json"  # under artifacts/
CONSTANT = "constant"
# What the price, in limits of the buyer, and the wish to walk away are linear in.
PRICE = (
    CONSTANT, "useful moves left", "first ask", "ask", "last bid", "first move", "list price",
)  # fmt: skip
WALK = (CONSTANT, "ask", "list price", "round")


def rule(price: Mapping[str, float], walk: Mapping[str, float]) -> Pilot:
    """The buyer with these numbers, by feature; it walks away where the sum of `walk` is above 0.

    Raises ValueError for a feature that there is not.
    """
    weights, biases = np.zeros((2, len(FEATURES))), np.zeros(2)
    for row, numbers, scale in ((0, price, 100 / SPREAD), (1, walk, 1.0)):
        for name, number in numbers.items():
            if name == CONSTANT:
                biases[row] = scale * number
            elif name in FEATURES:
                weights[row, FEATURES.index(name)] = scale * number
            else:
                raise ValueError(f"no feature {name!r}; features are {', '.join(FEATURES)}")
    biases += (-MIDDLE / SPREAD, RELUCTANCE)  # what the network adds to its outputs
    linear = Network((weights,), (biases,))
    return Pilot(linear, linear)


@cache
def load_tuned() -> Pilot:
    """The rule with the committed numbers; ArtifactError, with its command, without them."""
    found = load(FILE, ROOT).data
    return rule(found.price, found.walk)
