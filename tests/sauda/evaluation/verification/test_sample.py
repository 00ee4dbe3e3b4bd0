"""A sample of a recorded row, played again, beside the record."""

from dataclasses import replace

import pytest

from sauda.evaluation.verification.sample import cells, needs_weights, play_again
from sauda.experiments.comparison import ORACLE
from sauda.experiments.evaluate import Cell
from sauda.llm.registry import get_policy
from sauda.records.store import load

MARKET = "evaluation/market-holdout.json"


def cell_of(artifact, task: str, policy: str) -> Cell:
    return next(cell for cell in cells(artifact) if (cell.task, cell.policy) == (task, policy))


@pytest.mark.parametrize(
    ("file", "task", "policy"),
    [
        (MARKET, "bazaar/open", "linear"),
        (MARKET, "bazaar/rushed", "conceder"),
        ("evaluation/model-comparison.json", "bazaar/rushed", ORACLE),
        ("evaluation/model-comparison.json", "bazaar/open", "null+steering"),
        ("evaluation/arena-holdout.json", "arena/single_trade", "planner"),
        ("evaluation/arena-model-comparison.json", "arena/market_round", "autarky"),
    ],
)
def test_a_scripted_row_comes_out_as_recorded(file, task, policy):
    artifact = load(file)
    sample = play_again(artifact, cell_of(artifact, task, policy), 3)
    assert sample.differing == []
    assert sample.digests[0] == sample.digests[1]
    assert len(sample.seeds) == len(sample.recorded["grade"]) == 3


def test_a_column_that_differs_is_named():
    artifact = load(MARKET)
    cell = cell_of(artifact, "bazaar/open", "linear")
    sample = play_again(artifact, cell, 4, lambda task, name: get_policy(task, "conceder"))
    assert "grade" in sample.differing
    assert sample.digests[0] != sample.digests[1]


def test_rows_of_language_models_say_that_they_need_weights():
    assert needs_weights("mini+sft+honest")
    assert not needs_weights("null+steering")
    assert not needs_weights("linear")


def test_a_row_that_is_not_recorded_and_a_file_without_rows_are_refused():
    artifact = load(MARKET)
    with pytest.raises(KeyError):
        play_again(artifact, Cell("", "bazaar/open", "nobody"), 2)
    with pytest.raises(ValueError, match="holds no rows of episodes"):
        cells(replace(artifact, kind="oracle/2"))
