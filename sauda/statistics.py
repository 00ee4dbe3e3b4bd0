"""Means with intervals. Intervals are 95% percentile bootstraps; every one is reproducible."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

RESAMPLES = 2000
PERMUTATIONS = 10_000
LEVEL = 0.95
TAILS = 100 * np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])  # percentiles


def summary(values: np.ndarray) -> dict[str, float]:
    """Mean, interval, sd and iqm of `values`, shape (n,); raises ValueError on an empty vector.

    "iqm" is the mean of the middle half (Agarwal et al. 2021).
    """
    from scipy.stats import trim_mean  # takes 0.6 s to import, and the page needs no summary

    figures = exact_interval(mean_interval(values))
    return figures | {"sd": float(np.std(values)), "iqm": float(trim_mean(values, 0.25))}


def mean_interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of `values`, shape (n,), with its percentile-bootstrap interval: (mean, low, high).

    The resampling is seeded, so one sample has one interval. Efron & Tibshirani (1993), chapter 13.
    """
    values = np.asarray(values, dtype=float)
    if values.size == 0:
        raise ValueError(
            "an interval needs at least one value, and there is none; more games give some"
        )
    mean = float(values.mean())
    if np.ptp(values) == 0:
        return mean, mean, mean
    low, high = np.percentile(resamples(values.size) @ values / values.size, TAILS)
    return mean, float(low), float(high)


def mean_of(values: np.ndarray) -> dict[str, float]:
    """The mean of `values` with its interval, as artifacts hold it."""
    return name_interval(mean_interval(values))


def difference_of(values: np.ndarray, baseline: np.ndarray) -> dict[str, float]:
    """The paired difference of two arrays with its interval, as artifacts hold it."""
    return name_interval(paired_difference(values, baseline))


def name_interval(figures: Sequence[float]) -> dict[str, float]:
    """(mean, low, high) as artifacts hold it, to six digits."""
    return {name: round(x, 6) for name, x in exact_interval(figures).items()}


def exact_interval(figures: Sequence[float]) -> dict[str, float]:
    """(mean, low, high) under these names, with all digits."""
    return dict(zip(("mean", "low", "high"), map(float, figures), strict=True))


@lru_cache(maxsize=2)
def resamples(n: int) -> np.ndarray:
    """How often each of `n` values is drawn in each resample, shape (RESAMPLES, n).

    Kept, because drawing them takes most of the time of a table and depends on `n` alone.
    """
    rng = np.random.default_rng(n)
    return rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)


def paired_difference(values: np.ndarray, baseline: np.ndarray) -> tuple[float, float, float]:
    """Mean of `values - baseline`, both shape (n,) on the same seeds, with its interval.

    Miller (2024), "Adding error bars to evals": compare in pairs, never two intervals by eye.
    """
    if len(values) != len(baseline):
        raise ValueError(
            f"a paired difference needs the same seeds, not {len(values)} and {len(baseline)}"
        )
    return mean_interval(np.asarray(values, float) - np.asarray(baseline, float))


def sign_flip_p(differences: np.ndarray) -> float:
    """Two-sided p of the paired sign-flip permutation test that the mean is 0.

    `differences` has shape (n,). Where there are more than PERMUTATIONS ways to flip signs, so many
    seeded ones are drawn.
    """
    from scipy.stats import permutation_test  # slow to import

    tested = permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=PERMUTATIONS, rng=0
    )
    return float(tested.pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """The p-values of one family, each adjusted for all of them (Holm 1979), in their order."""
    values = np.asarray(p, float)
    order = values.argsort()
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return np.minimum(1, adjusted).tolist()


def share_of_gap(
    values: np.ndarray, start: np.ndarray, goal: np.ndarray
) -> tuple[float, float, float] | None:
    """The share of the gap between the means of `start` and `goal` that `values` closes.

    All have shape (n,) on the same seeds. Returns (share, low, high): 0 at the start, 1 at the
    goal. The seeds are resampled, so that all three means vary together. None where some resample
    has no gap.
    """
    start = np.asarray(start, float)
    closed, gap = np.asarray(values, float) - start, np.asarray(goal, float) - start
    gaps = resamples(len(start)) @ gap
    if np.ptp(np.sign([*gaps, gap.sum()])) or not gap.sum():
        return None
    return _ratio(closed, gap)


def pooled_share(parts: np.ndarray, wholes: np.ndarray) -> tuple[float, float, float]:
    """The share sum(parts) / sum(wholes) with its percentile-bootstrap interval.

    Both have shape (n,): counts of n clusters, such as the turns of n dialogues, which are
    resampled whole. Raises ValueError where there are no clusters, or one of them is empty.
    """
    parts, wholes = np.asarray(parts, float), np.asarray(wholes, float)
    if not len(parts) == len(wholes) > 0 or not (wholes > 0).all():
        raise ValueError("a pooled share needs clusters of at least one")
    return _ratio(parts, wholes)


def _ratio(parts: np.ndarray, wholes: np.ndarray) -> tuple[float, float, float]:
    weights = resamples(len(parts))
    low, high = np.percentile(weights @ parts / (weights @ wholes), TAILS)
    return float(parts.sum() / wholes.sum()), float(low), float(high)


def correlation(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float] | None:
    """Pearson's r of `x` and `y` with its percentile-bootstrap interval: (r, low, high).

    Both have the shape (n,) or (m, n); all values count together, and the n columns are resampled,
    so that what belongs to one seed stays together. None where either does not vary.
    """
    x, y = np.atleast_2d(np.asarray(x, float)), np.atleast_2d(np.asarray(y, float))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    sums = np.stack([part.sum(axis=0) for part in (x, y, x * x, y * y, x * y)])
    drawn = _pearson(sums @ resamples(x.shape[1]).T, x.size)
    low, high = np.percentile(drawn[np.isfinite(drawn)], TAILS)
    return float(_pearson(sums.sum(axis=1), x.size)), float(low), float(high)


def _pearson(sums: np.ndarray, size: int) -> np.ndarray:
    """r from the sums of x, y, x², y² and xy over `size` values; NaN where one does not vary."""
    x, y, xx, yy, xy = sums / size
    spread = np.sqrt(np.maximum(0, (xx - x * x) * (yy - y * y)))
    return np.where(spread > 1e-12, (xy - x * y) / np.where(spread > 1e-12, spread, 1), np.nan)


def wilson_interval(successes: int, n: int) -> tuple[float, float, float]:
    """The share `successes / n` with its Wilson interval: (share, low, high).

    It stays sensible near 0 and 1 and with few trials. Raises ValueError without trials.
    Wilson (1927); Brown, Cai & DasGupta (2001).
    """
    from scipy.stats import binomtest  # slow to import, and the page needs no interval

    if n <= 0:
        raise ValueError("a share needs at least one trial, and there is none")
    interval = binomtest(successes, n).proportion_ci(LEVEL, method="wilson")
    return successes / n, float(interval.low), float(interval.high)


def exact_share(part: int, whole: int) -> dict[str, float] | None:
    """The share `part / whole` with its Wilson interval, all digits; None of nothing."""
    return exact_interval(wilson_interval(part, whole)) if whole else None


def f1_interval(
    right: np.ndarray, wrong: np.ndarray, missed: np.ndarray
) -> tuple[float, float, float]:
    """F1 with its percentile-bootstrap interval over sentences: (F1, low, high).

    Each array, shape (n,), counts a sentence's labels: found rightly, found wrongly, not found. A
    resample without any label is left out. Raises ValueError where no sentence has one.
    """
    counts = np.stack([right, wrong, missed]).astype(float)
    if not counts.any():
        raise ValueError("F1 needs at least one label, and there is none")
    drawn = counts @ resamples(counts.shape[1]).T
    low, high = np.percentile(_f1(*drawn[:, drawn.any(axis=0)]), TAILS)
    return float(_f1(*counts.sum(axis=1))), float(low), float(high)


def _f1(right: np.ndarray, wrong: np.ndarray, missed: np.ndarray) -> np.ndarray:
    return 2 * right / (2 * right + wrong + missed)


def moving_average(values: Sequence[float], smoothing: float) -> list[float]:
    """The debiased exponential moving average of `values` (Kingma and Ba 2015, section 3)."""
    import pandas  # slow to import

    return pandas.Series(values, dtype=float).ewm(alpha=1 - smoothing).mean().tolist()


def loss_and_perplexity(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The mean loss of rows of "nats" and "tokens", every token alike, and its exponential."""
    rows = list(rows)
    loss = sum(row["nats"] for row in rows) / sum(row["tokens"] for row in rows)
    return {"loss": loss, "perplexity": math.exp(loss)}


def best_step(validations: Iterable[Mapping[str, Any]]) -> int:
    """The step of the checkpoint with the lowest validation loss; the first of equals.

    The base model, step 0, is none. Raises ValueError where no checkpoint was measured.
    """
    trained = [row for row in validations if row["step"] > 0]
    if not trained:
        raise ValueError("no checkpoint has a validation loss; start the run anew")
    return min(trained, key=lambda row: row["loss"])["step"]
