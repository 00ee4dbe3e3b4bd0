"""Scripted contestants for the bazaar, each with its source.

`wait` uses how the published sellers behave in general; no policy here knows the hidden values of
an episode.
"""

from dataclasses import dataclass

import numpy as np

from env import Accept, Observation, Offer, TimeDependent, WalkAway

Action = Offer | Accept | WalkAway


@dataclass(frozen=True)
class Wait:
    """Exploits the published seller: repeats a safe bid, accepts the ask once it stops falling.

    The published seller ignores the buyer, so waiting costs nothing, and it never walks away from
    0.48 of the opening ask if that is twice the cost. The bid alternates by `dodge`, because the
    published game counts equal bids as a stall.
    """

    opening: float = 0.48
    dodge: float = 0.01  # of the opening ask: the published 0.6 rupees on an ask of 60

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        settled = obs.drop == 0
        if obs.ask <= obs.budget and (settled or obs.rounds_left <= 1):
            return Accept()
        share = self.opening + self.dodge * (obs.round % 2)
        return bid(obs, min(share * obs.opening_ask, obs.budget))


def tit_for_tat(obs: Observation, rng: np.random.Generator) -> Action:
    """Concedes as many rupees as the other side did last, at least 0 (Faratin et al. 1998).

    A buyer opens at 0.3 of the ask, a seller at the list price. Each accepts a price as good as its
    own next one, and on its last move any price within its reservation price.
    """
    return _tit_for_tat_seller(obs) if obs.agent == "seller" else _tit_for_tat_buyer(obs)


def _tit_for_tat_buyer(obs: Observation) -> Action:
    limit = min(obs.budget, obs.opening_ask)
    price = 0.3 * limit if obs.bid is None else obs.bid + max(0, obs.drop or 0)
    price = min(price, limit)
    if obs.ask <= price or (obs.rounds_left <= 1 and obs.ask <= obs.budget):
        return Accept()
    return bid(obs, price) if obs.rounds_left > 1 else WalkAway()


def _tit_for_tat_seller(obs: Observation) -> Action:
    if not obs.table.asks:
        return Offer(max(obs.table.item.list_price, obs.reservation))
    bids = obs.table.bids
    rise = max(0, bids[-1] - bids[-2]) if len(bids) > 1 else 0
    ask = max(obs.priced(obs.ask - rise), obs.reservation)
    last = obs.rounds_left <= 0
    return Accept() if bids[-1] >= (obs.reservation if last else ask) else Offer(ask)


def leave(obs: Observation, rng: np.random.Generator) -> WalkAway:
    """Walks away at once: right where there is no ZOPA, and what no play at all is worth."""
    return WalkAway()


def random(obs: Observation, rng: np.random.Generator) -> Action:
    """A random legal move: walks or accepts with probability 0.1 each, else a uniform price."""
    draw = rng.random()
    if draw < 0.1:
        return WalkAway()
    if obs.agent == "seller":
        return _random_seller(obs, rng, accept=draw < 0.2)
    if draw < 0.2 and obs.ask <= obs.budget:
        return Accept()
    return bid(obs, rng.uniform(0, min(obs.budget, obs.ask)))


def _random_seller(obs: Observation, rng: np.random.Generator, accept: bool) -> Action:
    floor = max(obs.reservation, obs.bid or 0)
    if obs.bid is not None and obs.bid >= obs.reservation and accept:
        return Accept()
    ceiling = 1.2 * max(obs.table.item.list_price, floor)
    step = 10.0**-obs.table.decimals
    return Offer(obs.priced(rng.uniform(floor + step, ceiling + step)))


def bid(obs: Observation, price: float) -> Offer | WalkAway:
    """The legal bid next to `price`, within the budget; leaves if the budget allows no bid."""
    step = 10**-obs.table.decimals
    if obs.budget < step:
        return WalkAway()
    return Offer(min(max(obs.priced(price), step), obs.budget))


boulware = TimeDependent(exponent=0.25)
linear = TimeDependent(exponent=1.0)
conceder = TimeDependent(exponent=4.0)
wait = Wait()
