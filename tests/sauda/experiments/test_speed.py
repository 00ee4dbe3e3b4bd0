"""Speeds: a figure is its samples, a ratio is of one run."""

import pytest

from sauda.experiments.speed import figure, ratio, replay_bench
from sauda.records.store import ROOT, load, save

SLOW = figure("alone", "x/s", [1.0, 2.0, 4.0], p95=True)
FAST = figure("batch", "x/s", [7.0, 4.0, 4.0])


def test_a_figure_has_the_median_and_the_95th_percentile_of_its_rounded_samples():
    timing = figure("reply", "s", [0.123456, 3.0, 1.0], p95=True, visitors=2)
    assert timing["samples"] == [0.1235, 3.0, 1.0]
    assert (timing["n"], timing["median"], timing["visitors"]) == (3, 1.0, 2)
    assert timing["p95"] == 2.8  # nine tenths of the way from 1 to 3
    assert "p95" not in FAST


def test_a_ratio_is_taken_sample_by_sample_of_one_unit_and_run():
    quotient = ratio(FAST, SLOW)
    assert (quotient["of"], quotient["to"], quotient["n"]) == ("batch", "alone", 3)
    assert (quotient["samples"], quotient["median"]) == ([7.0, 2.0, 1.0], 2.0)
    for other in (figure("alone", "s", [1.0, 2.0, 4.0]), figure("alone", "x/s", [1.0])):
        with pytest.raises(ValueError, match="were not timed in one run"):
            ratio(FAST, other)


def test_medians_and_ratios_follow_from_the_samples_and_nothing_else_changes(tmp_path):
    data = {"machine": {}, "figures": [SLOW, FAST], "ratios": [ratio(FAST, SLOW)], "left_out": []}
    save("bench.json", {}, data, tmp_path)
    assert replay_bench(load("bench.json", tmp_path), 1, ROOT) == data
    wrong = [{**SLOW, "p95": 9.0}, {**FAST, "median": 9.0}]
    save("bench.json", {}, data | {"figures": wrong}, tmp_path)
    assert replay_bench(load("bench.json", tmp_path), 1, ROOT) == data
