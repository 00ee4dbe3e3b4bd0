"""What Results shows of the calibration of beliefs and of the worth of tells and words."""

from dataclasses import replace

import pytest

from panels.results.market import belief as belief_view
from panels.ui.tables import with_interval
from panels.ui.terms import short
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact, load


@pytest.fixture(scope="module")
def report() -> Artifact:
    return load("belief.json")


def test_the_figure_draws_both_kinds_of_evidence_beside_the_ideal(report):
    for row in report.data.outcomes:
        figure = belief_view.calibration_figure(report, row.task, 2)
        ideal, *traces = figure.data
        assert list(ideal.x) == list(ideal.y)
        assert [trace.name for trace in traces] == list(belief_view.STYLES)
        cells = belief_view.rows_of(report, row.task, 2)
        assert traces[0].y[0] == cells[0].coverage[0].mean
        assert "Brier" in str(belief_view.calibration_table(report, row.task))


def test_the_ablation_shows_inputs_and_grades_with_n_and_intervals(report):
    shown = str(belief_view.ablation_table(report))
    for row in report.data.outcomes:
        gain = row.difference
        assert with_interval(gain, "+.3f") in shown
        assert row.n >= 400


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.01, 0.03, "they help"), (-0.03, -0.01, "they harm"), (-0.01, 0.03, "no difference")],
)
def test_the_verdict_says_what_the_interval_says(report, low: float, high: float, verdict: str):
    row = report.data.outcomes[0]
    difference = Interval(mean=(low + high) / 2, low=low, high=high)
    changed = row.model_copy(update={"difference": difference})
    data = report.data.model_copy(update={"outcomes": [changed]})
    sentence = belief_view.verdict(replace(report, data=data))
    assert verdict in sentence
    assert f"in the {short(row.task)} " in sentence
