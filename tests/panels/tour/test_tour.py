"""The Tour's figures are those of the artifacts."""

from dataclasses import replace

import pytest

from panels.results.model_summary import rows_by_policy
from panels.tour import tab as tour
from sauda.evaluation.comparison_config import OURS
from sauda.records.kinds import ArtifactError
from sauda.records.store import load


def test_the_tours_figures_are_those_of_the_artifacts():
    comparison, holdout = (
        load("evaluation/model-comparison.json"),
        load("evaluation/classic-holdout.json"),
    )
    shown = str(tour.glance(comparison, holdout, load("evaluation/reproduction.json")))
    share = tour.cell(holdout, "classic/single_deal", "wait").share.mean
    rows = rows_by_policy(comparison, tour.MARKET)
    grades = {name: row.grade.mean for name, row in rows.items()}
    last = OURS
    assert f"{share:.1%}" in shown
    assert f">{grades[last]:.3f}" in shown
    closed = (grades[last] - grades["mini"]) / (grades["belief"] - grades["mini"])
    assert f"{closed:.0%}" in shown
    (way,) = [
        way for way in comparison.data.gap_closed if (way.task, way.policy) == (tour.MARKET, last)
    ]
    assert way.share == pytest.approx(closed, abs=1e-4)
    assert way.low < way.share < way.high
    assert f"[{way.low:.0%}, {way.high:.0%}]" in shown


def test_a_ladder_without_a_trained_model_is_said_to_lack_it():
    comparison = load("evaluation/model-comparison.json")
    rows = [row for row in comparison.data.rows if row.policy in ("mini", "linear", "belief")]
    with pytest.raises(ArtifactError, match="lacks a trained model on bazaar/open"):
        tour.trained(replace(comparison, data=comparison.data.model_copy(update={"rows": rows})))
