"""Speeds on the page: measured ones, ratios of one run, and published ones apart."""

from panels.artifacts import speeds
from sauda.experiments.speeds import Bench, figure, published_speeds, ratio
from sauda.records.store import Artifact, load


def test_the_page_shows_published_speeds_apart_with_their_badge_and_caveat():
    slow, fast = figure("alone", "x/s", [1.0, 2.0]), figure("batch", "x/s", [6.0, 4.0])
    data = {
        "machine": {}, "figures": [slow, fast], "ratios": [ratio(fast, slow)], "left_out": []
    }  # fmt: skip
    bench = Artifact("bench.json", "bench/2", "measured", {}, {}, Bench.model_validate(data))
    assert ">4<" in str(speeds.ratio_table(bench))
    rest, of_model = (str(speeds.measured_table(bench, of_model=of)) for of in (False, True))
    assert "published" not in rest + of_model
    assert rest.count("<tr") + of_model.count("<tr") == len(bench.data.figures) + 2
    rows = published_speeds(load("published.json"))
    shown = str(speeds.published_table(rows))
    assert shown.count("sauda-published") == len(rows)
    assert "One core of a shared machine" in shown
