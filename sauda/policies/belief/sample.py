"""A sample of sellers that fits the asks of a table, drawn without random numbers.

A pool of seller shapes (type, concession exponent, reciprocity, margin) covers the prior evenly.
The shapes are resampled by how well they fit the asks seen so far, and each is completed to a whole
seller. Prices are shares of the opening ask.

A share `OUTLIER_PRIOR` of the prior follows no rule of asking. These outliers (`strange`) keep the
belief well defined where someone opens or asks as no type of the market does.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from env import (
    LOW_BID,
    MARKETS,
    RIVAL_HAZARD_FACTOR,
    SELLER_RESERVATION,
    SELLER_TYPES,
    Market,
    Table,
    asks_at,
)
from sauda.policies.best_response.sellers import Sellers

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
