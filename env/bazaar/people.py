"""Sellers that answer a bid as people do: the task `bazaar/people`.

How often a person accepts, gives, stands or leaves was counted in human dialogues; `HABITS` are
those counts as five habits, of which the walls and the mirrors are design. A rise of the buyer
softens a seller by the share of the gap that it closes, and time does not. What the next best bid
depends on (patience, how near the limit is, another buyer) is told in words alone. All chance is
drawn at reset. The formulas take a seller whose fields are numbers, or arrays of many sellers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..amounts import rupees
from ..core import Task
from . import corpus, ear, market
from .rules import Bazaar
from .speech import ACTS, DONE, LANGUAGES, QUESTIONS, Speech
from .types import CATALOGUE, Accept, Action, Instance, Observation, Offer, WalkAway

# Habits -------------------------------------------------------------------------------------------


class Habit(NamedTuple):
    """How a seller answers bids; shares are of the gap between its ask and the standing bid."""

    weight: float  # share of sellers
    first: float  # given after the first bid
    later: float  # given afterwards; by a mirror, share of the buyer's rise
    gives: float  # chance to give after a rise
    strict: float  # share of the gap to its limit that a bid must reach to be taken


HABITS: Mapping[str, Habit] = {
    "even": Habit(0.40, 0.54, 0.53, 0.88, 0.90),
    "late": Habit(0.08, 0.40, 0.65, 0.85, 0.85),
    "wall": Habit(0.10, 0.25, 0.25, 0.40, 0.45),
    "mirror": Habit(0.07, 0.55, 0.80, 0.85, 0.70),
    "splitter": Habit(0.35, 0.70, 0.70, 0.75, 0.32),
}
MIRROR = list(HABITS).index("mirror")
SPREAD = 0.2  # each number of a habit varies by so large a share
LIMIT = (0.52, 0.18, 0.30, 0.97)  # share of the list price: mean, deviation, least, most
KEEP = 0.2  # of its strictness, for each whole gap that the buyer closed
NOISE = 0.08  # deviation from the threshold, share of the list price, both ways
STAND = 0.5  # chance to give after no rise, share of that after a rise
NEAR = 0.3  # a rise of this share of the gap counts in full
SMALL = 0.15  # a rise below this share of the gap tries the patience
LOW = 0.5  # share of the opening ask from which bids count
LEAVES = {"first": 0.02, "rise": 0.03, "small": 0.16}  # chance to leave after such a bid
REPEAT = 0.3  # more for each further bid in a row that does not rise
PATIENCE = {"low": 2.0, "even": 1.0, "high": 0.35}  # factor on the chance to leave
PATIENCES = tuple(PATIENCE)
RIVAL, RIVAL_LEAVES, RIVAL_STRICT = 0.3, 0.06, 1.2  # chance; to leave in a round; factor
MOVED = 1.6  # closed gaps that a mood of 1 is worth

# Words --------------------------------------------------------------------------------------------

CLAIM_RATE = 0.6  # of rounds in which it says something unasked; the opening always does
TOPICS = ("patience", "limit", "rival")
CLOSE = 0.12  # share of the opening ask: so near its limit it has little left to give
DRAWS = (
    "accepts", "leaves", "gives", "speaks", "topic", "mark", "style", "other", "catch", "reacts",
    "line",
)  # of each round, in [0, 1)  # fmt: skip
BUYER_LIMIT = (0.55, 1.0)  # share of the list price
ROUNDS, DISCOUNT = (3, 6), (0.94, 0.98)
OPENING = (0.2, 1.2)  # chance of an opening above the list price, and how far above at most


@dataclass(frozen=True, slots=True)
class Person:
    """A seller in one deal. Prices are whole rupees; rates and shares lie in [0, 1]."""

    kind: int  # index into TYPES: how it talks and what moves it
    habit: int  # index into HABITS
    first: float
    later: float
    gives: float
    strict: float
    patience: int  # index into PATIENCES
    rival: bool
    flaw: bool
    honesty: float
    reservation: int
    opening: int
    list_price: int
    cost: int
    unit: int
    pressed: bool

    @property
    def type(self) -> str:
        return market.TYPES[self.kind]


def draw_many(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The hidden numbers of n sellers; the reservation price as a share of the list price."""
    habits = np.array(list(HABITS.values()))
    habit = rng.choice(len(habits), n, p=habits[:, 0] / habits[:, 0].sum())
    shares = np.clip(habits[habit, 1:] * rng.uniform(1 - SPREAD, 1 + SPREAD, (n, 4)), 0, 1)
    mean, deviation, least, most = LIMIT
    kind = rng.integers(len(market.TYPES), size=n)
    low, high = np.array([ranges["honesty"] for ranges in market.RANGES.values()])[kind].T
    patience = rng.integers(len(PATIENCES), size=n)
    return {
        "kind": kind,
        "habit": habit,
        **dict(zip(Habit._fields[1:], shares.T, strict=True)),
        "patience": patience,
        "pressed": patience == 0,
        "rival": rng.random(n) < RIVAL,
        "honesty": low + (high - low) * rng.random(n),
        "reservation": np.clip(rng.normal(mean, deviation, n), least, most),
    }


def draw(rng: np.random.Generator) -> tuple[Instance]:
    """The deal of one episode."""
    item = CATALOGUE[rng.integers(len(CATALOGUE))]
    price, unit = item.list_price, market.unit_of(item.list_price)
    hidden = {name: values[0].item() for name, values in draw_many(1, rng).items()}
    rounds = int(rng.integers(*ROUNDS, endpoint=True))
    limit = round(price * rng.uniform(*BUYER_LIMIT))
    reservation = round(price * hidden["reservation"])
    u = rng.random(6)
    above = 1 + (OPENING[1] - 1) * u[1] if u[0] < OPENING[0] else 1.0
    low, high = market.COST
    person = Person(
        **(hidden | {"reservation": reservation}),
        flaw=bool(u[2] < market.flaw_chance(hidden["kind"], item.condition)),
        opening=max(reservation + unit, unit * int(np.ceil(above * price / unit))),
        list_price=price,
        cost=round((low + (high - low) * u[3]) * reservation),
        unit=unit,
    )
    low, high = market.QUOTE
    quote = round((low + (high - low) * u[4]) * price) if u[5] < market.QUOTE_CHANCE else None
    discount, language = rng.uniform(*DISCOUNT), LANGUAGES[rng.integers(len(LANGUAGES))]
    chance = tuple(
        dict(zip(DRAWS, row, strict=True)) for row in rng.random((rounds + 1, len(DRAWS))).tolist()
    )
    topics = (*market.STORIES, "limit", "patience")
    stories = dict(zip(topics, map(tuple, rng.random((len(topics), 3)).tolist()), strict=True))
    buyer = {
        "reservation": limit, "discount": discount, "purse": round(market.PURSE * price),
        "deadline": None, "quote": quote,
    }  # fmt: skip
    seller = {
        "reservation": reservation, "stance": person, "chance": chance, "stories": stories,
        "quote": quote, "language": language,
    }  # fmt: skip
    return (Instance(item, buyer, seller, rounds=rounds),)


# Prices -------------------------------------------------------------------------------------------
# `s` is a Person, or has arrays in the place of its numbers. Bids and asks are rupees.


class Course(NamedTuple):
    """What the bids so far came to; numbers or arrays."""

    before: Any = 0.0  # the standing bid before the last one; 0 before the first
    best: Any = 0.0
    rise: Any = 0.0  # share of the gap that the last bid closed
    warm: Any = 0.0  # the sum of those shares
    stood: Any = 0  # bids in a row that did not rise


def after_bid(course: Course, opening: Any, ask: Any, bid: Any, first: bool) -> Course:
    """The course after a `bid` with the standing `ask`. Bids below LOW of the opening count for 0.

    A first bid from there on counts as a whole rise, and softens nobody.
    """
    floor = LOW * opening
    best = np.maximum(course.best, bid)
    if first:
        return Course(course.best, best, np.where(best >= floor, 1.0, 0.0))
    start = np.maximum(course.best, floor)
    rise = np.clip((best - start) / np.maximum(ask - start, 1), 0, 1)
    stood = np.where(best > course.best, 0, course.stood + 1)
    return Course(course.best, best, rise, course.warm + rise, stood)


def threshold(s: Any, ask: Any, course: Course, mood: Any) -> Any:
    """The bid that is taken, before its noise; rises of the buyer and fitting words lower it."""
    warm = course.warm + MOVED * mood
    strict = np.minimum(1, s.strict * np.where(s.rival, RIVAL_STRICT, 1.0))
    return s.reservation + np.minimum(1, strict * KEEP**warm) * np.maximum(ask - s.reservation, 0)


def hazards(s: Any, course: Course, first: bool, mood: Any, temper: Any) -> dict[str, Any]:
    """The chances to leave after a bid that is not taken, by reason."""
    calm = 1 - np.clip(mood / market.MOOD[1], 0, 1)
    usual = LEAVES["first" if first else "rise"]
    chance = np.where(course.rise < SMALL, LEAVES["small"], usual)
    chance = chance + REPEAT * np.maximum(course.stood - 1, 0)
    patience = np.array(list(PATIENCE.values()))[s.patience]
    return {"patience": chance * calm * patience, "rival": RIVAL_LEAVES * s.rival, "talk": temper}


def hazard(s: Any, course: Course, first: bool, mood: Any, temper: Any) -> Any:
    """The chance to leave after a bid that is not taken, for whatever reason."""
    return np.clip(sum(hazards(s, course, first, mood, temper).values()), 0, 1)


def chance_to_give(s: Any, course: Course) -> Any:
    return s.gives * (STAND + (1 - STAND) * np.minimum(1, course.rise / NEAR))


def wish(s: Any, ask: Any, course: Course, first: bool) -> Any:
    """The ask that it moves to if it gives, before rounding."""
    floor = np.maximum(course.best, s.reservation)
    given = (s.first if first else s.later) * np.maximum(ask - floor, 0)
    if not first:
        given = np.where(s.habit == MIRROR, s.later * (course.best - course.before), given)
    return np.maximum(floor, ask - given)


def rounded(s: Any, ask: Any, wanted: Any, best: Any) -> Any:
    """The next ask: whole units above the standing bid and never above the last ask."""
    return np.minimum(ask, np.maximum(best + 1, s.unit * np.ceil(wanted / s.unit - 1e-9)))


def follow(opening: float, bids: Any, asks: Any) -> Course:
    """The course of a table's bids, each answered by the ask after it."""
    course = Course()
    for number, bid in enumerate(bids):
        course = after_bid(course, opening, asks[number], bid, number == 0)
    return course


# Words --------------------------------------------------------------------------------------------


def act_in(text: str) -> tuple[str, int]:
    """The act of a buyer's line and the outside price that it names; no extras here."""
    return ear.act_in(text, ACTS)


def speech_at(
    s: Person, t: int, private: Mapping[str, Any], heard: market.Heard, ask: int, course: Course
) -> Speech:
    """What it says with an `ask` in round `t`, 0 for its opening, after what it heard."""
    u = private["chance"][t]
    style, reaction = market.style_drawn(s, u), market.reaction_to(heard, u["reacts"])
    if heard.act in QUESTIONS:
        topic = heard.act.removeprefix("ask_")
        content, cost, true = market.story(s, topic, *private["stories"][topic], True)
        if cost and not course.best < cost <= ask:  # it would contradict its own prices
            content, cost = "evade", 0
    else:
        topic, (content, true), cost = "", ("", True), 0
        risk = float(hazard(s, course._replace(rise=0.0), False, heard.mood, heard.temper))
        if t and risk >= market.WARNS:  # whoever is about to leave says so, truly
            topic, content = ("rival", "yes") if s.rival else ("patience", "low")
        elif topic := market.unasked(private["chance"], t, TOPICS, CLAIM_RATE, market.CLAIMS):
            content, true = claim(s, topic, ask, private["stories"][topic][0])
    if not content:
        return Speech(style, reaction=reaction)
    return Speech(style, topic, content, cost, market.mark_drawn(content, true, u), reaction)


def claim(s: Person, topic: str, ask: int, u: float) -> tuple[str, bool]:
    """What it claims unasked about a topic, "" for nothing, and whether that is so.

    Who is not honest hides what would help the buyer: much room, much patience, no rival.
    """
    if topic == "rival":
        return ("yes", True) if s.rival else ("", True) if u < s.honesty else ("yes", False)
    if topic == "limit":
        near = ask - s.reservation < CLOSE * s.opening
        return ("near", near) if near or u >= s.honesty else ("far", True)
    name = PATIENCES[s.patience]
    if name == "even":
        return "", True
    return (name, True) if name == "low" or u < s.honesty else ("low", False)


def seller(obs: Observation, rng: np.random.Generator, *, mute: bool, use: str) -> Action:
    """The seller's move. Its draws are private values; `rng` is not used."""
    private, table = obs.own, obs.table
    s, chance, t = private["stance"], private["chance"], table.round
    line = chance[t]["line"]

    def speak(ask: int, heard: market.Heard, course: Course) -> Offer:
        if mute:
            return Offer(ask, f"{rupees(ask)}.")
        standing = int(course.best) if t and table.bids[-1] < course.best else None
        speech = speech_at(s, t, private, heard, ask, course)
        words = corpus.line(speech, ask, standing, line, private["language"], use, table.item)
        return Offer(ask, words)

    if not table.asks:
        return speak(s.opening, market.Heard(), Course())
    first, ask = t == 1, table.asks[-1]
    course = follow(s.opening, table.bids, table.asks)
    heard = (
        market.Heard() if mute else market.listen(s, table.moves, chance, private["quote"], act_in)
    )
    least = threshold(s, ask, course, heard.mood)
    least += NOISE * s.list_price * (2 * chance[t]["accepts"] - 1)
    if course.best >= min(max(s.reservation, least), ask):
        return Accept(DONE[private["language"]].replace("#", rupees(int(course.best))))
    risks = hazards(s, course, first, heard.mood, heard.temper)
    if reason := market.reason_drawn(risks, chance[t]["leaves"]):
        words = corpus.pick(private["language"], use, "walk", reason, line, table.item)
        return WalkAway("" if mute else words)
    if chance[t]["gives"] < chance_to_give(s, course):
        ask = int(rounded(s, ask, wish(s, ask, course, first), course.best))
    return speak(max(ask, int(course.best) + 1), heard, course)


def people_task(use: str = "evaluation", mute: bool = False) -> Task:
    """The task with sellers that draw sentences of one use of the corpus; mute, they say prices."""
    return Task(
        name="bazaar/people",
        env=Bazaar(draw=draw, rounds=6, standing=True, version=3),
        learner="buyer",
        opponents={"seller": partial(seller, mute=mute, use=use)},
        grade=market.market_grade,
        success=0.3,
        about="A seller that answers bids as people do: rises soften it, and repeats try it.",
    )


TASKS = (people_task(),)
