"""Buyers that answer an ask as people do: the task `bazaar/customers`, in which the learner sells.

A buyer is a seller of `people` in a mirror: a price p counts there as `SPAN` of the list price less
p. So a bid is an ask of the `Person`, the buyer's limit its reservation price, a fall of the ask a
rise; every formula holds for both seats. Before its first bid a buyer has a price in mind, from
which it starts. It speaks, truly or not by its honesty, and is deaf to what the seller says.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..amounts import rupees
from ..core import Task
from . import corpus, people
from .market import CLAIMS, WARNS, market_grade, reason_drawn, unasked
from .people import Course, Person
from .rules import Bazaar
from .sale import scheduled
from .speech import phrases
from .types import Accept, Action, Instance, Observation, Offer, WalkAway

SPAN = 1.5  # of the list price: the sum of a price and its image
QUOTE = (1.0, 1.25)  # of its limit: the price of another shop that it names, real or not
WORDS = {  # key of the sentences for what it claims, by topic and content; else it says nothing
    ("patience", "low"): "patience_low",
    ("limit", "near"): "limit_near",
    ("rival", "yes"): "outside",
}


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


def claim_at(
    s: Person, t: int, own: Mapping[str, Any], ask: int, price: int, course: Course
) -> str:
    """What it says with its bid number `t`, from 1: a key of WORDS, "" for nothing.

    `ask` is its bid in the mirror, `price` the seller's ask. Who is about to leave says so, truly;
    nobody names another shop's price that is no lower than the ask.
    """
    risk = float(people.hazard(s, course._replace(rise=0.0), False, 0.0, 0.0))
    warns, dear = risk >= WARNS, own["quote"] < price
    if warns:
        return "outside" if s.rival and dear else "patience_low"
    topic = unasked(own["chance"], t - 1, people.TOPICS, people.CLAIM_RATE, CLAIMS)
    content, _ = people.claim(s, topic, ask, own["stories"][topic][0]) if topic else ("", True)
    key = WORDS.get((topic, content), "")
    return "" if key == "outside" and not dear else key


def buyer(obs: Observation, rng: np.random.Generator, *, mute: bool, use: str) -> Action:
    """The buyer's move. Its draws are private values; `rng` is not used."""
    own, table, price = obs.own, obs.table, obs.ask
    s, language, t = own["stance"], own["language"], table.round + 1
    u, flip = own["chance"][t], partial(image, table.item.list_price, s.unit)
    asks, first = [s.opening, *map(flip, table.bids)], t == 1
    course, ask = people.follow(s.list_price, map(flip, table.asks), asks), asks[-1]
    least = people.threshold(s, ask, course, 0.0)
    least += people.NOISE * s.list_price * (2 * u["accepts"] - 1)
    if flip(price) >= min(max(s.reservation, least), ask):
        return Accept(phrases(language, "seen")["accept", "deal"][0].replace("#", rupees(price)))
    if reason := reason_drawn(people.hazards(s, course, first, 0.0, 0.0), u["leaves"]):
        return WalkAway(
            ""
            if mute
            else corpus.pick(language, use, "bid", f"leave_{reason}", u["line"], table.item)
        )
    if u["gives"] < people.chance_to_give(s, course):
        ask = int(people.rounded(s, ask, people.wish(s, ask, course, first), course.best))
    ask = max(ask, int(course.best) + 1)
    said = f"{rupees(flip(ask))}{'।' if language == 'hi' else '.'}"
    if not mute and (key := claim_at(s, t, own, ask, price, course)):
        named = own["quote"] if key == "outside" else 0
        words = corpus.pick(language, use, "buyer", key, u["line"], table.item, named)
        said = f"{corpus.closed(words, language)} {said}"
    return Offer(flip(ask), said)


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
