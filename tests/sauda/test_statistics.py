"""Means, intervals and differences, on samples that can be done in the head."""

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap, ttest_1samp

from sauda.statistics import (
    averaged,
    correlation,
    f1_interval,
    holm,
    mean_interval,
    paired_difference,
    pooled_share,
    share_of_gap,
    sign_flip_p,
    standard_error,
    summary,
    wilson_interval,
)


def test_the_interval_of_two_values_reaches_from_one_to_the_other():
    # A resample of {0, 1} has the mean 0, 0.5 or 1 with chances 1/4, 1/2, 1/4: both tails
    # of 2.5 % lie on the ends.
    assert mean_interval(np.array([0.0, 1.0])) == (0.5, 0.0, 1.0)


def test_the_interval_of_one_odd_value_in_a_hundred_counts_how_often_it_is_drawn():
    # The count of the one in a resample is nearly Poisson(1): 0 at the 2.5 % point, 3 at 97.5 %.
    assert mean_interval(np.array([1.0] + [0.0] * 99)) == (0.01, 0.0, 0.03)


def test_a_constant_sample_has_no_width():
    assert mean_interval(np.full(7, 0.3)) == (0.3, 0.3, 0.3)


def test_a_sample_has_one_interval_however_often_it_is_asked():
    values = np.arange(20.0)
    assert mean_interval(values) == mean_interval(values)


def test_an_empty_sample_has_no_interval():
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval(np.array([]))


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
    assert summary(np.array([-100, 1, 2, 3, 4, 5, 6, 900])).iqm == (2 + 3 + 4 + 5) / 4


def test_a_summary_holds_the_mean_and_the_standard_deviation_of_the_sample():
    result = summary(np.array([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]))
    assert (result.mean, result.sd) == (5, 2)
    assert result.low < 5 < result.high


def test_the_paired_difference_of_equal_samples_is_zero_without_width():
    values = np.random.default_rng(0).random(50)
    assert paired_difference(values, values.copy()) == (0, 0, 0)


def test_a_pair_that_always_differs_by_the_same_has_no_width_though_the_samples_vary():
    values = np.array([1.0, 10.0, 100.0])
    assert paired_difference(values + 2, values) == (2, 2, 2)


def test_a_paired_difference_needs_as_many_values_on_both_sides():
    with pytest.raises(ValueError, match="not 3 and 2"):
        paired_difference(np.zeros(3), np.zeros(2))


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


def test_the_part_of_a_way_without_a_length_is_none():
    values = np.array([0.0, 1.0, 2.0])
    assert share_of_gap(values, values, values) is None
    assert share_of_gap(values, values, values[::-1]) is None
    with pytest.raises(ValueError, match="the same seeds, not 3, 3, 2"):
        share_of_gap(values, values, values[:2])


def test_the_sign_flip_test_counts_the_ways_that_are_as_extreme():
    # Of the 8 ways to flip three signs, +++ and --- have a mean as far from 0: 2 / 8.
    assert sign_flip_p(np.array([1.0, 2.0, 3.0])) == 0.25
    assert sign_flip_p(np.array([1.0, -1.0])) == 1
    assert sign_flip_p(np.zeros(100)) == 1


def test_many_differences_are_tested_by_draws_that_do_not_change():
    values = np.random.default_rng(0).normal(0.2, 1, 100)
    theirs = ttest_1samp(values, 0).pvalue
    assert sign_flip_p(values) == sign_flip_p(values) == pytest.approx(theirs, abs=0.01)
    assert sign_flip_p(np.full(100, 0.1)) == pytest.approx(2 / 10_001)


def test_holm_multiplies_the_smallest_p_by_all_and_the_next_by_one_less():
    # The values of R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1, 1]
    assert holm([]) == []


def test_the_standard_error_falls_with_the_root_of_n():
    assert standard_error(np.array([0.0, 2.0, 0.0, 2.0])) == 0.5


def test_the_wilson_interval_is_the_one_scipy_gives():
    for successes, n in ((0, 5), (3, 10), (97, 100), (12, 12)):
        theirs = binomtest(successes, n).proportion_ci(method="wilson")
        interval = wilson_interval(successes, n)
        assert interval == pytest.approx((successes / n, theirs.low, theirs.high))


def test_a_share_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one trial"):
        wilson_interval(0, 0)


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    right, wrong, missed = np.array([1, 1, 0, 1]), np.array([0, 0, 1, 0]), np.array([0, 1, 0, 1])
    f1, low, high = f1_interval(right, wrong, missed)
    precision, recall = 3 / 4, 3 / 5
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert 0 <= low < f1 < high <= 1


def test_f1_without_fault_has_no_width():
    assert f1_interval(np.ones(9), np.zeros(9), np.zeros(9)) == (1, 1, 1)


def test_f1_of_no_label_is_refused():
    with pytest.raises(ValueError, match="at least one label"):
        f1_interval(np.zeros(3), np.zeros(3), np.zeros(3))


def test_an_average_is_debiased_and_none_without_smoothing():
    assert averaged([2.0, 2.0, 2.0], 0.9) == pytest.approx([2.0, 2.0, 2.0])
    assert averaged([1.0, 3.0], 0.0) == [1.0, 3.0]
    assert averaged([0.0, 1.0], 0.5) == pytest.approx([0.0, 2 / 3])


def test_a_pooled_share_weighs_clusters_by_their_size():
    share, low, high = pooled_share(np.array([9, 0, 1]), np.array([10, 1, 9]))
    assert share == 0.5
    assert low < 0.5 < high
    assert pooled_share(np.array([2, 4]), np.array([2, 4])) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("wholes", [[], [0], [1, 1]])
def test_a_pooled_share_of_nothing_is_refused(wholes):
    with pytest.raises(ValueError, match="needs clusters of at least one"):
        pooled_share(np.zeros(min(1, len(wholes))), np.array(wholes))


def test_a_correlation_of_a_line_is_one_of_a_constant_none_and_of_rows_that_of_all_together():
    x = np.arange(10.0)
    assert correlation(x, 3 * x - 1) == pytest.approx((1, 1, 1))
    assert correlation(x, -x) == pytest.approx((-1, -1, -1))
    assert correlation(x, np.ones(10)) is None
    x, y = np.random.default_rng(0).random((2, 3, 40))
    r, low, high = correlation(x, y + x)
    assert r == pytest.approx(np.corrcoef(x.ravel(), (y + x).ravel())[0, 1])
    assert low < r < high
