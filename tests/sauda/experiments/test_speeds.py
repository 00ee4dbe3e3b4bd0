"""Speeds: a figure is its samples; published speeds stand apart."""

from sauda.experiments.speeds import figure, published_speeds, recompute_bench
from sauda.records.store import load


def test_a_figure_has_the_median_and_the_95th_percentile_of_its_rounded_samples():
    timing = figure("reply", "s", [0.123456, 3.0, 1.0], p95=True, cores=2)
    assert timing["samples"] == [0.1235, 3.0, 1.0]
    assert (timing["n"], timing["median"], timing["cores"]) == (3, 1.0, 2)
    assert timing["p95"] == 2.8  # nine tenths of the way from 1 to 3
    assert "p95" not in figure("import", "s", [1.0])


def run(*figures: dict) -> dict:
    """The data of a bench."""
    return {"machine": {}, "figures": list(figures), "left_out": []}


def test_medians_follow_from_the_samples_and_nothing_else_changes():
    slow, fast = figure("alone", "x/s", [1.0, 2.0], p95=True), figure("batch", "x/s", [6.0, 4.0])
    data = run(slow, fast)
    assert recompute_bench(data) == data
    fast["samples"][1] = 8.0
    assert recompute_bench(data)["figures"][1]["median"] == 7.0


def test_published_speeds_are_those_of_the_source():
    rows = published_speeds(load("published.json"))
    published = {(row["id"], row["name"]): row["median"] for row in rows}
    assert published["reference-throughput", "episodes a second, gym wrapper"] == 531
    assert published["arena-reference-speed", "steps a second, coalition_market"] == 2159
    assert all(row["source"] and row["caveat"] for row in rows)
