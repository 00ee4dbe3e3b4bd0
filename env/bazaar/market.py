"""The open market: a buyer's bids stand, and words inform and move the seller.

A seller has a hidden type and hidden facts. Its words tell what its asks do not, and each type is
moved by something else that a buyer may say. All chance is drawn at reset. The formulas take a
seller whose fields are numbers, or arrays of many sellers that a buyer thinks possible.

A seller softens with the buyer's rises, takes every bid that reaches its ask and warns before it
leaves. Words are sentences of the corpus, heard by the ear, so that anybody's count. A bid may hold
extras, of which words alone tell what they cost the seller.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np

from ..amounts import rupees
from ..core import Task
from . import corpus, ear
from .rules import Bazaar, amount_of, count_bids, package_gain, share_kept, standing_offer
from .speech import ACTS, DONE, LANGUAGES, PITCHES, QUESTIONS, Speech
from .types import CATALOGUE, EXTRAS, Accept, Action, Instance, Observation, Offer, Table, WalkAway

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
RISE, RISES = 0.02, 4  # of the opening ask, a rise; so many soften all the way
WARNS = 0.25  # chance to leave after one more bid that stands still, from which it warns of it
JITTER = 0.5  # rounds by which an ask is early or late; below half, so that asks never rise

# What a seller says -------------------------------------------------------------------------------

CLAIM_RATE = 0.4  # of rounds in which it says something unasked; the opening always does
TOPICS = ("cost", "time", "rival")  # of that, equally likely
CLAIMS = 2  # on a topic unasked
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


# Extras -------------------------------------------------------------------------------------------

HEAVY = 0.5  # chance that an extra costs, or is worth, much; shares of the list price follow
LIGHT, HEAVY_COST, HEAVY_VALUE = (0.0, 0.05), (0.20, 0.40), (0.12, 0.26)
DEAR = 0.12  # from which a cost counts as dear
PADDED, ADDED = (1.0, 1.15), (0.18, 0.35)  # an honest number, as factor; a false one, on top
CHANGED = 0.02  # temper, for each package that differs from the one before


@dataclass(frozen=True)
class Market:
    """The settings of one task; ranges are uniform, with both ends for whole numbers."""

    about: str
    rounds: tuple[int, int] = (8, 12)
    discount: tuple[float, float] = (0.94, 0.98)  # factor on a gain per round after the first
    mute: bool = False  # sellers say prices only, and are deaf to words
    use: str = "evaluation"  # the sentences of the corpus that sellers draw from
    extras: tuple[str, ...] = ()  # that a bid may hold


MARKETS = {
    "open-3": Market("A stranger sells one thing, softens as bids rise, and hears any words."),
    "mute-3": Market(
        "A stranger sells one thing and softens as bids rise; prices are all that is said.",
        mute=True,
    ),
    "package": Market(
        "A bid is a price and extras, of which only words tell what they cost the seller.",
        extras=EXTRAS,
    ),
    "package-mute": Market(
        "A bid is a price and extras, and the seller says nothing but prices.",
        mute=True,
        extras=EXTRAS,
    ),
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
    discount, _ = rng.uniform(*market.discount), rng.random()  # games on record have this draw
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
    buyer = {
        "reservation": limit,
        "discount": discount,
        "purse": round(PURSE * item.list_price),
        "deadline": None,  # as the classic games have one, and records of both the same fields
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
    if market.extras:
        values, seller["costs"], seller["told"] = draw_extras(market.extras, item, stance, rng)
        buyer["values"] = values
    return (Instance(item, buyer, seller, rounds=rounds),)


class Told(NamedTuple):
    """What a seller says that an extra costs it, the same all deal long."""

    amount: int  # rupees; 0 where it evades
    dear: bool
    honest: bool


def draw_extras(
    extras: Sequence[str], item: Any, s: Stance, rng: np.random.Generator
) -> tuple[dict[str, int], dict[str, int], dict[str, Told]]:
    """The buyer's values, the seller's costs, in rupees, and what the seller says of them."""
    values, costs, stories = {}, {}, {}
    for name in extras:
        worth, level, burden, weight, honest, lie, padding = rng.random(7).tolist()
        values[name] = round(item.list_price * extra_share(worth, level, HEAVY_VALUE))
        cost = extra_share(burden, weight, HEAVY_COST)
        costs[name] = round(item.list_price * cost)
        is_honest = honest < s.honesty
        named = named_share(cost, is_honest, padding)
        evades = not is_honest and lie < EVADES
        amount = 0 if evades else max(1, round(item.list_price * named))
        stories[name] = Told(amount, bool(named > DEAR), is_honest)
    return values, costs, stories


def extra_share(coin: Any, level: Any, heavy: tuple[float, float]) -> Any:
    """What an extra costs or is worth, a share of the list price; arguments may be arrays."""
    low, high = (np.where(coin < HEAVY, heavy[end], LIGHT[end]) for end in (0, 1))
    return low + (high - low) * level


def named_share(cost: Any, honest: Any, u: Any) -> Any:
    """What a seller says that a `cost` is, a share of the list price; arguments may be arrays."""
    true = cost * (PADDED[0] + (PADDED[1] - PADDED[0]) * u)
    return np.where(honest, true, cost + ADDED[0] + (ADDED[1] - ADDED[0]) * u)


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


def rises_in(bids: Any, opening: float) -> int:
    """How many of the bids rose above the best one before by RISE of the opening; no first one."""
    best, count = bids[0] if bids else 0, 0
    for bid in bids[1:]:
        count += bid - best >= RISE * opening
        best = max(best, bid)
    return count


def softness(rises: Any) -> Any:
    """How far a seller has come towards its last price after so many rises, in [0, 1]."""
    return np.minimum(1.0, rises / RISES)


def threshold(s: Any, soft: Any, ask: Any, mood: Any) -> Any:
    """The least standing bid that is taken by a seller of this softness."""
    share = (1 - s.leniency * soft) * (1 - mood)
    return s.reservation + share * (ask - s.reservation)


def hazards(
    s: Any, t: int, best: Any, before: Any, least: Any, mood: Any, temper: Any
) -> dict[str, Any]:
    """The chances to walk in round `t`, in which the standing bid rose to `best`, by reason."""
    stalled = 1 - np.clip((best - before) / (FULL_PROGRESS * s.opening), 0, 1)
    far = np.clip((least - best) / (FULL_GAP * s.opening), 0, 1)
    calm = 1 - np.clip(mood / MOOD[1], 0, 1)
    return {
        "patience": s.impatience * stalled * far * calm,
        "rival": RIVAL_HAZARD * s.rival,
        "talk": temper,
        "time": LATE * (t > s.deadline),
    }


def hazard(s: Any, t: int, best: Any, before: Any, least: Any, mood: Any, temper: Any) -> Any:
    """The chance to walk in round `t`, for whatever reason."""
    return np.clip(sum(hazards(s, t, best, before, least, mood, temper).values()), 0, 1)


def reason_drawn(chances: Mapping[str, Any], u: float) -> str:
    """The reason to leave that `u` in [0, 1) draws from the chances; "" where it stays."""
    reach = 0.0
    for reason, chance in chances.items():
        reach += float(chance)
        if u < reach:
            return reason
    return ""


# Words --------------------------------------------------------------------------------------------


def effect(act: str, kind: Any, t: int, serious: bool, holds: Any) -> tuple[Any, Any]:
    """What the first use of an act adds to mood and temper; `kind` and `holds` may be arrays.

    `serious`: the bid is high enough for cash. `holds`: the flaw is there, or the outside price is
    true or not seen through.
    """
    if act == "insult":
        return INSULT
    if is_question(act):
        return 0.0, ASKED
    late = (act == "tea" and t > TEA_UNTIL) or (act == "cash" and not serious)
    gain = np.asarray(MOODS[act])[kind] * (not late)
    temper = np.where((gain < 0) | late, DISLIKED, 0.0)
    return np.where(holds, gain, CAUGHT[0]), np.where(holds, temper, CAUGHT[1])


def is_question(act: str) -> bool:
    """Whether an act asks for something that a seller may know."""
    return act in (*QUESTIONS, *(f"ask_{name}" for name in EXTRAS))


@dataclass(frozen=True, slots=True)
class Heard:
    """What a buyer's words came to: mood and temper so far, and the last line's act and effect."""

    mood: float = 0.0
    temper: float = 0.0
    act: str = ""
    gain: float = 0.0
    caught: bool = False


def listen(s: Any, moves: Any, chance: Any, quote: int | None, read: Any) -> Heard:
    """What the buyer's words so far, of which `read` finds the act, came to with a seller.

    Each change of the package tries its temper.
    """
    mood = temper = 0.0
    acts: set[str] = set()
    t, best, last, package = 0, 0, Heard(), None
    for move in moves:
        if move.agent != "buyer":
            continue
        temper += CHANGED * (package not in (None, move.action.extras))
        package = move.action.extras
        t, best, gain, caught = t + 1, max(best, move.action.price), 0.0, False
        act, named = read(move.action.message)
        if act in acts:
            temper += REPEATED
        elif act:
            acts.add(act)
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


def reader(table: Table) -> Callable[[str], tuple[str, int]]:
    """What finds the act of a buyer's line at a table: the ear, for what can be said there."""
    return ear.act_in if table.extras else partial(ear.act_in, acts=ACTS)


def hear_nothing(text: str) -> tuple[str, int]:
    """The act in a text for a seller that hears no words: none."""
    return "", 0


def is_true(named: int, quote: int | None) -> bool:
    """Whether a buyer who knows the price `quote`, or none, may say that another asks `named`."""
    return bool(quote and named >= TRUE_QUOTE * quote)


class Position(NamedTuple):
    """What the words of a seller keep to."""

    ask: int
    best: int  # the standing bid; 0 for none
    risks: Mapping[str, float] = {}  # chances to leave after one more bid that stands still


def speech_at(s: Stance, t: int, private: Mapping[str, Any], heard: Heard, at: Position) -> Speech:
    """What the seller says in round `t`, 0 for its opening, after what it heard."""
    u = private["chance"][t]
    style, reaction = style_drawn(s, u), reaction_to(heard, u["reacts"])
    asked = heard.act.removeprefix("ask_") if is_question(heard.act) else ""
    extras = private.get("told", {})
    asked = asked if asked in (*private["stories"], *extras) else ""
    if not asked and sum(at.risks.values()) >= WARNS:  # who is about to leave says so
        topic, content = warning(s, private["stories"]["time"], at.risks)
        cost, true = 0, True
    else:
        topic = asked or unasked(private["chance"], t, tuple(extras) or TOPICS, CLAIM_RATE, CLAIMS)
        if not topic:
            return Speech(style, reaction=reaction)
        if topic in extras:
            content, cost, true = extra_story(extras[topic], bool(asked))
        else:
            content, cost, true = story(s, topic, *private["stories"][topic], bool(asked))
        if topic == "cost" and cost and not at.best < cost <= at.ask:  # against its own prices
            content, cost, true = "evade", 0, True
        if content == "evade" and not asked:
            return Speech(style, reaction=reaction)
    return Speech(style, topic, content, cost, mark_drawn(content, true, u), reaction)


def style_drawn(s: Any, u: Mapping[str, float]) -> str:
    """The style in which a seller speaks in a round of the draws `u`: mostly its own type's."""
    if u["style"] < OWN_STYLE:
        return s.type
    others = [name for name in TYPES if name != s.type]
    return others[int(u["other"] * len(others))]


def mark_drawn(content: str, true: bool, u: Mapping[str, float]) -> str:
    """The mark of candour of what is said in a round of the draws `u`."""
    marks = np.cumsum(MARK_CHANCES[true])
    return "plain" if content == "evade" else MARKS[int(np.searchsorted(marks, u["mark"]))]


def extra_story(claim: Told, asked: bool) -> tuple[str, int, bool]:
    """Content, named cost and truth of what a seller says on an extra; a number if `asked`."""
    if not claim.amount:
        return "evade", 0, True
    if asked:
        return "price", claim.amount, claim.honest
    return "dear" if claim.dear else "cheap", 0, claim.honest


def unasked(chance: Any, t: int, topics: Sequence[str], rate: float, most: int) -> str:
    """The topic of which a seller speaks unasked in round `t`, "" for none; of each `most` times.

    A function of the draws of the rounds so far, so that nothing that is said changes it.
    """
    drawn = [
        topics[int(u["topic"] * len(topics))] if number == 0 or u["speaks"] < rate else ""
        for number, u in enumerate(chance[: t + 1])
    ]
    return drawn[t] if drawn.count(drawn[t]) <= most else ""


def warning(s: Stance, time: Sequence[float], risks: Mapping[str, float]) -> tuple[str, str]:
    """What a seller that may leave says, truly: topic and content of its likeliest reason.

    Who denies its deadline, as its story on `time` goes, says that its patience ends.
    """
    reason = max(risks, key=lambda name: risks[name])
    if reason == "rival":
        return "rival", "yes"
    if reason == "time" and s.pressed and story(s, "time", *time, True)[0] != "long":
        return "time", "short"
    return "patience", "low"


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
        denial = {"time": "long", "wear": "none", "rival": "yes"}[topic]
        return ("evade", 0, True) if honest < SHY else (denial, 0, True)
    if honest < s.honesty:
        truth = {"cost": price, "time": "short", "wear": "flaw", "rival": "evade"}[topic]
        return truth, nearest(s.cost, step) if topic == "cost" else 0, True
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


class Decided(NamedTuple):
    """What a seller does, before it is worded."""

    kind: str  # opening, counter, accept or walk
    price: int | None  # of the ask, or of the bid that it takes, rupees; None where it walks
    says: Speech = Speech()  # with an ask
    standing: int | None = None  # the bid of which it reminds
    reason: str = ""  # to walk
    act: str = ""  # of the buyer, which it answers


def decide(obs: Observation, *, mute: bool) -> Decided:
    """The seller's move. Its draws are private values."""
    private, costs = obs.own, obs.own.get("costs", {})
    table = count_bids(obs.table, costs)
    s, chance, t = private["stance"], private["chance"], table.round
    if not table.asks:
        opening = Position(s.opening, 0)
        return Decided("opening", s.opening, speech_at(s, t, private, Heard(), opening))
    best, last = max(table.bids), table.asks[-1]
    before = max(table.bids[:-1], default=LOW_BID * s.opening)
    heard = listen(
        s, table.moves, chance, private["quote"], hear_nothing if mute else reader(table)
    )
    ask = int(min(last, ask_at(s, t, best, chance[t]["early"])))
    ask = max(ask, best + 1)
    least = threshold(s, softness(rises_in(table.bids, s.opening)), ask, heard.mood)
    if best >= min(least, last):  # nobody refuses the price that it asks
        return Decided("accept", standing_offer(obs.table, costs).price)
    risks = hazards(s, t, best, before, least, heard.mood, heard.temper)
    if reason := reason_drawn(risks, chance[t]["walk"]):
        return Decided("walk", None, reason=reason)
    still = hazards(s, t + 1, best, best, least, heard.mood, heard.temper) if t < s.rounds else {}
    # Which package is better is told in words alone, so there it reminds of no bid.
    standing = best if table.bids[-1] < best and not table.extras else None
    says = speech_at(s, t, private, heard, Position(ask, best, still))
    return Decided("counter", ask, says, standing, act=heard.act)


def seller(obs: Observation, rng: np.random.Generator, *, mute: bool, use: str) -> Action:
    """The seller's move in words; `rng` is not used."""
    move, private, item = decide(obs, mute=mute), obs.own, obs.table.item
    line, tongue = private["chance"][obs.table.round]["line"], private["language"]
    if move.kind == "accept":
        return Accept(DONE[tongue].replace("#", rupees(move.price)))
    if move.kind == "walk":
        words = corpus.pick(tongue, use, "walk", move.reason, line, item)
        return WalkAway("" if mute else words)
    if mute:
        return Offer(move.price, f"{rupees(move.price)}.")
    return Offer(
        move.price, corpus.line(move.says, move.price, move.standing, line, tongue, use, item)
    )


# Tasks --------------------------------------------------------------------------------------------


def market_grade(state: Any, seat: str = "buyer") -> float:
    """The objective of the open market, in [-1, 1], for the buyer or the seller.

    With a ZOPA, that of the best package, a deal earns the seat's share of it, discounted; no
    deal, or one past the deadline, earns 0. Without a ZOPA no deal earns 1, discounted. A deal at a
    loss earns the loss as a share of the list price, at most -1.
    """
    if not state.table.past:
        return 0.0
    (instance,), (deal,) = state.private["nature"], state.table.past
    private = getattr(instance, seat)
    width = instance.buyer["reservation"] + package_gain(instance) - instance.seller["reservation"]
    share = share_kept(private, deal.rounds)
    if deal.price is None:
        return share if width <= 0 else 0.0
    limit = private["reservation"] + amount_of(
        deal.extras, private.get("values" if seat == "buyer" else "costs", {})
    )
    gain = deal.price - limit if seat == "seller" else limit - deal.price
    if width <= 0 or gain < 0:
        return max(-1.0, gain / instance.item.list_price)
    return share * gain / width


def market_task(name: str, market: Market, seller_type: str = "") -> Task:
    """The task `bazaar/<name>` with these settings; with a `seller_type`, of that type alone."""
    env = Bazaar(
        draw=partial(draw, market, seller_type=seller_type),
        rounds=market.rounds[1],
        standing=True,
        version=3,
        extras=market.extras,
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
