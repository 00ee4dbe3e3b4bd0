"""The robustness report: the same games for all, replayed alike, and what it says on the page."""

from dataclasses import asdict

import numpy as np
import pytest

from env import get_task, rollout
from panels.results.market.robustness import robust_sentence, robust_table
from sauda.evaluation.market.robustness import Cell, Config, grades, robustness
from sauda.llm.registry import get_policy
from sauda.policies.unsteady import Unsteady
from sauda.records.splits import SPLITS
from sauda.records.store import load, parsed

TINY = Config(episodes=12, believed=3, careers=1, errors=(0.0, 3.0, 5.0),
              tasks=("bazaar/open", "bazaar/career"))  # fmt: skip


@pytest.fixture(scope="module")
def data() -> dict:
    return robustness(TINY, workers=1)


def test_the_report_has_a_row_for_each_task_error_and_policy(data):
    parsed("robustness/1", data)
    assert len(data["rows"]) == 2 * 3 * 4
    assert {row["n"] for row in data["rows"] if row["policy"] == "belief"} == {3, 1}
    assert all((row["less_pilot"] is None) == (row["policy"] == "pilot") for row in data["rows"])


def test_kept_cells_are_read_and_not_played_again(tmp_path, data, monkeypatch):
    one = Config(episodes=5, errors=(3.0,), tasks=("bazaar/open",), policies=("pilot", "linear"))
    first = robustness(one, 1, tmp_path)
    files = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(files) == 2
    assert robustness(one, 1, tmp_path) == first == robustness(one, 1)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == files


def test_a_cell_is_what_single_games_give():
    seeds = SPLITS["holdout"][:8]
    task = get_task("bazaar/open")
    for policy in ("pilot", "linear"):
        player = Unsteady(get_policy(task, policy), 3.0)
        alone = [task.grade(rollout(task, player, seed).final) for seed in seeds]
        np.testing.assert_allclose(grades(Cell(task.name, 3.0, policy, 8), seeds), alone, atol=1e-6)


def test_the_page_shows_every_grade():
    report = load("robustness.json")
    text = str(robust_table(report))
    for row in report.data.rows:
        assert f"{row.grade.mean:.3f}" in text
    assert "costs the pilot" in robust_sentence(report)
    assert asdict(Config())["errors"] == tuple(report.config["errors"])
