"""What Results says of a language model's stages, in the bazaar and as a lab of the arena."""

import numpy as np
import pytest

from panels.results import model_comparison, model_summary
from panels.results.model_comparison import ARENA, BAZAAR
from panels.results.model_labels import policy_label, series_role
from panels.ui.look import with_minus_signs
from panels.ui.tables import with_interval
from sauda.experiments.comparison import (
    OURS,
    ModelColumns,
    ModelComparison,
    compare_models,
    in_arena,
)
from sauda.records.store import Artifact, load, measured


@pytest.fixture(scope="module")
def recorded() -> Artifact:
    return load(BAZAAR.file)


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Artifact:
    """Two stages without weights, two scripts, four hold-out seeds."""
    compared = in_arena(
        stages=("null", "null+constrained"), policies=("planner", "wait"), episodes=4
    )
    data = compare_models(compared, tmp_path_factory.mktemp("parts"))
    return measured(ARENA.file, compared.config, data)


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


# Sentences


@pytest.mark.parametrize(
    ("adds", "verdict"),
    [
        (0.1, "the model adds to it"),
        (-0.1, "wrapper wins more alone"),
        (0.0, "no evidence that the model adds anything"),
    ],
)
def test_what_a_wrapper_wins_is_told_beside_what_it_wins_around_no_model(adds, verdict):
    alone = [0.1, 0.3, 0.2, 0.4]
    wrapped = [round(grade + adds, 3) for grade in alone[:3]]  # fewer games than without a model
    grades = {"mini": alone, "null+steering": alone, "mini+steering": wrapped}
    columns = {name: ModelColumns.model_construct(grade=own) for name, own in grades.items()}
    data = ModelComparison.model_construct(episodes={"bazaar/open": columns})
    made_up = Artifact("", "model_comparison/3", "measured", {}, {}, data)
    (sentence,) = model_summary.wrapper_sentences(made_up, "bazaar/open")
    means = f"{np.mean(wrapped):.3f} around the untrained base and 0.200 around no model"
    assert means in sentence
    assert with_minus_signs(f"{adds:+.3f} [{adds:+.3f}, {adds:+.3f}] on n = 3") in sentence
    assert verdict in sentence


@pytest.mark.parametrize(
    ("adds", "verdict"), [(0.1, "less than Sauda"), (-0.1, "more than Sauda"), (0.0, "level with")]
)
def test_the_tuned_rule_is_told_beside_sauda_with_their_paired_difference(adds, verdict):
    theirs = [0.1, 0.3, 0.2]
    grades = {OURS: [round(grade + adds, 3) for grade in theirs], "tuned": theirs}
    columns = {name: ModelColumns.model_construct(grade=own) for name, own in grades.items()}
    data = ModelComparison.model_construct(episodes={"bazaar/open": columns})
    made_up = Artifact("", "model_comparison/3", "measured", {}, {}, data)
    told = model_summary.tuned_sentence(made_up, "bazaar/open")
    assert verdict in told
    assert "wins 0.200" in told
    assert with_minus_signs(f"{adds:+.3f} [{adds:+.3f}, {adds:+.3f}], n = 3") in told


def test_the_summary_says_what_training_won_and_the_share_of_the_gap_it_closed(
    recorded, monkeypatch
):
    monkeypatch.setattr(model_summary, "OURS", "mini+grpo")  # a stage that is trained further
    text = model_summary.model_summary(recorded, "bazaar/open")
    place = model_summary.standing(recorded, "bazaar/open")
    assert f"wins {place.row.grade.mean:.3f} [" in text
    assert f"closes {model_summary.in_percent(place.gap_closed)[0]} [" in text
    assert "Further training to SFT + GRPO + DPO changed this by" in text


def test_a_labs_summary_tells_the_last_stage_and_the_best_script(lab):
    text = model_summary.lab_summary(lab, "arena/market_round")
    rows = {row.policy: row for row in lab.data.rows}
    for name in ("null", "planner"):
        assert f"{rows[name].grade.mean:.3f}" in text
    assert "Bare, no model + grammar reaches" in text
    assert "best script, planner," in text


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


def test_the_table_has_no_difference_of_the_base_and_counts_of_models_alone(recorded):
    cells = texts(BAZAAR, recorded, "bazaar/open")
    rows = model_summary.rows_by_policy(recorded, "bazaar/open")
    base, row = cells["untrained base"], rows["mini"]
    assert base["against untrained base [95 %]"] == "–"
    assert base["invalid replies"] == f"{row.invalid_replies} of {row.moves}"
    assert base["changed by the wrapper"] == "–"
    assert cells["linear"]["invalid replies"] == "–"
    assert cells["linear"]["against untrained base [95 %]"].startswith("+")


def test_the_table_of_labs_counts_invalid_replies(lab):
    row = next(row for row in lab.data.rows if row.policy == "null")
    cells = texts(ARENA, lab, "arena/market_round")["no model"]
    assert cells["valid actions"] == f"0.0% of {row.actions}"
    assert cells["invalid replies"] == f"{row.invalid_replies:,} of {row.actions:,}"


def test_gains_are_listed_with_their_intervals_and_on_the_unseen_seller_type(recorded):
    text = str(model_comparison.stage_gains(recorded, "bazaar/open"))
    gain = recorded.data.stage_gains[0]
    interval = f"{gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
    assert interval in text
    assert "the unseen seller type" in text


def test_each_stage_stands_beside_its_rivals(recorded):
    text = str(model_comparison.rivalries(recorded, "bazaar/open"))
    rows = [row for row in recorded.data.rivalries if row.task == "bazaar/open"]
    assert len(rows) >= 3 * (len(BAZAAR.stages) - 1)
    assert text.count("<tr>") == 1 + len(rows)
    for row in rows:
        assert with_interval(row.interval, "+.3f") in text
        assert policy_label(row.rival) in text


def test_behaviour_is_shown_of_models_and_only_where_it_was_counted(recorded, lab):
    text = str(model_comparison.behaviour_table(recorded, "bazaar/open"))
    assert "SFT + GRPO" in text
    assert "linear" not in text
    assert "behaviour" in model_comparison.show(BAZAAR, recorded, "bazaar/open")
    assert "behaviour" not in model_comparison.show(ARENA, lab, "arena/market_round")
