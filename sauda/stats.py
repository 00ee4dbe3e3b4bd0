"""Means with intervals. Intervals are 95 % percentile bootstraps; every one is reproducible."""

from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Summary:
    """A sample in five numbers; `iqm` is the mean of its middle half (Agarwal et al. 2021)."""

    mean: float
    low: float
    high: float
    sd: float
    iqm: float


def summary(values: np.ndarray) -> Summary:
    """The summary of `values`, shape (n,); raises ValueError on an empty vector."""
    from scipy.stats import trim_mean  # takes 0.6 s to import, and the page needs no summary

    mean, low, high = mean_interval(values)
    return Summary(mean, low, high, float(np.std(values)), float(trim_mean(values, 0.25)))


def mean_interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of `values`, shape (n,), with its percentile-bootstrap interval: (mean, low, high).

    The resampling is seeded, so one sample has one interval. Efron & Tibshirani (1993), chapter 13.
    """
    values = np.asarray(values, dtype=float)
    if values.size == 0:
        raise ValueError("an interval needs at least one value, and there is none")
    mean = float(values.mean())
    if np.ptp(values) == 0:
        return mean, mean, mean
    rng = np.random.default_rng(values.size)
    counts = rng.multinomial(values.size, np.full(values.size, 1 / values.size), size=RESAMPLES)
    tails = 100 * np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    low, high = np.percentile(counts @ values / values.size, tails)
    return mean, float(low), float(high)


def paired_difference(values: np.ndarray, baseline: np.ndarray) -> tuple[float, float, float]:
    """Mean of `values - baseline`, both shape (n,) on the same seeds, with its interval.

    Miller (2024), "Adding error bars to evals": compare in pairs, never two intervals by eye.
    """
    if len(values) != len(baseline):
        raise ValueError(
            f"a paired difference needs the same seeds, not {len(values)} and {len(baseline)}"
        )
    return mean_interval(np.asarray(values, float) - np.asarray(baseline, float))


def standard_error(values: np.ndarray) -> float:
    """Standard error of the mean of `values`, shape (n,)."""
    return float(np.std(values) / np.sqrt(len(values)))
