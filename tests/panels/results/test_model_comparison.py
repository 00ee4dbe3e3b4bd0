"""What Results says of a language model's stages, in the bazaar and as a lab of the arena."""

import pytest

from panels.results import model_comparison
from panels.results.model_comparison import ARENA, BAZAAR
from panels.results.models import policy_label, rows_by_policy
from sauda.records.store import load
from tests.support.measured import model_comparison as made_up


@pytest.mark.parametrize("game", [BAZAAR, ARENA], ids=lambda game: game.name)
def test_a_figure_draws_each_stage_and_a_line_from_it_to_those_that_train_it_further(game):
    artifact = made_up() if game is BAZAAR else load(game.file)
    task = artifact.data.rows[0].task
    figure = model_comparison.stage_figure(game, artifact, task)
    rows = rows_by_policy(artifact, task)
    *lines, first, again = figure.data
    points = {
        text: (x, y)
        for part in (first, again)
        for text, x, y in zip(part.text, part.x, part.y, strict=True)
    }
    assert {label: y for label, (_, y) in points.items()} == {
        policy_label(name): rows[name].grade.mean for name in game.stages if name in rows
    }
    steps = [gain for gain in artifact.data.stage_gains if (gain.task, gain.on) == (task, "all")]
    assert [list(zip(line.x, line.y, strict=True)) for line in lines] == [
        [points[policy_label(step.before)], points[policy_label(step.after)]] for step in steps
    ]
    assert len({x for x, _ in points.values()}) == len(points)
    table = model_comparison.policies_table(game, artifact, task)
    assert all(f">{policy_label(name)}<" in table for name in rows)
