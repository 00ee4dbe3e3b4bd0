"""An evaluation of either game on Results: figure, caption, table, CSV; from small evaluations."""

import csv
import io
from dataclasses import replace

import pytest

from panels.results import bazaar
from panels.results.arena import evaluations as arena_results
from panels.results.evaluation import (
    Game,
    View,
    bars,
    caption,
    change,
    details,
    details_label,
    download,
    rows_of,
)
from panels.results.evaluation_section import by_task, show
from panels.results.model_labels import policy_label
from panels.ui.tables import to_csv
from panels.ui.terms import task_title
from sauda.records.schemas.base import Metric
from sauda.records.store import Artifact, load

BAZAAR, ARENA = bazaar.game(), arena_results.game()
DEAL = View("classic/single_deal", "train", "share")
MARKET = View("arena/coalition_market", "holdout", "grade")


@pytest.fixture(params=["bazaar", "arena"])
def shown(request, evaluation, arena_evaluation) -> tuple[Game, Artifact, View, str]:
    """A game, an evaluation of it, a view, and a policy that is not the first on the view."""
    if request.param == "bazaar":
        return BAZAAR, evaluation, DEAL, "rule_based"
    return ARENA, arena_evaluation, MARKET, "planner"


def with_rows(evaluation: Artifact, rows: list) -> Artifact:
    """The evaluation with other rows."""
    return replace(evaluation, data=evaluation.data.model_copy(update={"rows": rows}))


def row_of(evaluation: Artifact, view: View, policy: str) -> dict:
    return next(row for row in rows_of(evaluation, view) if row.policy == policy)


def texts(game: Game, evaluation: Artifact, view: View, other: Artifact | None = None) -> dict:
    """The table's texts by policy and heading."""
    table = details(game, evaluation, view, other)
    lines = table["metadata"]["display_value"]
    return {line[0]: dict(zip(table["headers"], line, strict=True)) for line in lines}


# Figure, caption


def test_a_bar_is_the_mean_of_its_row_and_its_whisker_the_interval(shown):
    game, evaluation, view, policy = shown
    for metric in game.metrics:
        bar = bars(game, evaluation, replace(view, metric=metric.name)).data[0]
        figures, at = (
            getattr(row_of(evaluation, view, policy), metric.name),
            list(bar.y).index(policy_label(policy)),
        )
        assert bar.x[at] == figures.mean
        assert bar.x[at] + bar.error_x.array[at] == pytest.approx(figures.high)
        assert bar.x[at] - bar.error_x.arrayminus[at] == pytest.approx(figures.low)


def test_bars_are_sorted_best_first_or_by_name(shown):
    _, evaluation, view, _ = shown
    best = [getattr(row, view.metric).mean for row in rows_of(evaluation, view)]
    assert best == sorted(best, reverse=True)
    by_name = [row.policy for row in rows_of(evaluation, replace(view, order="name"))]
    assert by_name == sorted(by_name)


def test_the_open_markets_line_is_the_oracle_and_only_for_grades():
    oracle = load("oracle.json")
    game, evaluation = bazaar.game(oracle), load("evaluation/market-holdout.json")
    view = View("bazaar/open", "holdout", "grade")
    mean = bazaar.oracle_row(oracle, view.task).informed.mean
    assert bars(game, evaluation, view).layout.shapes[0].x0 == mean
    assert f"expects: {mean:.3f}" in caption(game, evaluation, view)
    assert game.bound(evaluation, replace(view, metric="share")) is None
    assert BAZAAR.bound(evaluation, view) is None


def test_the_caption_says_best_and_last_policy_n_and_what_the_whiskers_are(shown):
    game, evaluation, view, _ = shown
    rows = rows_of(evaluation, view)
    text = caption(game, evaluation, view)
    assert text.startswith(
        f"{policy_label(rows[0].policy)} leads with {getattr(rows[0], view.metric).mean:.3f} ["
    )
    assert f"{policy_label(rows[-1].policy)} is last" in text
    assert f"n = {rows[0].n} episodes a policy" in text
    assert "95 % bootstrap" in text
    assert "one standard deviation" in caption(game, evaluation, replace(view, whisker="sd"))


def test_other_labs_give_other_bars_and_unplayed_ones_a_sentence(arena_evaluation):
    selfish = bars(ARENA, arena_evaluation, replace(MARKET, others="selfish")).data[0]
    assert selfish.x != bars(ARENA, arena_evaluation, MARKET).data[0].x
    with pytest.raises(ValueError, match="with other labs “deceptive” was not played"):
        bars(ARENA, arena_evaluation, replace(MARKET, others="deceptive"))


# Table


def test_the_table_sorts_by_the_means_and_shows_them_with_their_intervals(shown):
    game, evaluation, view, policy = shown
    table = details(game, evaluation, view)
    at = table["headers"].index("mean [95 % interval]")
    rows = rows_of(evaluation, view)
    assert [line[at] for line in table["data"]] == [getattr(row, view.metric).mean for row in rows]
    figures = getattr(row_of(evaluation, view, policy), view.metric)
    cell = f"{figures.mean:.3f} [{figures.low:.3f}, {figures.high:.3f}]"
    assert texts(game, evaluation, view)[policy_label(policy)]["mean [95 % interval]"] == cell
    assert task_title(view.task).lower() in details_label(game, view)


def test_a_mean_that_rounds_to_nothing_bears_no_sign(arena_evaluation):
    row = row_of(arena_evaluation, MARKET, "wait")
    grade = Metric(**dict.fromkeys(Metric.model_fields, -1e-6))
    near = with_rows(arena_evaluation, [row.model_copy(update={"grade": grade})])
    assert texts(ARENA, near, MARKET)["wait"]["mean [95 % interval]"] == "0.000 [0.000, 0.000]"


def test_the_arenas_table_holds_validity_difference_correlation_jobs_and_ends(arena_evaluation):
    cells = texts(ARENA, arena_evaluation, MARKET)
    row = row_of(arena_evaluation, MARKET, "planner")
    planner = cells["planner"]
    assert planner["against rule based expert [95 %]"].startswith(f"{row.grade.difference:+.3f} [")
    assert planner["valid actions"] == f"{row.valid:.1%} of {row.actions:,}"
    assert planner["jobs done"] == f"{row.jobs.mean:.2f}"
    assert planner["jobs given"] == f"{row.jobs_had:.2f}"
    assert planner["utility, credits"].startswith(f"{row.utility.mean:.1f} [")
    assert planner["reward"].startswith(f"{row.reward.mean:.3f} [")
    assert planner["reward ~ utility, r"].startswith(f"{row.correlation.mean:.3f} [")
    assert "does not vary" in {line["reward ~ utility, r"] for line in cells.values()}
    assert "deadline 6" in planner["how it ended"]


def test_a_change_on_other_seeds_is_shown_only_where_the_game_is_the_same(shown):
    _, evaluation, view, policy = shown
    row = row_of(evaluation, view, policy)
    hashes = row.hashes.model_copy(update={"opponents": "0123456789ab"})
    other = with_rows(evaluation, [row.model_copy(update={"hashes": hashes})])
    assert change(row, other, view.metric) is None
    assert change(row, None, view.metric) is None
    figures = getattr(row, view.metric)
    better = figures.model_copy(update={"mean": figures.mean + 0.25})
    same = with_rows(evaluation, [row.model_copy(update={view.metric: better})])
    assert change(row, same, view.metric) == pytest.approx(0.25)


# CSV, section


def test_the_csv_holds_every_row_in_full_precision_and_opens_in_a_spreadsheet(shown):
    _, evaluation, view, policy = shown
    text = to_csv(download(evaluation, view))
    assert text.startswith("\ufefftask,split,")
    rows = {row["policy"]: row for row in csv.DictReader(io.StringIO(text[1:]))}
    assert set(rows) == set(evaluation.config["policies"])
    figures = getattr(row_of(evaluation, view, policy), view.metric)
    assert float(rows[policy][f"{view.metric}_mean"]) == figures.mean
    assert float(rows[policy][f"{view.metric}_difference"]) == figures.difference
    assert not any("hash" in heading for heading in rows[policy])


def test_the_arenas_csv_holds_components_and_leaves_a_missing_correlation_empty(arena_evaluation):
    text = to_csv(download(arena_evaluation, MARKET))
    rows = {row["policy"]: row for row in csv.DictReader(io.StringIO(text[1:]))}
    assert rows["wait"]["correlation_mean"] == ""
    mean = row_of(arena_evaluation, MARKET, "planner").components["job_utility_score"].mean
    assert float(rows["planner"]["components_job_utility_score_mean"]) == mean


def test_a_view_without_episodes_shows_a_sentence_alone(evaluation):
    parts = show(BAZAAR, by_task([evaluation]), replace(DEAL, split="holdout"))
    assert set(parts) == {"about"}
    assert "has not been played on the hold-out seeds" in parts["about"]
