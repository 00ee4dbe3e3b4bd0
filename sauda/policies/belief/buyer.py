"""The belief buyer: it plays the best response to its belief about the seller.

It knows how the open market draws its sellers, which is public, and nothing hidden of the episode.
"""

from dataclasses import dataclass

import numpy as np

from env import LOW_BID, Accept, Observation, Offer, WalkAway
from sauda.policies.belief.posterior import Belief, believe
from sauda.policies.best_response.sellers import dynamics
from sauda.policies.best_response.solver import Stakes, solve
from sauda.policies.move_values import MoveValues

SELLERS = 64  # sellers of the belief to plan against
GRID = 31  # points of the grid of best bids, up to the budget
BIDS = 120  # bids compared at each move, from 0 to the opening ask or the budget
LOOKAHEAD_DISCOUNT = 0.9  # factor on later values: QMDP assumes that all is known from then on


@dataclass(frozen=True)
class BeliefBuyer:
    """Plays the move with the best informed value, averaged over the belief (QMDP).

    Littman, Cassandra and Kaelbling (1995). It never acts to learn, and multiplies later values
    by LOOKAHEAD_DISCOUNT: 0.9 did best of 1, 0.9, 0.85 and 0.8 on 400 training seeds of
    bazaar/open, though 1 and 0.85 lie within its interval.
    """

    tells: bool = True  # uses the seller's manner
    words: bool = True  # uses the seller's claims
    person: bool = False  # models the seller as a person, not as a seller of the market

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        return best_against(self.belief(obs), obs)

    def belief(self, obs: Observation) -> Belief:
        """The belief about the seller; a function of the public table alone."""
        return believe(obs.table, self.tells, self.words, self.person)


def best_against(belief: Belief, obs: Observation) -> Offer | Accept | WalkAway:
    """The best move of the buyer `obs.agent` against SELLERS sellers resampled from `belief`."""
    return values_against(belief, obs).best(obs)


def values_against(belief: Belief, obs: Observation) -> MoveValues:
    """The value of each move of the buyer `obs.agent` against SELLERS sellers from `belief`."""
    few = belief.drawn(SELLERS)
    opening, own, t = few.opening, obs.own, obs.round + 1
    sellers, weight, floor = few.sellers, few.weights[:, None], few.sellers.reservation[:, None]
    stakes = Stakes(
        obs.reservation / opening, own.get("purse", obs.reservation) / opening,
        obs.table.item.list_price / opening, own.get("discount", 1.0), own.get("deadline"),
    )  # fmt: skip
    best, most = max(obs.table.bids, default=0.0) / opening, min(opening, obs.budget)
    grid = np.linspace(best, max(most / opening, 1.01 * best), GRID + 1)[0 if best else 1 :]
    prices = np.tile(grid, (len(floor), 1))
    ahead = solve(dynamics(sellers, prices, first=t), stakes, first=t)[0][:, t]
    left = stakes.left(t, floor)
    bids = np.unique(np.floor(np.linspace(0, most, BIDS + 1)))[1:]
    bid = np.broadcast_to(bids / opening, (len(floor), len(bids)))
    reached = np.maximum(best, bid)
    threshold = sellers.threshold(t, reached)
    stay = 1 - sellers.walks(bid, best or LOW_BID, threshold)
    position = np.interp(reached[0], grid, np.arange(len(grid)))
    lower = np.minimum(position.astype(int), len(grid) - 2)
    then = ahead[:, lower] + (position - lower) * (ahead[:, lower + 1] - ahead[:, lower])
    refused = left + LOOKAHEAD_DISCOUNT * stay * (then - left)
    value = np.where(bid >= threshold, stakes.gain(t, bid, floor), refused)
    accept = stakes.gain(t, np.full_like(floor, obs.ask / opening), floor)
    means = [(weight * x).sum() for x in (left, accept)]
    means = np.round(np.concatenate([means, (weight * value).sum(0)]), 9)
    return MoveValues(bids, means[2:], accept=float(means[1]), walk=float(means[0]))


belief_buyer = BeliefBuyer()
belief_prices = BeliefBuyer(tells=False, words=False)
