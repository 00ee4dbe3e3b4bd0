"""What a buyer may believe of the seller it meets: a sample of sellers, each with a weight.

The prior and the likelihood are the open market's public rules (`env.bazaar.market`):
how types, floors and opening asks are drawn, how asks fall, which bids are refused, when a seller
walks, what it claims and how its manner follows. Only the public table is read. Prices: shares of
the opening ask inside, rupees outside.

A few sellers of the sample, `STRANGE` of the prior, follow no rule of asking: they keep the belief
sane where someone opens or asks as no type of the market does. A person is read by the same rules,
for want of better ones, but loosely: the opening ask names no type, asks may stray from their path,
a refusal or a claim counts half, silence and manner not at all. These four are assumptions, fitted
to nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from env import (
    CLAIMS,
    LOW_BID,
    MARKETS,
    RIVAL_HURRY,
    SELLER_LIMIT,
    TALK,
    TYPES,
    Table,
    Tells,
    asks_at,
    hazards_at,
)
from sauda.language import tells as language
from sauda.policies.best_response import Sellers

POOL, SAMPLE = 1 << 14, 2_000  # paths of asks that are tried; sellers of a belief
STRANGE, STRANGERS = 0.02, 8  # prior share of sellers without rules; one in so many of the sample
WIDEST = 10.0  # opening ask of a stranger: anything up to so many list prices
CLOSE = 0.002  # misfit of an ask to its path, as a share of the opening ask
SURPRISE = -6.0  # log-likelihood of refusing a bid that the seller would have taken
ODD = -6.0  # log-likelihood of a manner that no seller of the sample shows
NOISE = 0.15  # standard deviation of the signals of manner, as in `market_tells`
PERSON, STRAY = 0.5, 0.02  # of a person: power of a likelihood; misfit of an ask, as CLOSE
SINGLE = ("open", "rushed", "bluff")  # markets that a table does not tell apart

CLAIMED: Mapping[str, str] = {"deception": "rival", "confidence": "final", "urgency": "urgent"}


@dataclass(frozen=True)
class Belief:
    """Sellers that the one at the table may be, and how likely each is."""

    opening: float  # rupees
    sellers: Sellers  # n of them, in units of the opening ask
    kinds: np.ndarray  # (n,), into TYPES
    weights: np.ndarray  # (n,), sum 1

    @property
    def floors(self) -> np.ndarray:
        """The reservation price of each seller in rupees, shape (n,)."""
        return self.opening * self.sellers.reservation

    def types(self) -> dict[str, float]:
        """The probability of each type of TYPES; they sum to 1."""
        return {name: float(self.weights[self.kinds == i].sum()) for i, name in enumerate(TYPES)}

    def quantile(self, share: float | np.ndarray) -> np.ndarray:
        """The floor in rupees that lies at `share`, in [0, 1], of the belief."""
        order = np.argsort(self.floors)
        middle = np.cumsum(self.weights[order]) - self.weights[order] / 2
        return np.interp(share, middle, self.floors[order])

    def histogram(self, edges: np.ndarray) -> np.ndarray:
        """The probability that the floor lies between each two of `edges` (rupees, rising)."""
        return np.histogram(self.floors, edges, weights=self.weights)[0]

    def drawn(self, count: int) -> "Belief":
        """At most `count` sellers at even steps through the belief by floor, without chance."""
        order = np.argsort(self.floors, kind="stable")
        steps = _evenly(self.weights[order], count)
        kept, times = np.unique(order[steps], return_counts=True)
        return Belief(self.opening, _part(self.sellers, kept), self.kinds[kept], times / count)


def believe(table: Table, tells: bool = True, words: bool = True, person: bool = False) -> Belief:
    """The belief after all that `table` shows of the deal in play.

    Prices always count: the opening ask, each ask and each refusal. `tells` counts the seller's
    manner too, where it is that of the open market; `words` what it claims, as our reader hears it.
    Say `person` where one sells, who keeps to no rule of the market.
    """
    sample = _sample(table, person)
    sellers, opening = sample.sellers, _opening(table)
    log, before = np.zeros(SAMPLE), LOW_BID
    first, *replies = [m for m in table.moves if m.agent == "seller"] or [None]
    for t, (bid, ask, reply) in enumerate(
        zip(table.bids, table.asks[1:], replies, strict=False), 1
    ):
        bid, ask = bid / opening, ask / opening
        refused = _refusal(sellers, t, bid, before, ask)
        log += np.where(sample.strange, 0.0, (PERSON if person else 1.0) * refused)
        before = max(before, bid)
        manner = (
            None if table.seller_type or person else reply.tells
        )  # the classic sellers' is another one
        heard = claimed(reply.action.message) if words else None
        said = _said(sample, t)
        if tells and manner is not None:
            log += np.logaddexp(_manner(manner, sellers, t, ask, _voiced(said, heard)), ODD)
        elif heard is not None:
            log += _claim(said, heard, person=manner is None)
    if words and first is not None and (heard := claimed(first.action.message)):
        log += _claim(_said(sample, 0), heard, person=True)
    likely = np.exp(log - log.max())
    return Belief(opening, sellers, sample.kinds, likely / likely.sum())


@lru_cache(maxsize=4_096)
def claimed(message: str) -> str:
    """The claim of CLAIMS that a message makes, as our reader hears it; "" for none.

    The plainest tell counts: deception is heard as a rival, confidence as a last price.
    """
    found = [tell for tell in language.read(message) if tell.signal in CLAIMED]
    return CLAIMED[max(found, key=lambda tell: tell.score).signal] if found else ""


# The sample --------------------------------------------------------------------------------------


class _Pool(NamedTuple):
    """What shapes a path of asks, (POOL,) each: one type after the other."""

    kinds: np.ndarray
    strange: np.ndarray
    exponent: np.ndarray
    reciprocity: np.ndarray
    margin: np.ndarray


class _Sample(NamedTuple):
    """Whole sellers, (SAMPLE,) each, as the prices have them."""

    sellers: Sellers
    kinds: np.ndarray
    strange: np.ndarray
    rival: np.ndarray
    bluff_rate: np.ndarray


@dataclass(frozen=True)
class _Fall:
    """How far asks fall: (1 - margin) * (1 - floor), normal by the asks and cut off by the prior.

    The asks tell it exactly, but for rounding, once a path's shape is given; so it is integrated
    and drawn, never tried.
    """

    middle: np.ndarray
    root: np.ndarray  # of the precision
    low: np.ndarray
    high: np.ndarray

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The normal distribution up to either end of the prior."""
        from scipy.special import ndtr  # takes 0.2 s to import

        return tuple(ndtr((end - self.middle) * self.root) for end in (self.low, self.high))

    def drawn(self, share: np.ndarray) -> np.ndarray:
        """Its value at `share`, in (0, 1), of what the ends leave."""
        from scipy.special import ndtri

        low, high = self.ends()
        value = self.middle + ndtri(low + share * (high - low)) / self.root
        return np.clip(value, self.low, self.high)


@lru_cache(maxsize=2)  # one table is often believed twice: with the tells and without
def _sample(table: Table, person: bool) -> _Sample:
    """Paths from the pool as likely as the asks make them, each made a whole seller."""
    noise = _noise(table, STRAY if person else CLOSE)
    fall, misfit = _fall(table, noise)
    chosen = _evenly(_likely(table, fall, misfit, noise, person), SAMPLE)
    pool = _Pool(*(field[chosen] for field in _pool()))
    fall = _Fall(*(field[chosen] for field in vars(fall).values()))
    floor, place, waits, impatience, bluff, leniency = _even_points(SAMPLE, 6).T
    lowest = min(table.asks, default=1.0) / (table.asks[0] if table.asks else 1.0)
    anywhere = lowest * (LOW_BID + (1 - LOW_BID) * floor)
    places = [MARKETS[SINGLE[i]] for i in (place * len(SINGLE)).astype(int)]
    rival = waits < np.array([market.rival for market in places])
    hurry = np.where(rival, RIVAL_HURRY, 1.0)
    sellers = Sellers(
        np.ones(SAMPLE),
        np.where(pool.strange, anywhere, 1 - fall.drawn(floor) / (1 - pool.margin)),
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
    return _Sample(sellers, pool.kinds, pool.strange, rival, rates)


def _fall(table: Table, noise: float) -> tuple[_Fall, np.ndarray]:
    """What the asks say of the fall on each path of the pool, and how badly they fit the path."""
    pool, opening, unit = _pool(), _opening(table), 10.0**-table.decimals
    seen = min(len(table.bids), len(table.asks[1:]))
    best = np.maximum.accumulate(np.array(table.bids[:seen]) / opening)[:, None]
    shape = 1 - asks_at(1.0, 0.0, pool.reciprocity, _in_time(table.rounds)[:seen], best)
    asks = np.array(table.asks[1 : seen + 1])[:, None]
    fallen = (opening - asks + unit / 2) / opening  # asks are rounded up
    precision = (shape**2).sum(0) / noise**2 + 1e-6  # the last keeps it a number before any ask
    middle = (shape * fallen).sum(0) / noise**2 / precision
    misfit = ((fallen - middle * shape) ** 2).sum(0) / noise**2
    low, high = (
        (1 - pool.margin) * (1 - min(1.0, limit * table.item.list_price / opening))
        for limit in reversed(SELLER_LIMIT)
    )
    return _Fall(middle, np.sqrt(precision), low, high), misfit


def _likely(
    table: Table, fall: _Fall, misfit: np.ndarray, noise: float, person: bool
) -> np.ndarray:
    """How likely each path of the pool is by the opening ask and the asks, to a factor."""
    pool, list_price, unit = _pool(), table.item.list_price, 10.0**-table.decimals
    usual = (1 - STRANGE) / (1 - 1 / STRANGERS)
    log = np.log(np.where(pool.strange, STRANGE * STRANGERS, usual))
    if table.asks:
        markup, slack = table.asks[0] / list_price, unit / list_price
        spans = np.array([ranges["markup"] for ranges in TYPES.values()])
        if person:  # who may open anywhere above the least that a floor can be
            spans = np.tile([SELLER_LIMIT[0], WIDEST], (len(TYPES), 1))
        fits = (spans[:, 0] - slack <= markup) & (markup <= spans[:, 1] + slack)
        density = np.where(fits, 1 / (spans[:, 1] - spans[:, 0]), _NEVER)
        log += np.log(np.where(pool.strange, 1 / WIDEST, density[pool.kinds]))
    seen = min(len(table.bids), len(table.asks[1:]))
    low, high = fall.ends()
    normal = np.sqrt(2 * np.pi)
    width = np.maximum(fall.high - fall.low, 1e-9)  # 0 where none of the market's floors is left
    path = np.log(np.maximum(high - low, _NEVER) * normal / fall.root / width)
    path -= misfit / 2 + seen * np.log(noise * normal)
    log += np.where(pool.strange, 0.0, path)  # a stranger's ask may be anything up to its opening
    return np.exp(log - log.max())


_NEVER = 1e-300


def _opening(table: Table) -> float:
    """The opening ask in rupees; the list price before there is one."""
    return float(table.asks[0] if table.asks else table.item.list_price)


def _noise(table: Table, close: float) -> float:
    """Standard deviation of an ask around its path, rounding included, by the opening ask."""
    return float(np.hypot(close, 10.0**-table.decimals / np.sqrt(12) / _opening(table)))


@lru_cache(maxsize=1)
def _pool() -> _Pool:
    kinds = np.repeat(np.arange(len(TYPES)), POOL // len(TYPES))
    shares = _even_points(POOL, 3).T
    fields = ("exponent", "reciprocity", "margin")
    drawn = [_ranged(field, kinds, share) for field, share in zip(fields, shares, strict=True)]
    return _Pool(kinds, np.arange(POOL) % STRANGERS == 0, *drawn)


@lru_cache(maxsize=16)
def _in_time(rounds: int) -> np.ndarray:
    """The share conceded with time after each round, shape (rounds, POOL)."""
    return (np.arange(1, rounds + 1)[:, None] / rounds) ** (1 / _pool().exponent)


def _ranged(field: str, kinds: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The value at `share`, in [0, 1], of the range that each type has for `field`."""
    low, high = np.array([ranges[field] for ranges in TYPES.values()])[kinds].T
    return low + share * (high - low)


@lru_cache(maxsize=4)
def _even_points(count: int, dimensions: int) -> np.ndarray:
    """Points that fill the unit cube evenly, shape (count, dimensions), without chance.

    The additive recurrence by powers of the generalised golden ratio (Roberts 2018).
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1, dimensions + 1)
    return (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1


def _evenly(weights: np.ndarray, count: int) -> np.ndarray:
    """`count` indices as often as `weights` have it: systematic resampling, without chance."""
    steps = (np.arange(count) + 0.5) / count * weights.sum()
    return np.minimum(np.searchsorted(np.cumsum(weights), steps), len(weights) - 1)


# What a reply tells, as log-likelihoods of shape (SAMPLE,) ----------------------------------------


def _refusal(sellers: Sellers, t: int, bid: float, before: float, ask: float) -> np.ndarray:
    """Of refusing `bid` in round `t` and staying; `before` is the best bid until then."""
    floor = sellers.reservation
    threshold = floor + (1 - sellers.leniency * t / sellers.rounds) * (ask - floor)
    walks = hazards_at(1.0, sellers.hazard, bid, before, threshold)
    return np.where(bid >= threshold, SURPRISE, np.log1p(-walks))


class _Said(NamedTuple):
    """The chance of each claim of CLAIMS, (3, SAMPLE), as it is true or not; and of none."""

    true: np.ndarray
    false: np.ndarray
    silence: np.ndarray


def _said(sample: _Sample, t: int) -> _Said:
    """As `claim_at` has it in round `t`, 0 for the opening. Whether it then walks is left out."""
    sellers, rounds = sample.sellers, sample.sellers.rounds
    impatience = sellers.hazard / np.where(sample.rival, RIVAL_HURRY, 1.0)
    is_true = np.array([
        sample.rival,
        sellers.hazard * (t < rounds),
        (impatience > 0.06) | (t > 0.7 * rounds),
    ], float)  # fmt: skip
    share = TALK / len(CLAIMS)
    true, false = share * is_true, share * (1 - is_true) * sample.bluff_rate
    return _Said(true, false, 1 - (true + false).sum(0))


def _voiced(said: _Said, heard: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The chance of what was `heard` and of its being honest, and of its being a bluff.

    None where nobody listens: then it may have been any claim or none.
    """
    if heard is None:
        return said.silence + said.true.sum(0), said.false.sum(0)
    if not heard:
        return said.silence, np.zeros_like(said.silence)
    i = CLAIMS.index(heard)
    return said.true[i], said.false[i]


def _claim(said: _Said, heard: str, person: bool) -> np.ndarray:
    """Of the words alone. A person's silence says nothing, and a claim counts at half weight."""
    if person and not heard:
        return np.zeros_like(said.silence)
    return (PERSON if person else 1.0) * np.log(sum(_voiced(said, heard)))


def _manner(
    shown: Tells, sellers: Sellers, t: int, ask: float, voiced: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Of the manner `market_tells` and of what was voiced with it, over bluff and no bluff.

    Posture adds nothing to fidgeting, whose noise it shares; pattern and repetition repeat the
    asks. Rounding shares its noise with the changes of topic, speed with escalation.
    """
    from scipy.special import ndtr

    near = (1 - ask) / np.maximum(1 - sellers.reservation, 1e-6)
    urgency = np.minimum(1.0, sellers.hazard / 0.15) * (0.5 + 0.5 * t / sellers.rounds)
    log = _level(shown.verbal_urgency, 0.15 + 0.7 * urgency)
    log += _level(shown.verbal_confidence, 0.85 - 0.6 * near)
    log += _level(shown.fidget_level, 0.1 + near)
    log += _level(shown.emotional_escalation, 0.6 * urgency)
    if 0 < shown.emotional_escalation < 1:
        instant = shown.emotional_escalation + 0.4 * urgency > 0.6
        log += np.where(instant == (shown.offer_speed == "instant"), 0.0, SURPRISE)
    precise = (0.6 - near) / NOISE  # at more noise than this
    bluffs = []
    for bluffing, chance in enumerate(voiced):
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
        cue = _level(shown.verbal_deception_cue, np.array(0.2 + 0.5 * bluffing))
        bluffs.append(np.log(np.maximum(chance, _NEVER)) + cue)
    return log + np.logaddexp(*bluffs)


def _level(shown: float, mean: np.ndarray) -> np.ndarray:
    """Of a signal that is normal around `mean`, cut off at 0 and 1."""
    from scipy.special import log_ndtr

    if shown <= 0:
        return log_ndtr(-mean / NOISE)
    if shown >= 1:
        return log_ndtr((mean - 1) / NOISE)
    return -(((shown - mean) / NOISE) ** 2) / 2 - np.log(NOISE * np.sqrt(2 * np.pi))


def _part(sellers: Sellers, kept: np.ndarray) -> Sellers:
    """Those of `sellers` at the indices `kept`."""
    arrays = {f.name: getattr(sellers, f.name) for f in fields(sellers)}
    return replace(sellers, **{k: v[kept] for k, v in arrays.items() if isinstance(v, np.ndarray)})
