"""The seller of the published game: a fixed schedule of asks and four personalities.

Its known faults stay, because the published numbers depend on them: the schedule ignores the buyer
unless the bid is high, the seller never walks from a bid of 0.9 of its reserve or more, and its
inventory never changes. The published seller was a stateful object; here the draws of every round
are its private values, and what it remembers (fake concessions, lines that press) follows from
them.
"""

from dataclasses import dataclass

import numpy as np

from ..types import Accept, Action, Deal, Observation, Offer, WalkAway
from .lines import line

# The draws of one round, in order: six uniform, then six standard normal for the tells.
DRAWS = ("walk", "bluff", "late", "pull_back", "line", "pressure") + ("noise",) * 6


@dataclass(frozen=True, slots=True)
class Persona:
    """A personality: factors on the task's parameters."""

    anchor: float
    reserve: float  # factor on the cost
    accept_at: float  # least bid that is accepted, as a share of the ask
    concession: float
    walk: float
    late: float


PERSONAS = {
    "default": Persona(1.0, 1.05, 0.98, 1.0, 1.0, 1.0),
    "deceptive": Persona(1.15, 1.05, 1.00, 0.7, 1.0, 0.6),
    "impatient": Persona(1.0, 1.05, 0.98, 1.5, 1.5, 1.3),
    "collaborative": Persona(0.9, 1.02, 0.95, 1.3, 0.3, 1.0),
}


@dataclass(frozen=True, slots=True)
class Terms:
    """One seller's parameters for one deal; prices in rupees."""

    persona: str
    cost: float
    anchor: float
    reserve: float
    rounds: int  # limit of the deal; scales the chances to walk and to accept late
    accept_at: float
    rate: float  # concession a round as a share of the anchor, before the cap of 0.25
    walk_probability: float
    late: float
    inventory_pressure: float


def terms(
    persona: str,
    cost: float,
    anchor: float,
    rounds: int,
    concession: float,
    walk_probability: float,
    inventory: int,
) -> Terms:
    """The terms of a personality under a task's parameters. Prices may be arrays."""
    factors = PERSONAS[persona]
    pressure = 0.5 if inventory <= 1 else 1.0
    return Terms(
        persona=persona,
        cost=cost,
        anchor=anchor * factors.anchor,
        reserve=cost * factors.reserve,
        rounds=rounds,
        accept_at=factors.accept_at,
        rate=concession * factors.concession * (1 + 0.5 * pressure),
        walk_probability=walk_probability * factors.walk,
        late=factors.late,
        inventory_pressure=pressure,
    )


def draw_chance(rng: np.random.Generator, rounds: int) -> tuple[tuple[float, ...], ...]:
    """One tuple of draws for each round, in the order of DRAWS."""
    uniform = rng.random((rounds, 6)).tolist()
    normal = rng.standard_normal((rounds, 6)).tolist()
    return tuple((*u, *n) for u, n in zip(uniform, normal, strict=True))


def capitulation_rate(past: tuple[Deal, ...]) -> float:
    """Share of the last ten deals, failed ones included, made above 0.85 of the opening ask."""
    recent = past[-10:]
    if not recent:
        return 0.0
    soft = sum(d.price is not None and d.price > 0.85 * d.opening_ask for d in recent)
    return soft / len(recent)


def bluffs_outstanding(chance: tuple[tuple[float, ...], ...], rounds: int) -> int:
    """Fake concessions that a deceptive seller has not taken back after `rounds` counter-offers."""
    count = 0
    for t, (_, bluff, _, pull_back, *_) in enumerate(chance[:rounds], start=1):
        if bluff < 0.3 and count < 2:
            count += 1
        if count and t > 1 and pull_back < 0.25:
            count = 0
    return count


def classic_seller(obs: Observation, rng: np.random.Generator) -> Action:
    """The published seller's move. Its draws are private values; `rng` is not used."""
    own: Terms = obs.own["terms"]
    table = obs.table
    if not table.asks:
        ask = obs.priced(own.anchor)
        return Offer(ask, line(own.persona, "opening", obs, ask, obs.own["chance"][0][4]))
    t, offer = table.round, table.bids[-1]
    chance = obs.own["chance"]
    walk, bluff, late, pull_back, pick, pressure = chance[t - 1][:6]
    if walk < own.walk_probability * t / own.rounds and offer < 0.9 * own.reserve:
        return WalkAway(line(own.persona, "walk", obs, offer, pick))
    if offer >= own.accept_at * table.asks[-1] or _accepts_late(own, offer, t, late):
        return Accept(line(own.persona, "accept", obs, offer, pick))
    bluffs = bluffs_outstanding(chance, t - 1) if own.persona == "deceptive" else 2
    ask = scheduled_ask(own, table.asks, t, capitulation_rate(table.past), bluff < 0.3, bluffs)
    countered = len(table.asks) > 1
    if countered:
        ask = max(ask, 0.95 * (ask + offer) / 2, own.reserve)
        fake = bluffs < 2 and bluff < 0.3
        if own.persona == "deceptive" and bluffs + fake and pull_back < 0.25:
            ask = max(ask, 1.03 * table.asks[-1], own.reserve)
    ask = obs.priced(ask)
    if ask <= offer:
        return Accept(line(own.persona, "accept", obs, offer, pick))
    pushy = pressure < 0.2 + 0.3 * t / own.rounds
    return Offer(ask, line(own.persona, "counter", obs, ask, pick, pushy))


def _accepts_late(own: Terms, offer: float, t: int, draw: float) -> bool:
    if offer < own.reserve or t / own.rounds <= 0.75:
        return False
    eager = (offer - own.reserve) / (own.anchor - own.reserve)
    return draw < eager * t / own.rounds * own.late


def scheduled_ask(
    own: Terms, asks: tuple[float, ...], t: int, capitulated: float, bluffing: bool, bluffs: int
) -> float:
    """The ask of the published schedule at round `t`, 2 decimals, before the bid is considered.

    `bluffing` says that the seller would fake a concession now, `bluffs` counts those that it has
    not taken back; it makes at most two. `capitulated` is the buyer's `capitulation_rate`.
    """
    rate = min(0.25, own.rate * (1 - 0.3 * capitulated))
    ask = own.anchor * (1 - rate * t)
    if own.persona == "deceptive" and bluffing and bluffs < 2:
        ask *= 0.92
    elif own.persona == "impatient" and t <= 2:
        ask *= 1 - 0.08 * t
    elif own.persona == "collaborative" and len(asks) > 1:
        # The published text says the buyer's last offer; the code used the seller's own last ask.
        ask = 0.7 * ask + 0.3 * (1.1 * own.cost + asks[-1]) / 2
    return round(max(ask, own.reserve), 2)
