"""The pilot: a small network that plays the open market from the numbers of the prompt alone.

Its price is in whole percent of its limit, as a language model's is. The hand that plays it may be
unsteady: `hand` is the standard deviation of an error of its price, in percent of the limit.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from env import ACCEPT, OFFER, WALK, Accept, BatchView, Moves, Observation, Offer, WalkAway
from sauda.policies.pilot.network import Intent, Network, network
from sauda.policies.pilot.numbers import Position, features, of_observation, of_view, percent
from sauda.records.store import ROOT, load

NEAR = 1  # percent of the limit: a price so near to an ask within the limit takes it
PARTS = ("deal", "deadline")  # the networks
WEIGHTS = "training/pilot.json"  # under artifacts/
LIKELY = 1e-4  # moves less likely than that are left out of a distribution


@dataclass(frozen=True, eq=False)
class Pilot:
    """Plays the likeliest move of its networks."""

    deal: Network  # plays a deal without a deadline
    deadline: Network  # a deal that is worth nothing after a round

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        kind, price = self.move(of_observation(obs))
        return {ACCEPT: Accept(), WALK: WalkAway()}.get(int(kind[0])) or Offer(
            obs.priced(float(price[0]))
        )

    def batch(self, view: BatchView) -> Moves:
        """The same over arrays."""
        return self.move(of_view(view))

    def move(self, at: Position) -> Moves:
        """Its moves in n positions."""
        return moves(at, self.intent(at))

    def intent(self, at: Position) -> Intent:
        """What it wants in each position."""
        return (self.deadline if np.isfinite(at.deadline).any() else self.deal)(features(at))

    def distribution(self, obs: Observation, hand: float) -> dict[str, float]:
        """The chance of each move under a hand with errors of `hand` percent of the limit, over 0.

        A move is "accept", "walk" or a price in whole percent as text; chances sum to 1, but for
        moves less likely than LIKELY.
        """
        from scipy.special import ndtr

        at = of_observation(obs)
        intent = self.intent(at)
        walks = 1 / (1 + np.exp(-intent.walk))
        edges = np.arange(1.5, 100)
        below = ndtr((edges - intent.price) / hand)
        aimed = np.diff(np.concatenate([[0.0], below, [1.0]])) * (1 - walks)
        chances = {"walk": float(walks[0])}
        aims = np.arange(1.0, 101)
        kinds, prices = moves(at, Intent(aims, np.full(len(aims), -np.inf)))
        named = percent(prices, at.limit).astype(int)
        for kind, price, chance in zip(kinds.tolist(), named.tolist(), aimed.tolist(), strict=True):
            move = {ACCEPT: "accept", WALK: "walk"}.get(kind, str(price))
            chances[move] = chances.get(move, 0.0) + chance
        return {move: chance for move, chance in chances.items() if chance > LIKELY}


def moves(at: Position, intent: Intent) -> Moves:
    """The legal moves next to an intent: prices in whole percent of the limit, within the budget.

    An offer within NEAR percent of an ask that can be paid without a loss takes it.
    """
    budget = at.budget
    most = np.floor(100 * budget / at.limit)
    aim = np.minimum(np.clip(np.rint(intent.price), 1, 100), most)
    price = np.maximum(1.0, np.rint(at.limit * aim / 100))
    takes = (percent(at.ask, at.limit) - NEAR <= aim) & (at.ask <= budget)
    kind = np.where((intent.walk > 0) | (budget < 1), WALK, np.where(takes, ACCEPT, OFFER))
    return kind, price


@cache
def trained() -> Pilot:
    """The pilot with the committed weights; ArtifactError, with its command, without them."""
    saved = load(WEIGHTS, ROOT).data.networks
    parts = ((name, getattr(saved, name)) for name in PARTS)
    return Pilot(**{name: network(part.weights, part.biases) for name, part in parts})
