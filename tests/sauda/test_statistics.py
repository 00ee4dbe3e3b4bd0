"""Means, intervals and differences, on samples that can be done in the head."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from sauda.statistics import (
    f1_interval,
    holm,
    mean_interval,
    pooled_share,
    share_of_gap,
    sign_flip_p,
    summary,
)


@pytest.mark.parametrize("size", [30, 500])
def test_the_interval_is_that_of_scipy_up_to_the_noise_of_resampling(size: int):
    values = np.random.default_rng(1).beta(2, 5, size)
    theirs = bootstrap(
        (values,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(2)
    ).confidence_interval
    _, low, high = mean_interval(values)
    width = theirs.high - theirs.low
    assert low == pytest.approx(theirs.low, abs=0.05 * width)
    assert high == pytest.approx(theirs.high, abs=0.05 * width)


def test_the_iqm_is_the_mean_of_the_middle_half():
    assert summary(np.array([-100, 1, 2, 3, 4, 5, 6, 900]))["iqm"] == (2 + 3 + 4 + 5) / 4


def test_a_part_of_a_way_is_that_of_the_means_with_the_interval_of_scipy():
    rng = np.random.default_rng(3)
    start, goal = rng.normal(0, 1, 200), rng.normal(2, 1, 200)
    values = (start + goal) / 2 + rng.normal(0, 1, 200)

    def part(values, start, goal, axis=-1):
        start = start.mean(axis)
        return (values.mean(axis) - start) / (goal.mean(axis) - start)

    share, low, high = share_of_gap(values, start, goal)
    assert share == pytest.approx(part(values, start, goal))
    scipys = bootstrap(
        (values, start, goal), part, paired=True, method="percentile", n_resamples=4000,
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert (low, high) == pytest.approx(scipys, abs=0.1 * (high - low))


def test_the_sign_flip_test_counts_the_ways_that_are_as_extreme():
    # Of the 8 ways to flip three signs, +++ and --- have a mean as far from 0: 2 / 8.
    assert sign_flip_p(np.array([1.0, 2.0, 3.0])) == 0.25
    assert sign_flip_p(np.array([1.0, -1.0])) == 1
    assert sign_flip_p(np.zeros(100)) == 1


def test_holm_multiplies_the_smallest_p_by_all_and_the_next_by_one_less():
    # The values of R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1, 1]
    assert holm([]) == []


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    right, wrong, missed = np.array([1, 1, 0, 1]), np.array([0, 0, 1, 0]), np.array([0, 1, 0, 1])
    f1, low, high = f1_interval(right, wrong, missed)
    precision, recall = 3 / 4, 3 / 5
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert 0 <= low < f1 < high <= 1


def test_a_pooled_share_weighs_clusters_by_their_size():
    share, low, high = pooled_share(np.array([9, 0, 1]), np.array([10, 1, 9]))
    assert share == 0.5
    assert low < 0.5 < high
    assert pooled_share(np.array([2, 4]), np.array([2, 4])) == (1.0, 1.0, 1.0)
