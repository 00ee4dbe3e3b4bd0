"""The pilot's network: the numbers of a position in, a price and a chance to walk away out.

It is run by numpy in double precision, so that a batch and a single game make the same moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MIDDLE, SPREAD = 60.0, 40.0  # of the price in percent: what an output of 0 and a change of 1 mean
RELUCTANCE = 4.0  # logit of walking away at an output of 0, negated: at first it hardly walks


class Intent(NamedTuple):
    """What the network wants in n positions; arrays of shape (n,)."""

    price: np.ndarray  # percent of the own limit, before any rounding
    walk: np.ndarray  # logit of walking away


@dataclass(frozen=True, eq=False)
class Network:
    """A multilayer perceptron with tanh between its layers."""

    weights: tuple[np.ndarray, ...]  # (outputs, inputs) of each layer
    biases: tuple[np.ndarray, ...]  # (outputs,)

    def __call__(self, inputs: np.ndarray) -> Intent:
        """The intents at `inputs` of shape (n, features)."""
        values, last = inputs, len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight.T + bias
            values = values if i == last else np.tanh(values)
        return Intent(MIDDLE + SPREAD * values[:, 0], values[:, 1] - RELUCTANCE)

    @property
    def parameters(self) -> int:
        return sum(part.size for part in (*self.weights, *self.biases))

    def as_lists(self) -> dict[str, list]:
        """Its numbers as an artifact holds them."""
        return {
            "weights": [part.tolist() for part in self.weights],
            "biases": [part.tolist() for part in self.biases],
        }


def network(weights: Sequence[Sequence], biases: Sequence[Sequence[float]]) -> Network:
    """A network from nested lists, as an artifact holds it."""
    return Network(
        tuple(np.array(weight, float) for weight in weights),
        tuple(np.array(bias, float) for bias in biases),
    )
