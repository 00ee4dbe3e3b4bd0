"""Scripts, planners and wrappers play their first recorded games as they did then."""

import pytest

from env import TASKS
from sauda.played import Cell, cells, replay_row
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
    ("player", "task"),
    [
        ("bayesian", "bazaar/mute-3"),
        ("listener", "bazaar/open-3"),
        ("tuned", "bazaar/people"),
        ("null+steering", "bazaar/people"),
        ("null+honest", "bazaar/people"),
    ],
)
def test_planners_and_wrappers_play_as_recorded(player, task):
    one = replay_row(load("evaluation/model-comparison.json"), Cell(task, player), 4)
    assert one.replayed == one.recorded
