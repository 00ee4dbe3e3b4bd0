"""The open market, the benchmark of this project, and the task in which the learner sells.

In the open market every episode draws its prices and its hidden type of seller. `TimeDependent` is
a policy for either seat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from ..amounts import conceded, rupees
from ..core import Task
from .classic import draw_chance as draw_classic_chance
from .classic import terms
from .rules import Bazaar, discounted, shares
from .types import CATALOGUE, Accept, Action, Instance, Observation, Offer, State, Tells, WalkAway

# The time-dependent negotiator, a standard baseline, for the buyer's or the seller's seat.
#
# It is an opponent in some tasks and, with three exponents, a contestant.


@dataclass(frozen=True)
class TimeDependent:
    """Moves from its opening price to its reservation price along a concession curve.

    Faratin et al. (1998). Accepts a price at least as good as its own next one (AC_next; Baarslag
    et al. 2014). A buyer opens at the share `opening` of the first ask or of its reservation price,
    whichever is lower; a seller opens at the list price. On its last move it takes any price within
    its reservation price; otherwise a buyer leaves and a seller asks its reservation price. A buyer
    with less than the smallest unit of money leaves at once.
    """

    exponent: float
    opening: float = 0.3

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        return self.sell(obs) if obs.agent == "seller" else self.buy(obs)

    def buy(self, obs: Observation) -> Action:
        limit, step = min(obs.budget, obs.opening_ask), 10**-obs.table.decimals
        if obs.budget < step:
            return WalkAway()
        best = self.opening * limit
        share = conceded(obs.round, obs.table.rounds, self.exponent)
        price = max(obs.bid or step, obs.priced(min(best + share * (limit - best), limit)))
        if obs.ask <= min(price, obs.budget) or (obs.rounds_left <= 1 and obs.ask <= limit):
            return Accept()
        return Offer(price) if obs.rounds_left > 1 else WalkAway()

    def sell(self, obs: Observation) -> Action:
        best = max(obs.table.item.list_price, obs.reservation)
        share = conceded(obs.round, obs.table.rounds + 1, self.exponent)
        price = max(obs.priced(best - share * (best - obs.reservation)), obs.reservation)
        if obs.table.asks:
            price = min(price, obs.ask)
        if obs.bid is not None and obs.bid >= price:
            return Accept()
        return Offer(obs.priced(price))


# The sellers of the open market: hidden types with numeric parameters that react to the buyer.
#
# A seller concedes with time and with the buyer's concessions. It accepts a bid above a threshold
# that falls with time and stays above its reservation price, and it may walk away from a buyer
# who does not move. Its asks never rise and come to rest above its reservation price, so that no
# ask reveals that price. All its random numbers are drawn at reset and are its private values.

LOW_BID = 0.4  # share of the opening ask from which the buyer's movement is counted
FULL_PROGRESS = 0.05  # share of the opening ask: a rise of the bid by so much rules out a walk
FULL_HAZARD_GAP = (
    0.3  # of the opening ask: a bid this far under the threshold risks the whole hazard
)
CLAIM_RATE = 0.5  # share of rounds in which a seller considers a claim
RIVAL_HAZARD_FACTOR = 2.0  # factor on the hazard while another buyer really waits
CLAIMS = ("rival", "final", "urgent")

# The draws of one round, in order: five uniform, then seven standard normal for the tells.
DRAWS = ("walk", "claim", "kind", "bluff", "line") + ("noise",) * 7


@dataclass(frozen=True, slots=True)
class SellerType:
    """The parameters of one seller; shares and rates in [0, 1] unless stated otherwise."""

    name: str
    exponent: float  # of the concession in time: below 1 late, above 1 early
    reciprocity: float  # share of the concession that depends on the buyer's movement
    impatience: float  # chance a round to walk from a buyer far off who does not move
    bluff_rate: float  # how often it makes a claim that is false
    markup: float  # opening ask as a multiple of the list price
    margin: float  # of opening ask minus reservation price, kept at the resting price
    leniency: float  # how far below its ask, toward its reservation price, it accepts at the end


# The ranges that each parameter is drawn from, uniformly. Exponents: Faratin et al. (1998) call 0.2
# to 0.5 boulware and 1.5 to 3 conceder. Reciprocity: tit-for-tat is common, rarely whole (Axelrod
# 1984; Baarslag et al. 2013 find 0.3 to 0.7 in agents that do well). The other ranges are ours:
# chances to walk such that a stalled deal of ten rounds breaks down with a probability between 0.1
# and 0.75, markups as bazaar guides advise buyers to expect, margins and leniency wide enough that
# neither the resting price nor the threshold reveals the reservation price.
SELLER_TYPES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "firm": {
        "exponent": (0.2, 0.5), "reciprocity": (0.3, 0.5), "impatience": (0.01, 0.04),
        "bluff_rate": (0.0, 0.3), "markup": (1.10, 1.35), "margin": (0.10, 0.25),
        "leniency": (0.2, 0.5),
    },
    "fair": {
        "exponent": (0.8, 1.2), "reciprocity": (0.5, 0.8), "impatience": (0.03, 0.07),
        "bluff_rate": (0.0, 0.2), "markup": (1.05, 1.20), "margin": (0.05, 0.20),
        "leniency": (0.4, 0.7),
    },
    "hasty": {
        "exponent": (1.5, 3.0), "reciprocity": (0.2, 0.4), "impatience": (0.08, 0.14),
        "bluff_rate": (0.0, 0.3), "markup": (1.00, 1.15), "margin": (0.05, 0.15),
        "leniency": (0.5, 0.8),
    },
    "bluffer": {
        "exponent": (0.4, 0.8), "reciprocity": (0.3, 0.6), "impatience": (0.02, 0.06),
        "bluff_rate": (0.5, 0.9), "markup": (1.20, 1.50), "margin": (0.05, 0.20),
        "leniency": (0.3, 0.6),
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stance:
    """A seller in one deal: its type, reservation price and opening ask, in whole rupees."""

    type: SellerType
    reservation: int
    opening: int
    rounds: int
    rival: bool  # another buyer really waits

    @property
    def resting(self) -> float:
        """The price at which its asks come to rest, above the reservation price."""
        return self.reservation + self.type.margin * (self.opening - self.reservation)


def draw_type(rng: np.random.Generator, name: str) -> SellerType:
    """A seller of the type called `name`, with parameters drawn from its ranges."""
    ranges = SELLER_TYPES[name]
    draws = rng.random(len(ranges)).tolist()
    values = (low + (high - low) * u for (low, high), u in zip(ranges.values(), draws, strict=True))
    return SellerType(name, *values)


def draw_chance(rng: np.random.Generator, rounds: int) -> tuple[tuple[float, ...], ...]:
    """One tuple of draws for each round, in the order of DRAWS."""
    uniform = rng.random((rounds, 5)).tolist()
    normal = rng.standard_normal((rounds, 7)).tolist()
    return tuple((*u, *n) for u, n in zip(uniform, normal, strict=True))


def ask_at(stance: Stance, t: int, best_bid: float) -> int:
    """The ask after round `t` given the best bid so far, whole rupees; it falls in both."""
    kind, opening, resting = stance.type, stance.opening, stance.resting
    low = LOW_BID * opening
    moved = min(1.0, max(0.0, (best_bid - low) / (opening - low)))
    in_time = conceded(t, stance.rounds + 1, kind.exponent)
    given = (1 - kind.reciprocity) * in_time + kind.reciprocity * moved
    return ceil(opening - (opening - resting) * given - 1e-9)


def threshold_at(stance: Stance, t: int, ask: float) -> float:
    """The least bid accepted at round `t`: between reservation price and ask, falling with time."""
    share = 1 - stance.type.leniency * t / stance.rounds
    return stance.reservation + share * (ask - stance.reservation)


def hazard_at(stance: Stance, bid: float, best_before: float, threshold: float) -> float:
    """The chance of walking away from `bid`; 0 after full progress or above the threshold."""
    progress = max(0.0, bid - best_before) / (FULL_PROGRESS * stance.opening)
    distance = (threshold - bid) / (FULL_HAZARD_GAP * stance.opening)
    hurry = RIVAL_HAZARD_FACTOR if stance.rival else 1.0
    stalled = 1 - min(1.0, progress)
    return hurry * stance.type.impatience * stalled * min(1.0, max(0.0, distance))


def market_seller(obs: Observation, rng: np.random.Generator) -> Action:
    """The seller's move in the open market. Its draws are private values; `rng` is not used."""
    stance, table = obs.own["stance"], obs.table
    if not table.asks:
        return Offer(stance.opening, _say(obs, "opening", stance.opening, 0.0))
    t, bid = table.round, table.bids[-1]
    walk, *_, line = obs.own["chance"][t - 1][:5]
    best_before = max(table.bids[:-1], default=LOW_BID * stance.opening)
    ask = min(table.asks[-1], ask_at(stance, t, max(table.bids)))
    threshold = threshold_at(stance, t, ask)
    if bid >= threshold:
        return Accept(_say(obs, "accept", bid, line))
    if walk < hazard_at(stance, bid, best_before, threshold):
        return WalkAway(_say(obs, "walk", bid, line))
    claim, _ = claim_at(obs.own, t)
    return Offer(ask, _say(obs, claim or "counter", ask, line))


def claim_at(own: Mapping[str, Any], t: int) -> tuple[str, bool]:
    """The seller's claim in round `t`, "" for none, and whether it is true.

    Claims are about its patience and other buyers, never about its reservation price: a rival is
    waiting; it will walk next round if the bid does not move; it is short of time.
    """
    stance, chance = own["stance"], own["chance"]
    _, speaks, kind, bluff, *_ = chance[t - 1]
    if speaks >= CLAIM_RATE:
        return "", True
    claim = CLAIMS[int(kind * len(CLAIMS))]
    hurry = RIVAL_HAZARD_FACTOR if stance.rival else 1.0
    next_walk = chance[t][0] if t < len(chance) else 1.0
    true = {
        "rival": stance.rival,
        "final": next_walk < hurry * stance.type.impatience,
        "urgent": stance.type.impatience > 0.06 or t > 0.7 * stance.rounds,
    }[claim]
    return (claim, true) if true or bluff < stance.type.bluff_rate else ("", True)


def market_tells(table: Any, seller: Mapping[str, Any]) -> Tells:
    """The seller's manner as it replies to the bid of this round, from three hidden causes.

    The causes are urgency (its chance to walk and the time passed), a bluff in this round, and the
    nearness of its ask to its reservation price. Each signal is a cause plus noise of standard
    deviation 0.15, or a threshold on such a sum. Fidgeting weighs nearness most, because the asks
    alone reveal nearly all of it.
    """
    stance, t = seller["stance"], table.round
    urgency_noise, confidence_noise, cue_noise, fidget_noise, eye, body, heat = seller["chance"][
        t - 1
    ][5:]
    claim, true = claim_at(seller, t)
    bluffing = bool(claim) and not true
    ask = min(table.asks[-1], ask_at(stance, t, max(table.bids)))
    near = 1 - (ask - stance.reservation) / max(1, stance.opening - stance.reservation)
    hurry = RIVAL_HAZARD_FACTOR if stance.rival else 1.0
    urgency = min(1.0, hurry * stance.type.impatience / 0.15) * (0.5 + 0.5 * t / stance.rounds)
    asks = table.asks
    flat = len(asks) > 1 and asks[-2] - asks[-1] < 0.01 * asks[0]
    return Tells(
        verbal_urgency=_clip(0.15 + 0.7 * urgency + 0.15 * urgency_noise),
        verbal_confidence=_clip(0.85 - 0.6 * near + 0.15 * confidence_noise),
        verbal_deception_cue=_clip(0.2 + 0.5 * bluffing + 0.15 * cue_noise),
        price_rounding="precise" if near + 0.15 * body > 0.6 else "round",
        offer_speed="instant" if urgency + 0.15 * heat > 0.6 else "normal",
        concession_pattern="stalling" if flat else "steady",
        fidget_level=_clip(0.1 + near + 0.15 * fidget_noise),
        eye_contact="avoidant" if bluffing + 0.4 * eye > 0.6 else "steady",
        posture="leaning_in" if near + 0.15 * fidget_noise > 0.5 else "neutral",
        repeat_phrases=int(flat),
        topic_changes=max(0, int(2 * bluffing + 0.5 * body)),
        emotional_escalation=_clip(0.6 * urgency + 0.15 * heat),
    )


def _clip(level: float) -> float:
    return min(1.0, max(0.0, level))


LINES = {
    "opening": ("For this {item}, {price}.", "{price}, and it is worth more."),
    "counter": ("{price}, then.", "I can come to {price}.", "Say {price}."),
    "rival": ("{price}. Somebody else is coming for it.", "Another buyer waits. {price}."),
    "final": ("{price}, my last price.", "{price}, and not a rupee less."),
    "urgent": ("{price}, but decide now, I must close.", "{price}. I have little time."),
    "accept": ("Done, {price}.", "All right, {price}."),
    "walk": ("This goes nowhere. Goodbye.", "No. Leave it."),
}


def _say(obs: Observation, kind: str, price: float, draw: float) -> str:
    """One line of `kind`; its words depend on the claim and the price, on nothing hidden."""
    options = LINES[kind]
    chosen = options[int(draw * len(options))]
    return chosen.format(price=rupees(price), item=obs.table.item.name)


# The tasks of the open market: settings, the draw of an episode, the grader.
#
# An episode draws an item of the catalogue, the reservation prices of seller and buyer
# (independent of each other and of the ask, so that one episode in ten has no ZOPA), the number
# of rounds, the buyer's discount for each round, and a hidden seller type. Prices are whole
# rupees. Time costs the same in payoff and grade.

SELLER_RESERVATION = (0.40, 0.80)  # range of the reservation price, as a share of the list price
BUYER_RESERVATION = (0.60, 1.10)  # the same; below the seller's in one episode of ten
PURSE = 1.5  # most that a buyer can pay, even at a loss, as a share of the list price


@dataclass(frozen=True)
class Market:
    """The settings of one task; ranges are uniform, with both ends for whole numbers."""

    about: str
    rounds: tuple[int, int] = (8, 12)
    discount: tuple[float, float] = (0.94, 0.98)  # factor on a gain, for each round after the first
    deadline: tuple[int, int] | None = (
        None  # round after which a deal is worth nothing to the buyer
    )
    bluffing: float = 0.0  # least bluff rate of every type
    rival: float = 0.2  # chance that another buyer really waits


MARKETS = {
    "open": Market("A stranger sells one thing; nothing about them is known."),
    "rushed": Market(
        "Every round costs dear, and past a deadline only the buyer knows the deal is worthless.",
        rounds=(5, 8),
        discount=(0.85, 0.92),
        deadline=(3, 6),
    ),
}


def draw(market: Market, rng: np.random.Generator, seller_type: str = "") -> tuple[Instance]:
    """The deal of one episode; a `seller_type` replaces the drawn one."""
    drawn = tuple(SELLER_TYPES)[rng.integers(len(SELLER_TYPES))]
    kind = draw_type(rng, seller_type or drawn)
    kind = replace(kind, bluff_rate=max(kind.bluff_rate, market.bluffing))
    discount = rng.uniform(*market.discount)
    return (_draw_deal(market, kind, discount, rng),)


def _draw_deal(
    market: Market, kind: SellerType, discount: float, rng: np.random.Generator
) -> Instance:
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    rounds = int(rng.integers(*market.rounds, endpoint=True))
    seller_limit = round(item.list_price * rng.uniform(*SELLER_RESERVATION))
    # The first is the buyer's. Without the draws of the others every later draw would change.
    limits = [round(item.list_price * rng.uniform(*BUYER_RESERVATION)) for _ in range(3)]
    own: dict[str, Any] = {"discount": discount, "purse": round(PURSE * item.list_price)}
    deadline = rng.integers(*market.deadline, endpoint=True) if market.deadline else None
    rival = bool(rng.random() < market.rival)
    opening = round(kind.markup * item.list_price)
    stance = Stance(kind, seller_limit, opening, rounds, rival)
    return Instance(
        item,
        buyer={**own, "reservation": limits[0], "deadline": deadline and int(deadline)},
        seller={
            "reservation": seller_limit,
            "stance": stance,
            "chance": draw_chance(rng, rounds),
        },
        rounds=rounds,
    )


def market_grade(state: Any) -> float:
    """The objective of the open market, in [-1, 1].

    With a ZOPA a deal earns the buyer's share of it, discounted; no deal, or one past the deadline,
    earns 0. Without a ZOPA no deal earns 1, discounted. A deal at a loss earns the loss as a share
    of the list price, at most -1.
    """
    if not state.table.past:
        return 0.0
    (instance,), (deal,) = state.private["nature"], state.table.past
    own, limit = instance.buyer, instance.buyer["reservation"]
    width = limit - instance.seller["reservation"]
    kept = discounted(own, deal)
    if deal.price is None:
        return kept if width <= 0 else 0.0
    if width <= 0 or deal.price > limit:
        return max(-1.0, (limit - deal.price) / instance.item.list_price)
    return kept * (limit - deal.price) / width


def market_task(name: str, market: Market) -> Task:
    """The task `bazaar/<name>` with these settings."""
    env = Bazaar(draw=partial(draw, market), rounds=market.rounds[1], manner=market_tells)
    return Task(
        name=f"bazaar/{name}",
        env=env,
        learner="buyer",
        opponents={"seller": market_seller},
        grade=market_grade,
        success=0.3,
        about=market.about,
    )


def with_seller_type(task: Task, seller_type: str) -> Task:
    """The open-market `task` with every seller of that type; all other draws stay the same.

    Raises ValueError if the type is not in SELLER_TYPES or the task is not of the open market.
    """
    market = task.name.removeprefix("bazaar/")
    if market not in MARKETS or seller_type not in SELLER_TYPES:
        raise ValueError(
            f"no seller type {seller_type!r} in {task.name}; the tasks "
            f"{', '.join(f'bazaar/{name}' for name in MARKETS)} have {', '.join(SELLER_TYPES)}"
        )
    chosen = partial(draw, MARKETS[market], seller_type=seller_type)
    return replace(task, env=replace(task.env, draw=chosen))


# The task in which the learner sells an item to a buyer whose reservation price is hidden.
#
# The brief follows the published Sell page (reservation price at 0.78 of the asking price, a
# bonus for what is won above it), but the buyer's reservation price is drawn independently: there
# it was 1.05 of whatever the seller asked, so asking more always paid. Prices are whole rupees.

ROUNDS = 8
RESERVATION_SHARE = 0.78  # of the asking price


def draw_sale(rng: np.random.Generator) -> tuple[Instance, ...]:
    """One sale: the item, the seller's brief, the buyer's reservation price."""
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    reservation = round(RESERVATION_SHARE * item.list_price)
    limit = round(item.list_price * rng.uniform(0.85, 1.15))
    # A scripted seller in the learner's seat plays the published schedule. Its asks come to rest at
    # 1.05 of the cost and it accepts 0.98 of an ask; this cost makes that its reservation price.
    cost = reservation / (1.05 * 0.98)
    schedule = terms("default", cost, item.list_price, ROUNDS, 0.08, 0.05, 1)
    seller = {
        "reservation": reservation,
        "terms": schedule,
        "chance": draw_classic_chance(rng, ROUNDS),
    }
    return (Instance(item, buyer={"reservation": limit}, seller=seller),)


def bonus(price: float | None, asking_price: float, reservation: float) -> int:
    """The bonus that the brief promises, in rupees: 1 for each full 10 above the reservation price.

    At most a tenth of asking price minus reservation price, rounded down, which a sale at the
    asking price earns. 0 without a deal (`price` is None) or below the reservation price.
    """
    if price is None:
        return 0
    cap = int((asking_price - reservation) // 10)
    return max(0, min(cap, int((price - reservation) // 10)))


def seller_share(state: State) -> float:
    """The seller's share of the ZOPA, clipped to [0, 1]."""
    return min(1.0, max(0.0, shares(state, "seller")[0]))


SELLER_BRIEF = Task(
    name="bazaar/seller_brief",
    env=Bazaar(draw=draw_sale, rounds=ROUNDS),
    learner="seller",
    opponents={"buyer": TimeDependent(exponent=1.0, opening=0.5)},
    grade=seller_share,
    success=0.3,  # as in the published single deal
    about="Sell an item to a buyer whose limit is hidden, above a reservation price of your own.",
)

TASKS = (*(market_task(name, market) for name, market in MARKETS.items()), SELLER_BRIEF)
