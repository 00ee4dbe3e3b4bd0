"""The published bazaar game, kept so that published and new numbers can be compared.

Its seller with four personalities, its scripted buyers, and its nine tasks with their instances and
graders. The faults that shape its numbers stay; each is named where it is.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from math import floor
from operator import add
from typing import Any

import numpy as np

from ..amounts import rupees
from ..core import State as AnyState
from ..core import Task, read_rows
from .rules import Bazaar, shares
from .sealed_bids import MultiBuyerBazaar
from .types import (
    CATALOGUE,
    Accept,
    Action,
    Deal,
    Instance,
    Item,
    Observation,
    Offer,
    State,
    Tells,
    WalkAway,
)

# What the classic sellers say, by personality and kind of line; our own wording.
#
# A line is filled in with the price of the move that it goes with and tells nothing hidden.
LINES: dict[tuple[str, str], tuple[str, ...]] = {
    key: tuple(row["text"] for row in rows)
    for key, rows in groupby(
        read_rows("bazaar/classic_lines.csv"), key=lambda row: (row["persona"], row["kind"])
    )
}


def line(
    persona: str, kind: str, obs: Observation, price: float, draw: float, pushy: bool = False
) -> str:
    """One line of `kind` at `price`, picked by `draw` in [0, 1).

    `pushy` adds a line that presses the buyer; only a deceptive seller does so more than twice.
    """
    options = LINES[persona, kind]
    text = options[int(draw * len(options))].format(price=rupees(price), item=obs.table.item.name)
    if not pushy or (persona != "deceptive" and _count_pressure(obs, persona) >= 2):
        return text
    lines = LINES[persona, "pressure"]
    return f"{text} {lines[obs.table.round % len(lines)]}"


def _count_pressure(obs: Observation, persona: str) -> int:
    lines = LINES[persona, "pressure"]
    messages = [move.action.message for move in obs.table.moves if move.agent == "seller"]
    return sum(text.endswith(lines) for text in messages)


# The manner of the classic sellers follows the published formulas, in which most of the variance
# comes from the round number. That fault stays, because the published buyers' moves depend on it.


# Levels are linear in the true urgency and the round, with noise, by `classic_manners.csv`. Signals
# stand in the order of the standard normal draws behind them.
SIGNALS = (
    "verbal_urgency",
    "verbal_confidence",
    "verbal_deception_cue",
    "fidget_level",
    "emotional_escalation",
)
LEVELS = {
    (row["persona"], row["signal"]): [
        float(row[part]) for part in ("base", "urgency", "round", "noise")
    ]
    for row in read_rows("bazaar/classic_manners.csv")
}


def classic_tells(table: Any, seller: Mapping[str, Any]) -> Tells:
    """The published manner of a classic seller as it replies to the bid of this round.

    `seller` holds its "terms" and its "chance": the draws of each round. The noise has a standard
    deviation of 0.1.
    """
    terms, t, asks = seller["terms"], table.round, table.asks
    spread = terms.anchor - terms.reserve
    pressed = 1 - (asks[-1] - terms.reserve) / spread if spread else 1.0
    u = min(1.0, terms.inventory_pressure * t / terms.rounds + 0.3 * pressed)
    *draws, topics = seller["chance"][t - 1][-6:]
    signs: dict[str, Any] = {}
    for signal, draw in zip(SIGNALS, draws, strict=True):
        if known := LEVELS.get((terms.persona, signal)):
            base, urgency, by_round, noise = known
            signs[signal] = _clip(base + urgency * u + by_round * t + noise * draw)
    signs |= {
        "default": {"eye_contact": "steady" if u < 0.5 else "avoidant"},
        "deceptive": {
            "price_rounding": "precise",
            "offer_speed": "instant",
            "concession_pattern": "erratic",
            "eye_contact": "intense",
            "posture": "leaning_in",
            "topic_changes": max(0, int(3 * u + 0.5 * topics)),
        },
        "impatient": {
            "offer_speed": "instant",
            "concession_pattern": "front_loaded",
            "eye_contact": "intense" if t < 3 else "avoidant",
            "posture": "arms_crossed" if t > 2 else "neutral",
        },
        "collaborative": {"offer_speed": "deliberate", "posture": "leaning_in"},
    }[terms.persona]
    if len(asks) > 2 and abs(asks[-1] - asks[-2]) < 1.0:
        signs |= {"concession_pattern": "stalling", "repeat_phrases": 1}
    return Tells(**signs)


def _clip(level: float) -> float:
    return 0.0 if level < 0.0 else 1.0 if level > 1.0 else level


# The seller of the published game: a fixed schedule of asks and four personalities.
#
# Its known faults stay, because the published numbers depend on them: the schedule ignores the
# buyer unless the bid is high, the seller never walks from a bid of 0.9 of its reserve or more,
# and its inventory never changes. The published seller was a stateful object; here the draws of
# every round are its private values, and what it remembers (fake concessions, lines that press)
# follows from them.


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
    """The terms of a personality under a task's parameters."""
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
    """For each round uniform draws for walk, bluff, late, pull back, line and pressure.

    After them stand six standard normal ones for the tells.
    """
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
    terms: Terms = obs.own["terms"]
    table = obs.table
    if not table.asks:
        ask = obs.priced(terms.anchor)
        return Offer(ask, line(terms.persona, "opening", obs, ask, obs.own["chance"][0][4]))
    t, offer = table.round, table.bids[-1]
    chance = obs.own["chance"]
    walk, bluff, late, pull_back, pick, pressure = chance[t - 1][:6]
    if walk < terms.walk_probability * t / terms.rounds and offer < 0.9 * terms.reserve:
        return WalkAway(line(terms.persona, "walk", obs, offer, pick))
    if offer >= terms.accept_at * table.asks[-1] or _accepts_late(terms, offer, t, late):
        return Accept(line(terms.persona, "accept", obs, offer, pick))
    bluffs = bluffs_outstanding(chance, t - 1) if terms.persona == "deceptive" else 2
    ask = scheduled_ask(terms, table.asks, t, capitulation_rate(table.past), bluff < 0.3, bluffs)
    countered = len(table.asks) > 1
    if countered:
        ask = max(ask, 0.95 * (ask + offer) / 2, terms.reserve)
        fake = bluffs < 2 and bluff < 0.3
        if terms.persona == "deceptive" and bluffs + fake and pull_back < 0.25:
            ask = max(ask, 1.03 * table.asks[-1], terms.reserve)
    ask = obs.priced(ask)
    if ask <= offer:
        return Accept(line(terms.persona, "accept", obs, offer, pick))
    pushy = pressure < 0.2 + 0.3 * t / terms.rounds
    return Offer(ask, line(terms.persona, "counter", obs, ask, pick, pushy))


def _accepts_late(terms: Terms, offer: float, t: int, draw: float) -> bool:
    if offer < terms.reserve or t / terms.rounds <= 0.75:
        return False
    eager = (offer - terms.reserve) / (terms.anchor - terms.reserve)
    return draw < eager * t / terms.rounds * terms.late


def scheduled_ask(
    terms: Terms, asks: tuple[float, ...], t: int, capitulated: float, bluffing: bool, bluffs: int
) -> float:
    """The ask of the published schedule at round `t`, 2 decimals, before the bid is considered.

    `bluffing` says that the seller would fake a concession now, `bluffs` counts those that it has
    not taken back; it makes at most two. `capitulated` is the buyer's `capitulation_rate`.
    """
    rate = min(0.25, terms.rate * (1 - 0.3 * capitulated))
    ask = terms.anchor * (1 - rate * t)
    if terms.persona == "deceptive" and bluffing and bluffs < 2:
        ask *= 0.92
    elif terms.persona == "impatient" and t <= 2:
        ask *= 1 - 0.08 * t
    elif terms.persona == "collaborative" and len(asks) > 1:
        # The published text says the buyer's last offer; the code used the seller's own last ask.
        ask = 0.7 * ask + 0.3 * (1.1 * terms.cost + asks[-1]) / 2
    return round(max(ask, terms.reserve), 2)


# The scripted buyers of the published game: contestants, and rivals where several buyers compete.
#
# They play by the published rules, faults included: `rule_based` bargains against the opening ask
# to the end, and none tries to influence the seller's schedule.


def rule_based(obs: Observation, rng: np.random.Generator) -> Action:
    """The published teacher: a random opening share, then random steps toward the opening ask."""
    ask, budget = obs.opening_ask, obs.reservation
    if ask <= 0.5 * budget:
        return Accept()
    if ask > budget:
        return WalkAway()
    if obs.bid is None:
        price = ask * rng.uniform(0.25, 0.40)
    else:
        price = obs.bid + (ask - obs.bid) * rng.uniform(0.20, 0.35)
    return _offer(obs, min(price, 0.8 * budget))


def smart(obs: Observation, rng: np.random.Generator) -> Action:
    """The published heuristic: small steps after a big drop, accepts at 0.55 of the budget."""
    ask, budget, deadline = obs.ask, obs.reservation, obs.own.get("deadline")
    if obs.bid is None:
        return _careful(obs, 0.4 * obs.opening_ask)
    if deadline is not None and obs.round >= deadline and ask <= budget:
        return Accept()
    if ask <= 0.55 * budget:
        return Accept()
    if obs.rounds_left <= 1:
        return WalkAway() if ask > 0.75 * budget else Accept()
    if deadline is not None and obs.round >= deadline - 1:
        return _offer(obs, min(0.95 * ask, 0.7 * budget))
    big_drop = obs.drop is not None and obs.drop > 0.05 * obs.opening_ask
    return _careful(obs, obs.bid + (0.02 if big_drop else 0.05) * budget)


def _careful(obs: Observation, price: float) -> Action:
    if obs.tells is not None and obs.tells.verbal_deception_cue > 0.4:
        price *= 0.92
    if capitulation_rate(obs.table.past) > 0.3:
        price *= 0.95
    return _offer(obs, min(max(price, 0.3 * obs.opening_ask), 0.7 * obs.reservation))


def aggressive(obs: Observation, rng: np.random.Generator) -> Action:
    """The published hard-liner: aims at 0.35 of the budget and leaves rather than pay much more."""
    target = 0.35 * obs.reservation
    if obs.bid is None:
        return _offer(obs, 0.7 * target)
    if obs.ask <= 1.1 * target:
        return Accept()
    if obs.rounds_left <= 1:
        return WalkAway()
    return _offer(obs, min(target, target * (0.7 + 0.05 * obs.round)))


def naive(obs: Observation, rng: np.random.Generator) -> Action:
    """The published soft buyer: bids 0.80, then 0.85 of the opening ask, then accepts.

    In the published tasks it can always pay; in other tasks it leaves if it cannot.
    """
    if obs.round >= 2:
        return Accept() if obs.ask <= obs.reservation else WalkAway()
    return _offer(obs, (0.80, 0.85)[obs.round] * obs.opening_ask)


def _offer(obs: Observation, price: float) -> Offer:
    """The legal bid next to `price`, from the smallest unit of money to the budget.

    Rounded down: `naive` bids exactly 0.85 of the ask, and any more would count as capitulation.
    """
    per_rupee = 10**obs.table.decimals
    steps = max(1, floor(min(price, obs.reservation) * per_rupee + 1e-6))
    return Offer(steps / per_rupee if obs.table.decimals else steps)


# The nine tasks of the published bazaar game with their instances and graders.
#
# Faults that shape the published numbers stay: two rounds a deal in `read_the_tells`, a hidden
# state that never changes under a disclosed personality, a deadline that only halves a grade, a
# step reward that disagrees with the grade (only the grade is kept), a memory with hardly any
# effect, a collaborative seller who sells a little below its own cost. Faults that hang, crash or
# allow bad prices are fixed: accepting the opening ask is a deal, penalties do not count twice,
# prices are checked, and with several buyers bids hold for their round, budgets bind and a buyer
# who left stays away.
#
# `sauda.experiments.reproduction.DIFFERENCES` lists the intended differences from the published
# game; `evaluation/reproduction.json` measures them.


# The items of the fixed-price tasks, one for each deal; the published game names only the first.
GOODS = read_rows("bazaar/classic_goods.csv")
BUDGET, COST = 100, 30  # rupees, of these tasks


@dataclass(frozen=True)
class Classic:
    """One row of the published task table; prices in rupees."""

    about: str
    rounds: int  # limit of a deal; 8 in the table where impatient sellers end every deal after 6
    concession: float
    walk_probability: float
    success: float  # least grade of a success
    persona: str
    deals: int
    anchor: float  # opening ask as a multiple of the cost, before the persona's factor
    inventory: int
    deadline: int | None


CLASSIC = {
    row.pop("task"): Classic(
        about=row.pop("about"),
        persona=row.pop("persona"),
        **{name: json.loads(cell or "null") for name, cell in row.items()},
    )
    for row in read_rows("bazaar/classic_tasks.csv")
}


def draw(name: str, rng: np.random.Generator) -> tuple[Instance, ...]:
    """The deals of one episode of `classic/<name>`; only `amazon_realistic` draws its prices."""
    task = CLASSIC[name]
    chance = draw_chance(rng, task.rounds * task.deals)
    if name == "amazon_realistic":
        item = CATALOGUE[rng.integers(len(CATALOGUE))]
        # The published listings have a discounted price beside the list price.
        street_price = item.list_price * rng.uniform(0.35, 0.90)
        return (_instance(task, item, item.list_price, 0.7 * street_price, chance),)
    opening = round(COST * task.anchor)
    return tuple(
        _instance(
            task,
            Item(good["name"], good["category"], "new", opening),
            BUDGET,
            COST,
            chance[task.rounds * i : task.rounds * (i + 1)],
        )
        for i, good in enumerate(GOODS[: task.deals])
    )


def _instance(
    task: Classic, item: Item, budget: float, cost: float, chance: tuple[tuple[float, ...], ...]
) -> Instance:
    seller = terms(
        task.persona,
        cost,
        item.list_price,
        task.rounds,
        task.concession,
        task.walk_probability,
        task.inventory,
    )
    return Instance(
        item,
        buyer={"reservation": budget, "deadline": task.deadline},
        seller={"reservation": cost, "terms": seller, "chance": chance},
    )


def mean_share(state: State) -> float:
    """Mean share of the ZOPA over the deals, each at least 0; in [0, 1]."""
    return _mean([max(0.0, share) for share in shares(state, "buyer")])


def deadline_grade(state: State) -> float:
    """`mean_share`, halved if the deal came after the buyer's own deadline; in [0, 1]."""
    deadline = state.private["buyer"]["deadline"]
    late = any(deal.rounds > deadline for deal in state.table.past)
    return mean_share(state) * (0.5 if late else 1.0)


def career_grade(state: State) -> float:
    """Mean of share x (1 - 0.3 x rounds / limit) over the deals; in [0, 1]."""
    past, limit = state.table.past, state.table.rounds
    prompt = [1 - 0.3 * deal.rounds / limit for deal in past] + [0.0] * state.table.deals
    won = zip(shares(state, "buyer"), prompt, strict=False)
    return _mean([max(0.0, share) * weight for share, weight in won])


def tells_grade(state: State) -> float:
    """Mean share plus up to 0.15 for a price below the middle of the ZOPA; in [0, 1]."""
    won = [max(0.0, share) for share in shares(state, "buyer")]
    return _mean([min(1.0, share + 0.15 * max(0.0, 2 * share - 1)) for share in won])


def _mean(values: list[float]) -> float:
    return min(1.0, reduce(add, values, 0.0) / len(values))  # as `sum` is before Python 3.12


GRADES: dict[str, Callable[[AnyState], float]] = {
    "asymmetric_pressure": deadline_grade,
    "career_10": career_grade,
    "read_the_tells": tells_grade,
}


def _task(name: str) -> Task:
    task = CLASSIC[name]
    crowd = name == "marketplace_arena"
    rivals = {"rival_1": smart, "rival_2": aggressive} if crowd else {}
    env = (MultiBuyerBazaar if crowd else Bazaar)(
        draw=partial(draw, name),
        rounds=task.rounds,
        decimals=2,
        seller_type=task.persona,
        manner=classic_tells,
    )
    return Task(
        name=f"classic/{name}",
        env=env,
        learner="buyer",
        opponents={"seller": classic_seller, **rivals},
        grade=GRADES.get(name, mean_share),
        success=task.success,
        about=task.about,
    )


TASKS = tuple(_task(name) for name in CLASSIC)
