"""The planner of `bazaar/people`: what it believes of the seller, and how it tries out its moves.

A belief is a weighted sample of sellers. Each move is tried on some of them, and goes on with each
at the pace that is best there (QMDP, Littman et al. 1995; rollouts, Tesauro and Galperin 1996).
What is read and what is said can be switched off, one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, WalkAway, ear, market
from env import people as rules
from sauda.policies import listener

SAMPLE, SELLERS, BIDS, DRAWS = 3000, 64, 14, 2  # of the belief; of a plan; its prices; its games
PACES = (0.0, 0.12, 0.3, 0.6)  # shares of the gap that a way of going on closes with each bid
TAKES = 0.03  # of the opening ask: who is so near takes the ask
LOWEST = 0.3  # of the opening ask: the lowest first bid that is weighed
NEAR = 0.02  # of the list price: deviation of an ask from what was wanted
LEAST, SLIP = 1e-3, 1e-2  # of each likelihood of a move, and of what is read
SEEDS = {"prior": 20, "plan": 7}


# Belief -------------------------------------------------------------------------------------------


@dataclass
class Belief:
    """Sellers with weights, and what the bids and words so far came to with each."""

    sellers: listener.Sellers
    weights: np.ndarray
    mood: np.ndarray
    temper: np.ndarray
    course: rules.Course
    said: frozenset[str]  # the own acts so far

    def learn(self, truth: rules.Person, *more: str) -> None:
        """Know every number of the person across, and `more` of its fields."""
        for name in (*rules.Habit._fields[1:], *KNOWN, *more):
            setattr(self.sellers, name, np.full(SAMPLE, getattr(truth, name)))


@lru_cache(maxsize=8)
def _prior(condition: str) -> Mapping[str, np.ndarray]:
    """Sellers before anything is seen; their reservation price is a share of the list price."""
    rng = np.random.default_rng(SEEDS["prior"])
    drawn = rules.draw_many(SAMPLE, rng)
    flaw = rng.random(SAMPLE) < market.flaw_chance(drawn["kind"], condition)
    return {**drawn, "flaw": flaw, "catch": rng.random(SAMPLE)}


def believe(obs: Observation, reads: bool = True, read: listener.Reader = ear.hear) -> Belief:
    """The belief of a buyer that has seen the table; with `reads` off, its prices alone."""
    table, item = obs.table, obs.table.item
    s = listener.Sellers(**_prior(item.condition))
    s.list_price, s.unit, s.opening = (
        item.list_price,
        market.unit_of(item.list_price),
        table.asks[0],
    )
    s.anchor, s.reservation = s.opening, s.reservation * item.list_price
    log = np.where(s.reservation + s.unit <= s.opening, 0.0, np.log(LEAST))
    belief = Belief(s, log, np.zeros(SAMPLE), np.zeros(SAMPLE), rules.Course(), frozenset())
    stories: dict[str, list] = {}
    act, gain, holds, t, ask = "", np.zeros(SAMPLE), np.ones(SAMPLE, bool), 0, table.asks[0]
    for move in table.moves:
        if move.agent == "buyer":
            t += 1
            act, gain, holds = _bid(belief, t, ask, move.action, obs)
            continue
        if t:
            log = log + of_answer(belief, ask, move.action.price, t == 1)
            ask = move.action.price
        speech = read(move.action.message) if reads else None
        if speech:
            log = log + np.log(listener.of_manner(s, speech, act, gain, holds))
        if speech and speech.topic in rules.TOPICS and act != f"ask_{speech.topic}":
            log = log + np.log(_of_claim(belief, speech, ask, bool(t)) + SLIP)
        elif speech and speech.topic in market.STORIES:
            stories.setdefault(speech.topic, []).append(speech)
    for topic, speeches in stories.items():
        log = log + np.log(listener.of_story(s, topic, speeches) + SLIP)
    belief.weights = listener.as_weights(log)
    return belief


def _bid(belief: Belief, t: int, ask: float, bid: Offer, obs: Observation) -> tuple[str, Any, Any]:
    """Carry `belief` on by bid number `t`: its act, what that adds to moods, whether it holds."""
    s = belief.sellers
    belief.course = rules.after_bid(belief.course, s.anchor, ask, bid.price, t == 1)
    act, gain, more, holds = listener.weigh_act(
        s, t, belief.course.best, bid.message, belief.said, obs
    )
    belief.said |= {act} - {""}
    belief.mood, belief.temper = belief.mood + gain, belief.temper + more
    return act, gain, holds


def chances(belief: Belief, ask: Any, first: bool) -> tuple[np.ndarray, np.ndarray]:
    """The chance that each seller takes the last bid, and that it leaves if it does not."""
    s, course = belief.sellers, belief.course
    mood, wide = np.clip(belief.mood, *market.MOOD), rules.NOISE * s.list_price
    least = rules.threshold(s, ask, course, mood)
    taken = np.clip((course.best - least + wide) / (2 * wide), 0, 1)
    taken = np.where(course.best < s.reservation, 0, taken)
    return taken, rules.hazard(s, course, first, mood, belief.temper)


def after_offer(belief: Belief, bid: Offer, obs: Observation) -> tuple[Belief, float]:
    """The belief once the buyer has made this bid, and the ask that it answers."""
    after = replace(belief)
    _bid(after, obs.round + 1, obs.ask, bid, obs)
    return after, obs.ask


def of_answer(belief: Belief, ask: float, after: float, first: bool) -> np.ndarray:
    """The log-likelihood of an ask `after` the last bid, which was not taken."""
    s, course = belief.sellers, belief.course
    taken, leaves = chances(belief, ask, first)
    stays = 1 - leaves
    gives = rules.chance_to_give(s, course)
    wanted = rules.rounded(s, ask, rules.wish(s, ask, course, first), course.best)
    off = (wanted - after) / max(s.unit, NEAR * s.list_price)
    seen = gives * np.exp(-0.5 * off**2) + (1 - gives) * (after >= ask)
    return sum(np.log(chance + LEAST) for chance in (1 - taken, stays, seen))


def _of_claim(belief: Belief, speech: Any, ask: float, played: bool) -> np.ndarray:
    """The chance, up to a factor, that a seller says this unasked, or warns by it."""
    s = belief.sellers
    true, false = (
        market.MARK_CHANCES[holds][market.MARKS.index(speech.mark)] for holds in (True, False)
    )
    lies = (1 - s.honesty) * false
    warns = np.zeros(SAMPLE, bool)
    if played:
        still = belief.course._replace(rise=0.0)
        warns = rules.hazard(s, still, False, belief.mood, belief.temper) >= market.WARNS
    if speech.topic == "rival":
        return np.where(s.rival, true, np.where(warns, 0, lies))
    if speech.topic == "limit":
        near = ask - s.reservation < rules.CLOSE * s.opening
        if speech.content == "near":
            return np.where(warns, 0, np.where(near, true, lies))
        return np.where(warns | near, 0, s.honesty * true)
    low, high = (s.patience == rules.PATIENCES.index(name) for name in ("low", "high"))
    if speech.content == "high":
        return np.where(high & ~warns, s.honesty * true, 0)
    return np.where(warns, np.where(s.rival, 0, true), np.where(low, true, np.where(high, lies, 0)))


# Plan ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planner:
    """The buyer that plans against its belief; `reads` and `speaks` switch ears and mouth."""

    reads: bool = True
    speaks: bool = True
    read: listener.Reader = ear.hear
    truth: rules.Person | None = None  # told the whole seller: a bound, and no contestant

    def __call__(self, obs: Observation, rng: np.random.Generator) -> listener.Action:
        return self.values(self.believe(obs), obs).best(obs, float(rng.random()))

    def believe(self, obs: Observation) -> Belief:
        """What it believes of the seller; all of it where it was told."""
        belief = believe(obs, self.reads, self.read)
        if self.truth:
            belief.learn(self.truth)
        return belief

    def expected(self, obs: Observation) -> float:
        """The grade that its best move promises."""
        return self.values(self.believe(obs), obs).top

    def values(self, belief: Belief, obs: Observation) -> listener.MoveValues:
        """The expected grade of every bid with every act, of accepting and of walking away."""
        s, mood, temper = listener.sample(belief, SELLERS)
        prices = bids_to_weigh(obs)
        acts = ["", *(listener.true_pitches(belief.said, obs) if self.speaks else ())]
        after = listener.after_acts(acts, s, mood, temper, obs)
        offers = play_on(s, *after, belief.course, prices, obs)
        offers = listener.without_early_cash(offers, acts, prices, s)
        discount = obs.own["discount"] ** obs.round
        accept = (
            worth(obs.ask, s, obs, discount).mean() if obs.ask <= obs.budget else listener.NOTHING
        )
        walk = ((obs.reservation <= s.reservation) * discount).mean()
        return listener.MoveValues(
            tuple(acts), prices, offers, float(accept), float(walk), rules.act_in
        )


KNOWN = ("kind", "habit", "patience", "rival", "flaw", "honesty", "reservation")


def bids_to_weigh(obs: Observation) -> np.ndarray:
    """Prices from the standing bid, or a low first one, up to the limit and below the ask."""
    top = min(obs.budget, obs.ask - 1)
    low = max(obs.table.bids, default=0) or max(1, min(top, int(LOWEST * obs.opening_ask)))
    return np.unique(np.round(np.linspace(low, max(low, top), BIDS)))


def worth(price: Any, s: listener.Sellers, obs: Observation, discount: float) -> Any:
    """The grade of a deal at a price with each seller; a gain is discounted, a loss is not."""
    limit = obs.reservation
    won = listener.grade_at_once(price, limit, limit - s.reservation, s.list_price)
    return np.where(won > 0, won * discount, won)


@lru_cache(maxsize=1)
def _draws() -> np.ndarray:
    """Uniform draws by round, use, seller and game, the same for every move that is weighed."""
    shape = (rules.ROUNDS[1] + 1, 2, SELLERS, DRAWS)
    return np.random.default_rng(SEEDS["plan"]).random(shape)


def play_on(
    sellers: listener.Sellers, moods: np.ndarray, tempers: np.ndarray, course: rules.Course,
    prices: np.ndarray, obs: Observation, opens: bool = False,
) -> np.ndarray:  # fmt: skip
    """The expected grade of each bid with each act: (a, k); moods have the shape (a, SELLERS).

    Who `opens` the deal moves first, takes a price a round earlier, and may only take one at last.
    Lanes have the shape (acts, bids, sellers, games, paces); who leaves is weighed and not drawn.
    """
    s = listener.each_array(sellers, lambda value: value[:, None, None])
    shape = (len(moods), len(prices), SELLERS, DRAWS, len(PACES))
    mood = np.clip(moods, *market.MOOD)[:, None, :, None, None]
    temper, bid = tempers[:, None, :, None, None], prices[None, :, None, None, None]
    pace, limit, none = np.array(PACES), obs.reservation, obs.reservation <= s.reservation
    ask = np.broadcast_to(obs.ask if obs.table.bids or not opens else s.opening, shape)
    there, grade = np.ones(shape), np.zeros(shape)
    now, last = obs.round + 1, obs.table.rounds
    for t in range(now, last + opens + 1):
        discount = obs.own["discount"] ** (t - 1)
        if t > now:
            price = course.best + pace * (ask - course.best)
            takes = (ask <= limit) & ((ask - price < TAKES * s.opening) | (t == last + opens))
            grade += there * takes * worth(ask, s, obs, obs.own["discount"] ** (t - 1 - opens))
            there = there * ~takes
            bid = np.minimum(np.floor(price), min(obs.budget, limit))
        if t > last:
            break
        course = rules.after_bid(course, s.anchor, ask, bid, t == 1)
        noise, chance = (draws[:, :, None] for draws in _draws()[t])
        least = rules.threshold(s, ask, course, mood)
        least = least + rules.NOISE * s.list_price * (2 * noise - 1)
        deal = course.best >= np.minimum(np.maximum(s.reservation, least), ask)
        grade += there * deal * worth(course.best, s, obs, discount)
        leaves = rules.hazard(s, course, t == 1, mood, temper)
        grade += there * ~deal * leaves * none * discount
        there = there * ~deal * (1 - leaves)
        wanted = rules.rounded(s, ask, rules.wish(s, ask, course, t == 1), course.best)
        ask = np.where(chance < rules.chance_to_give(s, course), wanted, ask)
        ask = np.maximum(ask, course.best + 1)
    grade += there * none * obs.own["discount"] ** (last - 1)
    return grade.mean(3).max(-1).mean(-1)


# A script -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dance:
    """A silent buyer of seven numbers: how it opens and what share of the gap each bid closes.

    `sauda run people` searches for the numbers.
    """

    opening: float  # first bid, share of its limit or of the opening ask, whichever is lower
    gave: float  # share of the gap that it closes after the ask fell
    stood: float  # after the ask stood
    late: float  # more in its last round, and in proportion before
    near: float  # of the opening ask: so near an ask within its limit is taken
    most: float  # of its limit: the highest bid
    leaves: float  # of its limit: from the third round on it leaves an ask this high, less 1

    def __call__(self, obs: Observation, rng: np.random.Generator) -> listener.Action:
        limit, base = obs.budget, min(obs.budget, obs.opening_ask)
        if obs.round >= 2 and obs.ask > (1 + self.leaves) * limit:
            return WalkAway()
        if obs.bid is None:
            price = self.opening * base
        else:
            share = self.gave if obs.drop else self.stood
            share += self.late * obs.round / max(1, obs.table.rounds - 1)
            price = obs.bid + min(1, max(0, share)) * (obs.ask - obs.bid)
        price = max(obs.bid or 1, round(min(price, self.most * limit)))
        close = obs.ask - price < self.near * obs.opening_ask
        if obs.ask <= limit and (close or obs.rounds_left <= 1):
            return Accept()
        return Offer(price)
