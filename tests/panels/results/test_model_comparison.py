"""What Results says of a language model's stages, in the bazaar and as a lab of the arena."""

import pytest

from panels.results import model_comparison, model_summary
from panels.results.model_comparison import ARENA, BAZAAR
from panels.results.model_labels import policy_label
from sauda.records.store import ROOT, Artifact, load
from tests.support.measured import model_comparison as made_up

# The model is not measured as a lab before its artifact is there.
GAMES = [game for game in (BAZAAR, ARENA) if game is BAZAAR or (ROOT / game.file).exists()]


def recorded(game: model_comparison.Game) -> Artifact:
    return made_up() if game is BAZAAR else load(game.file)


def texts(game: model_comparison.Game, artifact: Artifact, task: str) -> dict[str, dict[str, str]]:
    """The table's texts by policy and heading."""
    table = model_comparison.details(game, artifact, task)
    lines = table["metadata"]["display_value"]
    return {line[0]: dict(zip(table["headers"], line, strict=True)) for line in lines}


# Figures, tables


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_figure_draws_each_stage_with_its_interval_below_the_references(game):
    artifact = recorded(game)
    task = artifact.data.rows[0].task
    figure = model_comparison.stage_figure(game, artifact, task)
    rows = model_summary.rows_by_policy(artifact, task)
    *lines, first, again = figure.data
    steps = [gain for gain in artifact.data.stage_gains if (gain.task, gain.on) == (task, "all")]
    points = {
        text: (x, y)
        for part in (first, again)
        for text, x, y in zip(part.text, part.x, part.y, strict=True)
    }
    assert {label: y for label, (_, y) in points.items()} == {
        policy_label(name): rows[name].grade.mean for name in game.stages if name in rows
    }
    assert [list(zip(line.x, line.y, strict=True)) for line in lines] == [
        [points[policy_label(step.before)], points[policy_label(step.after)]] for step in steps
    ]
    names = [label.replace("<br>", " ") for label in figure.layout.xaxis.ticktext]
    assert names == list(first.text)
    assert all(names[int(x)] == text.partition(", seed ")[0] for text, (x, _) in points.items())
    assert len({x for x, _ in points.values()}) == len(points)
    references = game.references(artifact, task)
    assert [line.y0 for line in figure.layout.shapes] == [grade for _, grade in references]
    assert figure.layout.yaxis.range[1] >= max(grade for _, grade in references)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_bars_and_table_hold_every_policy_once_the_best_first(game):
    artifact = recorded(game)
    task = artifact.data.rows[0].task
    labels = [policy_label(row.policy) for row in model_comparison.rows_of(artifact, task)]
    figure = model_comparison.bars(artifact, task)
    assert list(figure.layout.yaxis.categoryarray) == labels[::-1]
    assert sorted(label for bar in figure.data for label in bar.y) == sorted(labels)
    assert list(texts(game, artifact, task)) == labels
