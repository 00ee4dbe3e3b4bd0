"""`tuned`: the best script of each family, its numbers found by search on training games.

`python -m sauda run tuned` finds the numbers, in games with seen listings alone. Shares are of the
lower of the buyer's limit and the first ask, exponents as in `conceded`. Every family may walk
away: from a share of the rounds on, where the ask is above so many of its limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from math import exp, log
from typing import Any, ClassVar

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway, conceded, speech
from env import market as rules
from sauda.policies.bazaar import bid
from sauda.policies.people import Dance
from sauda.policies.ruled import Ruled
from sauda.records.store import ROOT, load

FILE, RULE = "tuned.json", "simplest.json"  # under artifacts/
PEOPLE, THIRD = "bazaar/people", "bazaar/open-3"  # whose scripts are families of their own
Action = Offer | Accept | WalkAway


def within(low: float, high: float, scale: str = "linear") -> Any:
    """A number that a search may set between two bounds; on a "log" scale, or a whole "number"."""
    return field(metadata={"low": low, "high": high, "scale": scale})


@dataclass(frozen=True)
class Family:
    """A script with numbers to be found; a subclass says what it bids."""

    name: ClassVar[str]
    leaves_from: float = within(0.0, 1.0)  # share of the rounds after which it may walk away
    leaves_above: float = within(0.8, 2.0)  # ask, in limits, from which it does

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        useful = min(obs.table.rounds, obs.own.get("deadline") or obs.table.rounds)
        late = obs.round >= self.leaves_from * useful
        if obs.round >= useful or (late and obs.ask > self.leaves_above * obs.budget):
            return WalkAway()
        limit = min(obs.budget, obs.opening_ask)
        price = min(limit, max(obs.bid or 0, self.price(obs, limit, useful)))
        if obs.ask <= (obs.budget if obs.round == useful - 1 else price):
            return Accept()
        return bid(obs, price)

    def price(self, obs: Observation, limit: float, useful: int) -> float:
        """The bid that it would make, of `useful` ones at most; bids never fall."""
        raise NotImplementedError


@dataclass(frozen=True)
class Timed(Family):
    """Concedes with time, as in Faratin et al. (1998)."""

    name = "time-dependent"
    exponent: float = within(0.2, 20.0, "log")
    opening: float = within(0.1, 0.9)
    final: float = within(0.4, 1.0)

    def price(self, obs: Observation, limit: float, useful: int) -> float:
        share = conceded(obs.round, useful, self.exponent)
        return limit * (self.opening + share * (self.final - self.opening))


@dataclass(frozen=True)
class Matching(Family):
    """Raises its bid by so much of each fall of the ask, as tit for tat does."""

    name = "tit for tat"
    opening: float = within(0.1, 0.9)
    rise: float = within(0.0, 6.0)  # rupees for a rupee

    def price(self, obs: Observation, limit: float, useful: int) -> float:
        return self.opening * limit + self.rise * (obs.opening_ask - obs.ask)


@dataclass(frozen=True)
class Fixed(Family):
    """Bids the same share in every round."""

    name = "fixed share"
    share: float = within(0.2, 1.0)

    def price(self, obs: Observation, limit: float, useful: int) -> float:
        return self.share * limit


@dataclass(frozen=True)
class TimedKeyed(Timed):
    """Concedes with time and says, once, what moves the type whose style it heard most."""

    name = "time-dependent, says the key"
    after: int = within(1, 5, "number")  # lines with a style that it waits for
    since: int = within(1, 5, "number")  # the first round in which it speaks

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        action = super().__call__(obs, rng)
        if not isinstance(action, Offer):
            return action
        return replace(action, message=self.words(obs, action.price))

    def words(self, obs: Observation, price: float) -> str:
        """The pitch for that style with a bid of `price`; "" before it waited, or after one."""
        moves = obs.table.moves
        styles = [speech.hear(m.action.message).style for m in moves if m.agent == "seller"]
        styles = [style for style in styles if style]
        has_spoken = any(move.action.message for move in moves if move.agent == "buyer")
        if obs.round + 1 < self.since or has_spoken or len(styles) < max(1, self.after):
            return ""
        act, quote = rules.KEYS[max(styles, key=styles.count)], obs.own["quote"]
        is_low = price < rules.CASH_FROM * obs.opening_ask
        if (act == "outside" and not quote) or (act == "cash" and is_low):
            return ""
        return speech.buyer_line(act, quote or 0, 0.0)


FAMILIES: Mapping[str, type[Family]] = {
    family.name: family for family in (Timed, Matching, Fixed, TimedKeyed)
}


def at(family: type[Family], point: Sequence[float]) -> Family:
    """The script of a family at a point of the unit cube, one coordinate a number."""
    numbers: dict[str, float] = {}
    for known, share in zip(fields(family), point, strict=True):
        low, high, scale = (known.metadata[key] for key in ("low", "high", "scale"))
        share = min(1.0, max(0.0, float(share)))
        if scale == "log":
            numbers[known.name] = round(exp(log(low) + share * (log(high) - log(low))), 4)
        elif scale == "number":
            numbers[known.name] = round(low + share * (high - low))
        else:
            numbers[known.name] = round(low + share * (high - low), 4)
    return family(**numbers)


@cache
def load_best(task: str) -> Policy:
    """The tuned script with the best training grade on a task where bids stand.

    Raises ArtifactError, with its command, without the artifact; ValueError for another task.
    """
    if task == PEOPLE:
        return Dance(**load("people.json", ROOT).data.rule)
    if SEARCHED.get(task) == THIRD:
        return Ruled(**load(RULE, ROOT).data.numbers)
    rows = [row for row in load(FILE, ROOT).data.rows if row.task == SEARCHED.get(task)]
    if not rows:
        raise ValueError(f"nothing was tuned for {task}; tasks are {', '.join(SEARCHED)}")
    best = max(rows, key=lambda row: row.train.mean)
    return FAMILIES[best.family](**best.numbers)


# The task on which the numbers for each task are found: words count for nothing where all are mute.
SEARCHED = {
    "bazaar/open": "bazaar/open",
    "bazaar/mute": "bazaar/open",
    "bazaar/rushed": "bazaar/rushed",
    PEOPLE: PEOPLE,
    THIRD: THIRD,
    "bazaar/mute-3": THIRD,
}


@dataclass(frozen=True)
class Tuned:
    """The best tuned script of a task where bids stand; its numbers are read at its first move."""

    task: str

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        return load_best(self.task)(obs, rng)
