"""Buyers that answer an ask as people do: the task `bazaar/customers`, in which the learner sells.

A buyer is a seller of `people` in a mirror: a price p counts there as `SPAN` of the list price less
p. So a bid is an ask of the `Person`, the buyer's limit its reservation price, a fall of the ask a
rise; every formula holds for both seats. Before its first bid a buyer has a price in mind, from
which it starts. It speaks, truly or not by its honesty, of what tells which plea of the seller
moves it: its patience, another shop.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..amounts import rupees
from ..core import Task
from . import corpus, ear, market, people
from .market import Heard, market_grade
from .people import Course, Person
from .rules import Bazaar
from .sale import scheduled
from .speech import DONE
from .types import Accept, Action, Instance, Observation, Offer, WalkAway

SPAN = 1.5  # of the list price: the sum of a price and its image
QUOTE = (1.0, 1.1)  # of its limit: the price of another shop that it names, real or not
WORDS = {  # key of the sentences for what it claims, by topic and content; else it says nothing
    ("patience", "low"): "patience_low",
    ("limit", "near"): "limit_near",
    ("rival", "yes"): "outside",
}
TOPICS = ("patience", "rival")  # of which it speaks first; of its limit then
LEAVES = {"patience": "leave_patience", "rival": "leave_rival", "talk": "leave"}  # by reason
# What the seller may plead. Each moves some buyers; means are near 0, so that a fixed plea earns
# nothing. That nothing is wrong with it moves who compares it with another shop's; that there is
# little left to give, who is soon out of patience; that somebody else wants it, who has plenty.
PLEAS = ("wear/none", "limit/near", "rival/yes")
MOVING = ("limit/near", "", "rival/yes")  # by patience, where there is no other shop
PLEASED, ANNOYED = 0.45, -0.20  # mood


def image(list_price: int, unit: int, price: Any) -> Any:
    """A price in the mirror, or back, in rupees; whole units stay whole units. Takes arrays too."""
    return unit * round(SPAN * list_price / unit) - price


def draw(rng: np.random.Generator) -> tuple[Instance]:
    """The deal of one episode: a deal of `people` in the mirror."""
    (drawn,) = people.draw(rng)
    item, rounds, s = drawn.item, drawn.rounds, drawn.seller["stance"]
    flip = partial(image, item.list_price, s.unit)
    limit, reservation = flip(s.reservation), flip(drawn.buyer["reservation"])
    buyer = {
        "reservation": limit,
        "discount": drawn.buyer["discount"],
        "stance": s,
        "quote": s.unit * int(np.ceil(limit * rng.uniform(*QUOTE) / s.unit)),
        **{name: drawn.seller[name] for name in ("chance", "stories", "language")},
    }
    seller = {
        "reservation": reservation,
        "discount": drawn.buyer["discount"],
        **scheduled(reservation, item.list_price, rounds, rng),
    }
    return (Instance(item, buyer, seller, rounds=rounds),)


def plea_in(message: str) -> str:
    """The plea of a seller's line, one of PLEAS, "" for none."""
    meant = ear.meanings(message, "seller")
    return next((plea for plea in PLEAS if plea in meant), "")


def gain(s: Any, plea: str) -> Any:
    """What the first use of a plea adds to the mood; `s` may have arrays."""
    moving = np.where(s.rival, "wear/none", np.array(MOVING)[s.patience])
    return np.where(moving == plea, PLEASED, ANNOYED)


def effect(s: Any, plea: str, pleaded: Iterable[str]) -> tuple[Any, Any]:
    """What a plea, "" for none, adds to mood and temper after those `pleaded` before."""
    if not plea or plea in pleaded:
        return 0.0, market.REPEATED if plea else 0.0
    gained = gain(s, plea)
    return gained, np.where(gained < 0, market.DISLIKED, 0.0)


def listen(s: Any, messages: Iterable[str]) -> Heard:
    """What a seller's lines so far came to with a buyer; `s` may have arrays."""
    mood, temper, pleaded = 0.0, 0.0, set()
    for plea in map(plea_in, messages):
        gained, more = effect(s, plea, pleaded)
        mood, temper = mood + gained, temper + more
        pleaded |= {plea}
    return Heard(np.clip(mood, *market.MOOD), temper)


def claim_at(
    s: Person, t: int, values: Mapping[str, Any], ask: int, price: int, course: Course, heard: Heard
) -> str:
    """What it says with its bid number `t`, from 1: a key of WORDS, "" for nothing.

    `ask` is its bid in the mirror, `price` the seller's ask. Who is about to leave says so, truly;
    else it comes to one topic after the other. Nobody names another shop's price that is no lower
    than the ask.
    """
    risk = float(people.hazard(s, course._replace(rise=0.0), False, heard.mood, heard.temper))
    warns, dear = risk >= market.WARNS, values["quote"] < price
    if warns:
        return "outside" if s.rival and dear else "patience_low"
    first = int(values["chance"][0]["topic"] * 2)
    keys = []
    for topic in (TOPICS[first], TOPICS[1 - first], "limit"):
        content, _ = people.claim(s, topic, ask, values["stories"][topic][0])
        key = WORDS.get((topic, content), "")
        keys += [key] if key and (dear or key != "outside") else []
    return keys[t - 1] if t <= len(keys) else ""


def buyer(obs: Observation, rng: np.random.Generator, *, mute: bool, use: str) -> Action:
    """The buyer's move. Its draws are private values; `rng` is not used."""
    private, table, price = obs.own, obs.table, obs.ask
    s, language, t = private["stance"], private["language"], table.round + 1
    u, flip = private["chance"][t], partial(image, table.item.list_price, s.unit)
    asks, first = [s.opening, *map(flip, table.bids)], t == 1
    course, ask = people.follow(s.list_price, map(flip, table.asks), asks), asks[-1]
    lines = (move.action.message for move in table.moves if move.agent == "seller")
    heard = Heard() if mute else listen(s, lines)
    least = people.threshold(s, ask, course, heard.mood)
    least += people.NOISE * s.list_price * (2 * u["accepts"] - 1)
    if flip(price) >= min(max(s.reservation, least), ask):
        return Accept(DONE[language].replace("#", rupees(price)))
    risks = people.hazards(s, course, first, heard.mood, heard.temper)
    if reason := market.reason_drawn(risks, u["leaves"]):
        left = corpus.pick(language, use, "bid", LEAVES[reason], u["line"], table.item)
        return WalkAway("" if mute else left)
    if u["gives"] < people.chance_to_give(s, course):
        ask = int(people.rounded(s, ask, people.wish(s, ask, course, first), course.best))
    ask = max(ask, int(course.best) + 1)
    line = corpus.closed(rupees(flip(ask)), language)
    if not mute and (key := claim_at(s, t, private, ask, price, course, heard)):
        named = private["quote"] if key == "outside" else 0
        words = corpus.pick(language, use, "buyer", key, u["line"], table.item, named)
        line = f"{corpus.closed(words, language)} {line}"
    return Offer(flip(ask), line)


def customers_task(use: str = "evaluation", mute: bool = False) -> Task:
    """The task with buyers that draw sentences of one use of the corpus; mute, they say prices."""
    return Task(
        name="bazaar/customers",
        env=Bazaar(draw=draw, rounds=people.ROUNDS[1], standing=True, version=3),
        learner="seller",
        opponents={"buyer": partial(buyer, mute=mute, use=use)},
        grade=partial(market_grade, seat="seller"),
        success=0.3,
        about="A buyer that answers asks as people do: a fall softens it, and repeats try it.",
    )


TASKS = (customers_task(),)
