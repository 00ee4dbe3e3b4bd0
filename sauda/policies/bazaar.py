"""Scripted contestants for the bazaar, each with its source.

`wait` and `expert` use how the published sellers behave in general; no policy here knows the hidden
values of an episode. The last adds words to the bids of another buyer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from env import Accept, Observation, Offer, Policy, TimeDependent, WalkAway

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


# The classic expert: the best scripted buyer that we know for the published bazaar game.
#
# A published seller does not react to the buyer: its ask falls on a schedule to a floor and rests
# there, and it sells as soon as a bid is near enough to its ask or as high as its next one. So the
# expert bids the price at which the ask will come to rest and waits until the ask gets there. It
# pays more only when waiting ends: at its last useful move (before the rounds or its deadline run
# out) it bids the next ask, predicted from the last fall, and against rivals it does so one round
# before a rival would take the ask.


@dataclass(frozen=True, slots=True)
class Habits:
    """What is public about one type of seller."""

    floor: float  # share of the opening ask where the asks come to rest, at the usual markup
    enough: float  # least bid that it accepts, as a share of the ask
    equal_falls: bool = False  # its asks fall by equal steps, so a smaller step shows the floor


# Floors: 1.05 of the cost (collaborative 1.02), which the usual opening ask doubles, times 1.15 for
# the deceptive and 0.9 for the collaborative.
HABITS = {
    "default": Habits(1.05 / 2, 0.98, equal_falls=True),
    "impatient": Habits(1.05 / 2, 0.98),
    "deceptive": Habits(1.05 / (2 * 1.15), 1.0),
    "collaborative": Habits(1.02 / (2 * 0.9), 0.95),
}
UNKNOWN = Habits(1.05 / 2, 1.0)  # a seller whose type is not disclosed: no discount on its ask

# A seller that opens at the buyer's reservation price asks the list price; its floor is between
# 0.26 and 0.66 of that. It may walk from a bid below 0.9 of the floor, and a bid above the floor
# overpays: this is the best constant bid for floors that are uniform.
LIST_PRICE_HOLD = 0.33
JUST_SHORT = 0.98  # of the predicted next ask: a higher bid could be accepted
SMALLER_FALL = 0.98  # of the fall before; rounding changes equal falls by less
BLUFF = 0.08  # of the ask: what a fake concession takes off, for one round
RIVALS_ACCEPT = 0.55  # of the budget; the `smart` buyer takes any ask from here down


def expert(obs: Observation, rng: np.random.Generator) -> Accept | Offer | WalkAway:
    """The expert's move: a bid, or an acceptance if its price is not below the ask.

    It leaves only if its budget is below the smallest unit of money.
    """
    price = max(_price(obs), obs.bid or 0)
    per_rupee = 10**obs.table.decimals
    price = (
        ceil(price * per_rupee - 1e-6) / per_rupee
    )  # rounding down could miss the least accepted bid
    if obs.ask <= min(price, obs.budget):
        return Accept()
    return bid(obs, price)


def _price(obs: Observation) -> float:
    """The price to bid now; at most the ask, but maybe above the budget."""
    habits = HABITS.get(obs.table.seller_type, UNKNOWN)
    next_ask = _next_ask(obs, habits)
    if _useful_moves(obs) <= 1:
        return next_ask
    contested = any(rival.active for rival in obs.table.rivals)
    if contested and next_ask <= RIVALS_ACCEPT * obs.reservation:
        return next_ask
    if _rests(obs, habits):
        refused = obs.bid >= round(habits.enough * obs.table.asks[-2], 6)
        return obs.ask if refused else habits.enough * obs.ask
    return min(_hold(obs, habits), obs.ask)


def _hold(obs: Observation, habits: Habits) -> float:
    """The bid to repeat while the ask is falling."""
    if not _has_list_price(obs):
        # With several deals time is scarce: a bid at the floor is accepted a round earlier.
        return habits.floor * obs.opening_ask * (1.0 if obs.table.deals > 1 else habits.enough)
    hold = LIST_PRICE_HOLD * obs.opening_ask
    if obs.drop is not None and obs.tells is not None and obs.tells.eye_contact == "avoidant":
        # A seller looks away when its ask is near its floor, so a higher bid overpays little.
        return max(hold, JUST_SHORT * (obs.ask - obs.drop))
    return hold


def _next_ask(obs: Observation, habits: Habits) -> float:
    """The seller's next ask if it falls as before; the present ask if that is unknown."""
    if obs.drop is None or _has_list_price(obs):
        return obs.ask
    if obs.table.seller_type == "deceptive" and obs.drop > BLUFF * obs.table.asks[-2]:
        return obs.ask
    return min(max(obs.ask - obs.drop, habits.floor * obs.opening_ask), obs.ask)


def _rests(obs: Observation, habits: Habits) -> bool:
    """Whether the ask has come to rest at its floor."""
    asks = obs.table.asks
    if habits.equal_falls and len(asks) > 2 and obs.drop > 0:
        return obs.drop < SMALLER_FALL * (asks[-3] - asks[-2])
    return obs.drop == 0


def _has_list_price(obs: Observation) -> bool:
    return obs.opening_ask >= obs.reservation


def _useful_moves(obs: Observation) -> int:
    """Moves left, this one included, before the rounds or the buyer's deadline run out."""
    deadline = obs.own.get("deadline")
    if deadline is None or obs.round >= deadline:
        return obs.rounds_left
    return min(obs.rounds_left, deadline - obs.round)


# Scripts that speak


@dataclass(frozen=True)
class Says:
    """Another buyer that says a text with every bid, or what `text` makes of what it sees."""

    buyer: Policy
    text: str | Callable[[Observation], str]

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = self.buyer(obs, rng)
        if not isinstance(action, Offer):
            return action
        return replace(action, message=self.text(obs) if callable(self.text) else self.text)
