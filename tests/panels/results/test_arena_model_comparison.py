"""What Results says of a language model as a lab, from a small comparison without weights."""

from dataclasses import asdict

import pytest

from panels.results import arena_model_comparison, model_comparison
from sauda.evaluation import arena_model_comparison as lab_ladder
from sauda.records.store import Artifact


@pytest.fixture(scope="module")
def arena_ladder(tmp_path_factory) -> Artifact:
    config = lab_ladder.Config(
        stages=("null", "null+constrained"), policies=("planner", "wait"), episodes=4
    )
    return Artifact(
        arena_model_comparison.FILE,
        "arena_ladder/1",
        "measured",
        {},
        asdict(config),
        lab_ladder.arena_ladder(config, tmp_path_factory.mktemp("parts")),
    )


def test_the_labs_ladder_tells_the_last_stage_the_best_script_and_the_bound(arena_ladder):
    said = arena_model_comparison.sentence(arena_ladder)
    rows = {row["policy"]: row for row in arena_ladder.data["rows"]}
    for name in ("null", "planner"):
        assert f"{rows[name]['grade']['mean']:.3f}" in said
    assert "Bare, no model + grammar comes to" in said
    assert "script, planner, to" in said
    assert f"alone, is {arena_ladder.data['bounds'][0]['grade']['mean']:.3f}" in said


def test_a_row_of_the_labs_ladder_counts_what_was_no_action(arena_ladder):
    text = arena_model_comparison.figures(arena_ladder).striptags()
    (null,) = [row for row in arena_ladder.data["rows"] if row["policy"] == "null"]
    assert f"0.0% of {null['actions']}" in text
    assert text.count(f"{null['unparsed']:,}") > 1
    assert "arena/market_round: the first n hold-out seeds" in text


def test_a_labs_stages_have_names_and_colours_of_their_own():
    assert model_comparison.told("mini+grpo-arena") == "SFT + GRPO as a lab"
    assert model_comparison.told("mini+grpo") == "SFT + GRPO"
    assert [model_comparison.role(n) for n in ("mini+sft-arena", "mini+grpo-arena", "mini")] == [
        "sft", "grpo", "base",
    ]  # fmt: skip
