"""Every script plays its first recorded games as it did when they were recorded."""

import pytest

from env import TASKS
from sauda.experiments.verify import cells, replay_row
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
