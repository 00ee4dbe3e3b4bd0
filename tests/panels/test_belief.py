"""The picture of a belief, and what Results says of beliefs: no more than the numbers hold."""

import re
from dataclasses import replace

import numpy as np
import pytest

from env import SELLER_TYPES, get_task, rollout, rupees
from panels.results import belief as belief_view
from sauda.policies.belief.buyer import belief_buyer
from sauda.policies.belief.posterior import Belief, believe
from sauda.records.store import Artifact, load


@pytest.fixture(scope="module")
def beliefs() -> list[Belief]:
    played = rollout(get_task("bazaar/open"), belief_buyer, 1)
    return [believe(turn.observation.table) for turn in played.trajectory("buyer")]


@pytest.fixture(scope="module")
def report() -> Artifact:
    return load("belief.json")


def test_a_picture_has_a_hill_for_each_belief_and_a_bar_for_each_type(beliefs):
    first, change = (
        str(belief_view.belief_picture(*two)) for two in ((None, beliefs[0]), beliefs[:2])
    )
    assert first.count("<polygon") == 1
    assert change.count("<polygon") == 2
    assert [shown.count("<rect") for shown in (first, change)] == [
        len(SELLER_TYPES),
        2 * len(SELLER_TYPES),
    ]
    assert all(name in change for name in SELLER_TYPES)
    assert "dashed" in change
    assert "dashed" not in first


def test_a_picture_stays_within_its_frame(beliefs):
    for pair in ((None, beliefs[0]), (beliefs[0], beliefs[-1]), (beliefs[-1], beliefs[-1])):
        shown = str(belief_view.belief_picture(*pair))
        assert "nan" not in shown
        points = re.findall(
            r"([-\d.]+),([-\d.]+)", " ".join(re.findall(r'points="([^"]+)"', shown))
        )
        x, y = np.array(points, float).T
        assert x.min() >= 0
        assert x.max() <= belief_view.WIDTH == 320
        assert 0 <= y.min() < y.max() <= belief_view.HILL


def test_the_sentence_of_a_picture_says_price_and_type(beliefs):
    said = belief_view.picture_sentence(beliefs[-1])
    assert rupees(round(float(beliefs[-1].quantile(0.5)))) in said
    types = beliefs[-1].types()
    assert f"a {max(types, key=types.get)} seller" in said
    assert said in str(belief_view.belief_picture(None, beliefs[-1]))


def test_a_belief_in_one_price_can_be_drawn(beliefs):
    sure = replace(beliefs[-1], weights=np.eye(len(beliefs[-1].weights))[0])
    assert "nan" not in str(belief_view.belief_picture(beliefs[0], sure))
    assert "nan" not in str(belief_view.belief_picture(None, sure))


def test_the_figure_draws_both_kinds_of_evidence_beside_the_ideal(report):
    for row in report.data["outcomes"]:
        figure = belief_view.calibration_figure(report, row["task"], 2)
        ideal, *traces = figure.data
        assert list(ideal.x) == list(ideal.y)
        assert [trace.name for trace in traces] == list(belief_view.STYLES)
        cells = belief_view.rows_of(report, row["task"], 2)
        assert traces[0].y[0] == cells[0]["coverage"][0]["mean"]
        assert "Brier" in str(belief_view.calibration_table(report, row["task"]))


def test_the_ablation_shows_inputs_and_grades_with_n_and_intervals(report):
    shown = str(belief_view.ablation_table(report))
    for row in report.data["outcomes"]:
        gain = row["difference"]
        assert f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]" in shown
        assert row["n"] >= 400


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.01, 0.03, "they help"), (-0.03, -0.01, "they harm"), (-0.01, 0.03, "no difference")],
)
def test_the_verdict_says_what_the_interval_says(report, low: float, high: float, said: str):
    row = report.data["outcomes"][0]
    changed = {**row, "difference": {"mean": (low + high) / 2, "low": low, "high": high}}
    told = belief_view.verdict(replace(report, data={**report.data, "outcomes": [changed]}))
    assert said in told
    assert row["task"] in told
