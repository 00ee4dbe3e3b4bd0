"""What the Results and Transcripts tabs draw of the GPU arena, from values alone."""

import csv
import io
from dataclasses import asdict, replace

import pytest

from env import ARENA_TASKS, arena
from panels.results import arena as arena_results
from panels.results import arena_design, arena_model_comparison, model_comparison
from sauda.evaluation.comparison_config import ArenaConfig
from sauda.evaluation.model_comparison import compare_models
from sauda.policies import LABS
from sauda.records.store import Artifact

MARKET = "arena/coalition_market"
VIEW = arena_results.View(MARKET)


def row_of(found: Artifact, policy: str, others: str = "as drawn") -> dict:
    cell = (others, MARKET, policy)
    rows = found.data["rows"]
    return next(r for r in rows if (r["others"], r["task"], r["policy"]) == cell)


# Results


@pytest.mark.parametrize("metric", arena_results.METRICS)
def test_a_bar_is_a_mean_its_whisker_the_interval_and_the_line_the_bound(arena_evaluation, metric):
    figure = arena_results.bars(arena_evaluation, replace(VIEW, metric=metric))
    bar = figure.data[0]
    row, name = row_of(arena_evaluation, "planner"), arena_results.METRICS[metric]
    at = list(bar.y).index("planner")
    assert bar.x[at] == row[name]["mean"]
    assert bar.x[at] + bar.error_x.array[at] == pytest.approx(row[name]["high"])
    assert bar.x[at] - bar.error_x.arrayminus[at] == pytest.approx(row[name]["low"])
    bound = arena_results.bound_of(arena_evaluation, MARKET)
    assert figure.layout.shapes[0].x0 == bound[name]["mean"]
    low, high = figure.layout.xaxis.range
    assert low <= 0 < bound[name]["mean"] < high


def test_the_best_policy_is_on_top_and_named_with_its_interval_and_n(arena_evaluation):
    bar = arena_results.bars(arena_evaluation, VIEW).data[0]
    assert list(bar.x) == sorted(bar.x)
    said = arena_results.caption(arena_evaluation, VIEW)
    best = row_of(arena_evaluation, bar.y[-1])
    assert said.startswith(f"{bar.y[-1]} leads with {best['grade']['mean']:.3f} [")
    assert "n = 6 episodes a policy" in said
    assert "no policy but an upper bound" in said


def test_a_sentence_says_what_a_grade_of_0_is(arena_evaluation):
    said = "A grade of 0 is what a lab earns alone"
    assert said in arena_results.caption(arena_evaluation, VIEW)
    assert said not in arena_results.caption(arena_evaluation, replace(VIEW, metric="Utility"))


def test_a_mean_that_rounds_to_nothing_bears_no_sign(arena_evaluation):
    row = {**row_of(arena_evaluation, "wait")}
    row["grade"] = dict.fromkeys(row["grade"], -1e-6)
    near = replace(arena_evaluation, data={**arena_evaluation.data, "rows": [row]})
    shown = str(arena_results.figures_table(near, VIEW))
    assert "0.000 to 0.000" in shown
    assert "-0.000" not in shown


def test_other_labs_give_other_bars_and_unplayed_ones_a_sentence(arena_evaluation):
    selfish = arena_results.bars(arena_evaluation, replace(VIEW, others="selfish")).data[0]
    assert selfish.x != arena_results.bars(arena_evaluation, VIEW).data[0].x
    with pytest.raises(ValueError, match="with other labs “deceptive” was not played"):
        arena_results.bars(arena_evaluation, replace(VIEW, others="deceptive"))


def test_the_table_holds_validity_difference_correlation_jobs_and_ends(arena_evaluation):
    shown = str(arena_results.figures_table(arena_evaluation, VIEW, arena_evaluation))
    row = row_of(arena_evaluation, "planner")
    for cell in (
        f"{row['grade']['difference']:+.3f}",
        f"{row['valid']:.1%} of {row['actions']:,}",
        f"{row['jobs']['mean']:.2f} of {row['jobs_had']:.2f}",
        f"{row['correlation']['mean']:.3f} [",
        f"{row['utility']['mean']:.1f} [",
        f"{row['reward']['mean']:.3f} [",
        "does not vary",
        "against rule_based_expert",
    ):
        assert cell in shown


def test_a_mean_on_other_seeds_is_shown_only_where_the_game_is_the_same(arena_evaluation):
    row = row_of(arena_evaluation, "planner")
    changed = {**row, "hashes": {**row["hashes"], "opponents": "0123456789ab"}}
    other = replace(arena_evaluation, data={"rows": [changed]})
    assert arena_results.on_other_seeds(row, other, "grade", 3) == "–"
    same = replace(arena_evaluation, data={"rows": [row]})
    mean = f"{row['grade']['mean']:.3f}"
    assert arena_results.on_other_seeds(row, same, "grade", 3) == mean


def test_the_csv_holds_every_row_in_full_precision(arena_evaluation):
    text = arena_results.to_csv(arena_evaluation, VIEW)
    assert text.startswith("\ufeff")
    rows = {row["policy"]: row for row in csv.DictReader(io.StringIO(text[1:]))}
    assert set(rows) == set(arena_evaluation.config["policies"])
    planner = row_of(arena_evaluation, "planner")
    assert float(rows["planner"]["grade_difference"]) == planner["grade"]["difference"]
    assert rows["wait"]["correlation"] == ""
    mean = planner["components"]["job_utility_score"]["mean"]
    assert float(rows["planner"]["job_utility_score"]) == mean


def test_the_counts_at_a_glance_are_those_of_the_code_and_the_files(arena_evaluation):
    shown = str(arena_results.glance([arena_evaluation]))
    for count in (len(ARENA_TASKS), len(arena.KINDS), len(arena.COMPONENTS), len(LABS), 96):
        assert f'"sauda-value">{count}<' in shown
    assert "episodes played" not in str(arena_results.glance([]))


# Reward design, action space


def test_every_component_has_a_bar_a_formula_and_a_mean(arena_evaluation):
    (bar,) = arena_design.component_bars(arena_evaluation, MARKET, "planner").data
    shown = str(arena_design.component_table(arena_evaluation, MARKET, "planner"))
    row = row_of(arena_evaluation, "planner")
    assert list(bar.x) == [row["components"][c.name]["mean"] for c in arena.COMPONENTS][::-1]
    for component in (*arena.COMPONENTS, arena.TOTAL):
        assert component.name in shown
        assert component.formula.replace("'", "&#39;") in shown
    for example in arena_evaluation.data["examples"]:
        assert f"{example['amount']:+.3f}: " in shown


def test_there_is_a_card_for_each_action_with_all_its_fields_and_codes():
    shown = str(arena_design.action_cards())
    assert shown.count("sauda-card") - 1 == len(arena.KINDS) == 14
    for name, kind in arena.KINDS.items():
        card = str(arena_design.action_card(name, kind))
        assert card in shown
        for part in (name, *kind.required, *kind.success, *kind.failures):
            assert f"<code>{part}</code>" in card
        for field in kind.optional:
            assert f"{field}?</code>" in card


# A language model as a lab


@pytest.fixture(scope="module")
def arena_ladder(tmp_path_factory) -> Artifact:
    config = ArenaConfig(
        stages=("null", "null+constrained"), policies=("planner", "wait"), episodes=4
    )
    return Artifact(
        arena_model_comparison.FILE,
        "arena_ladder/1",
        "measured",
        {},
        asdict(config),
        compare_models(config, tmp_path_factory.mktemp("parts")),
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
