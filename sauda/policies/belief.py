"""A buyer with a belief: a sample of sellers, weighed by what it has seen of the one it meets.

It knows how the open market draws its sellers, as anyone may who reads the rules, and nothing
hidden of the episode. What is said and the seller's manner it ignores.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from env import (
    LOW_BID,
    MARKETS,
    RIVAL_HURRY,
    SELLER_LIMIT,
    TYPES,
    Accept,
    Observation,
    Offer,
    WalkAway,
    draw_type,
)
from sauda.policies.best_reply import Dynamics, Sellers, Stakes, dynamics, solve

FIELDS = ("exponent", "reciprocity", "impatience", "margin", "leniency")
PARTICLES, COARSE, CLOSE = 500, 41, 0.01  # sellers, best bids told apart, misfit: share of list
SURPRISE = -6.0  # log weight of a seller that would have taken a bid that was refused
BIDS = 120  # compared at each move, from 0 to the opening ask or the budget
DOUBT = 0.85  # of what lies ahead: QMDP takes it that all is known by then


@dataclass(frozen=True)
class Prior:
    """Sellers as the open market draws them, in units of the opening ask, and their types."""

    known: Dynamics
    types: np.ndarray  # (n,), into TYPES


@lru_cache(maxsize=8)
def prior(rounds: int) -> Prior:
    """A fixed sample of PARTICLES sellers over `rounds` rounds; the floor covers every markup."""
    rng = np.random.default_rng(0)
    names = list(TYPES)
    types = rng.integers(len(names), size=PARTICLES)
    drawn = [draw_type(rng, names[i]) for i in types]
    field = {f: np.array([getattr(k, f) for k in drawn]) for f in FIELDS}
    markups = [span for ranges in TYPES.values() for span in ranges["markup"]]
    floor = rng.uniform(SELLER_LIMIT[0] / max(markups), SELLER_LIMIT[1] / min(markups), PARTICLES)
    rival = np.where(rng.random(PARTICLES) < MARKETS["open"].rival, RIVAL_HURRY, 1.0)
    sellers = Sellers(
        np.ones(PARTICLES), floor, field["exponent"], field["reciprocity"],
        field["impatience"] * rival, field["margin"], field["leniency"], rounds, whole=False,
    )  # fmt: skip
    prices = np.tile(np.linspace(0, 1, COARSE)[1:], (PARTICLES, 1))
    return Prior(dynamics(sellers, prices), types)


def weights(obs: Observation) -> np.ndarray:
    """How likely each seller of the prior is after what `obs` shows, shape (n,), sum 1."""
    belief, opening = prior(obs.table.rounds), obs.opening_ask
    sellers, markup = belief.known.sellers, opening / obs.table.item.list_price
    spans = np.array([ranges["markup"] for ranges in TYPES.values()])[belief.types]
    fits = (spans[:, 0] <= markup + 0.01) & (markup - 0.01 <= spans[:, 1])
    floor = sellers.reservation * markup
    fits &= (SELLER_LIMIT[0] <= floor) & (floor <= SELLER_LIMIT[1])
    log = np.where(fits, -np.log(spans[:, 1] - spans[:, 0]), -1e3)
    best = np.full((PARTICLES, 1), 0.0)
    before = np.full((PARTICLES, 1), LOW_BID)
    for t, (price, ask) in enumerate(zip(obs.table.bids, obs.table.asks[1:], strict=False), 1):
        bid = np.full((PARTICLES, 1), price / opening)
        best = np.maximum(best, bid)
        misfit = (sellers.ask(t, best)[:, 0] - ask / opening) * markup / CLOSE
        threshold = sellers.threshold(t, best)
        log += -(misfit**2) / 2 + np.where(bid >= threshold, SURPRISE, 0.0)[:, 0]
        log += np.log1p(-sellers.walks(bid, before, threshold))[:, 0]
        before = best
    likely = np.exp(log - log.max())
    return likely / likely.sum()


@lru_cache(maxsize=4)
def _ahead(rounds: int, stakes: Stakes) -> np.ndarray:
    return solve(prior(rounds).known, stakes)[0]


def belief_buyer(obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
    """The move whose informed value, averaged over what the seller may be, is best (QMDP).

    Littman, Cassandra and Kaelbling (1995). It never acts to learn, and discounts what lies
    ahead by DOUBT: 0.85 did best of 1, 0.9 and 0.85 on 400 training seeds.
    """
    opening, own, t = obs.opening_ask, obs.own, obs.round + 1
    belief = prior(obs.table.rounds)
    sellers = belief.known.sellers
    stakes = Stakes(
        obs.reservation / opening, own.get("purse", obs.reservation) / opening,
        obs.table.item.list_price / opening, own.get("discount", 1.0), own.get("deadline"),
    )  # fmt: skip
    weight, floor = weights(obs)[:, None], sellers.reservation[:, None]
    ahead = _ahead(obs.table.rounds, stakes)[:, t]
    left = stakes.left(t, floor)
    best = max(obs.table.bids, default=0.0) / opening
    bids = np.unique(np.floor(np.linspace(0, min(opening, obs.budget), BIDS + 1)))[1:]
    bid = np.broadcast_to(bids / opening, (PARTICLES, len(bids)))
    reached = np.maximum(best, bid)
    threshold = sellers.threshold(t, reached)
    stay = 1 - sellers.walks(bid, best or LOW_BID, threshold)
    position = np.clip(reached[0] * (COARSE - 1) - 1, 0, COARSE - 2 - 1e-9)
    lower = position.astype(int)
    then = ahead[:, lower] + (position - lower) * (ahead[:, lower + 1] - ahead[:, lower])
    refused = left + DOUBT * stay * (then - left)
    value = np.where(bid >= threshold, stakes.gain(t, bid, floor), refused)
    accept = stakes.gain(t, np.full_like(floor, obs.ask / opening), floor)
    means = [(weight * x).sum() for x in (left, accept)]
    means = np.round(np.concatenate([means, (weight * value).sum(0)]), 9)
    move = int(means.argmax())
    return (WalkAway(), Accept())[move] if move < 2 else Offer(obs.priced(bids[move - 2]))
