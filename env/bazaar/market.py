"""The open market: a buyer's bids stand, and words inform and move the seller.

A seller has a hidden type and hidden facts. Its words tell what its asks do not, and each type is
moved by something else that a buyer may say. All chance is drawn at reset. The formulas take a
seller whose fields are numbers, or arrays of many sellers that a buyer thinks possible.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import floor, log10
from typing import Any

import numpy as np

from ..amounts import rupees
from ..core import Task
from .rules import Bazaar, share_kept
from .speech import ACTS, LANGUAGES, PITCHES, QUESTIONS, Speech, act_in, phrases, say
from .types import CATALOGUE, Accept, Action, Instance, Observation, Offer, WalkAway

# Types --------------------------------------------------------------------------------------------

# Ranges of each parameter, drawn uniformly. They overlap, so that asks tell little.
RANGES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "firm": {
        "exponent": (0.3, 0.9), "reciprocity": (0.2, 0.5), "impatience": (0.02, 0.06),
        "markup": (1.05, 1.40), "honesty": (0.7, 0.95),
    },
    "fair": {
        "exponent": (0.6, 1.6), "reciprocity": (0.3, 0.7), "impatience": (0.02, 0.06),
        "markup": (1.05, 1.30), "honesty": (0.9, 1.0),
    },
    "hasty": {
        "exponent": (0.7, 2.0), "reciprocity": (0.2, 0.5), "impatience": (0.04, 0.10),
        "markup": (1.00, 1.30), "honesty": (0.7, 0.95),
    },
    "bluffer": {
        "exponent": (0.3, 1.2), "reciprocity": (0.2, 0.6), "impatience": (0.02, 0.06),
        "markup": (1.10, 1.50), "honesty": (0.1, 0.3),
    },
}  # fmt: skip
TYPES = tuple(RANGES)
MARGIN = (0.10, 0.60)  # where asks come to rest, from reservation price to opening ask

# Hidden facts -------------------------------------------------------------------------------------

# A pressed seller's own deadline is near, and it takes bids nearer its reservation.
PRESSED = (0.3, 0.4, 0.6, 0.4)  # chance by type
DEADLINE = {True: (2, 5), False: (6, 12)}  # rounds, by pressed
LENIENCY = {True: (0.9, 1.0), False: (0.6, 0.8)}  # how near the reservation price a bid is taken
RIVAL, RIVAL_LENIENCY, RIVAL_HAZARD = 0.3, 0.7, 0.04  # chance, factor, chance per round to leave
FLAW = {"new": 0.3, "like_new": 0.45, "very_good": 0.6, "good": 0.75, "acceptable": 0.9}
BLUFFER_FLAW = 0.9  # a bluffer's wares have one whatever the listing says
COST = (0.95, 1.0)  # what the seller paid, share of its reservation price
QUOTE_CHANCE, QUOTE = 0.6, (0.8, 1.1)  # the buyer knows another price; share of the list price

# What a buyer's words do --------------------------------------------------------------------------

# What the first use of a pitch adds to the mood of each type. Means are near 0, so that a fixed
# phrase earns nothing.
MOODS: Mapping[str, tuple[float, float, float, float]] = {
    "tea": (-0.15, 0.40, -0.15, -0.15),
    "cash": (-0.15, -0.15, 0.45, -0.15),
    "outside": (0.45, -0.15, -0.15, -0.15),
    "flaw": (-0.15, -0.15, -0.15, 0.45),
}
# The pitch that moves each type.
KEYS = {name: max(MOODS, key=lambda act: MOODS[act][kind]) for kind, name in enumerate(TYPES)}
MOOD = (-0.30, 0.50)  # its bounds
TEA_UNTIL = 2  # last round in which tea is welcome
CASH_FROM = 0.5  # share of the opening ask from which a bid makes cash a serious offer
TRUE_QUOTE = 0.97  # share of the known price from which an outside price is true
CATCHES = (0.6, 0.4, 0.3, 0.5)  # chance by type to see through a false outside price
CAUGHT, INSULT = (-0.20, 0.10), (-0.15, 0.10)  # mood and temper
REPEATED, DISLIKED, ASKED = 0.03, 0.01, 0.005  # temper: chance per round to walk

# How asks fall and sellers leave ------------------------------------------------------------------

LOW_BID = 0.4  # share of the opening ask from which a buyer's movement counts
FULL_PROGRESS = 0.05  # of the opening ask: a rise by so much rules out impatience
FULL_GAP = 0.3  # of the opening ask: a bid this far under the threshold risks all of it
LATE = 0.30  # chance per round to leave after the own deadline
JITTER = 0.5  # rounds by which an ask is early or late; below half, so that asks never rise

# What a seller says -------------------------------------------------------------------------------

CLAIM_RATE = 0.4  # of rounds in which it says something unasked; the opening always does
TOPICS = ("cost", "time", "rival")  # of that, equally likely
OWN_STYLE = 0.7  # share of turns in its own type's style; else one of the others
EVADES, SHY = 0.4, 0.1  # share of awkward truths, not told, that are evaded; of others
INFLATED = (0.25, 0.65)  # a false cost, from reservation price to opening ask
COARSE = 5  # units: to so much a cost is rounded that nobody asked for
MARKS = ("plain", "hedge", "swear")
MARK_CHANCES = {True: (0.75, 0.20, 0.05), False: (0.20, 0.25, 0.55)}  # by truth
REACTS = 0.75  # chance that the answer to a pitch shows whether it pleased
STORIES = ("cost", "time", "wear", "rival")
DRAWS = (
    "walk", "speaks", "topic", "mark", "style", "other", "catch", "reacts", "line", "early",
)  # of each round, in [0, 1)  # fmt: skip

# The deal -----------------------------------------------------------------------------------------

SELLER_RESERVATION, BUYER_RESERVATION, PURSE = (0.40, 0.80), (0.60, 1.10), 1.5  # of the list price


@dataclass(frozen=True)
class Market:
    """The settings of one task; ranges are uniform, with both ends for whole numbers."""

    about: str
    rounds: tuple[int, int] = (8, 12)
    discount: tuple[float, float] = (0.94, 0.98)  # factor on a gain per round after the first
    deadline: tuple[int, int] | None = None  # round after which a deal is worth nothing
    mute: bool = False  # sellers say prices only, and are deaf to words
    use: str = "seen"  # the phrases that sellers draw from, "seen" or "unseen"


MARKETS = {
    "open": Market("A stranger sells one thing; nothing about them is known."),
    "rushed": Market(
        "Every round costs dear, and past a deadline only the buyer knows the deal is worthless.",
        rounds=(5, 8),
        discount=(0.85, 0.92),
        deadline=(3, 6),
    ),
    "mute": Market("The open market without words: sellers say prices and hear none.", mute=True),
}


@dataclass(frozen=True, slots=True)
class Stance:
    """A seller in one deal. Prices are whole rupees; rates and shares lie in [0, 1]."""

    kind: int  # index into TYPES
    exponent: float
    reciprocity: float
    impatience: float
    margin: float
    honesty: float
    leniency: float
    deadline: int  # a round
    reservation: int
    opening: int
    cost: int
    rounds: int
    unit: int
    pressed: bool
    rival: bool
    flaw: bool

    @property
    def type(self) -> str:
        return TYPES[self.kind]


def unit_of(list_price: float) -> int:
    """The step of asks: the largest of 1, 2, 5 times a power of ten within 2 % of the price."""
    most = max(1.0, 0.02 * list_price)
    power = 10 ** floor(log10(most))
    return max(step * power for step in (1, 2, 5) if step * power <= most)


def leniency_of(pressed: Any, rival: Any, u: Any) -> Any:
    """The leniency for a uniform draw `u`; arguments may be arrays."""
    low, high = (np.where(pressed, LENIENCY[True][i], LENIENCY[False][i]) for i in (0, 1))
    return (low + (high - low) * u) * np.where(rival, RIVAL_LENIENCY, 1.0)


def deadline_of(pressed: Any, rounds: int, u: Any) -> Any:
    """The seller's own deadline for a uniform draw `u`; arguments may be arrays."""
    low, high = (np.where(pressed, DEADLINE[True][i], DEADLINE[False][i]) for i in (0, 1))
    return np.minimum(rounds, np.floor(low + (high - low + 1) * u))


def flaw_chance(kind: Any, condition: str) -> Any:
    """The chance of a flaw by type and listed condition; `kind` may be an array."""
    bluffs = np.asarray(kind) == TYPES.index("bluffer")
    return np.where(bluffs, np.maximum(BLUFFER_FLAW, FLAW[condition]), FLAW[condition])


def draw(market: Market, rng: np.random.Generator, seller_type: str = "") -> tuple[Instance]:
    """The deal of one episode; a `seller_type` replaces the drawn one, other draws stay."""
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    drawn = int(rng.integers(len(TYPES)))
    kind = TYPES.index(seller_type) if seller_type else drawn
    ranges = RANGES[TYPES[kind]]
    levels = zip(ranges.items(), rng.random(len(ranges)).tolist(), strict=True)
    at = {name: low + (high - low) * u for (name, (low, high)), u in levels}
    rounds = int(rng.integers(*market.rounds, endpoint=True))
    discount, deadline = rng.uniform(*market.discount), rng.random()
    reservation = round(item.list_price * rng.uniform(*SELLER_RESERVATION))
    limit = round(item.list_price * rng.uniform(*BUYER_RESERVATION))
    u = dict(zip(("margin", "pressed", "late", "lenient", "rival", "flaw", "quoted"),
                 rng.random(7).tolist(), strict=True))  # fmt: skip
    pressed, rival = u["pressed"] < PRESSED[kind], u["rival"] < RIVAL
    cost, quote, tongue = rng.uniform(*COST), rng.uniform(*QUOTE), rng.integers(len(LANGUAGES))
    unit = unit_of(item.list_price)
    stance = Stance(
        kind=kind,
        exponent=at["exponent"],
        reciprocity=at["reciprocity"],
        impatience=at["impatience"],
        margin=MARGIN[0] + (MARGIN[1] - MARGIN[0]) * u["margin"],
        honesty=at["honesty"],
        leniency=float(leniency_of(pressed, rival, u["lenient"])),
        deadline=int(deadline_of(pressed, rounds, u["late"])),
        reservation=reservation,
        opening=max(reservation + unit, unit * int(np.ceil(at["markup"] * item.list_price / unit))),
        cost=round(cost * reservation),
        rounds=rounds,
        unit=unit,
        pressed=pressed,
        rival=rival,
        flaw=bool(u["flaw"] < flaw_chance(kind, item.condition)),
    )
    chance = [
        dict(zip(DRAWS, row, strict=True)) for row in rng.random((rounds + 1, len(DRAWS))).tolist()
    ]
    stories = dict(zip(STORIES, map(tuple, rng.random((4, 3)).tolist()), strict=True))
    quoted = round(quote * item.list_price) if u["quoted"] < QUOTE_CHANCE else None
    low, high = market.deadline or (0, 0)
    buyer = {
        "reservation": limit,
        "discount": discount,
        "purse": round(PURSE * item.list_price),
        "deadline": int(low + deadline * (high - low + 1)) if market.deadline else None,
        "quote": quoted,
    }
    seller = {
        "reservation": reservation,
        "stance": stance,
        "chance": tuple(chance),
        "stories": stories,
        "quote": quoted,
        "language": LANGUAGES[tongue],
    }
    return (Instance(item, buyer, seller, rounds=rounds),)


# Prices -------------------------------------------------------------------------------------------
# `s` is a Stance, or has arrays in the place of its numbers. Bids and asks are rupees.


def path(s: Any, t: Any, best: Any) -> Any:
    """The ask at time `t` with a standing bid `best`, before rounding; it falls in both."""
    resting = s.reservation + s.margin * (s.opening - s.reservation)
    low = LOW_BID * s.opening
    moved = np.clip((best - low) / (s.opening - low), 0, 1)
    in_time = np.clip(t / s.rounds, 0, 1) ** (1 / s.exponent)
    given = (1 - s.reciprocity) * in_time + s.reciprocity * moved
    return s.opening - (s.opening - resting) * given


def ask_at(s: Any, t: int, best: Any, early: float) -> Any:
    """The ask after round `t`: whole units, above the standing bid; `early` is drawn in [0, 1)."""
    wanted = path(s, t + JITTER * (2 * early - 1), best)
    return np.minimum(s.opening, np.maximum(best + 1, s.unit * np.ceil(wanted / s.unit - 1e-9)))


def threshold(s: Any, t: int, ask: Any, mood: Any) -> Any:
    """The least standing bid that is taken in round `t`."""
    share = (1 - s.leniency * np.minimum(1.0, t / s.deadline)) * (1 - mood)
    return s.reservation + share * (ask - s.reservation)


def hazard(s: Any, t: int, best: Any, before: Any, least: Any, mood: Any, temper: Any) -> Any:
    """The chance to walk in round `t`, in which the standing bid rose from `before` to `best`."""
    stalled = 1 - np.clip((best - before) / (FULL_PROGRESS * s.opening), 0, 1)
    far = np.clip((least - best) / (FULL_GAP * s.opening), 0, 1)
    calm = 1 - np.clip(mood / MOOD[1], 0, 1)
    chance = s.impatience * stalled * far * calm + RIVAL_HAZARD * s.rival + temper
    return np.clip(chance + LATE * (t > s.deadline), 0, 1)


# Words --------------------------------------------------------------------------------------------


def effect(act: str, kind: Any, t: int, serious: bool, holds: Any) -> tuple[Any, Any]:
    """What the first use of an act adds to mood and temper; `kind` and `holds` may be arrays.

    `serious`: the bid is high enough for cash. `holds`: the flaw is there, or the outside price is
    true or not seen through.
    """
    if act == "insult":
        return INSULT
    if act in QUESTIONS:
        return 0.0, ASKED
    late = (act == "tea" and t > TEA_UNTIL) or (act == "cash" and not serious)
    gain = np.asarray(MOODS[act])[kind] * (not late)
    temper = np.where((gain < 0) | late, DISLIKED, 0.0)
    return np.where(holds, gain, CAUGHT[0]), np.where(holds, temper, CAUGHT[1])


@dataclass(frozen=True, slots=True)
class Heard:
    """What a buyer's words came to: mood and temper so far, and the last line's act and effect."""

    mood: float = 0.0
    temper: float = 0.0
    act: str = ""
    gain: float = 0.0
    caught: bool = False


def listen(s: Any, moves: Any, chance: Any, quote: int | None, read: Any = act_in) -> Heard:
    """What the buyer's words so far, of which `read` finds the act, came to with a seller."""
    mood = temper = 0.0
    said: set[str] = set()
    t, best, last = 0, 0, Heard()
    for move in moves:
        if move.agent != "buyer":
            continue
        t, best, gain, caught = t + 1, max(best, move.action.price), 0.0, False
        act, named = read(move.action.message)
        if act in said:
            temper += REPEATED
        elif act in ACTS:
            said.add(act)
            holds = True
            if act == "flaw":
                holds = s.flaw
            elif act == "outside" and not is_true(named, quote):
                holds = chance[t]["catch"] >= CATCHES[s.kind]
            serious = best >= CASH_FROM * s.opening
            gained, more = effect(act, s.kind, t, serious, holds)
            gain, caught = float(gained), not holds
            mood, temper = mood + gain, temper + float(more)
        last = Heard(mood, temper, act, gain, caught)
    return replace(last, mood=min(MOOD[1], max(MOOD[0], last.mood)))


def is_true(named: int, quote: int | None) -> bool:
    """Whether a buyer who knows the price `quote`, or none, may say that another asks `named`."""
    return bool(quote and named >= TRUE_QUOTE * quote)


def speech_at(s: Stance, t: int, own: Mapping[str, Any], heard: Heard) -> Speech:
    """What the seller says in round `t`, 0 for its opening, after what it heard."""
    u = own["chance"][t]
    style = s.type
    if u["style"] >= OWN_STYLE:
        others = [name for name in TYPES if name != style]
        style = others[int(u["other"] * len(others))]
    reaction = reaction_to(heard, u["reacts"])
    asked = heard.act in QUESTIONS
    topic = heard.act.removeprefix("ask_") if asked else ""
    if not asked and (t == 0 or u["speaks"] < CLAIM_RATE):
        topic = TOPICS[int(u["topic"] * len(TOPICS))]
    if not topic:
        return Speech(style, reaction=reaction)
    content, cost, true = story(s, topic, *own["stories"][topic], asked)
    if content == "evade" and not asked:
        return Speech(style, reaction=reaction)
    marks = np.cumsum(MARK_CHANCES[true])
    mark = "plain" if content == "evade" else MARKS[int(np.searchsorted(marks, u["mark"]))]
    return Speech(style, topic, content, cost, mark, reaction)


def reaction_to(heard: Heard, u: float) -> str:
    """How a seller answers the buyer's last words, "" where they were no pitch and no insult."""
    if heard.act not in PITCHES and heard.act != "insult":
        return ""
    if heard.caught:
        return "caught"
    if u >= REACTS or heard.gain == 0.0:
        return "flat"
    return "pleased" if heard.gain > 0 else "annoyed"


def story(
    s: Stance, topic: str, honest: float, lie: float, inflate: float, asked: bool
) -> tuple[str, int, bool]:
    """Content, named cost and truth of what a seller says on a topic, the same all deal long.

    An awkward truth is told, evaded or denied. A cost is named to the unit if `asked`, else
    coarsely.
    """
    step = s.unit if asked else COARSE * s.unit
    price = "price" if asked else "about"
    awkward = {"cost": True, "time": s.pressed, "wear": s.flaw, "rival": not s.rival}[topic]
    if not awkward:
        said = {"time": "long", "wear": "none", "rival": "yes"}[topic]
        return ("evade", 0, True) if honest < SHY else (said, 0, True)
    if honest < s.honesty:
        told = {"cost": price, "time": "short", "wear": "flaw", "rival": "evade"}[topic]
        return told, nearest(s.cost, step) if topic == "cost" else 0, True
    if lie < EVADES:
        return "evade", 0, True
    denied = {"cost": price, "time": "long", "wear": "none", "rival": "yes"}[topic]
    false = s.reservation + (INFLATED[0] + (INFLATED[1] - INFLATED[0]) * inflate) * (
        s.opening - s.reservation
    )
    return denied, nearest(false, step) if topic == "cost" else 0, False


def nearest(price: float, step: int) -> int:
    """The multiple of `step` nearest to a price, at least one."""
    return max(step, step * round(price / step))


def seller(obs: Observation, rng: np.random.Generator, *, mute: bool, use: str) -> Action:
    """The seller's move. Its draws are private values; `rng` is not used."""
    own, table = obs.own, obs.table
    s, chance, t = own["stance"], own["chance"], table.round

    def speak(ask: int, heard: Heard, standing: int | None = None) -> Offer:
        if mute:
            return Offer(ask, f"{rupees(ask)}.")
        speech = speech_at(s, t, own, heard)
        return Offer(ask, say(speech, ask, standing, chance[t]["line"], own["language"], use))

    if not table.asks:
        return speak(s.opening, Heard())
    best = max(table.bids)
    before = max(table.bids[:-1], default=LOW_BID * s.opening)
    heard = Heard() if mute else listen(s, table.moves, chance, own["quote"])
    ask = int(min(table.asks[-1], ask_at(s, t, best, chance[t]["early"])))
    ask = max(ask, best + 1)
    least = threshold(s, t, ask, heard.mood)
    words = phrases(own["language"], use)
    if best >= least:
        return Accept(words["accept", "deal"][0].replace("#", rupees(best)))
    if chance[t]["walk"] < hazard(s, t, best, before, least, heard.mood, heard.temper):
        return WalkAway(words["walk", "leave"][0])
    return speak(ask, heard, best if table.bids[-1] < best else None)


# Tasks --------------------------------------------------------------------------------------------


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
    kept = share_kept(own, deal.rounds)
    if deal.price is None:
        return kept if width <= 0 else 0.0
    if width <= 0 or deal.price > limit:
        return max(-1.0, (limit - deal.price) / instance.item.list_price)
    return kept * (limit - deal.price) / width


def market_task(name: str, market: Market, seller_type: str = "") -> Task:
    """The task `bazaar/<name>` with these settings; with a `seller_type`, of that type alone."""
    env = Bazaar(
        draw=partial(draw, market, seller_type=seller_type), rounds=market.rounds[1], standing=True
    )
    return Task(
        name=f"bazaar/{name}",
        env=env,
        learner="buyer",
        opponents={"seller": partial(seller, mute=market.mute, use=market.use)},
        grade=market_grade,
        success=0.3,
        about=market.about,
    )


def with_seller_type(task: Task, seller_type: str) -> Task:
    """The open-market `task` with every seller of that type; all other draws stay the same.

    Raises ValueError if the type is not in TYPES or the task is not of the open market.
    """
    market = task.name.removeprefix("bazaar/")
    if market not in MARKETS or seller_type not in TYPES:
        raise ValueError(
            f"no seller type {seller_type!r} in {task.name}; the tasks "
            f"{', '.join(f'bazaar/{name}' for name in MARKETS)} have {', '.join(TYPES)}"
        )
    return market_task(market, MARKETS[market], seller_type)


TASKS = tuple(market_task(name, market) for name, market in MARKETS.items())
