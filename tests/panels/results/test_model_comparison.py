"""What Results says of a language model's stages, in the bazaar and as a lab of the arena."""

from dataclasses import asdict

import pytest

from panels.results import model_comparison, model_summary
from panels.results.model_comparison import ARENA, BAZAAR
from panels.results.model_labels import policy_label, series_role
from sauda.evaluation.models.comparison import compare_models
from sauda.evaluation.models.config import ArenaConfig
from sauda.records.store import Artifact, load, measured


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Artifact:
    """Two stages without weights, two scripts, four hold-out seeds."""
    config = ArenaConfig(
        stages=("null", "null+constrained"), policies=("planner", "wait"), episodes=4
    )
    data = compare_models(config, tmp_path_factory.mktemp("parts"))
    return measured(ARENA.file, asdict(config), data)


def texts(game: model_comparison.Game, artifact: Artifact, task: str) -> dict[str, dict[str, str]]:
    """The table's texts by policy and heading."""
    table = model_comparison.details(game, artifact, task)
    lines = table["metadata"]["display_value"]
    return {line[0]: dict(zip(table["headers"], line, strict=True)) for line in lines}


# Labels


def test_a_labs_stages_have_names_and_colours_of_their_own():
    assert policy_label("mini+grpo-arena") == "SFT + GRPO as a lab"
    assert policy_label("mini+grpo") == "SFT + GRPO"
    assert policy_label("null+steering") == "no model + published steering"
    names = ("mini+sft-arena", "mini+grpo-arena", "mini", "null+steering", "oracle")
    assert [series_role(name) for name in names] == ["sft", "grpo", "base", "scripted", "oracle"]


# Figures, tables


@pytest.mark.parametrize("game", [BAZAAR, ARENA], ids=["bazaar", "arena"])
def test_a_figure_draws_each_stage_with_its_interval_below_the_references(game):
    artifact = load(game.file)
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


@pytest.mark.parametrize("game", [BAZAAR, ARENA], ids=["bazaar", "arena"])
def test_bars_and_table_hold_every_policy_once_the_best_first(game):
    artifact = load(game.file)
    task = artifact.data.rows[0].task
    labels = [policy_label(row.policy) for row in model_comparison.rows_of(artifact, task)]
    figure = model_comparison.bars(artifact, task)
    assert list(figure.layout.yaxis.categoryarray) == labels[::-1]
    assert sorted(label for bar in figure.data for label in bar.y) == sorted(labels)
    assert list(texts(game, artifact, task)) == labels


def test_the_table_of_labs_counts_invalid_replies(lab):
    row = next(row for row in lab.data.rows if row.policy == "null")
    cells = texts(ARENA, lab, "arena/market_round")["no model"]
    assert cells["valid actions"] == f"0.0% of {row.actions}"
    assert cells["invalid replies"] == f"{row.invalid_replies:,} of {row.actions:,}"
