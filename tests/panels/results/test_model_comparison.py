"""What Results says of a language model's stages, in the bazaar and as a lab of the arena."""

import pytest

from panels.results.models import LAB_FILE, policy_label, rows_by_policy
from panels.results.training import policies_table, stage_figure
from sauda.records.store import load
from tests.support.measured import model_comparison


@pytest.mark.parametrize("make", [model_comparison, lambda: load(LAB_FILE)], ids=["bazaar", "lab"])
def test_a_figure_draws_each_stage_and_a_line_from_it_to_those_that_train_it_further(make):
    artifact = make()
    task = artifact.data.rows[0].task
    figure = stage_figure(artifact, task)
    rows = rows_by_policy(artifact, task)
    *lines, first, again = figure.data
    points = {
        text: (x, y)
        for part in (first, again)
        for text, x, y in zip(part.text, part.x, part.y, strict=True)
    }
    for name, row in rows.items():
        if (label := policy_label(name)) in points:
            assert points[label][1] == row.grade.mean
    steps = [gain for gain in artifact.data.stage_gains if (gain.task, gain.on) == (task, "all")]
    assert [list(zip(line.x, line.y, strict=True)) for line in lines] == [
        [points[policy_label(step.before)], points[policy_label(step.after)]] for step in steps
    ]
    assert len({x for x, _ in points.values()}) == len(points)
    table = policies_table(artifact, task)
    assert all(f">{policy_label(name)}<" in table for name in rows)
