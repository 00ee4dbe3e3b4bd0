"""The belief buyer: it plays the best response to its belief about the seller.

It knows how the open market draws its sellers, which is public, and nothing hidden of the episode.
`draw_sample` draws a sample of sellers that fits the asks of a table, without random numbers: a
pool of seller shapes (type, concession exponent, reciprocity, margin) covers the prior evenly, the
shapes are resampled by how well they fit the asks seen so far, and each is completed to a whole
seller. A share `OUTLIER_PRIOR` of the prior follows no rule of asking. These outliers (`strange`)
keep the belief well defined where someone opens or asks as no type of the market does.

The log-likelihoods of a seller's reply (a refusal, a claim in words, a manner) weigh the sample:
one value per seller, shape (SAMPLE_SIZE,), rounds counted from 1, and 0 is the opening. Prior and
likelihood are the public rules of the open market (`env.bazaar.market`): how types, reservation
prices and opening asks are drawn, how asks fall, which bids are refused, when a seller walks, what
it claims, how its manner follows. Only the public table is read. Prices are shares of the opening
ask inside this module and rupees outside.

A person who sells follows no such rules, and is read by a looser version of them: the opening ask
says nothing of the type, asks may stray from their path, a refusal or a claim has half the weight,
silence and manner have none. These four settings are assumptions, fitted to no data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from env import (
    CLAIM_RATE,
    CLAIMS,
    LOW_BID,
    MARKETS,
    RIVAL_HAZARD_FACTOR,
    SELLER_RESERVATION,
    SELLER_TYPES,
    Accept,
    Market,
    Observation,
    Offer,
    Table,
    Tells,
    WalkAway,
    asks_at,
    hazards_at,
)
from sauda.language import tells as language
from sauda.policies.best_response import MoveValues, Sellers, Stakes, dynamics, solve

POOL_SIZE, SAMPLE_SIZE = 1 << 14, 2_000  # seller shapes that are weighed; sellers in a belief
OUTLIER_PRIOR = 0.02  # prior probability of a seller that follows no rule of asking
OUTLIER_EVERY = 8  # one in so many of the pool is an outlier, so that some are always there
OUTLIER_MARKUP = 10.0  # an outlier opens anywhere up to so many list prices
ASK_MISFIT = 0.002  # standard deviation of an ask around its path, as a share of the opening ask
PERSON_MISFIT = 0.02  # the same for a person
SMALLEST = 1e-300  # probability instead of 0, so that its logarithm is a number
BLUFFING = Market(
    "Sellers claim rivals, finality and haste, truly or not.", bluffing=0.5, rival=0.4
)
PLACES = (MARKETS["open"], MARKETS["rushed"], BLUFFING)  # that a table does not tell apart


class Pool(NamedTuple):
    """What shapes a path of asks; arrays of shape (POOL_SIZE,), the types in equal parts."""

    kinds: np.ndarray  # index into SELLER_TYPES
    strange: np.ndarray  # bool: an outlier
    exponent: np.ndarray
    reciprocity: np.ndarray
    margin: np.ndarray


class Sample(NamedTuple):
    """Sellers resampled by the asks of a table; arrays of shape (SAMPLE_SIZE,)."""

    sellers: Sellers
    kinds: np.ndarray  # index into SELLER_TYPES
    strange: np.ndarray  # bool: an outlier
    rival: np.ndarray  # bool: another buyer really waits
    bluff_rate: np.ndarray


@dataclass(frozen=True)
class TruncatedNormal:
    """Normal distributions cut off at `low` and `high`; arrays of one shape.

    Here: how far the asks of each path fall in all, (1 - margin) * (1 - reservation price). Given a
    path's shape the asks determine it up to rounding, so it is integrated instead of sampled.
    """

    middle: np.ndarray  # mean before truncation
    root: np.ndarray  # of the precision: 1 / standard deviation before truncation
    low: np.ndarray
    high: np.ndarray

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The untruncated distribution function at `low` and at `high`."""
        from scipy.special import ndtr  # takes 0.2 s to import

        return tuple(ndtr((end - self.middle) * self.root) for end in (self.low, self.high))

    def drawn(self, share: np.ndarray) -> np.ndarray:
        """The quantile at `share`, in (0, 1), of the truncated distribution."""
        from scipy.special import ndtri

        low, high = self.ends()
        value = self.middle + ndtri(low + share * (high - low)) / self.root
        return np.clip(value, self.low, self.high)


@lru_cache(maxsize=2)  # one table is often used twice: with the tells and without
def draw_sample(table: Table, person: bool) -> Sample:
    """Sellers of the pool resampled by the asks of `table`, each with all its fields.

    `person` loosens the fit, because a person follows no rule of the market.
    """
    noise = _ask_noise(table, PERSON_MISFIT if person else ASK_MISFIT)
    fall, misfit = _fall(table, noise)
    chosen = systematic_indices(_path_likelihood(table, fall, misfit, noise, person), SAMPLE_SIZE)
    pool = Pool(*(field[chosen] for field in _pool()))
    fall = TruncatedNormal(*(field[chosen] for field in vars(fall).values()))
    reservation, place, waits, impatience, bluff, leniency = _low_discrepancy_points(
        SAMPLE_SIZE, 6
    ).T
    lowest = min(table.asks, default=1.0) / (table.asks[0] if table.asks else 1.0)
    anywhere = lowest * (LOW_BID + (1 - LOW_BID) * reservation)
    places = [PLACES[i] for i in (place * len(PLACES)).astype(int)]
    rival = waits < np.array([market.rival for market in places])
    hurry = np.where(rival, RIVAL_HAZARD_FACTOR, 1.0)
    sellers = Sellers(
        np.ones(SAMPLE_SIZE),
        np.where(pool.strange, anywhere, 1 - fall.drawn(reservation) / (1 - pool.margin)),
        pool.exponent,
        pool.reciprocity,
        hurry * _ranged("impatience", pool.kinds, impatience),
        pool.margin,
        _ranged("leniency", pool.kinds, leniency),
        table.rounds,
        whole=False,
    )
    least = np.array([market.bluffing for market in places])
    rates = np.maximum(_ranged("bluff_rate", pool.kinds, bluff), least)
    return Sample(sellers, pool.kinds, pool.strange, rival, rates)


def _fall(table: Table, noise: float) -> tuple[TruncatedNormal, np.ndarray]:
    """The total fall of the asks on each path of the pool, and the misfit of the asks to it.

    Weighted least squares of the asks on the path's shape; the misfit is in squared `noise`.
    """
    pool, opening, unit = _pool(), opening_ask(table), 10.0**-table.decimals
    seen = min(len(table.bids), len(table.asks[1:]))
    best = np.maximum.accumulate(np.array(table.bids[:seen]) / opening)[:, None]
    shape = 1 - asks_at(1.0, 0.0, pool.reciprocity, _in_time(table.rounds)[:seen], best)
    asks = np.array(table.asks[1 : seen + 1])[:, None]
    fallen = (opening - asks + unit / 2) / opening  # asks are rounded up
    precision = (shape**2).sum(0) / noise**2 + 1e-6  # 1e-6 keeps the mean finite before any ask
    mean = (shape * fallen).sum(0) / noise**2 / precision
    misfit = ((fallen - mean * shape) ** 2).sum(0) / noise**2
    low, high = (
        (1 - pool.margin) * (1 - min(1.0, limit * table.item.list_price / opening))
        for limit in reversed(SELLER_RESERVATION)
    )
    return TruncatedNormal(mean, np.sqrt(precision), low, high), misfit


def _path_likelihood(
    table: Table, fall: TruncatedNormal, misfit: np.ndarray, noise: float, person: bool
) -> np.ndarray:
    """Prior times likelihood of each path, given all asks; shape (POOL_SIZE,), up to a factor."""
    pool, list_price, unit = _pool(), table.item.list_price, 10.0**-table.decimals
    usual = (1 - OUTLIER_PRIOR) / (1 - 1 / OUTLIER_EVERY)
    log = np.log(np.where(pool.strange, OUTLIER_PRIOR * OUTLIER_EVERY, usual))
    if table.asks:
        markup, slack = table.asks[0] / list_price, unit / list_price
        spans = np.array([ranges["markup"] for ranges in SELLER_TYPES.values()])
        if person:  # a person may open anywhere above the lowest reservation price
            spans = np.tile([SELLER_RESERVATION[0], OUTLIER_MARKUP], (len(SELLER_TYPES), 1))
        fits = (spans[:, 0] - slack <= markup) & (markup <= spans[:, 1] + slack)
        density = np.where(fits, 1 / (spans[:, 1] - spans[:, 0]), SMALLEST)
        log += np.log(np.where(pool.strange, 1 / OUTLIER_MARKUP, density[pool.kinds]))
    seen = min(len(table.bids), len(table.asks[1:]))
    low, high = fall.ends()
    normal = np.sqrt(2 * np.pi)
    width = np.maximum(fall.high - fall.low, 1e-9)  # 0 if no reservation price is left
    path = np.log(np.maximum(high - low, SMALLEST) * normal / fall.root / width)
    path -= misfit / 2 + seen * np.log(noise * normal)
    log += np.where(pool.strange, 0.0, path)  # an outlier asks anything up to its opening
    return np.exp(log - log.max())


def opening_ask(table: Table) -> float:
    """The opening ask in rupees; the list price before there is one."""
    return float(table.asks[0] if table.asks else table.item.list_price)


def _ask_noise(table: Table, misfit: float) -> float:
    """Standard deviation of an ask around its path, rounding included; share of the opening ask."""
    return float(np.hypot(misfit, 10.0**-table.decimals / np.sqrt(12) / opening_ask(table)))


@lru_cache(maxsize=1)
def _pool() -> Pool:
    kinds = np.repeat(np.arange(len(SELLER_TYPES)), POOL_SIZE // len(SELLER_TYPES))
    shares = _low_discrepancy_points(POOL_SIZE, 3).T
    fields = ("exponent", "reciprocity", "margin")
    drawn = [_ranged(field, kinds, share) for field, share in zip(fields, shares, strict=True)]
    return Pool(kinds, np.arange(POOL_SIZE) % OUTLIER_EVERY == 0, *drawn)


@lru_cache(maxsize=16)
def _in_time(rounds: int) -> np.ndarray:
    """The share conceded with time after each round, shape (rounds, POOL_SIZE)."""
    return (np.arange(1, rounds + 1)[:, None] / rounds) ** (1 / _pool().exponent)


def _ranged(field: str, kinds: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The value at `share`, in [0, 1], of the range of `field` for each type of `kinds`."""
    low, high = np.array([ranges[field] for ranges in SELLER_TYPES.values()])[kinds].T
    return low + share * (high - low)


@lru_cache(maxsize=4)
def _low_discrepancy_points(count: int, dimensions: int) -> np.ndarray:
    """Points that fill the unit cube evenly, shape (count, dimensions), not random.

    The additive recurrence by powers of the generalised golden ratio (Roberts 2018).
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1, dimensions + 1)
    return (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1


def systematic_indices(weights: np.ndarray, count: int) -> np.ndarray:
    """`count` indices in proportion to `weights`, which are at least 0 and need no sum of 1.

    Systematic resampling at the middle of each step, so nothing is drawn.
    """
    steps = (np.arange(count) + 0.5) / count * weights.sum()
    return np.minimum(np.searchsorted(np.cumsum(weights), steps), len(weights) - 1)


UNEXPECTED = -6.0  # log-likelihood of a reply that the rules exclude, such as refusing a good bid
UNSEEN_MANNER = -6.0  # log-likelihood of a manner that no seller of the sample shows
NOISE = 0.15  # standard deviation of the signals of manner, as in `market_tells`
PERSON_WEIGHT = 0.5  # power of a likelihood where a person sells


def refusal_log_likelihood(
    sellers: Sellers, t: int, bid: float, best_before: float, ask: float
) -> np.ndarray:
    """Log-likelihood of refusing `bid` in round `t` and staying, after the best bid before it."""
    reservation = sellers.reservation
    threshold = reservation + (1 - sellers.leniency * t / sellers.rounds) * (ask - reservation)
    walks = hazards_at(1.0, sellers.hazard, bid, best_before, threshold)
    return np.where(bid >= threshold, UNEXPECTED, np.log1p(-walks))


class ClaimChances(NamedTuple):
    """The probability of each claim of CLAIMS, and of making none."""

    true: np.ndarray  # (claims, SAMPLE_SIZE): of the claim while it is true
    false: np.ndarray  # (claims, SAMPLE_SIZE): of the claim as a bluff
    silence: np.ndarray  # (SAMPLE_SIZE,)


def claim_chances(sample: Sample, t: int) -> ClaimChances:
    """The probabilities of `claim_at` in round `t`; a walk that follows a claim is left out."""
    sellers, rounds = sample.sellers, sample.sellers.rounds
    impatience = sellers.hazard / np.where(sample.rival, RIVAL_HAZARD_FACTOR, 1.0)
    is_true = np.array([
        sample.rival,
        sellers.hazard * (t < rounds),
        (impatience > 0.06) | (t > 0.7 * rounds),
    ], float)  # fmt: skip
    share = CLAIM_RATE / len(CLAIMS)
    true, false = share * is_true, share * (1 - is_true) * sample.bluff_rate
    return ClaimChances(true, false, 1 - (true + false).sum(0))


def claim_likelihoods(chances: ClaimChances, claim: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The probability of `claim` made honestly, and made as a bluff.

    "" is silence. None means that words are ignored: any claim or none is possible.
    """
    if claim is None:
        return chances.silence + chances.true.sum(0), chances.false.sum(0)
    if not claim:
        return chances.silence, np.zeros_like(chances.silence)
    i = CLAIMS.index(claim)
    return chances.true[i], chances.false[i]


def claim_log_likelihood(chances: ClaimChances, claim: str, person: bool) -> np.ndarray:
    """Log-likelihood of the words alone.

    For a `person` silence carries no information and a claim has half its weight.
    """
    if person and not claim:
        return np.zeros_like(chances.silence)
    return (PERSON_WEIGHT if person else 1.0) * np.log(sum(claim_likelihoods(chances, claim)))


def manner_log_likelihood(
    shown: Tells, sellers: Sellers, t: int, ask: float, claims: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Log-likelihood of a manner of `market_tells` and the claim made with it.

    `claims` comes from `claim_likelihoods`; bluff and no bluff are summed over. Posture adds
    nothing to fidgeting, whose noise it shares; pattern and repetition follow from the asks.
    Rounding shares its noise with the changes of topic, speed with escalation.
    """
    from scipy.special import ndtr

    near = (1 - ask) / np.maximum(1 - sellers.reservation, 1e-6)
    urgency = np.minimum(1.0, sellers.hazard / 0.15) * (0.5 + 0.5 * t / sellers.rounds)
    log = _signal_log_density(shown.verbal_urgency, 0.15 + 0.7 * urgency)
    log += _signal_log_density(shown.verbal_confidence, 0.85 - 0.6 * near)
    log += _signal_log_density(shown.fidget_level, 0.1 + near)
    log += _signal_log_density(shown.emotional_escalation, 0.6 * urgency)
    if 0 < shown.emotional_escalation < 1:
        instant = shown.emotional_escalation + 0.4 * urgency > 0.6
        log += np.where(instant == (shown.offer_speed == "instant"), 0.0, UNEXPECTED)
    precise = (0.6 - near) / NOISE  # standard normal noise above which the price is precise
    bluffs = []
    for bluffing, chance in enumerate(claims):
        avoids = ndtr((bluffing - 0.6) / 0.4)
        low, high = (
            2 * (shown.topic_changes - 2 * bluffing),
            2 * (shown.topic_changes + 1 - 2 * bluffing),
        )
        low = -np.inf if shown.topic_changes == 0 else low
        if shown.price_rounding == "precise":
            body = ndtr(high) - ndtr(np.clip(precise, low, high))
        else:
            body = ndtr(np.clip(precise, low, high)) - ndtr(low)
        chance = chance * body * (avoids if shown.eye_contact == "avoidant" else 1 - avoids)
        cue = _signal_log_density(shown.verbal_deception_cue, np.array(0.2 + 0.5 * bluffing))
        bluffs.append(np.log(np.maximum(chance, SMALLEST)) + cue)
    return log + np.logaddexp(*bluffs)


def _signal_log_density(shown: float, mean: np.ndarray) -> np.ndarray:
    """Log-density of a signal that is normal around `mean` and clipped to [0, 1]."""
    from scipy.special import log_ndtr

    if shown <= 0:
        return log_ndtr(-mean / NOISE)
    if shown >= 1:
        return log_ndtr((mean - 1) / NOISE)
    return -(((shown - mean) / NOISE) ** 2) / 2 - np.log(NOISE * np.sqrt(2 * np.pi))


# The claim that each signal of a message stands for.
CLAIMED: Mapping[str, str] = {"deception": "rival", "confidence": "final", "urgency": "urgent"}


@dataclass(frozen=True)
class Belief:
    """A weighted sample of n sellers that represents the posterior."""

    opening: float  # opening ask in rupees
    sellers: Sellers  # prices in units of the opening ask
    kinds: np.ndarray  # (n,), index into SELLER_TYPES
    weights: np.ndarray  # (n,), sum 1

    @property
    def floors(self) -> np.ndarray:
        """The reservation price of each seller in rupees, shape (n,)."""
        return self.opening * self.sellers.reservation

    def types(self) -> dict[str, float]:
        """The probability of each type of SELLER_TYPES; they sum to 1."""
        return {
            name: float(self.weights[self.kinds == i].sum()) for i, name in enumerate(SELLER_TYPES)
        }

    def quantile(self, share: float | np.ndarray) -> np.ndarray:
        """The quantile of the reservation price at `share`, in [0, 1]; rupees, shape of `share`."""
        order = np.argsort(self.floors)
        middle = np.cumsum(self.weights[order]) - self.weights[order] / 2
        return np.interp(share, middle, self.floors[order])

    def histogram(self, edges: np.ndarray) -> np.ndarray:
        """The probability of a reservation price in each bin of `edges` (rupees, rising).

        Shape (len(edges) - 1,).
        """
        return np.histogram(self.floors, edges, weights=self.weights)[0]

    def drawn(self, count: int) -> "Belief":
        """At most `count` sellers at even steps through the belief, by reservation price.

        Systematic resampling, so nothing is drawn.
        """
        order = np.argsort(self.floors, kind="stable")
        steps = systematic_indices(self.weights[order], count)
        kept, times = np.unique(order[steps], return_counts=True)
        return Belief(self.opening, _subset(self.sellers, kept), self.kinds[kept], times / count)


def believe(table: Table, tells: bool = True, words: bool = True, person: bool = False) -> Belief:
    """The belief given all that `table` shows of the deal in play.

    Prices always count: the opening ask, each ask and each refusal. `tells` adds the seller's
    manner, if it is that of an open-market seller; `words` adds the claims that `claim_in` finds.
    `person` says that a person sells, who follows no rule of the market.
    """
    sample = draw_sample(table, person)
    sellers, opening = sample.sellers, opening_ask(table)
    log, best = np.zeros(SAMPLE_SIZE), LOW_BID
    first, *replies = [m for m in table.moves if m.agent == "seller"] or [None]
    for t, (bid, ask, reply) in enumerate(
        zip(table.bids, table.asks[1:], replies, strict=False), 1
    ):
        bid, ask = bid / opening, ask / opening
        refused = refusal_log_likelihood(sellers, t, bid, best, ask)
        log += np.where(sample.strange, 0.0, (PERSON_WEIGHT if person else 1.0) * refused)
        best = max(best, bid)
        # A classic seller has a disclosed type and a manner of its own, which is not modelled.
        manner = None if table.seller_type or person else reply.tells
        claim = claim_in(reply.action.message) if words else None
        chances = claim_chances(sample, t)
        if tells and manner is not None:
            log += np.logaddexp(
                manner_log_likelihood(manner, sellers, t, ask, claim_likelihoods(chances, claim)),
                UNSEEN_MANNER,
            )
        elif claim is not None:
            log += claim_log_likelihood(chances, claim, person=manner is None)
    if words and first is not None and (claim := claim_in(first.action.message)):
        log += claim_log_likelihood(claim_chances(sample, 0), claim, person=True)
    likely = np.exp(log - log.max())
    return Belief(opening, sellers, sample.kinds, likely / likely.sum())


@lru_cache(maxsize=4_096)
def claim_in(message: str) -> str:
    """The claim of CLAIMS that `sauda.language.tells` finds in a message; "" for none.

    The tell with the highest score decides: deception stands for a rival, confidence for a last
    price.
    """
    signals = [tell for tell in language.read(message) if tell.signal in CLAIMED]
    return CLAIMED[max(signals, key=lambda tell: tell.score).signal] if signals else ""


def _subset(sellers: Sellers, kept: np.ndarray) -> Sellers:
    """The sellers at the indices `kept`, shape (m,)."""
    arrays = {f.name: getattr(sellers, f.name) for f in fields(sellers)}
    return replace(sellers, **{k: v[kept] for k, v in arrays.items() if isinstance(v, np.ndarray)})


SELLERS = 64  # sellers of the belief to plan against
GRID = 31  # points of the grid of best bids, up to the budget
BIDS = 120  # bids compared at each move, from 0 to the opening ask or the budget
LOOKAHEAD_DISCOUNT = 0.9  # factor on later values: QMDP assumes that all is known from then on


@dataclass(frozen=True)
class BeliefBuyer:
    """Plays the move with the best informed value, averaged over the belief (QMDP).

    Littman, Cassandra and Kaelbling (1995). It never acts to learn, and multiplies later values
    by LOOKAHEAD_DISCOUNT: 0.9 did best of 1, 0.9, 0.85 and 0.8 on 400 training seeds of
    bazaar/open, though 1 and 0.85 lie within its interval.
    """

    tells: bool = True  # uses the seller's manner
    words: bool = True  # uses the seller's claims
    person: bool = False  # models the seller as a person, not as a seller of the market

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Offer | Accept | WalkAway:
        return values_against(self.belief(obs), obs).best(obs)

    def belief(self, obs: Observation) -> Belief:
        """The belief about the seller; a function of the public table alone."""
        return believe(obs.table, self.tells, self.words, self.person)


def values_against(belief: Belief, obs: Observation) -> MoveValues:
    """The value of each move of the buyer `obs.agent` against SELLERS sellers from `belief`."""
    few = belief.drawn(SELLERS)
    opening, own, t = few.opening, obs.own, obs.round + 1
    sellers, weight, floor = few.sellers, few.weights[:, None], few.sellers.reservation[:, None]
    stakes = Stakes(
        obs.reservation / opening, own.get("purse", obs.reservation) / opening,
        obs.table.item.list_price / opening, own.get("discount", 1.0), own.get("deadline"),
    )  # fmt: skip
    best, most = max(obs.table.bids, default=0.0) / opening, min(opening, obs.budget)
    grid = np.linspace(best, max(most / opening, 1.01 * best), GRID + 1)[0 if best else 1 :]
    prices = np.tile(grid, (len(floor), 1))
    ahead = solve(dynamics(sellers, prices, first=t), stakes, first=t)[0][:, t]
    left = stakes.left(t, floor)
    bids = np.unique(np.floor(np.linspace(0, most, BIDS + 1)))[1:]
    bid = np.broadcast_to(bids / opening, (len(floor), len(bids)))
    reached = np.maximum(best, bid)
    threshold = sellers.threshold(t, reached)
    stay = 1 - sellers.walks(bid, best or LOW_BID, threshold)
    position = np.interp(reached[0], grid, np.arange(len(grid)))
    lower = np.minimum(position.astype(int), len(grid) - 2)
    then = ahead[:, lower] + (position - lower) * (ahead[:, lower + 1] - ahead[:, lower])
    refused = left + LOOKAHEAD_DISCOUNT * stay * (then - left)
    value = np.where(bid >= threshold, stakes.gain(t, bid, floor), refused)
    accept = stakes.gain(t, np.full_like(floor, obs.ask / opening), floor)
    means = [(weight * x).sum() for x in (left, accept)]
    means = np.round(np.concatenate([means, (weight * value).sum(0)]), 9)
    return MoveValues(bids, means[2:], accept=float(means[1]), walk=float(means[0]))


belief_buyer = BeliefBuyer()
belief_prices = BeliefBuyer(tells=False, words=False)
