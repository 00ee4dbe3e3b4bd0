"""The report on the belief: its kind, its ablation, and that it says how sure it is."""

import pytest

from sauda.experiments import belief as belief_report
from sauda.experiments.belief import EVIDENCE, calibration, changed, report
from sauda.policies.belief import belief_buyer
from sauda.records.splits import SPLITS
from sauda.records.store import parsed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data() -> dict:
    return report(episodes=6, compared=3, tasks=("bazaar/rushed",), workers=1)


def test_the_data_are_of_their_kind(data: dict):
    parsed("belief/2", data)
    assert data["uninformed"]["brier"] == 0.75
    assert [row["n"] for row in data["outcomes"]] == [6]


def test_the_ablation_proves_its_inputs_first(data: dict, monkeypatch: pytest.MonkeyPatch):
    assert all(
        row["beliefs"]["mean"] > 0.5 and row["distance"]["mean"] > 0 for row in data["inputs"]
    )
    monkeypatch.setattr(belief_report, "belief_prices", belief_buyer)
    assert changed("bazaar/rushed", range(2))["beliefs"]["mean"] == 0


def test_the_belief_covers_the_floor_as_often_as_it_says():
    rows = calibration("bazaar/open", SPLITS["train"][:120], (0, 4), "linear")
    assert {row["evidence"] for row in rows} == set(EVIDENCE)
    for row in rows:
        for cell in row["coverage"]:
            assert abs(cell["mean"] - cell["level"]) < 0.14, row  # n is some 110: 0.048 is one sd
    first, *_, last = rows
    assert last["error"]["mean"] < first["error"]["mean"]
    assert last["types"]["brier"] < first["types"]["brier"] < 0.75
