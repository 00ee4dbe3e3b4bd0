"""Scripts, planners and wrappers play their first recorded games as they did then."""

import pytest

from env import TASKS
from sauda.experiments.verify import Cell, cells, replay_row
from sauda.records.store import load

GAMES = {"classic": 3, "market": 3, "arena": 1}  # per row


@pytest.mark.parametrize("family", GAMES)
def test_scripts_play_as_recorded(family):
    artifact = load(f"evaluation/{family}-holdout.json")
    samples = {
        cell: replay_row(artifact, cell, GAMES[family])
        for cell in cells(artifact)
        if cell.task in TASKS and not cell.policy.startswith(("belief", "oracle"))
    }
    assert samples
    assert [cell for cell, one in samples.items() if one.replayed != one.recorded] == []


@pytest.mark.parametrize(
    "player", ["bayesian", "listener", "tuned", "null+steering", "null+honest"]
)
def test_planners_and_wrappers_play_as_recorded(player):
    artifact = load("evaluation/model-comparison.json")
    for task, games in (("bazaar/open-3", 6), ("bazaar/mute-3", 2)):
        one = replay_row(artifact, Cell(task, player), games)
        assert one.replayed == one.recorded
