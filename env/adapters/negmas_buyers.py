"""NegMAS negotiators as buyers of the bazaar (`pip install "sauda-env[negmas]"`).

    python -m sauda_env.adapters.negmas_buyers --task bazaar/people --games 100

A negotiator keeps a memory and a policy has none, so at each turn a real mechanism plays the deal
again: a seller that names the asks of the table, and the negotiator, whose answer to the last ask
is the move. Prices are whole percent of the buyer's limit.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from negmas import ResponseType, make_issue
from negmas.preferences import AffineFun
from negmas.preferences import LinearAdditiveUtilityFunction as Utility
from negmas.sao import SAOMechanism, SAONegotiator
from negmas.sao import negotiators as known

from .. import Accept, Observation, Offer, Policy, WalkAway, get_task, rollout

LEAST = 30  # percent of the limit: the price that a buyer likes best
HOLDOUT = 50_000  # the first of the seeds that no training saw


class _Asks(SAONegotiator):
    """Names these prices one after the other, takes no bid, and stays silent at the end."""

    def __init__(self, asks: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self.asks = list(asks)

    def propose(self, state: Any, dest: str | None = None) -> tuple[int] | None:
        return (self.asks.pop(0),) if self.asks else None

    def respond(self, state: Any, source: str | None = None) -> ResponseType:
        return ResponseType.REJECT_OFFER


@dataclass(frozen=True)
class Negotiator:
    """A negotiator's class as a buyer; it must draw nothing, else a deal cannot be played again."""

    kind: type[SAONegotiator] = field(repr=False)

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Accept | Offer | WalkAway:
        limit = obs.reservation
        asks = [max(LEAST, -int(-100 * ask // limit)) for ask in obs.table.asks]  # rounded up
        issue = make_issue((LEAST, max(100, *asks)), "price")
        mechanism = SAOMechanism(issues=[issue], n_steps=obs.table.rounds)
        worth = {"price": AffineFun(-1 / (100 - LEAST), bias=100 / (100 - LEAST))}
        buyer = self.kind(name="buyer")
        mechanism.add(_Asks(asks))
        mechanism.add(buyer, ufun=Utility(values=worth, issues=[issue], reserved_value=0.0))
        mechanism.run()
        if mechanism.agreement is not None and obs.ask <= limit:
            return Accept()
        bids = mechanism.negotiator_offers(buyer.id)
        if len(bids) < len(asks):
            return WalkAway()
        return Offer(obs.priced(max(limit * bids[-1][0] / 100, obs.bid or 0)))


BUYERS: Mapping[str, Policy] = {
    "negmas_boulware": Negotiator(known.BoulwareTBNegotiator),
    "negmas_linear": Negotiator(known.LinearTBNegotiator),
    "negmas_conceder": Negotiator(known.ConcederTBNegotiator),
    "negmas_tit_for_tat": Negotiator(known.NaiveTitForTatNegotiator),
    "negmas_micro": Negotiator(known.MiCRONegotiator),
}


def main() -> None:
    """Print a row a negotiator: its mean grade and half of its 95 % interval, by the normal law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="bazaar/people")
    parser.add_argument("--games", type=int, default=100)
    options = parser.parse_args()
    task = get_task(options.task)
    for name, buyer in BUYERS.items():
        seeds = range(HOLDOUT, HOLDOUT + options.games)
        grades = [task.grade(rollout(task, buyer, seed).final) for seed in seeds]
        half = 1.96 * np.std(grades, ddof=1) / len(grades) ** 0.5
        print(f"{name:20} n={len(grades)} grade {np.mean(grades):.3f} ± {half:.3f}", flush=True)


if __name__ == "__main__":
    main()
