"""Contestants that sell in `bazaar/customers`: buyers of `bazaar/people` in the mirror.

There an ask is a bid and the seller's limit a buyer's, so that a script or a plan for one seat
plays the other.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from env import Accept, Item, Observation, Offer, Policy, WalkAway, corpus, customers, ear, market
from env import people as rules
from sauda.policies import people
from sauda.policies.listener import NOTHING, Action, MoveValues, Sellers, as_weights, sample
from sauda.policies.people import SAMPLE, Belief

PRIOR = 21  # seed


def flip(obs: Observation, price: Any) -> Any:
    """The image of a price, or of prices, at a table."""
    item = obs.table.item
    return customers.image(item.list_price, market.unit_of(item.list_price), price)


def across(obs: Observation) -> Observation:
    """What a seller sees, as a buyer of `bazaar/people` would: in the mirror.

    The ask before its first bid, which no table holds, is the list price.
    """
    table = obs.table
    asks = (table.item.list_price, *(flip(obs, bid) for bid in table.bids))
    bids = tuple(flip(obs, ask) for ask in table.asks)
    table = table._replace(asks=asks, bids=bids, round=len(bids), moves=())
    private = {"reservation": flip(obs, obs.reservation), "discount": obs.own["discount"]}
    return Observation("buyer", table, private)


@dataclass(frozen=True)
class Across:
    """Sells as a silent buyer of `bazaar/people` buys."""

    buyer: Policy

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        seen = across(obs)
        # The seller has one move more than there are answers: the last takes the bid, or none.
        seen = replace(seen, table=seen.table._replace(rounds=seen.table.rounds + 1))
        action = self.buyer(seen, rng)
        if isinstance(action, Accept) and not obs.table.bids:
            return Offer(flip(obs, seen.ask))
        return (
            replace(action, price=flip(obs, action.price)) if isinstance(action, Offer) else action
        )


# The planner --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _prior() -> dict[str, np.ndarray]:
    """Buyers before anything is seen, as sellers in the mirror; prices are shares of the list."""
    rng = np.random.default_rng(PRIOR)
    drawn = rules.draw_many(SAMPLE, rng)
    least, most = rules.OPENING
    above = np.where(rng.random(SAMPLE) < least, 1 + (most - 1) * rng.random(SAMPLE), 1.0)
    return {**drawn, "above": above}


def believe(obs: Observation, reads: bool = True) -> Belief:
    """The belief of a seller that has seen the table; with `reads` off, its prices alone."""
    item, seen = obs.table.item, across(obs)
    s = Sellers(**_prior())
    s.list_price = s.anchor = item.list_price
    s.unit = market.unit_of(item.list_price)
    s.reservation = s.reservation * item.list_price
    s.opening = s.unit * np.ceil(s.above * item.list_price / s.unit)
    s.opening = np.maximum(s.reservation + s.unit, s.opening)
    log, ask, mood, temper = np.zeros(SAMPLE), s.opening, np.zeros(SAMPLE), np.zeros(SAMPLE)
    belief = Belief(s, log, mood, temper, rules.Course(), frozenset())
    lines = [move.action.message for move in obs.table.moves]
    rounds = zip(lines[::2], seen.table.bids, lines[1::2], seen.table.asks[1:], strict=True)
    for t, (pleading, bid, message, answer) in enumerate(rounds, 1):
        _ask(belief, ask, bid, pleading, t == 1)
        log = log + people.of_answer(belief, ask, answer, t == 1)
        ask = answer
        if reads:
            log = log + np.log(of_words(belief, obs, message, answer) + people.SLIP)
    belief.weights = as_weights(log)
    return belief


def _ask(belief: Belief, answered: Any, price: float, pleading: str, first: bool) -> None:
    """Carry `belief` on by an ask, at a price in the mirror, to a bid that it answers."""
    plea = customers.plea_in(pleading)
    gained, more = customers.effect(belief.sellers, plea, belief.said)
    belief.mood, belief.temper = belief.mood + gained, belief.temper + more
    belief.said |= {plea}
    course, anchor = belief.course, belief.sellers.anchor
    belief.course = rules.after_bid(course, anchor, answered, price, first)


def after_offer(belief: Belief, ask: Offer, obs: Observation) -> tuple[Belief, Any]:
    """The belief once the seller has made this ask, and in the mirror the bid that it answers."""
    after, first = replace(belief), not obs.table.bids
    answered = belief.sellers.opening if first else across(obs).ask
    _ask(after, answered, flip(obs, ask.price), ask.message, first)
    return after, answered


def of_words(belief: Belief, obs: Observation, message: str, ask: float) -> np.ndarray:
    """The chance, up to a factor, that a buyer speaks so with a bid, which is `ask` here."""
    s, chance = belief.sellers, np.ones(SAMPLE)
    still = belief.course._replace(rise=0.0)
    warns = rules.hazard(s, still, False, belief.mood, belief.temper) >= market.WARNS
    lies, low = 1 - s.honesty, s.patience == rules.PATIENCES.index("low")
    meant = ear.meanings(message, "buyer")
    if "buyer/outside" in meant:
        limit, named = flip(obs, s.reservation), ear.amount(message)
        least, most = customers.QUOTE
        holds = (named >= least * limit) & (named <= most * limit + s.unit)
        chance = chance * holds * np.where(s.rival, 1, np.where(warns, 0, lies))
    if "buyer/limit_near" in meant:
        near = ask - s.reservation < rules.CLOSE * s.opening
        chance = chance * np.where(warns, 0, np.where(near, 1, lies))
    if "buyer/patience_low" in meant:
        high = s.patience == rules.PATIENCES.index("high")
        chance = chance * np.where(warns | low, 1, np.where(high, lies, 0))
    return chance


def line(plea: str, draw: float, item: Item | None = None) -> str:
    """A seller's line for a plea, "" for none, of the training sentences."""
    return corpus.pick("en", "training", *plea.split("/"), draw, item) if plea else ""


@dataclass(frozen=True)
class Vendor:
    """The seller that plans against its belief; `reads` and `speaks` switch ears and mouth."""

    reads: bool = True
    speaks: bool = True
    truth: rules.Person | None = None  # told the whole buyer: a bound, and no contestant

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        belief = believe(obs, self.reads)
        if self.truth:
            belief.learn(self.truth, "opening")
        pleas, prices, offers, accept, walk = self._weigh(belief, obs)
        if offers.max() >= max(accept, walk):
            plea, at = np.unravel_index(offers.argmax(), offers.shape)
            words = line(pleas[plea], float(rng.random()), obs.table.item)
            return Offer(int(flip(obs, prices[at])), words)
        return Accept() if accept >= walk else WalkAway()

    def values(self, belief: Belief, obs: Observation) -> MoveValues:
        """The expected grade of every ask with every plea, of accepting and of walking away."""
        pleas, prices, offers, accept, walk = self._weigh(belief, obs)
        return MoveValues(
            tuple(pleas), flip(obs, prices)[::-1], offers[:, ::-1], float(accept), float(walk),
            lambda message: (customers.plea_in(message), 0),
            lambda plea, seen, draw=0.0: line(plea, draw, seen.table.item),
        )  # fmt: skip

    def _weigh(self, belief: Belief, obs: Observation) -> tuple[Any, ...]:
        """Pleas, prices in the mirror, and the worth of every move."""
        seen = across(obs)
        s, mood, temper = sample(belief, people.SELLERS)
        left = [plea for plea in customers.PLEAS if self.speaks and plea not in belief.said]
        prices, pleas = people.bids_to_weigh(seen), ["", *left]
        effects = [customers.effect(s, plea, ()) for plea in pleas]
        moods = np.array([mood + gained for gained, _ in effects])
        tempers = np.array([temper + tried for _, tried in effects])
        offers = people.play_on(s, moods, tempers, belief.course, prices, seen, True)
        discount = seen.own["discount"] ** max(0, obs.round - 1)
        walk = ((seen.reservation <= s.reservation) * discount).mean()
        takes = obs.table.bids and seen.ask <= seen.reservation
        accept = people.worth(seen.ask, s, seen, discount).mean() if takes else NOTHING
        return pleas, prices, offers, accept, walk
